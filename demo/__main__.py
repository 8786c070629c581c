"""``python -m demo FOLDER`` writes the demo's pictures, bundles, rankings and vectors."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from demo.writing import write

_WIDTH = 30  # of the progress bar, in characters


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m demo", description=__doc__)
    parser.add_argument("folder", type=Path, help="where to write; what is there and up to date is left alone")
    folder: Path = parser.parse_args(arguments).folder
    try:
        manifest = write(folder, _show_progress if sys.stderr.isatty() else None)
    except OSError as error:
        sys.stderr.write(f"The demo could not be written to {folder}: {error.strerror or error}\n")
        return 1
    sys.stdout.write(
        f"{len(manifest.images)} pictures, {len(manifest.bundles)} splits, {len(manifest.rankings)} rankings "
        f"and {len(manifest.vectors)} files of vectors are in {folder}\n"
    )
    return 0


def _show_progress(done: int, total: int) -> None:
    bar = "█" * (_WIDTH * done // total)
    end = "\n" if done == total else ""
    sys.stderr.write(f"\rDrawing scenes {bar:<{_WIDTH}} {done}/{total}{end}")


if __name__ == "__main__":
    sys.exit(main())
