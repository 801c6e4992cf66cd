"""The commands `duels arena`, `duels bot` and `duels exam`. Each imports its modules when called."""

import json
import os
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from duels.core.errors import DuelsError, escape_unprintable

if TYPE_CHECKING:
    from duels.arena.config import Config
    from duels.arena.folder import Folder

F = TypeVar("F", bound=Callable[..., Any])

HELP = {"help_option_names": ["-h", "--help"]}


def format_examples(*lines: str) -> str:
    """Format examples for the end of a command's help."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


class Group(click.Group):
    """A group whose help shows the first sentence of each command in full."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, item.get_short_help_str(limit=1000)) for name, item in sorted(self.commands.items())]
            )


FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)


class _NewFolder(click.Path):
    """A folder that need not exist. An empty name is an error."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("a folder needs a name; use '.' for the current folder.", param, ctx)
        return super().convert(value, param, ctx)


NEW_FOLDER = _NewFolder(path_type=Path, file_okay=False)
FILE = click.Path(path_type=Path, dir_okay=False)
NEW_PATH = click.Path(path_type=Path)

workers_option = click.option(
    "--workers", type=click.IntRange(1), help="Number of processes.  [default: one per processor]"
)
force_option = click.option("--force", is_flag=True, help="Overwrite existing files.")


def refuse_existing(force: bool, *paths: Path | None) -> None:
    """Raise UsageError if one of the files exists, unless `force` is set."""
    for path in paths:
        if path and os.path.lexists(path) and not force:
            raise click.UsageError(f"{escape_unprintable(str(path))} exists; pass --force to overwrite it.")


@contextmanager
def usage_errors(prefix: str = "") -> Iterator[None]:
    """Turn errors in names and settings into click's UsageError."""
    try:
        yield
    except DuelsError as error:
        raise click.UsageError(f"{prefix}{error}") from None


def quote_for_shell(path: Path) -> str:
    """Quote a path for a command to copy. A leading `-` must not read as an option."""
    text = str(path)
    return shlex.quote(f"./{text}" if text.startswith("-") else text)


_PLAYER_OPTIONS: tuple[tuple[str, Any, str], ...] = (
    ("--move-seconds", click.FloatRange(0.01), "Time limit for a program's move.  [default: 10]"),
    ("--memory-mb", click.IntRange(16), "Memory limit for each program.  [default: 2048]"),
    ("--retries", click.IntRange(0), "Extra attempts after a failure.  [default: 2]"),
    ("--base-url", None, "Address of the chat endpoint for model:NAME, such as URL/v1."),
    ("--key-env", None, "Environment variable with the API key.  [default: OPENAI_API_KEY]"),
    ("--memory", click.Choice(["none", "conversation"]), "What models remember of a match.  [default: none]"),
    (
        "--form",
        click.Choice(["text", "tool"]),
        "How models answer: in text or by a tool call.  [default: text]",
    ),
    ("--show-actions", click.BOOL, "Show models the legal actions."),
    ("--mirror", click.BOOL, "Show models mirror images of positions."),
    ("--relabel", click.BOOL, "Show models different names for cells."),
    ("--ask-forced", click.BOOL, "Ask models even if only one action is legal."),
    ("--max-tokens", click.IntRange(0), "Maximum length of an answer in tokens.  [default: no limit]"),
    ("--max-tokens-name", None, "Name of this limit, such as max_completion_tokens.  [default: max_tokens]"),
    ("--request-seconds", click.FloatRange(1), "Time limit for one request to a model.  [default: 600]"),
    ("--stream", click.BOOL, "Receive answers as a stream."),
    ("--temperature", click.FloatRange(0), "Temperature of models.  [default: the endpoint's]"),
    ("--concurrency", click.IntRange(1), "Concurrent model matches.  [default: 8]"),
    ("--input-price", click.FloatRange(0), "Price of a million input tokens."),
    ("--output-price", click.FloatRange(0), "Price of a million output tokens."),
    ("--budget", None, "Stop when this amount is spent, such as 5usd. Needs both prices."),
)


