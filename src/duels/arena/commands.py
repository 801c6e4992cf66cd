"""The commands `duels arena` and `duels bot`. What they do is loaded when they are called."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from duels.core.errors import printable

if TYPE_CHECKING:
    from collections.abc import Callable

    from duels.arena.config import Config
    from duels.arena.folder import Folder

F = TypeVar("F", bound="Callable[..., Any]")


def _examples(*lines: str) -> str:
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


class _Group(click.Group):
    """Its help tells the first sentence about each command in full."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, one.get_short_help_str(limit=1000)) for name, one in sorted(self.commands.items())]
            )


_HELP = {"help_option_names": ["-h", "--help"]}


@click.group(
    cls=_Group,
    context_settings=_HELP,
    epilog=_examples('duels bot check "cmd:python bot.py"', 'duels bot check "cmd:node bot.js" --games hunt'),
)
def bot() -> None:
    """Help whoever writes a program that plays.

    docs/protocol.md tells how a program is asked and answers.
    """


@bot.command(
    epilog=_examples('duels bot check "cmd:python bot.py"', 'duels bot check "cmd:node bot.js" --games hunt')
)
@click.argument("program", metavar='"cmd:COMMAND"')
@click.option("--games", default="lights,leap,chain,hunt,flip", show_default=True, help="Games to play.")
@click.option("--move-seconds", type=click.FloatRange(0.01), default=10.0, show_default=True)
@click.option("--memory-mb", type=click.IntRange(16), default=2048, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON list instead of lines.")
def check(program: str, games: str, move_seconds: float, memory_mb: int, as_json: bool) -> None:
    """Play the protocol through with a program, bad days included, and tell what is wrong."""
    from duels.arena.bot_check import check_bot
    from duels.games import find_game
    from duels.players.program import Limits

    if not program.lower().startswith("cmd:"):
        raise click.UsageError('a program is given as "cmd:COMMAND", such as "cmd:python bot.py".')
    rules = [find_game(name).rules() for name in games.split(",")]
    limits = Limits(move_seconds=move_seconds, memory_mb=memory_mb)
    findings = []
    for finding in check_bot(program[len("cmd:") :], rules, limits):
        findings.append(finding)
        if not as_json:
            click.echo(str(finding))
    if as_json:
        listed = [{"check": each.name, "passed": each.passed, "detail": each.detail} for each in findings]
        click.echo(json.dumps(listed, indent=2))
    if not all(finding.passed for finding in findings):
        raise click.exceptions.Exit(1)


_RUN = "duels arena run --players random,club --games lights --out runs/first"


@click.group(
    cls=_Group,
    context_settings=_HELP,
    epilog=_examples(
        _RUN,
        "duels arena run tournament.toml",
        "duels arena report runs/first --html page.html",
        "duels arena ladder --out runs/ladder",
    ),
)
def arena() -> None:
    """Measure players against each other and against perfect play.

    docs/arena.md tells what the numbers mean and how far they can be trusted.
    """


_out = click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), help="The folder of the run; new, or to go on."
)
_workers = click.option(
    "--workers", type=click.IntRange(1), help="How many processes play.  [default: one per processor]"
)
_folder = click.Path(path_type=Path, exists=True, file_okay=False)
_force = click.option("--force", is_flag=True, help="Write over files that are there already.")


def _refuse_existing(force: bool, *paths: Path | None) -> None:
    """Refuse to write over what is there, before anything is worked out."""
    import os

    for path in paths:
        if path and os.path.lexists(path) and not force:
            raise click.UsageError(f"{printable(str(path))} exists already; --force writes over it.")


def _margin(_context: click.Context, _parameter: click.Parameter, text: str | None) -> float | None:
    """A margin as a person writes it: `0.03`, `±0.03`."""
    if text is None:
        return None
    try:
        return float(text.strip().lstrip("±+-"))
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a margin such as ±0.03.") from None


def _shard(_context: click.Context, _parameter: click.Parameter, text: str | None) -> tuple[int, int]:
    """A part of the run: `2/4` is the second of four."""
    if text is None:
        return 1, 1
    part, _, parts = text.partition("/")
    if not (part.isdecimal() and parts.isdecimal() and 1 <= int(part) <= int(parts)):
        raise click.BadParameter(f"{text!r} is not a part such as 1/4.")
    return int(part), int(parts)


