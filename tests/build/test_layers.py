"""What `sam build` makes for Lambda, whatever Python and machine it runs on."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ARM64 = 183  # e_machine of an ELF file, AArch64


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("build")
    environment = os.environ | {
        "SAM_CLI_TELEMETRY": "0",
        "AWS_DEFAULT_REGION": "us-east-1",
        "PYTHON": sys.executable,
    }
    for name in ("MEMOIR_LAYER_TARGET", "LAYER_PYTHON"):
        environment.pop(name, None)
    sam = Path(sys.executable).with_name("sam")
    command = [sam, "build", "--build-dir", folder / "build", "--cache-dir", folder / "cache"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    yield folder / "build"


def test_the_wheels_are_for_python_3_13_on_arm64(built: Path) -> None:
    libraries = list((built / "WheelsLayer" / "python").rglob("*.so"))
    assert {library.parts[-2] for library in libraries} >= {"pydantic_core", "jiter", "orjson"}
    for library in libraries:
        assert int.from_bytes(library.read_bytes()[18:20], "little") == ARM64
        assert "cpython-313-aarch64" in library.name or "abi3" in library.name


def test_the_sdk_knows_only_the_services_in_use(built: Path) -> None:
    data = built / "WheelsLayer" / "python" / "botocore" / "data"
    services = sorted(path.name for path in data.iterdir() if path.is_dir())
    assert services == ["bedrock-runtime", "dynamodb", "events", "secretsmanager", "sns", "sqs"]


def test_the_package_layer_holds_the_package_and_nothing_else(built: Path) -> None:
    assert [path.name for path in (built / "MemoirLayer").iterdir()] == ["python"]
    assert [path.name for path in (built / "MemoirLayer" / "python").iterdir()] == ["memoir"]
    source = {
        path.relative_to(ROOT / "layers/memoir") for path in (ROOT / "layers/memoir/memoir").rglob("*.py")
    }
    shipped = {
        path.relative_to(built / "MemoirLayer/python")
        for path in (built / "MemoirLayer/python").rglob("*.py")
    }
    assert shipped == source


def test_a_functions_own_code_is_one_small_file(built: Path) -> None:
    # SkipBuild: the functions are used from where they are.
    for folder in (ROOT / "functions").iterdir():
        assert (folder / "app.py").stat().st_size < 8_000
