"""Real boards from the official files, a researcher, and the three doors a file can come in by."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sending import DECLARED, ROOT, work


@pytest.fixture
def researcher(db: None) -> Any:
    from accounts.models import User

    return User.objects.create_user("researcher@example.org", "a long enough password")


@pytest.fixture
def boards(db: None, data_folder: Path) -> Callable[..., None]:
    """Return what imports official folders with the maintainer's own commands."""
    from django.core.management import call_command

    def load(*commands: tuple[str, ...]) -> None:
        for command, *folders in commands:
            call_command(command, *(str(data_folder / folder) for folder in folders), verbosity=0)

    return load


@pytest.fixture
def send_by_form(client: Any, researcher: Any) -> Callable[..., Any]:
    """Return what fills in the upload form of a board and waits for the result."""
    from submissions.models import Submission

    client.force_login(researcher)

    def send(board: str, method: str, **files: Path) -> Any:
        opened = {field: path.open("rb") for field, path in files.items()}
        answer = client.post(f"/submit/{board}/", {"method": method, **DECLARED, **opened})
        assert answer.status_code == 302, answer.content.decode()
        work()
        return Submission.objects.get(public_id=answer["Location"].rstrip("/").rsplit("/", 1)[-1])

    return send


@pytest.fixture
def send_by_api(client: Any, researcher: Any) -> Callable[..., Any]:
    """Return what posts with a token and asks for the result, as JSON."""
    from accounts.services import make_token

    _, key = make_token(researcher, "laptop")
    headers = {"Authorization": f"Bearer {key}"}

    def send(board: str, method: str, **files: Path) -> Any:
        opened = {field: path.open("rb") for field, path in files.items()}
        fields = {"split": board, "method": method, **DECLARED, **opened}
        answer = client.post("/api/v1/submissions/", fields, headers=headers)
        assert answer.status_code == 201, answer.content.decode()
        work()
        return client.get(answer["Location"], headers=headers).json()

    return send


@pytest.fixture
def score_at_home(tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Return what scores a file with the command line and a board's bundle."""

    def score(bundle: Path, file: Path) -> dict[str, Any]:
        command = [sys.executable, "-m", "evaluator", "score", str(file), "--split", str(bundle), "--json"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        return dict(json.loads(done.stdout))

    return score


@pytest.fixture(scope="session")
def pinpoint_file(data_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return what makes one of the made-up PinPoint rankings, the same on every machine."""
    tool = data_folder.parent / "tools" / "make_pinpoint_rankings.py"
    if not tool.is_file():
        pytest.skip(f"{tool.name} is not beside the data folder")
    folder = tmp_path_factory.mktemp("rankings")

    def make(variant: str) -> Path:
        path = folder / f"{variant}.json"
        if not path.exists():
            subprocess.run([sys.executable, str(tool), str(data_folder / "pinpoint"), variant, str(path)], check=True)
        return path

    return make