def player_options(command: F) -> F:
    """Add the options for programs and models to a command."""
    for name, kind, text in reversed(_PLAYER_OPTIONS):
        is_flag = kind is click.BOOL
        command = click.option(name, type=kind, is_flag=is_flag, default=None, help=text)(command)
    return command


def split_options(options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Split options into program limits, model settings, and settings of the run or probe."""
    from duels.players.endpoint import EndpointSettings
    from duels.players.program import ProgramLimits

    chosen = {name: value for name, value in options.items() if value is not None}
    limits, model = (
        {each.name: chosen[each.name] for each in fields(settings) if each.name in chosen}
        for settings in (ProgramLimits, EndpointSettings)  # both have `retries`
    )
    return limits, model, {name: chosen[name] for name in chosen if name not in limits | model}


def warn_missing_key(name: str | None) -> None:
    """Warn on stderr if a model's endpoint usually needs an API key and none is set."""
    from duels.players.endpoint import describe_missing_key

    if name and (missing := describe_missing_key(name)):
        click.echo(f"{missing}: requests are sent without a key.", err=True)


def split_names(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Split repeated options with comma-separated names, such as `--games lights,leap`."""
    return tuple(each.strip() for text in texts for each in text.split(",") if each.strip())


RUN_EXAMPLE = "duels arena run --players random,club --games lights --out runs/first"
NOT_FINISHED = 75
"""The exit code of an interrupted run or probe: EX_TEMPFAIL of sysexits.h."""


@click.group(
    cls=Group,
    context_settings=HELP,
    epilog=format_examples(
        RUN_EXAMPLE,
        "duels arena run tournament.toml",
        "duels arena report runs/first --html page.html",
        "duels arena ladder --out runs/ladder",
    ),
)
def arena() -> None:
    """Measure players against each other and against perfect play.

    docs/arena.md explains the commands, docs/reports.md the numbers.
    """


def _compact_logs(folder: "Folder") -> None:
    """Write all rows to a Parquet file, or print how to install the missing extra."""
    from duels.arena.folder import write_parquet
    from duels.core.errors import MissingExtra

    try:
        name = "answers.parquet" if folder.is_probe else "matches.parquet"
        write_parquet(folder, folder.path / name, overwrite=True)
    except MissingExtra as missing:
        click.echo(f"No Parquet file was written. {missing}", err=True)


def _show_report(folder: "Folder") -> None:
    report, views = _make_report(folder)
    click.echo(views.make_document(report).render_text(), nl=False)


def _make_report(folder: "Folder") -> tuple[Any, Any]:
    """Return the report on a run or a probe, and the module that renders it."""
    from duels.arena import report, report_views
    from duels.arena.progress_line import ProgressLine

    with ProgressLine() as line:
        if folder.is_probe:
            from duels.arena import probe_report

            return probe_report.make_report(folder, line.show), probe_report
        return report.make_report(folder, line.show), report_views


@arena.command(
    name="report",
    epilog=format_examples(
        "duels arena report runs/first",
        "duels arena report runs/first --html page.html",
        "duels arena report runs/first --json",
        "duels arena report runs/first --csv standings.csv --parquet matches.parquet",
    ),
)
@click.argument("run", type=FOLDER)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
@click.option("--html", type=FILE, help="Write an HTML page.")
@click.option("--csv", type=FILE, help="Write a CSV file with a row per player and game.")
@click.option("--parquet", type=FILE, help="Write a Parquet file of all matches or answers.")
@force_option
def report_command(
    run: Path, as_json: bool, html: Path | None, csv: Path | None, parquet: Path | None, force: bool
) -> None:
    """Show the report on a run or probe: results, losses and confidence intervals."""
    from duels.arena.folder import Folder, write_parquet
    from duels.files import write_atomically

    def write(path: Path, text: str) -> None:
        write_atomically(path, text.encode(), overwrite=force)
        click.echo(f"Wrote {path}.", err=True)

    refuse_existing(force, html, csv, parquet)
    folder = Folder(run)
    if parquet:
        write_parquet(folder, parquet, overwrite=force)
        click.echo(f"Wrote {parquet}.", err=True)
    if csv and folder.is_probe:
        raise DuelsError(f"{folder.path} is the folder of a probe: use --json or --parquet instead of --csv.")
    if parquet and not (html or csv or as_json):
        return
    report, views = _make_report(folder)
    if html:
        write(html, views.make_document(report).render_html())
    if csv:
        write(csv, views.as_csv(report))
    if as_json:
        click.echo(json.dumps(views.as_data(report), indent=2))
    elif not (html or csv):
        click.echo(views.make_document(report).render_text(), nl=False)


@arena.command(
    epilog=format_examples(
        "duels arena compare runs/first runs/second", "duels arena compare runs/probe runs/probe-later"
    )
)
@click.argument("one", type=FOLDER)
@click.argument("two", type=FOLDER)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def compare(one: Path, two: Path, as_json: bool) -> None:
    """Show what changed between two runs or two probes, and how certain each change is."""
    from duels.arena.compare import as_data, as_text, compare_probes, compare_runs
    from duels.arena.folder import Folder

    folders = Folder(one), Folder(two)
    kinds = {folder.is_probe for folder in folders}
    if len(kinds) > 1:
        names = [f"{folder.path} is a {'probe' if folder.is_probe else 'run'}" for folder in folders]
        raise DuelsError(f"{' and '.join(names)}: compare two runs or two probes.")
    reports = [_make_report(folder)[0] for folder in folders]
    comparison = compare_probes(*reports) if kinds == {True} else compare_runs(*reports)
    click.echo(json.dumps(as_data(comparison), indent=2) if as_json else as_text(comparison), nl=as_json)


@arena.command(epilog=format_examples("duels arena merge runs/a runs/b --out runs/all"))
@click.argument("runs", nargs=-1, required=True, type=FOLDER)
@click.option("--out", required=True, type=NEW_FOLDER, help="A new folder.")
def merge(runs: tuple[Path, ...], out: Path) -> None:
    """Merge folders of the same run, such as its shards, into a new folder."""
    from duels.arena import folder as folders

    count = folders.merge(runs, out, partial(click.echo, err=True))
    merged = folders.Folder(out)
    _compact_logs(merged)
    if merged.is_probe:
        click.echo(f"{out}: {count} answers.", err=True)
    else:
        from duels.arena.report import count_planned

        planned = count_planned(merged.config)
        click.echo(f"{out}: {count}{f' of {planned}' if count < planned else ''} matches.", err=True)


@arena.command(
    name="verify",
    epilog=format_examples("duels arena verify runs/first", "duels arena verify runs/first --json"),
)
@click.argument("run", type=FOLDER)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of lines.")
def verify_command(run: Path, as_json: bool) -> None:
    """Verify a run or probe: replay every match and compute every number again.

    The command lists damaged lines and differences, and counts missing matches. If there are any, its exit
    code is 1. Built-in players choose again. Programs and models are not started: their logged moves are
    replayed, and the luck-adjusted results of their matches are not compared. Parquet files are not checked.
    To write them again from the logs, use `duels arena report --parquet`.
    """
    from duels.arena.folder import Folder
    from duels.arena.progress_line import ProgressLine
    from duels.arena.verification import verify

    folder = Folder(run)
    with ProgressLine() as line:
        result = verify(folder, line.show)
    if as_json:
        click.echo(json.dumps(result.as_data(), indent=2))
    else:
        for location in result.damaged:
            click.echo(f"{location}: this line is damaged.")
        for difference in result.differences:
            click.echo(str(difference))
        click.echo(result.summarize("answers" if folder.is_probe else "matches"))
    if not result.is_valid:
        raise click.exceptions.Exit(1)


def _parse_margin(_context: click.Context, _parameter: click.Parameter, text: str | None) -> float | None:
    """Parse a margin: `0.03` or `±0.03`."""
    if text is None:
        return None
    try:
        return float(text.strip().lstrip("±+-"))
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a margin such as ±0.03.") from None


def _parse_shard(_context: click.Context, _parameter: click.Parameter, text: str | None) -> tuple[int, int]:
    """Parse a shard: `2/4` is the second of four."""
    if text is None:
        return 1, 1
    shard, _, count = text.partition("/")
    if not (shard.isdecimal() and count.isdecimal() and 1 <= int(shard) <= int(count)):
        raise click.BadParameter(f"{text!r} is not a shard such as 1/4.")
    return int(shard), int(count)


def _override(table: Any, options: dict[str, Any]) -> Any:
    """Return a config table with options replaced. `parse_config` rejects a value that is not a table."""
    return {**table, **options} if isinstance(table, dict) else table


@arena.command(
    name="run",
    epilog=format_examples(
        RUN_EXAMPLE,
        'duels arena run --players club --player "mine=cmd:python bot.py" \\',
        "    --games chain --out runs/mine",
        "duels arena run --players club,model:NAME --base-url URL/v1 \\",
        "    --games lights --out runs/model",
        "duels arena run tournament.toml",
        "duels arena run tournament.toml --shard 1/4",
        "duels arena run tournament.toml --on ray",
        "duels arena run --players club,expert --games flip --matches 5000 \\",
        "    --until 0.03 --out runs/close",
    ),
)
@click.argument("file", required=False, metavar="[CONFIG.toml]", type=click.Path(path_type=Path, exists=True))
@click.option(
    "--players", multiple=True, help='Players, separated by commas: random,club,"cmd:python bot.py".'
)
@click.option("--player", multiple=True, help="One more player, whose command may contain commas.")
@click.option("--games", multiple=True, help="Games, separated by commas.")
@click.option("--matches", type=int, help="Matches per pair of players and game.  [default: 100]")
@click.option("--seed", help="Seed of all matches.  [default: 1]")
@click.option(
    "--until", callback=_parse_margin, help="Stop a pairing once its result is known to within this margin."
)
@player_options
@click.option("--out", type=NEW_FOLDER, help="Folder of the run. An existing run continues.")
@workers_option
@click.option(
    "--shard", callback=_parse_shard, metavar="I/N", help="Play only the I-th of N shards, one per machine."
)
@click.option("--on", metavar="ray[:ADDRESS]", help="Play on a Ray cluster.")
def run_command(
    file: Path | None,
    players: tuple[str, ...],
    player: tuple[str, ...],
    games: tuple[str, ...],
    out: Path | None,
    workers: int | None,
    shard: tuple[int, int],
    on: str | None,
    **options: Any,
) -> None:
    """Play each pair of players in every game, from both seats.

    Every match is saved when it ends. Run the command again to continue an interrupted run. The same config
    and seed give the same matches, with any number of workers.
    """
    from duels.arena.config import parse_config, read_config_file

    limits, model, run_values = split_options(options)
    values: dict[str, Any] = {}
    with usage_errors(f"{file}: " if file else ""):
        if file:
            values, folder = read_config_file(file)
            out = out or folder
        run_values |= {"players": (*split_names(players), *player), "games": split_names(games)}
        values |= {name: value for name, value in run_values.items() if value != ()}
        values["limits"] = _override(values.get("limits", {}), limits)
        settings = values["model"] = _override(values.get("model", {}), model)
        config = parse_config(values)
    if out is None:
        raise click.UsageError(
            'a run needs a folder: pass --out FOLDER, or set out = "FOLDER" in the config.'
        )
    if config.list_models():
        warn_missing_key(settings.get("key_env"))
    _play_run(config, out, workers, shard, on)


def _play_run(
    config: "Config", out: Path, workers: int | None, shard: tuple[int, int] = (1, 1), on: str | None = None
) -> None:
    """Play a run with a progress line, and show its report unless it is a shard."""
    from duels.arena.progress_line import ProgressLine
    from duels.arena.run import run

    try:
        with ProgressLine() as line:
            folder = run(config, out, workers or os.cpu_count() or 1, shard, line.show, on)
    except KeyboardInterrupt:
        click.echo(
            f"\nThe matches so far are saved in {out}. To continue, run the same command again.", err=True
        )
        raise
    report_unfinished(folder, "Some matches are unfinished")
    if shard == (1, 1):
        _compact_logs(folder)
        _show_report(folder)
        if left_out := sum(not folder.is_planned(row) for row in folder.load_rows().values()):
            click.echo(
                f"The report leaves out {left_out} logged matches, because the run now has fewer.", err=True
            )
    command = f"duels arena report {quote_for_shell(out)} --html page.html"
    click.echo(f"The run is saved in {out}. To write an HTML report: {command}", err=True)
    _exit_if_unfinished(folder)


@arena.command(
    epilog=format_examples(
        "duels arena ladder --out runs/ladder", "duels arena ladder --games hunt --out runs/hunt"
    )
)
@click.option("--games", multiple=True, help="Games, separated by commas.  [default: all five]")
@click.option("--matches", type=int, help="Matches per pair of players and game.  [default: by game]")
@click.option("--seed", default="1", show_default=True, help="Seed of all matches.")
@click.option("--out", required=True, type=NEW_FOLDER, help="Folder of the run.")
@workers_option
def ladder(games: tuple[str, ...], matches: int | None, seed: str, out: Path, workers: int | None) -> None:
    """Play the built-in players against each other: random, greedy, the levels and best."""
    from duels.arena.config import ladder_config

    with usage_errors():
        config = ladder_config(split_names(games), matches, seed)
    _play_run(config, out, workers)


@arena.command(
    name="probe",
    epilog=format_examples(
        "duels arena probe --player club --games lights,leap --out runs/club",
        'duels arena probe --player "cmd:python bot.py" --games chain \\',
        "    --symmetric --out runs/bot",
        "duels arena probe --player model:NAME --base-url URL/v1 \\",
        "    --games lights --out runs/probe",
    ),
)
@click.option("--player", required=True, help='The player: a name, "cmd:COMMAND" or model:NAME.')
@click.option("--games", multiple=True, required=True, help="Games, separated by commas.")
@click.option("--samples", type=click.IntRange(1), help="Questions per position.  [default: 1]")
@click.option(
    "--positions", type=click.IntRange(2), help="Positions in large games (flip, hunt).  [default: 200]"
)
@click.option("--symmetric", is_flag=True, help="Use one answer for a position and its mirror image.")
@click.option("--seed", help="Seed of positions and random choices.  [default: 1]")
@player_options
@click.option("--out", required=True, type=NEW_FOLDER, help="Folder of the probe.")
def probe_command(player: str, games: tuple[str, ...], symmetric: bool, out: Path, **options: Any) -> None:
    """Measure a player by asking about positions, which costs less than matches.

    In lights, leap and chain a probe asks about every position that can occur against the player. It computes
    the exploitability and the results against built-in players. In flip and hunt it asks about a sample of
    positions from good play. Run the command again to continue an interrupted probe.
    """
    from duels.arena.config import ProbeConfig
    from duels.arena.probe import run_probe
    from duels.arena.progress_line import ProgressLine
    from duels.players.endpoint import EndpointSettings
    from duels.players.program import ProgramLimits

    limits, model, run_values = split_options(options)
    with usage_errors():
        run_values |= {"limits": ProgramLimits(**limits), "model": EndpointSettings(**model)}
        config = ProbeConfig(player, split_names(games), symmetric=symmetric, **run_values)
    if config.make_run_config().list_models():
        warn_missing_key(model.get("key_env"))
    with ProgressLine() as line:
        folder = run_probe(config, out, line.show)
    report_unfinished(folder, "Some questions are unanswered")
    _compact_logs(folder)
    _show_report(folder)
    _exit_if_unfinished(folder)


def report_unfinished(folder: "Folder", problem: str) -> None:
    """Print why work is unfinished, and how to continue."""
    advice = "run the command again with a larger --budget" if folder.is_spent else "run the command again"
    for reason in folder.unfinished:
        click.echo(f"{problem}: {reason.removesuffix('.')}. To continue, {advice}.", err=True)


def _exit_if_unfinished(folder: "Folder") -> None:
    if folder.unfinished:
        raise click.exceptions.Exit(NOT_FINISHED)


_BOT_EXAMPLES = format_examples(
    'duels bot check "cmd:python bot.py"', 'duels bot check "cmd:node bot.js" --games hunt'
)


@click.group(cls=Group, context_settings=HELP, epilog=_BOT_EXAMPLES)
def bot() -> None:
    """Check a bot program.

    docs/protocol.md describes the protocol that bots use.
    """


@bot.command(epilog=_BOT_EXAMPLES)
@click.argument("program", metavar='"cmd:COMMAND"')
@click.option("--games", default="lights,leap,chain,hunt,flip", show_default=True, help="Games to play.")
@click.option(
    "--move-seconds",
    type=click.FloatRange(0.01),
    default=10.0,
    show_default=True,
    help="Time limit per move.",
)
@click.option("--memory-mb", type=click.IntRange(16), default=2048, show_default=True, help="Memory limit.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list instead of lines.")
def check(program: str, games: str, move_seconds: float, memory_mb: int, as_json: bool) -> None:
    """Check that a program follows the protocol, and play a match in every game from both seats."""
    from duels.arena.bot_check import check_bot
    from duels.games import find_game
    from duels.players.program import ProgramLimits

    if not program.lower().startswith("cmd:"):
        raise click.UsageError('pass the program as "cmd:COMMAND", such as "cmd:python bot.py".')
    rules = [find_game(name).rules() for name in games.split(",")]
    limits = ProgramLimits(move_seconds=move_seconds, memory_mb=memory_mb)
    findings = []
    for finding in check_bot(program[len("cmd:") :], rules, limits):
        findings.append(finding)
        if not as_json:
            click.echo(str(finding))
    if as_json:
        click.echo(json.dumps([asdict(finding) for finding in findings], indent=2))
    if not all(finding.passed for finding in findings):
        raise click.exceptions.Exit(1)


@click.command(
    context_settings=HELP,
    epilog=format_examples(
        "duels exam chain --positions 200 --seed 1 --out exam.jsonl",
        "duels exam flip --positions 100 --out exam.parquet",
        "duels exam lights --option lights=9 --out nine.jsonl",
        "duels exam all --out exams",
    ),
)
@click.argument("game")
@click.option(
    "--positions", type=click.IntRange(2), default=200, show_default=True, help="Number of positions."
)
@click.option("--seed", default="1", show_default=True, help="The same seed draws the same positions.")
@click.option("--option", "options", multiple=True, metavar="NAME=VALUE", help="An option of the game.")
@click.option(
    "--out", required=True, type=NEW_PATH, help="Output file: .jsonl or .parquet. For all, a folder."
)
@force_option
def exam(game: str, positions: int, seed: str, options: tuple[str, ...], out: Path, force: bool) -> None:
    """Write graded positions for any test harness, and a card that describes them.

    The positions come from good play. Positions with more at stake are sampled more often; weights correct
    for this. GAME is a game, or `all` for an exam of each game in one folder.
    """
    from duels.arena.exam import explain_shortage, get_card_path, write_exam
    from duels.arena.progress_line import ProgressLine
    from duels.core.record import parse_options
    from duels.games import find_game

    if game == "all":
        _write_exam_set(positions, seed, options, out, force)
        return
    if out.is_dir():
        raise click.UsageError(f"{escape_unprintable(str(out))} is a folder; --out must be a file.")
    with usage_errors():
        game_class = find_game(game)
        rules = game_class.rules(**parse_options(game_class.rules_class(), " ".join(options)))
    refuse_existing(force, out, get_card_path(out))
    with ProgressLine() as line:
        count = write_exam(rules, positions, seed, out, line.show, overwrite=force)
    click.echo(f"{out}: {count} positions; {get_card_path(out)} describes them.", err=True)
    if shortage := explain_shortage(positions, count):
        click.echo(shortage, err=True)


def _write_exam_set(positions: int, seed: str, options: tuple[str, ...], out: Path, force: bool) -> None:
    from duels.arena.exam import README, get_card_path, list_exam_paths, write_exam_set
    from duels.arena.progress_line import ProgressLine

    if options:
        raise click.UsageError("--option needs one game, not all.")
    if out.exists() and not out.is_dir():
        raise click.UsageError(f"{escape_unprintable(str(out))} is a file; --out must be a folder.")
    paths = list_exam_paths(out)
    refuse_existing(force, *paths, *map(get_card_path, paths), out / README)
    with ProgressLine() as line:
        counts = write_exam_set(positions, seed, out, line.show, overwrite=force)
    click.echo(
        f"{out}: {', '.join(f'{count} positions of {game}' for game, count in counts.items())}.", err=True
    )
