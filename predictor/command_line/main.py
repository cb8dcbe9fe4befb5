"""The `numapredict` command: runs the command line and reports every failure by one line and an exit code.

Interrupts are handled before any of our modules is loaded, so that a Ctrl-C while libraries load gives one line and not
a traceback. The interpreter's own start, before that, may show a traceback.
"""

import os
import signal
import sys
import time

DONE, FAILED, MISTAKE, INTERRUPTED = 0, 1, 2, 130
"""What exit codes mean, apart from those of the programs that `run` runs."""

READER_GONE = 141
"""128 + SIGPIPE, as a shell reports a program that wrote to a closed pipe."""

_ONE_PRESS_S = 1.0


def main(words: list[str] | tuple[str, ...] | None = None) -> int:
    """Run the command line and return its exit code; for 1 and 2 one line on standard error says what was wrong."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:  # else the parent process has interrupts ignored
        signal.signal(signal.SIGINT, _leave if words is None else _Interrupts())
    given = list(sys.argv[1:] if words is None else words)
    try:
        _open_streams()
        return _run(given)
    except KeyboardInterrupt:  # before a command started, or while it ended
        return _interrupted(given, "", ())
    finally:
        if before is signal.default_int_handler:
            # With the command over, an interrupt of the interpreter's own ending needs no traceback.
            signal.signal(signal.SIGINT, before if words is not None else signal.SIG_DFL)


def _leave(_signal: int, _frame: object) -> None:
    """Say in one line that nothing has begun, and exit at once: an exception might not be caught."""
    try:  # noqa: SIM105 - contextlib takes longer to load than all else here
        os.write(2, b"numapredict: interrupted before anything had begun; run the same command again\n")
    except OSError:
        pass
    os._exit(INTERRUPTED)


class _Interrupts:
    """Raises KeyboardInterrupt at an interrupt, but not again while that one is handled.

    A terminal's Ctrl-C may come with another from a parent process, and people press it twice.
    """

    def __init__(self) -> None:
        self._last_s = -_ONE_PRESS_S

    def __call__(self, _signal: int, _frame: object) -> None:
        now_s = time.monotonic()
        if now_s - self._last_s >= _ONE_PRESS_S:
            self._last_s = now_s
            raise KeyboardInterrupt


def _open_streams() -> None:
    """Replace closed standard streams, which are None in Python and whose descriptors the next opened files would get.

    Writing to the replaced output fails, as it does without one. For programs that are run, the streams stay closed.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is not None:
            continue
        mode = os.O_WRONLY if name == "stderr" else os.O_RDONLY
        descriptor = os.open(os.devnull, mode | os.O_CLOEXEC)
        if descriptor != number:  # the descriptor belongs to another file
            os.close(descriptor)
            continue
        setattr(sys, name, open(number, "r" if name == "stdin" else "w", closefd=False))  # noqa: SIM115 - to the end


def _run(words: list[str]) -> int:
    from numapredict.predictor.command_line.known_help import known_help

    text = known_help(words)
    if text:
        return _print(text)
    import click

    from numapredict.collect.terminal.command import Interruption, ReaderGone
    from numapredict.native.errors import NumapredictError
    from numapredict.predictor.command_line.commands import commands
    from numapredict.predictor.command_line.extras import libraries_named

    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, _Interrupts())
    try:
        with libraries_named():
            code = commands.main(words, prog_name="numapredict", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return MISTAKE
    except click.NoSuchOption as error:
        from numapredict.predictor.command_line.mistyped import no_such_option

        return _say(no_such_option(error, words), MISTAKE)
    except click.ClickException as error:
        where = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "numapredict"
        return _say(f"{error.format_message()} (see {where} --help)", MISTAKE)
    except NumapredictError as error:
        return _say(str(error), error.exit_code)
    except ReaderGone:
        return _unread()
    except OSError as error:
        if error.filename:
            return _say(f"{error.filename}: {error.strerror or error}", MISTAKE)
        return _unwritten(error)
    except Interruption as error:
        return _interrupted(words, error.kept, error.forgetting)
    except (click.Abort, KeyboardInterrupt):
        return _interrupted(words, "", ())
    return code if isinstance(code, int) else DONE


def _print(text: str) -> int:
    """Print a text that is known without loading a library."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        return _unread()
    except OSError as error:
        return _unwritten(error)
    return DONE


def _unread() -> int:
    _drop_output()
    return READER_GONE


def _unwritten(error: OSError) -> int:
    _drop_output()
    return _say(f"cannot write the output: {error.strerror or error}", FAILED)


def _drop_output() -> None:
    """Discard unwritten output, or the interpreter would report it at exit and return 120."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)


def _interrupted(words: list[str], kept: str, forgetting: tuple[str, ...]) -> int:
    """Say what is kept and which command continues, without options that would delete what is kept."""
    left = list(words)
    for option in forgetting:
        left.remove(option)
    from numapredict.collect.terminal.printable import command_line

    text = f"{kept}; to continue:" if kept else "nothing is kept; to start again:"
    return _say(f"interrupted; {text}", INTERRUPTED, command_line(["numapredict", *left]))


def _say(text: str, code: int, command: str = "") -> int:
    from numapredict.collect.terminal.terminal import Terminal

    Terminal(sys.stderr).error(text, command)
    return code
