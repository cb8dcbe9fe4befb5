import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = "import os, sklearn; from numapredict.collect.host.given_environment import given_environment as given; "


@pytest.mark.parametrize("caller", [None, "TRUE"])
def test_what_scikit_learn_sets_reaches_no_program(caller: str | None, tmp_path: Path) -> None:
    """And what the caller has set does."""
    own = {"KMP_INIT_AT_FORK": caller} if caller else {}
    check = "print(sorted(set(os.environ) ^ set(given())), given().get('KMP_INIT_AT_FORK'))"
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM + check],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **own},
        cwd=tmp_path,
        timeout=240,
    )
    extra = ["KMP_DUPLICATE_LIB_OK"] if caller else ["KMP_DUPLICATE_LIB_OK", "KMP_INIT_AT_FORK"]
    assert done.stdout == f"{extra} {caller}\n"
