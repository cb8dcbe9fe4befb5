import sys

import pytest

from numapredict.collect.campaign import dask_scheduler
from numapredict.collect.campaign.dask_scheduler import check_versions, connected
from numapredict.native.errors import InvalidInputError, UsageError


def test_an_address_where_nobody_answers_is_named_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_scheduler, "ANSWER_S", 0.5)
    with (
        pytest.raises(InvalidInputError, match=r"no Dask scheduler at tcp://127\.0\.0\.1:9: .*start one with"),
        connected("tcp://127.0.0.1:9"),
    ):
        pass
    with pytest.raises(InvalidInputError, match="no Dask scheduler at no address"), connected("no address"):
        pass


def test_without_dask_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UsageError, match=r"pip install 'numapredict\[dask\]'"), connected("tcp://127.0.0.1:9"):
        pass


def versions(scheduler: str | None, worker: str | None) -> dict[str, object]:
    def said(version: str | None) -> dict[str, object]:
        return {"packages": {"numapredict": version, "numpy": None}}

    return {"client": said("1.2"), "scheduler": said(scheduler), "workers": {"tcp://a:1": said(worker)}}


def test_who_has_another_version_or_none_is_named() -> None:
    check_versions(versions("1.2", "1.2"))
    with pytest.raises(InvalidInputError, match=r"the Dask scheduler has numapredict 1\.1, this is 1\.2: install"):
        check_versions(versions("1.1", "1.2"))
    with pytest.raises(InvalidInputError, match="the Dask worker tcp://a:1 has no numapredict"):
        check_versions(versions("1.2", None))
