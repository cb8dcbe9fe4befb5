"""What an executable file is, as far as the tracer must know."""

from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from numapredict.collect.machines.errors import UnrunnableProgramError


def check_traceable(path: Path) -> None:
    """Raise UnrunnableProgramError unless a file is a dynamically linked x86-64 program that may be read."""
    try:
        with path.open("rb") as file:
            if file.read(2) == b"#!":
                raise UnrunnableProgramError(
                    f"{path} is a script; a model traces one program: name the program that the script starts"
                )
            file.seek(0)
            elf = ELFFile(file)
            machine, kinds = elf["e_machine"], {segment["p_type"] for segment in elf.iter_segments()}
    except OSError as error:
        raise UnrunnableProgramError(
            f"{path} cannot be read: {error.strerror}; a trace needs read permission"
        ) from error
    except (ELFError, UnicodeDecodeError, ValueError, KeyError, TypeError) as error:
        raise UnrunnableProgramError(f"{path} is no whole ELF program; build it again") from error
    if machine != "EM_X86_64":
        raise UnrunnableProgramError(f"{path} is built for {machine}; the tracer follows x86-64 programs")
    if "PT_INTERP" not in kinds:
        raise UnrunnableProgramError(
            f"{path} is statically linked, so its OpenMP regions cannot be seen; link it dynamically (without -static)"
        )
