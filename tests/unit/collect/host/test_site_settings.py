from pathlib import Path

import pytest

from numapredict.collect.host import site_settings
from numapredict.collect.host.cache import cache_folder
from numapredict.collect.host.site_settings import setting
from numapredict.native.errors import InvalidInputError


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Return the user's file and the site's, neither of which is there yet."""
    for name in site_settings.NAMES:
        monkeypatch.delenv(name, raising=False)
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
    assert cache_folder() == Path("/site")
    own.write_text('cache = "/own"\n')
    assert cache_folder() == Path("/own")
    assert setting("NUMAPREDICT_CACHE_MB") == "12"
    monkeypatch.setenv("NUMAPREDICT_CACHE", "/variable")
    assert cache_folder() == Path("/variable")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"cash = '/x'", "names 'cash': settings are cache, cache_MB, data, locks"),
        (b"cache = true", "cache is neither a text nor a whole number"),
        (b"cache = [1]", "cache is neither a text nor a whole number"),
        (b"cache = '/x", "cannot be read: "),
        (b"\xff", "cannot be read: "),
    ],
)
def test_a_file_that_is_wrong_is_named_with_what_is(files: tuple[Path, Path], text: bytes, said: str) -> None:
    files[0].write_bytes(text)
    with pytest.raises(InvalidInputError, match=r"numapredict\.toml") as refused:
        setting("NUMAPREDICT_DATA")
    assert said in str(refused.value)
