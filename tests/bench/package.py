"""Zipped size of both layers, as they are uploaded."""

import io
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    """Print the sizes of the layers for Lambda on arm64."""
    print("\npackage: zipped size of the layers for arm64")
    for layer in ("wheels", "memoir"):
        with tempfile.TemporaryDirectory() as folder:
            variables = [f"ARTIFACTS_DIR={folder}", f"PYTHON={sys.executable}", "MEMOIR_LAYER_TARGET=arm64"]
            if python := os.environ.get("LAYER_PYTHON"):
                variables.append(f"LAYER_PYTHON={python}")
            target = f"build-{layer.capitalize()}Layer"
            command = ["make", "-s", "-C", str(ROOT / "layers" / layer), target, *variables]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            print(f"  {layer}: {_zipped_bytes(Path(folder)) / 1024:6.0f} KiB")


def _zipped_bytes(folder: Path) -> int:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder))
    return len(target.getvalue())


if __name__ == "__main__":
    main()
