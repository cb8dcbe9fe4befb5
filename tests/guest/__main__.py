"""`python -m tests.guest 4x4 -- CMD...`: one command in a guest, as if it ran here."""

from tests.guest.cli import main

if __name__ == "__main__":
    main(prog_name="python -m tests.guest")
