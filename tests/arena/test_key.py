"""A request without a key fails with the name of the environment variable."""

from pathlib import Path

import pytest

from tests.players.scripted_endpoint import answering, as_json
from tests.support import duels

UNSET = "The environment variable MY_KEY is not set"
RUN = ("run", "--players", "random,model:NAME", "--matches", "2", "--workers", "1")
PROBE = ("probe", "--player", "model:NAME")


def run_model(tmp_path: Path, status: int, *words: str) -> str:
    with answering(as_json(status, {"error": {"message": "go away"}})) as endpoint:
        one = (
            "--games",
            "lights",
            "--concurrency",
            "1",
        )  # one request at a time, so none is pending at the end
        out = tmp_path / str(endpoint.server_port)
        return duels(tmp_path, "arena", *words, *one, "--base-url", endpoint.url, "--out", out).err


@pytest.mark.parametrize("words", [RUN, PROBE])
@pytest.mark.parametrize("status", [401, 403])
def test_rejects_a_named_variable_that_is_not_set(
    words: tuple[str, ...], status: int, tmp_path: Path
) -> None:
    first, last = run_model(tmp_path, status, *words, "--key-env", "MY_KEY").splitlines()
    assert first == f"{UNSET}: requests are sent without a key."
    assert last == (f"duels: 'NAME' gave no reply: status {status}, 'go away'. {UNSET}, so no key was sent.")


def test_the_default_variable_may_be_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    output = run_model(tmp_path, 401, *PROBE)
    assert output.count("OPENAI_API_KEY is not set") == output.count("\n") == 1
    assert "not set" not in run_model(tmp_path, 404, *PROBE)
    monkeypatch.setenv("OPENAI_API_KEY", "wrong")
    assert "not set" not in run_model(tmp_path, 401, *PROBE)


def test_errors_do_not_quote_a_key_given_as_variable(tmp_path: Path) -> None:
    for key in ("sk-a-secret", "gsk_secret"):
        output = run_model(tmp_path, 401, *PROBE, "--key-env", key)
        assert output.count("The environment variable given as key_env is not set") == 2
        assert "secret" not in output


def test_accepts_a_variable_named_in_a_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tmp_path / "run.toml"
    config.write_text('players = ["random", "model:NAME"]\ngames = ["lights"]\n[model]\nkey_env = "MY_KEY"\n')
    words = ("run", str(config), "--matches", "2", "--workers", "1")
    assert run_model(tmp_path, 404, *words).startswith(f"{UNSET}: ")
    monkeypatch.setenv("MY_KEY", "sk-wrong")
    assert UNSET not in run_model(tmp_path, 401, *words)
