from pathlib import Path

import pytest
from matplotlib.figure import Figure

from numapredict.native.errors import UnwritableError, UsageError
from numapredict.reports.figure_file import write_figure


def figure() -> Figure:
    made = Figure(figsize=(2, 1))
    made.text(0.1, 0.5, "legible text")
    return made


def test_png_and_svg_are_what_their_names_say(tmp_path: Path) -> None:
    write_figure(figure(), tmp_path / "new" / "a.png")
    write_figure(figure(), tmp_path / "a.SVG")
    assert (tmp_path / "new" / "a.png").read_bytes().startswith(b"\x89PNG\r\n")
    assert "legible text" in (tmp_path / "a.SVG").read_text()


@pytest.mark.parametrize("name", ["a.png", "a.svg"])
def test_equal_figures_are_equal_files(tmp_path: Path, name: str) -> None:
    write_figure(figure(), tmp_path / name)
    first = (tmp_path / name).read_bytes()
    write_figure(figure(), tmp_path / name)
    assert (tmp_path / name).read_bytes() == first


@pytest.mark.parametrize("name", ["a.pdf", "a", "png"])
def test_other_formats_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"\.png or \.svg"):
        write_figure(figure(), tmp_path / name)


def test_a_folder_that_cannot_be_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(UnwritableError, match="cannot write the figure"):
        write_figure(figure(), tmp_path / "file" / "a.png")
