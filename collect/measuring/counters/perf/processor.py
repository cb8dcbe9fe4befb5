"""Which processor a computer has, by its /proc/cpuinfo."""

import re
from pathlib import Path

import msgspec

from numapredict.collect.host.kernel_file import kernel_text


class Processor(msgspec.Struct, frozen=True):
    """A processor's kind: vendor, family and model; on Arm the implementer, the architecture and the part.

    ``guest`` is true under a hypervisor, which only x86 processors report.
    """

    vendor: str
    family: int
    model: int
    guest: bool = False

    def __str__(self) -> str:
        """Return the kind as messages show it."""
        return f"{self.vendor} family {self.family:#x} model {self.model:#x}"


def processor_of(root: Path) -> Processor | None:
    """Return the kind of the first processor in a computer's file tree, or None where unknown."""
    text = kernel_text(root / "proc/cpuinfo")
    fields = dict(re.findall(r"^([^\t:]+?)\s*:[ \t]*(.*)$", text.partition("\n\n")[0], re.MULTILINE))
    try:
        if "CPU implementer" in fields:
            vendor = fields["CPU implementer"].strip()
            return Processor(vendor, int(fields["CPU architecture"], 0), int(fields["CPU part"], 0))
        family, model = int(fields["cpu family"]), int(fields["model"])
        return Processor(fields["vendor_id"].strip(), family, model, "hypervisor" in fields.get("flags", "").split())
    except (KeyError, ValueError):
        return None
