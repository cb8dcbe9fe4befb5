"""Names that try to be markup, script or another direction of writing, and a dataset full of them."""

from collections.abc import Sequence

import msgspec

from numapredict.collect.data.dataset import Dataset

NAMES = (
    "<script>document.title='taken'</script>",
    "</script><script>document.title='taken'</script>",
    "<!-- <script>",
    '"><img src=x onerror="document.title=\'taken\'">',
    "'; document.title='taken'; '",
    "{{ 7 * 7 }}{% raw %}",
    "&lt;b&gt; &amp;",
    "\u202egnp.exe",
    "line\u2028separator",
    "]]>--></style><style>*{display:none}",
    "javascript:document.title='taken'",
    "a name with spaces, and commas, that is longer than anything that a heatmap has room for beside its rows",
    "$\\foo$",
    "cost_$x^2$_{y} $",
)
SHAPELESS = (
    "\x1b[31mred\x1b]0;owned\x07",
    "$x\x00$ nul",
    "three\nlines\r\nof $\\frac{x$",
    "\u2066isolate\u202eeman",
    "日本語 😀 العربية",
    "x" * 300 + "end",
    "half \udc80",
)
"""Names with letters that a picture or XML cannot hold, that the font lacks, or that there are too many of."""


def with_hostile_names(dataset: Dataset, names: Sequence[str] = NAMES) -> Dataset:
    """Return a dataset whose first programs have such names, groups and summaries, as other texts of it have."""
    named = dict(zip((program.name for program in dataset.programs), names, strict=False))
    programs = tuple(
        msgspec.structs.replace(p, name=named.get(p.name, p.name), group=p.group + NAMES[0], summary=NAMES[3])
        for p in dataset.programs
    )
    measurements = tuple(
        msgspec.structs.replace(m, program=named.get(m.program, m.program)) for m in dataset.measurements
    )
    machine = names[1]
    return msgspec.structs.replace(
        dataset,
        machine=machine,
        programs=programs,
        measurements=tuple(msgspec.structs.replace(m, machine=machine) for m in measurements),
        made_by=NAMES[1],
        environment=((NAMES[0], NAMES[3]),),
    )
