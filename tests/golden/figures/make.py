"""Write the golden data anew: `python -m tests.golden.figures.make`."""

from pathlib import Path

import msgspec

from tests.golden.figures.figures import FIGURES

if __name__ == "__main__":
    for name, made in FIGURES.items():
        document = msgspec.json.format(msgspec.json.encode(made()), indent=1)
        (Path(__file__).parent / f"{name}.json").write_bytes(document + b"\n")
