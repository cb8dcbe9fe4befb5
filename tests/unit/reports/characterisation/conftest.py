"""What the tests of a characterisation's files share."""

from pathlib import Path

import pytest

from numapredict.reports.characterisation.files import write_characterisation
from numapredict.reports.source import Origin
from tests.unit.collect.campaign.characterisation.test_result import characterised


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A folder with all files of a characterisation, which tests read and do not change, and the names it was given."""
    folder = tmp_path_factory.mktemp("characterisation") / "new" / "folder"
    origin = Origin(machine="two", modelled=True, created="2026-01-02T03:04:05Z", made_by="numapredict 9")
    return folder, list(write_characterisation(characterised(), folder, origin=origin))
