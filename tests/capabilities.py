"""Which tests run by default: the unit tests, and of each capability one file that goes all its way on real input."""

from pathlib import Path

TESTS = Path(__file__).parent
WHOLE_PROGRAMS = ("integration", "guest", "slurm", "benchmarks")
"""The folders of which only the files below run by default; all else in them is thorough."""
DEFAULT = {
    "advice": "integration/test_advised_programs.py",
    "run": "integration/test_placed_run.py",
    "search": "integration/test_search.py",
    "metric": "integration/test_metric.py",
    "train and evaluate": "integration/test_small_training.py",
    "variables": "integration/test_variables.py",
    "regions": "integration/test_planned_regions.py",
    "adapt": "integration/test_adapting.py",
    "pages in a guest": "guest/test_placements.py",
    "report page": "integration/test_search_page.py",
    "characterize": "integration/test_characterize.py",
    "api": "integration/test_api.py",
    "command line": "integration/test_command_line.py",
    "first steps": "integration/test_guide.py",
    # The C parts, as the compiler of this system built them.
    "tracer": "integration/test_tracer.py",
    "arrays": "integration/test_traced_arrays.py",
    "allocations": "integration/test_allocations.py",
    "region clock": "integration/test_region_clock.py",
    "slots": "integration/test_slots.py",
    "moved pages": "integration/test_moved_pages.py",
    "launcher": "integration/test_launcher.py",
    "codelets": "integration/test_codelets.py",
}


def is_thorough(file: Path) -> bool:
    """Say whether a file's tests are left out by default."""
    place = file.relative_to(TESTS)
    return place.parts[0] in WHOLE_PROGRAMS and place.as_posix() not in DEFAULT.values()
