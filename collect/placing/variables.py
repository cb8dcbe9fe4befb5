"""The OpenMP variables that place threads: which of the caller's a mapping replaces, and the text on it; pure."""

from collections.abc import Mapping

# Each of these also places threads and overrides our settings in some runtime, or limits the number of threads.
CONFLICTING = (
    "GOMP_CPU_AFFINITY",
    "KMP_AFFINITY",
    "KMP_HW_SUBSET",
    "KMP_PLACE_THREADS",
    "OMP_THREAD_LIMIT",
    "OMP_THREAD_LIMIT_ALL",
    "KMP_DEVICE_THREAD_LIMIT",
    "KMP_ALL_THREADS",
)
_SHOWN_CHARACTERS = 40


def thread_counts(threads: int, own: str | None) -> str:
    """Return OMP_NUM_THREADS for a mapping: the caller's numbers for nested regions stay, the first is the mapping's.

    OpenMP 5.2 sec. 21.1.2: one number a nesting level.
    """
    _, comma, inner = (own or "").partition(",")
    return f"{threads}{comma}{inner}" if inner.strip() else str(threads)


def giving_way(caller: Mapping[str, str], placed: Mapping[str, str]) -> str:
    """Return in words which of the caller's OpenMP variables ``placed`` changes or lacks; empty where none."""
    changed, unset = [], []
    for name in sorted(caller):
        if not name.startswith(("OMP_", "GOMP_", "KMP_")):
            continue
        after = placed.get(name)
        if after is None:
            unset.append(f"{name}={_shown(caller[name])}")
        elif after.strip().lower() != caller[name].strip().lower():
            changed.append(f"{name}={_shown(caller[name])} becomes {after}")
    parts = [*changed, *([f"{', '.join(unset)} left out"] if unset else [])]
    return "; ".join(parts)


def _shown(value: str) -> str:
    """Return a variable's value in one short line."""
    text = "".join(character if character.isprintable() else "?" for character in value)
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 3] + "..."
