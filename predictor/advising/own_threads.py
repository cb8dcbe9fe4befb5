"""Programs that set their own number of threads, which they run under every mapping."""

from numapredict.collect.mapping import Mapping
from numapredict.collect.measurement import Measurement
from numapredict.collect.placing.teams import Team, processors_here, teams_of

_FEW = 0.1  # of the region time: at most this may follow OMP_NUM_THREADS in a program with its own number
_LEAST_SHARE = 0.5  # of the region time, for a number of threads to be the program's


def own_team(measurement: Measurement) -> Team | None:
    """Return the team whose number of threads the program sets itself, None if it follows the mapping.

    It has at least half of the region time, and regions with the mapping's number of threads have next to none.
    """
    teams, mapping = teams_of(measurement), measurement.mapping
    if not teams or not isinstance(mapping, Mapping) or teams[0].share < _LEAST_SHARE:
        return None
    following = sum(team.share for team in teams if team.threads == mapping.threads)
    return None if following > _FEW else teams[0]


def other_teams(measurement: Measurement) -> str:
    """Return in words which regions run with another number of threads than requested; empty if none do."""
    if own_team(measurement) is not None or not isinstance(measurement.mapping, Mapping):
        return ""
    asked = measurement.mapping.threads
    listed = ", ".join(f"{t.threads} in {t.share:.0%}" for t in teams_of(measurement) if t.threads != asked)
    return listed and f"some regions set their own number of threads: {listed} of the region time"


def own_in_words(team: Team, others: tuple[Team, ...], here: bool, modelled: bool) -> str:
    """Return a sentence on the number of threads that a program sets itself, and on which mappings compete.

    ``others`` are its other teams; ``here``: the machine has mappings of that number.
    """
    text = f"the program sets its own number of threads: {team.threads}, whatever OMP_NUM_THREADS says"
    if others:
        listed = ", ".join(str(other.threads) for other in others)
        text += f", in {team.share:.0%} of its region time (and {listed} in other regions)"
    if here:
        text += f"; only mappings of {team.threads} are considered"
    else:
        text += f"; this machine has no mapping of {team.threads}: all are considered"
    if modelled and team.threads == processors_here():
        text += (
            "; this computer has as many processors: a program that counts them in its affinity mask would run as many "
            "threads as the machine has"
        )
    return text
