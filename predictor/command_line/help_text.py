"""What `numapredict --help` says, so that it need not load what makes it.

Made by `python -m numapredict.predictor.command_line.help_page`; a test compares it.
"""

COMMANDS = (
    "numapredict.collect.cli:collect",
    "numapredict.collect.cli:doctor",
    "numapredict.collect.cli:topology",
    "numapredict.predictor.command_line.cli:evaluate",
    "numapredict.predictor.command_line.cli:predict",
    "numapredict.predictor.command_line.cli:train",
    "numapredict.predictor.command_line.reference:completion",
    "numapredict.predictor.command_line.reference:schema",
    "numapredict.predictor.command_line.run_cli:run",
    "numapredict.predictor.regions.cli:regions",
    "numapredict.predictor.variables.cli:variables",
    "numapredict.reports.answers.cli:check",
    "numapredict.reports.answers.cli:compare",
    "numapredict.reports.cli:characterize",
    "numapredict.reports.cli:report",
)

TEXT = (
    "Usage: numapredict [-q|-v] [OPTIONS] PROGRAM [ARGUMENTS]...\n"
    "\n"
    "  Advise, after two to four short runs of PROGRAM, where its threads and pages\n"
    "  should live on a NUMA machine.\n"
    "\n"
    "  numapredict ./app input.dat                             on this computer\n"
    "  numapredict --machine sandybridge-4x8 ./app input.dat   on a described machine, modelled\n"
    "\n"
    "Options:\n"
    "  --version      Print the version and what is installed.\n"
    "  --include      Print the folder of numapredict.h, by which a program says\n"
    "                 what it knows.\n"
    "  -q, --quiet    Print warnings and errors only.\n"
    "  -v, --verbose  Print more: which model, cache hits, durations.\n"
    "  --help         Show this message and exit.\n"
    "\n"
    "Commands:\n"
    "  characterize  Show what threads, nodes and policies do to COMMAND:...\n"
    "  check         Say whether ANSWER still holds: run COMMAND as it is and...\n"
    "  collect       Measure programs under mappings: list codelets, run...\n"
    "  compare       Say how two answers differ: the mapping, its gain, the...\n"
    "  completion    Print the script that makes SHELL complete numapredict's...\n"
    "  doctor        Show what disturbs measuring here, and which counters...\n"
    "  evaluate      Measure how good the advice is: every program of each...\n"
    "  predict       Advise where COMMAND's threads and pages should live...\n"
    "  regions       Run COMMAND twice and say what each of its parallel...\n"
    "  report        Draw what was measured or learned, as one HTML page or as...\n"
    "  run           Run COMMAND on this computer under a mapping; the exit...\n"
    "  schema        Print the JSON Schema of what COMMAND prints with --json,...\n"
    "  topology      Show a machine's NUMA nodes: this computer's, or a...\n"
    "  train         Learn a model: run a campaign on a machine (this computer...\n"
    "  variables     Say which variables of COMMAND are in the wrong place,...\n"
    "\n"
    "  A program called like a command: numapredict -- train. More options:\n"
    "  numapredict predict --help.\n"
    "\n"
    "  Exit codes:\n"
    "    0    done\n"
    "    1    failed: every run failed, a worker died, or output could not be written\n"
    "    2    usage error in the command or its input: one line says what is wrong and what to do\n"
    "    130  interrupted: two lines say what is kept and how to continue\n"
    "    141  broken pipe: the reader of the output has closed it\n"
    "    `run` ends as its program does, with the program's exit code or signal.\n"
)
