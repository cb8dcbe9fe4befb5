"""Files planted below a folder that stands for /, as the kernel would show them."""

from collections.abc import Mapping
from pathlib import Path


def plant(root: Path, texts: Mapping[str, str]) -> None:
    """Write files below a folder; a path that ends in / is an empty folder, a text after `-> ` a link's target."""
    for name, text in texts.items():
        path = root / name
        if name.endswith("/"):
            path.mkdir(parents=True, exist_ok=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        if text.startswith("-> "):
            path.symlink_to(text.removeprefix("-> "))
        else:
            path.write_text(text)