_MODEL_OPTIONS = (
    click.option("--base-url", help="The address of a chat endpoint for model:NAME, such as URL/v1."),
    click.option("--key-env", help="The environment variable with its key.  [default: OPENAI_API_KEY]"),
    click.option("--show-actions", is_flag=True, default=None, help="List the legal actions for models."),
    click.option("--mirror", is_flag=True, default=None, help="Ask models about mirror images."),
    click.option("--relabel", is_flag=True, default=None, help="Give cells other names for models."),
    click.option(
        "--max-tokens", type=click.IntRange(0), help="Of a model's answer; 0 for no limit.  [default: 4096]"
    ),
    click.option(
        "--max-tokens-name",
        metavar="NAME",
        help="What the endpoint calls that, such as max_completion_tokens.  [default: max_tokens]",
    ),
    click.option("--temperature", type=click.FloatRange(0), help="Of a model.  [default: the endpoint's]"),
    click.option("--concurrency", type=click.IntRange(1), help="Matches with models at once.  [default: 8]"),
    click.option("--input-price", type=click.FloatRange(0), help="Of a million tokens that are sent."),
    click.option("--output-price", type=click.FloatRange(0), help="Of a million tokens that come back."),
    click.option("--budget", help="Stop when so much is spent, such as 5usd; needs prices."),
)


def _model_options(command: F) -> F:
    """What is said about models."""
    for option in reversed(_MODEL_OPTIONS):
        command = option(command)
    return command


_LIMIT_OPTIONS = (
    click.option("--move-seconds", type=click.FloatRange(0.01), help="For a program's move.  [default: 10]"),
    click.option("--memory-mb", type=click.IntRange(16), help="For each program.  [default: 2048]"),
    click.option(
        "--retries", type=click.IntRange(0), help="After a failure, before giving up.  [default: 2]"
    ),
)


def _limit_options(command: F) -> F:
    """What programs may take; and how often they and models are asked again."""
    for option in reversed(_LIMIT_OPTIONS):
        command = option(command)
    return command


def _given(**values: Any) -> dict[str, Any]:
    """Those that were given."""
    return {name: value for name, value in values.items() if value is not None}


def _joined(told: Any, given: dict[str, Any]) -> Any:
    """A table of a config with what is said beside it; what is no table is refused by who reads it."""
    return {**told, **given} if isinstance(told, dict) else told


