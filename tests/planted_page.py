"""What the tests of pages in a Chromium share: one browser a module, and the page of a small planted dataset."""

from collections.abc import Iterator

import pytest

from numapredict.collect.data.dataset import Dataset
from numapredict.reports.parts.contents import PageData, page_data
from numapredict.reports.parts.heatmap import HeatmapData
from numapredict.reports.parts.subject import Subject
from tests.chromium import Chromium, chromium
from tests.planted import planted_dataset


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    with chromium(tmp_path_factory.mktemp("profile")) as started:
        yield started


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return planted_dataset(15)


@pytest.fixture(scope="module")
def data(dataset: Dataset) -> PageData:
    return page_data(Subject(name="planted", dataset=dataset))


@pytest.fixture(scope="module")
def heatmap(data: PageData) -> HeatmapData:
    found = data.drawn["heatmap"]
    assert isinstance(found, HeatmapData)
    return found
