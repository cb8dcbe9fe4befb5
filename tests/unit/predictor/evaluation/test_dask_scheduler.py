import sys

import pytest

from numapredict.native.errors import InvalidInputError, UsageError
from numapredict.predictor.evaluation import dask_scheduler
from numapredict.predictor.evaluation.dask_scheduler import on_scheduler


def test_an_address_where_nobody_answers_is_named_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_scheduler, "ANSWER_S", 0.5)
    with (
        pytest.raises(InvalidInputError, match=r"no Dask scheduler at tcp://127\.0\.0\.1:9: .*start one with"),
        on_scheduler("tcp://127.0.0.1:9", 1),
    ):
        pass
    with pytest.raises(InvalidInputError, match="no Dask scheduler at no address"), on_scheduler("no address", 1):
        pass


def test_without_dask_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UsageError, match=r"pip install 'numapredict\[dask\]'"), on_scheduler("tcp://127.0.0.1:9", 1):
        pass
    with on_scheduler(None, 3) as jobs:
        assert jobs == 3
