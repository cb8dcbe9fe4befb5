"""Write the schemas anew: `python -m tests.golden.schemas`. A change is one for whoever reads `--json`."""

import json
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
CODE = "import sys; from numapredict.predictor.command_line.main import main; sys.exit(main(['schema']))"


def printed() -> dict[str, object]:
    """Return what `numapredict schema` prints."""
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, check=True, timeout=300)
    found: dict[str, object] = json.loads(done.stdout)
    return found


def file_of(command: str) -> Path:
    """Return the golden file of a command."""
    return FOLDER / f"{command.replace(' ', '-')}.json"


def text_of(schema: object) -> str:
    """Return what a golden file holds."""
    return json.dumps(schema, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    made = {file_of(command): text_of(schema) for command, schema in printed().items()}
    for path in FOLDER.glob("*.json"):
        if path not in made:
            path.unlink()
    for path, text in made.items():
        path.write_text(text)
