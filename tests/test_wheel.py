"""The built wheel, not the checkout: it works with only its own dependencies installed."""

import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import duels
from duels.games import GAMES

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
VERSION = duels.__version__
NOT_SHIPPED = {".ci", ".gitignore"}  # of no use to anybody who has no checkout
Version = tuple[int, ...]


def run(*command: str | Path, cwd: Path = ROOT, env: dict[str, str] | None = None) -> str:
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd, env=env)
    assert result.returncode == 0, f"{command}\n{result.stdout}\n{result.stderr}"
    return result.stdout


@pytest.fixture(scope="module")
def files() -> list[Path]:
    """Return the files of the project, tracked by git or new."""
    if not (ROOT / ".git").exists():
        pytest.skip("only a checkout is packed")
    listed = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    return [path for name in listed.split("\0") if name and (ROOT / (path := Path(name))).is_file()]


@pytest.fixture(scope="module")
def built(files: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with both packages, built from a clean copy."""
    copy, out = tmp_path_factory.mktemp("copy"), tmp_path_factory.mktemp("built")
    for path in files:
        (copy / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, copy / path)
    run(sys.executable, "-m", "build", "--outdir", out, copy)
    return out


def only(folder: Path, pattern: str) -> Path:
    (path,) = folder.glob(pattern)
    return path


def test_the_source_package_includes_everything_for_its_tests(files: list[Path], built: Path) -> None:
    with tarfile.open(only(built, "*.tar.gz")) as archive:
        packed = {Path(*Path(name).parts[1:]) for name in archive.getnames()}
    assert {path for path in files if path.parts[0] not in NOT_SHIPPED} <= packed


def test_the_wheel_contains_only_the_package(files: list[Path], built: Path) -> None:
    with zipfile.ZipFile(only(built, "*.whl")) as archive:
        packed = {Path(name) for name in archive.namelist()}
    package = {path.relative_to("src") for path in files if path.parts[0] == "src"}
    assert packed == package | {path for path in packed if path.parts[0] == f"duels-{VERSION}.dist-info"}


# -- on the oldest Python and on the newest ----------------------------------------------------------


def pythons() -> dict[Version, Path]:
    """Return the Pythons of this machine by version, including ours."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    named = (shutil.which(f"python3.{minor}") for minor in range(11, 30))
    candidates = [*sorted(pyenv.glob("*/bin/python3")), *(Path(name) for name in named if name)]
    ask = "import sys, venv; print(*sys.version_info[:3], sys.version_info.releaselevel)"
    available: dict[Version, Path] = {}
    for path in [*candidates, Path(sys.executable)]:
        result = subprocess.run([path, "-c", ask], capture_output=True, text=True, check=False)
        output = result.stdout.split()
        if output and output[-1] == "final":  # a shim can be there without its Python
            available[tuple(map(int, output[:-1]))] = path
    return available


def chosen(which: str) -> Path:
    oldest = tuple(map(int, PROJECT["requires-python"].removeprefix(">=").split(".")))
    available = {version: path for version, path in pythons().items() if version >= oldest}
    if which == "newest":
        return available[max(available)]
    fitting = [version for version in available if version[: len(oldest)] == oldest]
    if not fitting:
        pytest.skip(f"there is no Python {'.'.join(map(str, oldest))} on this machine")
    return available[max(fitting)]


class Installed:
    """A new environment with only the wheel and its dependencies."""

    def __init__(self, python: Path, wheel: Path, folder: Path) -> None:
        run(python, "-m", "venv", "--without-pip", folder / "venv")
        self.scripts = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
        self.folder = folder
        self.environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
        self.environment |= {"DUELS_HOME": str(folder / "home")}
        run(sys.executable, "-m", "pip", "--python", self.scripts / "python", "install", "--quiet", wheel)

    def __call__(self, program: str, *arguments: str | Path) -> str:
        return run(self.scripts / program, *arguments, cwd=self.folder, env=self.environment)


@pytest.fixture(scope="module", params=["oldest", "newest"])
def installed(
    request: pytest.FixtureRequest, built: Path, tmp_path_factory: pytest.TempPathFactory
) -> Installed:
    return Installed(chosen(request.param), only(built, "*.whl"), tmp_path_factory.mktemp(request.param))


def test_the_base_install_has_few_dependencies(installed: Installed) -> None:
    names = installed(
        "python", "-c", "from importlib.metadata import distributions as d; print(*(x.name for x in d()))"
    )
    expected = {"click", "colorama", "duels", "lazy-loader", "packaging", "platformdirs"}
    assert {name.replace("_", "-") for name in names.split()} <= expected


def test_the_command_prints_its_version(installed: Installed) -> None:
    for answer in (installed("duels", "--version"), installed("python", "-m", "duels", "--version")):
        assert answer == f"duels {VERSION}\n"
    first_words = [line.split(" ")[0] for line in installed("duels", "games").splitlines()]
    assert [word for word in first_words if word in GAMES] == list(GAMES)


def test_the_package_can_be_imported_without_numpy(installed: Installed) -> None:
    program = (
        "import duels, sys; duels.start('lights')\n"
        "assert 'numpy' not in sys.modules\n"
        "try: duels.vector\n"
        "except ImportError as error: print(duels.__version__, error)"
    )
    output = installed("python", "-c", program)
    assert output.startswith(f"{VERSION} This needs numpy: pip install 'duels[vector]'")


@pytest.mark.parametrize("name", GAMES)
def test_a_match_can_be_played_saved_and_reviewed(name: str, installed: Installed) -> None:
    record = installed.folder / f"{name}.duel"
    played = installed(
        "duels", "play", name, "--seat1", "greedy", "--seat2", "perfect", "--seed", "7", "--save", record
    )
    assert played.strip()
    assert ": legal, " in installed("duels", "verify", record)
    page = installed.folder / f"{name}.html"
    assert installed("duels", "review", record, "--html", page).strip()
    assert page.read_text(encoding="utf-8").startswith("<!doctype html")
    assert installed("duels", "solve", name).startswith(f"{name}: ")
    assert installed("duels", "rules", name).strip()
