"""Make the documents' pictures anew: python -m tests.pictures (needs Chromium, and QEMU for the traced example)."""

import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

from tests.chromium import chromium
from tests.workloads import example_program

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "reports" / "guide" / "pictures"
MACHINE = "sandybridge-4x8"
COLOURS = 192
PLAIN = "import sys; from numapredict.predictor.command_line.main import main; sys.exit(main())"


def make() -> None:
    """Write the page of the README's example and the heatmap of the shipped dataset as .png files."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="numapredict-pictures-") as name:
        folder = Path(name)

        def numapredict(*words: str) -> str:
            command = [sys.executable, "-c", PLAIN, *words]
            return subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout

        example_program(folder)
        (folder / "advice.json").write_text(numapredict("predict", "--machine", MACHINE, "--json", "./heat"))
        numapredict("report", "advice.json", "-o", "answer.html")
        numapredict("report", MACHINE, "-o", "page.html")
        with chromium(folder / "profile") as browser:
            browser.resize(1280, 900)
            browser.open(folder / "answer.html", prefers_color_scheme="light")
            browser.picture(PICTURES / "answer.png", last="#choices")
            browser.open(folder / "page.html", prefers_color_scheme="light")
            browser.picture(PICTURES / "heatmap.png", first="#heatmap", last="#heatmap")
    for path in PICTURES.glob("*.png"):  # a fourth of the bytes, and no difference to see
        with Image.open(path) as drawn:
            drawn.convert("RGB").quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
                path, optimize=True
            )


if __name__ == "__main__":
    make()
