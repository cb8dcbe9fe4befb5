"""How long a page takes to make, how large it is, and how soon a browser shows it, over the number of programs."""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import click

from numapredict.collect.data.dataset import write_dataset
from numapredict.predictor.learning.datasets import shipped_datasets
from tests.benchmarks.figures import Figure, show
from tests.benchmarks.programs import numapredict
from tests.chromium import Chromium, chromium, is_installed
from tests.planted import planted_dataset

PROGRAMS = (12, 64, 128, 500)


def made_s(subject: str, page: Path) -> float:
    """Return the wall time of the whole command, with its start and reading the dataset."""
    began = time.perf_counter()
    subprocess.run([*numapredict(), "report", subject, "-o", str(page)], check=True, stderr=subprocess.DEVNULL)
    return time.perf_counter() - began


def shown_s(browser: Chromium, page: Path) -> float:
    """Return the wall time until the page's script has ended and all is drawn."""
    began = time.perf_counter()
    browser.open(page)
    browser.driver.execute_async_script("const done = arguments[0]; requestAnimationFrame(() => setTimeout(done))")
    return time.perf_counter() - began


@click.command()
@click.option("--rounds", default=3, show_default=True)
@click.option("--json", "as_json", is_flag=True)
def main(rounds: int, as_json: bool) -> None:
    """Measure pages of made-up programs under the full space of 4 x 8 cores, and those of the shipped datasets."""
    figures = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subjects = {}
        for count in PROGRAMS:
            write_dataset(planted_dataset(count, subset="full"), folder / str(count))
            subjects[f"{count} programs"] = str(folder / str(count))
        subjects |= {shipped: shipped for shipped in shipped_datasets()}
        for what, subject in subjects.items():
            page = folder / "page.html"
            taken_s = tuple(made_s(subject, page) for _ in range(rounds))
            figures.append(Figure(f"page of {what}", "s", taken_s, "below 10"))
            figures.append(Figure(f"page of {what}", "MB", (page.stat().st_size / 1e6,), "below 5"))
            if is_installed():
                with chromium(folder / "profile") as browser:
                    showing_s = tuple(shown_s(browser, page) for _ in range(rounds))
                figures.append(Figure(f"showing {what} in Chromium", "s", showing_s))
        if not is_installed():
            sys.stderr.write("no chromium with its chromedriver here: not opened\n")
        show(figures, as_json=as_json)


if __name__ == "__main__":
    main()
