from pathlib import Path

import pytest

from numapredict.collect.host import site_settings
from numapredict.collect.host.cache import cache_folder
from numapredict.collect.host.site_settings import setting


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Return the user's file and the site's, neither of which is there yet."""
    for name in site_settings.NAMES:
        monkeypatch.delenv(name, raising=False)
    site_settings._read.cache_clear()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "own"))
    monkeypatch.setattr(site_settings, "SITE_FILE", tmp_path / "site.toml")
    (tmp_path / "own").mkdir()
    return tmp_path / "own" / "numapredict.toml", tmp_path / "site.toml"


def test_a_variable_comes_before_the_user_s_file_and_that_before_the_site_s(
    files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    own, site = files
    assert setting("NUMAPREDICT_CACHE") is None
    site.write_text('cache = "/site"\ncache_MB = 12\n')
    site_settings._read.cache_clear()
    assert cache_folder() == Path("/site")
    site_settings._read.cache_clear()
    own.write_text('cache = "/own"\n')
    assert cache_folder() == Path("/own")
    assert setting("NUMAPREDICT_CACHE_MB") == "12"
    monkeypatch.setenv("NUMAPREDICT_CACHE", "/variable")
    assert cache_folder() == Path("/variable")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"cash = '/x'", "names 'cash': settings are cache, cache_MB, data, locks"),
        (b"cache = 5", "cache is no folder's whole path"),
        (b"cache = 'x'", "cache is no folder's whole path"),
        (b"cache_MB = 'lots'", "cache_MB is no whole number"),
        (b"cache_MB = true", "cache_MB is no whole number"),
        (b"cache = '/x", "cannot be read: "),
        (b"\xff", "cannot be read: "),
    ],
)
def test_what_is_wrong_in_a_file_is_a_warning(
    files: tuple[Path, Path], text: bytes, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    files[0].write_bytes(text + (b"" if b"\xff" in text or text.endswith(b"/x") else b"\ndata = '~/own'"))
    found = setting("NUMAPREDICT_DATA")
    assert said in caplog.text
    assert f"{files[0]} " in caplog.text
    assert found == (str(Path("~/own").expanduser()) if "cannot" not in said else None)


def test_without_a_home_or_with_one_that_may_not_be_read_there_is_no_file(
    files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    files[0].mkdir()
    assert setting("NUMAPREDICT_DATA") is None
    for name in ("HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert site_settings.user_file() is None
    assert setting("NUMAPREDICT_DATA") is None
