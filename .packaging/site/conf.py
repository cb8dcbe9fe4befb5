"""Build a site of the documents as they stand, and of the docstrings of what `import numapredict` offers.

    sphinx-build -W -c .packaging/site -b html . SITE

The README is the first page, and its list "Read on" gives the contents. What only Sphinx can read is added here.
"""

import re
import shutil
import tomllib
from pathlib import Path

from sphinx.application import Sphinx

import numapredict

ROOT = Path(__file__).parents[2]
SKLEARNS = "set_fit_request, set_score_request"  # methods whose text refers to scikit-learn's own documents
DOCUMENTS = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "examples/README.md", "models/machines/*.md")

project = "numapredict"
author = "the numapredict authors"
release = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
extensions = ["myst_parser", "sphinx.ext.autodoc"]
root_doc = "README"
exclude_patterns = [".*", "build", "dist"]
include_patterns = [*DOCUMENTS, "reports/guide/*.md", "tests/guest/timed/README.md"]
myst_heading_anchors = 4
autodoc_member_order = "bysource"
html_theme = "furo"
html_title = f"numapredict {release}"
html_show_sphinx = False
smartquotes = False  # they change `--json` in titles


def contents() -> str:
    """Return the tables of contents: one for each line of the README's last list, and one of all else."""
    readme = (ROOT / "README.md").read_text()
    found = [file.relative_to(ROOT) for pattern in include_patterns for file in sorted(ROOT.glob(pattern))]
    left = dict.fromkeys(str(name) for name in found if str(name) != "README.md")
    lists = re.findall(r"^- ([\w ]+): ((?:.+\n)(?:  .+\n)*)", readme.partition("\n## Read on\n")[2], re.MULTILINE)
    text = ""
    for caption, links in [*lists, ("More", readme + "".join(f"({name})" for name in left))]:
        names = [name for name in dict.fromkeys(re.findall(r"\(([\w./-]+\.md)[)#]", links)) if name in left]
        left = {name: None for name in left if name not in names}
        entries = "\n".join(f"/{name.removesuffix('.md')}" for name in names)
        text += f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n{entries}\n```\n"
    return text


def reference() -> str:
    """Return the directives that print the docstrings of the package's names."""
    lines = ["", "## Reference", "", "```{eval-rst}"]
    for name in numapredict.__all__:
        value = getattr(numapredict, name)
        if isinstance(value, type):
            lines += [f".. autoclass:: numapredict.{name}", "   :members:"]
            lines += [f"   :exclude-members: {SKLEARNS}", ""]
        elif callable(value):
            lines += [f".. autofunction:: numapredict.{name}", ""]
    return "\n".join([*lines, "```", ""])


def read(_app: Sphinx, name: str, text: list[str]) -> None:
    """Add to a document what only Sphinx can read."""
    added = {root_doc: contents, "reports/guide/api": reference}.get(name)
    text[0] += added() if added else ""


def built(app: Sphinx, error: Exception | None) -> None:
    """Let the README be the first page of the site's folder, too."""
    if error is None:
        shutil.copyfile(Path(app.outdir, f"{root_doc}.html"), Path(app.outdir, "index.html"))


def setup(app: Sphinx) -> None:
    """Tell Sphinx of both."""
    app.connect("source-read", read)
    app.connect("build-finished", built)
