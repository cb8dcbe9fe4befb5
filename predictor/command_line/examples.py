"""One example of each command and what it does, for the manual pages; a test parses them all."""

EXAMPLES: dict[str, tuple[tuple[str, str], ...]] = {
    "": (
        ("numapredict ./app input.dat", "Ask about a program on this computer."),
        ("numapredict --machine sandybridge-4x8 ./app input.dat", "Ask about it on a described machine, modelled."),
    ),
    "characterize": (("numapredict characterize --threads 8 ./app", "Show what nodes and policies do to 8 threads."),),
    "collect": (("numapredict collect codelets", "List the programs that models are learned from."),),
    "collect campaign": (
        (
            "numapredict collect campaign --machine lpdquad --codelet stream-triad --space thesis --into data",
            "Run one codelet under the mappings of the thesis; the same command goes on where it was interrupted.",
        ),
    ),
    "collect codelets": (("numapredict collect codelets --json", "List the codelets for a program to read."),),
    "collect import": (
        (
            "numapredict collect import times.csv -o data --program code --mapping policy,threads --time seconds",
            "Make a dataset of a table with a row a run.",
        ),
    ),
    "collect regions": (("numapredict collect regions ./application", "List what CERE can extract."),),
    "completion": (
        (
            "numapredict completion bash > ~/.local/share/bash-completion/completions/numapredict",
            "Let bash complete commands, options and names from its next start on.",
        ),
    ),
    "doctor": (("numapredict doctor", "See what to switch off before measuring."),),
    "evaluate": (("numapredict evaluate lpdquad --jobs 2", "Hold out every program of a shipped dataset once."),),
    "predict": (
        ("numapredict predict --verify ./app", "Ask, and run the default and the advised mapping in turn."),
        ("numapredict predict --emit slurm ./app", "Print the srun command that applies the advice."),
    ),
    "report": (("numapredict report sandybridge-4x8 -o page.html", "Write a page on a shipped dataset and model."),),
    "report accuracy": (("numapredict report accuracy lpdquad --output accuracy.svg", "Draw it to print."),),
    "report budget": (("numapredict report budget lpdquad", "Draw what fewer runs would cost."),),
    "report calibration": (("numapredict report calibration lpdquad lpd48core", "Draw it over two datasets."),),
    "report clustermap": (
        ("numapredict report clustermap --dataset lpdquad --clusters 5", "Draw the heatmap with 5 clusters coloured."),
    ),
    "report explanations": (("numapredict report explanations lpdquad", "Score each rule."),),
    "report fidelity": (("numapredict report fidelity --only ics19", "Make one comparison."),),
    "report mapping": (
        ("numapredict report mapping 16x2-contiguous-interleave --machine lpdquad", "Draw a mapping on a machine."),
    ),
    "report page": (("numapredict report page model.json -o page.html", "Write a page on a model of one's own."),),
    "report pairs": (("numapredict report pairs --dataset lpdquad --count 5", "Show the five pairs most alike."),),
    "report related": (("numapredict report related lpdquad", "Compare with related work."),),
    "report sweeps": (("numapredict report sweeps lpdquad --figure sweeps.svg", "Print the curves and draw them."),),
    "report topology": (("numapredict report topology --machine lpd48core", "Draw a described machine."),),
    "run": (
        ("numapredict run --mapping 16x2-contiguous-interleave -- ./app input.dat", "Run a program placed."),
        ("numapredict run --mapping 16x2-contiguous-locality --verify -- ./app", "Say where everything truly stood."),
    ),
    "schema": (("numapredict schema predict", "Print what predict --json prints."),),
    "topology": (("numapredict topology --list", "List the described machines."),),
    "train": (
        ("numapredict train --budget 45min", "Learn a model of this computer in about 45 minutes."),
        ("numapredict train --dataset lpdquad --output model.json", "Learn from a shipped dataset."),
    ),
}
"""By the command's words; each an example and, in a sentence, what it does."""