def _names(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(each.strip() for text in texts for each in text.split(",") if each.strip())


@arena.command(
    name="run",
    epilog=_examples(
        _RUN,
        'duels arena run --players club --player "mine=cmd:python bot.py" --games chain --out runs/mine',
        "duels arena run --players club,model:NAME --base-url URL/v1 --games lights --out runs/model",
        "duels arena run tournament.toml",
        "duels arena run tournament.toml --shard 1/4",
        "duels arena run tournament.toml --on ray",
        "duels arena run --players club,expert --games flip --matches 5000 --until 0.03 --out runs/close",
    ),
)
@click.argument("file", required=False, metavar="[CONFIG.toml]", type=click.Path(path_type=Path, exists=True))
@click.option("--players", multiple=True, help='Who plays, with commas: random,club,"cmd:python bot.py".')
@click.option("--player", multiple=True, help="One player more; its command may have commas in it.")
@click.option("--games", multiple=True, help="What is played, with commas.")
@click.option("--matches", type=int, help="How many matches for each two players and game.  [default: 100]")
@click.option("--seed", help="Makes everything repeatable.  [default: 1]")
@click.option("--until", callback=_margin, help="Stop where a result is known to within this, such as 0.03.")
@_limit_options
@_model_options
@_out
@_workers
@click.option(
    "--shard", callback=_shard, metavar="I/N", help="Play the I-th of N parts, on one of N machines."
)
@click.option("--on", metavar="ray[:ADDRESS]", help="Play on a Ray cluster instead of here.")
def run_command(
    file: Path | None,
    players: tuple[str, ...],
    player: tuple[str, ...],
    games: tuple[str, ...],
    matches: int | None,
    seed: str | None,
    until: float | None,
    move_seconds: float | None,
    memory_mb: int | None,
    retries: int | None,
    out: Path | None,
    workers: int | None,
    shard: tuple[int, int],
    on: str | None,
    budget: str | None,
    **model: Any,
) -> None:
    """Play every two players against each other, in every game, from both seats.

    Every match is in a log before the next begins. Called again, a run goes on where it was; the same config
    and seed give the same matches, whatever the number of workers.
    """
    from duels.arena.config import config_of, read_config_data
    from duels.core.errors import DuelsError

    told: dict[str, Any] = {}
    try:
        if file:
            told, named = read_config_data(file)
            out = out or named
        given = {
            "players": (*_names(players), *player),
            "games": _names(games),
            "matches": matches,
            "seed": seed,
            "until": until,
            "budget": budget,
        }
        told |= {name: value for name, value in given.items() if value not in (None, ())}
        limits = _given(move_seconds=move_seconds, memory_mb=memory_mb, retries=retries)
        told["limits"] = _joined(told.get("limits", {}), limits)
        told["model"] = _joined(told.get("model", {}), _given(retries=retries, **model))
        config = config_of(told)
    except DuelsError as error:
        raise click.UsageError(f"{file}: {error}" if file else str(error)) from None
    if out is None:
        raise click.UsageError('a run needs a folder: --out FOLDER, or out = "FOLDER" in the config.')
    _carry_out(config, out, workers, shard, on)


def _carry_out(
    config: "Config",
    out: Path,
    workers: int | None,
    shard: tuple[int, int] = (1, 1),
    on: str | None = None,
) -> None:
    """Play, tell how far it is, and show the report if all is played."""
    import os

    from duels.arena.progress_line import ProgressLine
    from duels.arena.run import run

    try:
        with ProgressLine() as line:
            folder = run(config, out, workers or os.cpu_count() or 1, shard, line.tell, on)
    except KeyboardInterrupt:
        click.echo(f"\nWhat was played is in {out}. Call the same command again to go on.", err=True)
        raise
    _tell_unfinished(folder, "Matches are left to be played")
    if shard == (1, 1):
        _compact(folder)
        _report(out, as_json=False)
    click.echo(f"The run is in {out}. See it with: duels arena report {out} --html page.html", err=True)
    _leave(folder)


NOT_FINISHED = 75
"""The exit code of a run or probe that was broken off and can go on: EX_TEMPFAIL of sysexits.h."""


def _tell_unfinished(folder: "Folder", what: str) -> None:
    for reason in folder.unfinished:
        click.echo(f"{what}: {reason.removesuffix('.')}. To go on, call the command again.", err=True)


def _leave(folder: "Folder") -> None:
    """Leave with a code of its own if not all could be played or asked."""
    if folder.unfinished:
        raise click.exceptions.Exit(NOT_FINISHED)


def _compact(folder: "Folder") -> None:
    """Put the logs into one table, or say what is missing for that."""
    from duels.arena.parquet import compact

    missing = compact(folder)
    if missing:
        click.echo(f"No table of it was written. {missing}", err=True)


def _report(folder: Path, as_json: bool) -> None:
    from duels.arena.folder import Folder

    found = Folder(folder)
    if found.is_probe:
        from duels.arena import probe_report

        told = json.dumps(probe_report.as_data(found), indent=2) if as_json else probe_report.as_text(found)
    else:
        from duels.arena import report as reports
        from duels.arena.report_text import as_text

        report = reports.report_on(found)
        told = json.dumps(reports.as_data(report), indent=2) if as_json else as_text(report)
    click.echo(told, nl=as_json)


@arena.command(
    name="report",
    epilog=_examples(
        "duels arena report runs/first",
        "duels arena report runs/first --html page.html",
        "duels arena report runs/first --json",
        "duels arena report runs/first --csv standings.csv --parquet matches.parquet",
    ),
)
@click.argument("run", type=_folder)
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of tables.")
@click.option("--html", type=click.Path(path_type=Path, dir_okay=False), help="Write a page of its own.")
@click.option("--csv", type=click.Path(path_type=Path, dir_okay=False), help="Write players by games.")
@click.option("--parquet", type=click.Path(path_type=Path, dir_okay=False), help="Write all matches.")
@_force
def report_command(
    run: Path, as_json: bool, html: Path | None, csv: Path | None, parquet: Path | None, force: bool
) -> None:
    """Tell what a run found: who won, what was given away, what was luck, and how sure that is."""
    from duels.arena import report as reports
    from duels.arena.folder import Folder
    from duels.arena.report_page import as_page
    from duels.files import write_whole

    _refuse_existing(force, html, csv, parquet)
    if parquet:
        from duels.arena.parquet import write_parquet

        write_parquet(Folder(run), parquet, over=force)
    if html and Folder(run).is_probe:
        from duels.arena import probe_report

        write_whole(html, probe_report.as_page(Folder(run)).encode(), over=force)
    elif html or csv:
        found = reports.report_on(Folder(run))
        if html:
            write_whole(html, as_page(found).encode(), over=force)
        if csv:
            write_whole(csv, reports.as_csv(found).encode(), over=force)
    if as_json or not (html or csv or parquet):
        _report(run, as_json)


@arena.command(
    epilog=_examples(
        "duels arena compare runs/first runs/second", "duels arena compare runs/probe runs/probe-later"
    )
)
@click.argument("one", type=_folder)
@click.argument("two", type=_folder)
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of a table.")
def compare(one: Path, two: Path, as_json: bool) -> None:
    """Tell what changed from one run, or probe, to another, and how sure that is."""
    from duels.arena.folder import Folder
    from duels.core.errors import DuelsError

    folders = Folder(one), Folder(two)
    kinds = {folder.is_probe for folder in folders}
    if len(kinds) > 1:
        told = [f"{folder.path} is of a {'probe' if folder.is_probe else 'run'}" for folder in folders]
        raise DuelsError(f"{' and '.join(told)}: two runs can be compared, or two probes.")
    if kinds == {True}:
        from duels.arena import compare_probes

        found = compare_probes.differences(*folders)
        data, text = compare_probes.as_data(found), compare_probes.as_text(found)
    else:
        from duels.arena import compare as comparing
        from duels.arena.report import report_on

        changes = comparing.compare(*map(report_on, folders))
        data, text = comparing.as_data(changes), comparing.as_text(changes)
    click.echo(json.dumps(data, indent=2) if as_json else text, nl=as_json)


@arena.command(epilog=_examples("duels arena merge runs/a runs/b --out runs/all"))
@click.argument("runs", nargs=-1, required=True, type=_folder)
@click.option("--out", required=True, type=click.Path(path_type=Path, file_okay=False), help="A new folder.")
def merge(runs: tuple[Path, ...], out: Path) -> None:
    """Join the parts of one run that were played in several folders."""
    from duels.arena import folder

    count = folder.merge(runs, out)
    joined = folder.Folder(out)
    _compact(joined)
    if joined.is_probe:
        click.echo(f"{out}: {count} answers.", err=True)
    else:
        from duels.arena.report import planned

        asked = planned(joined.config)
        click.echo(f"{out}: {count}{f' of {asked}' if count < asked else ''} matches.", err=True)


@arena.command(
    epilog=_examples(
        "duels arena ladder --out runs/ladder", "duels arena ladder --games hunt --out runs/hunt"
    )
)
@click.option("--games", multiple=True, help="What is played, with commas.  [default: all five]")
@click.option("--matches", type=int, help="For each two players and game.  [default: as many as are quick]")
@click.option("--seed", default="1", show_default=True)
@click.option("--out", required=True, type=click.Path(path_type=Path, file_okay=False), help="Its folder.")
@_workers
def ladder(games: tuple[str, ...], matches: int | None, seed: str, out: Path, workers: int | None) -> None:
    """Play the standing field: random, greedy, the levels and best, against each other."""
    from duels.arena.ladder import ladder_config
    from duels.core.errors import DuelsError

    try:
        config = ladder_config(_names(games), matches, seed)
    except DuelsError as error:
        raise click.UsageError(str(error)) from None
    _carry_out(config, out, workers)


@arena.command(
    name="probe",
    epilog=_examples(
        "duels arena probe --player club --games lights,leap --out runs/club",
        'duels arena probe --player "cmd:python bot.py" --games chain --symmetric --out runs/bot',
        "duels arena probe --player model:NAME --base-url URL/v1 --games lights --out runs/probe",
    ),
)
@click.option("--player", required=True, help='Who is asked: a name, "cmd:COMMAND" or model:NAME.')
@click.option("--games", multiple=True, required=True, help="Games, with commas.")
@click.option("--samples", type=click.IntRange(1), help="How often each position is asked.  [default: 1]")
@click.option(
    "--positions", type=click.IntRange(2), help="In games too large to be asked whole.  [default: 200]"
)
@click.option("--symmetric", is_flag=True, help="Ask one of two mirror images, and take its answer for both.")
@click.option("--seed", help="Makes positions and draws repeatable.  [default: 1]")
@_limit_options
@_model_options
@click.option("--out", required=True, type=click.Path(path_type=Path, file_okay=False), help="Its folder.")
def probe_command(
    player: str,
    games: tuple[str, ...],
    samples: int | None,
    positions: int | None,
    symmetric: bool,
    seed: str | None,
    move_seconds: float | None,
    memory_mb: int | None,
    retries: int | None,
    out: Path,
    budget: str | None,
    **model: Any,
) -> None:
    """Ask a player about positions instead of matches: the cheapest way to know it.

    In lights, leap and chain every position is asked that can come about against it; how much the best
    opponent wins, and what it gets against known opponents, then follows exactly. In flip and hunt positions
    from good play are asked. Called again, a probe goes on where it was.
    """
    from duels.arena.config import ProbeConfig
    from duels.arena.probe import probe
    from duels.arena.progress_line import ProgressLine
    from duels.core.errors import DuelsError
    from duels.players.endpoint import Settings
    from duels.players.program import Limits

    told = _given(samples=samples, positions=positions, seed=seed, budget=budget)
    limits = Limits(**_given(move_seconds=move_seconds, memory_mb=memory_mb, retries=retries))
    try:
        asked = Settings(**_given(retries=retries, **model))
        config = ProbeConfig(player, _names(games), symmetric=symmetric, limits=limits, model=asked, **told)
    except DuelsError as error:
        raise click.UsageError(str(error)) from None
    with ProgressLine() as line:
        folder = probe(config, out, line.say)
    _tell_unfinished(folder, "Questions are left")
    _compact(folder)
    _report(out, as_json=False)
    _leave(folder)


@click.command(
    context_settings=_HELP,
    epilog=_examples(
        "duels exam chain --positions 200 --seed 1 --out exam.jsonl",
        "duels exam flip --positions 100 --out exam.parquet",
        "duels exam lights --option lights=9 --out nine.jsonl",
    ),
)
@click.argument("game")
@click.option("--positions", type=click.IntRange(2), default=200, show_default=True, help="How many.")
@click.option("--seed", default="1", show_default=True, help="The same seed draws the same positions.")
@click.option("--option", "options", multiple=True, metavar="NAME=VALUE", help="An option of the game.")
@click.option(
    "--out", required=True, type=click.Path(path_type=Path, dir_okay=False), help=".jsonl, .parquet"
)
@_force
def exam(game: str, positions: int, seed: str, options: tuple[str, ...], out: Path, force: bool) -> None:
    """Write positions with every legal action graded, for any harness, and a card that says how.

    The positions are drawn from good play, by how much there is to lose, with weights that undo that.
    """
    from duels.arena.exam import card_of, write_exam
    from duels.arena.progress_line import ProgressLine
    from duels.core.errors import DuelsError
    from duels.core.record import read_options
    from duels.games import find_game

    try:
        found = find_game(game)
        rules = found.rules(**read_options(found.rules_class(), " ".join(options)))
    except DuelsError as error:
        raise click.UsageError(str(error)) from None
    _refuse_existing(force, out)
    try:
        with ProgressLine() as line:
            count = write_exam(rules, positions, seed, out, line.say, over=force)
    except FileExistsError as taken:
        raise click.UsageError(
            f"{printable(str(taken.filename))} exists already; --force writes over it."
        ) from None
    click.echo(f"{out}: {count} positions; {card_of(out)} says how they were drawn.", err=True)
