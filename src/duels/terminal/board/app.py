"""The full screen: lets people choose and machines answer. It holds no rule, no secret, no word of a game."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from threading import get_ident
from time import monotonic
from typing import Any, ClassVar

from textual import events
from textual.app import App
from textual.binding import Binding, BindingType
from textual.content import Content

from duels.analysis.hints import Hint, hint
from duels.core.errors import DuelsError
from duels.core.narration import TextBoard
from duels.core.rules import Actor, Seat
from duels.play.live import LiveMatch
from duels.solving.oracles import get_oracle
from duels.terminal.board.background import BackgroundJob, run_in_background
from duels.terminal.board.choice import Choice
from duels.terminal.board.grid import find_changed_cells
from duels.terminal.board.keys import ARROWS, COMMANDS, HINT, QUIT, Command, SingleKeyFilter, help_text
from duels.terminal.board.scene import Page, QuestionPanel, Scene, SceneTexts
from duels.terminal.board.story import Story
from duels.terminal.board.view import ActionList, BoardView, Palette
from duels.terminal.keyboard import KEY_GAP_SECONDS
from duels.terminal.messages import (
    RESIGN_QUESTION,
    TAKEBACK_REFUSED,
    HintLayers,
    explain_takeback_refusal,
    find_solo_seat,
    format_consent_question,
    format_matchup,
    format_result,
    format_seat,
    format_takeback,
)
from duels.terminal.next_step import NextStep, get_next_steps, make_record
from duels.terminal.prompts import Quit
from duels.terminal.screen import format_key_prompt

AppResult = NextStep | BaseException
"""How the screen was left: with what comes next, or for this reason."""


class BoardApp(App[AppResult]):
    """One match on a full screen, until it is over and somebody says what comes next."""

    CSS_PATH = "board.tcss"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "interrupt", show=False, priority=True),
        Binding("ctrl+q", "command('quit')", show=False, priority=True),
        Binding("ctrl+z", "suspend_process", show=False, priority=True),
    ]

    def __init__(self, live: LiveMatch, moment: float = 0.0) -> None:
        super().__init__(ansi_color=True)
        self.animation_level = "none"
        self.live = live
        self.choice: Choice | None = None
        """What the person to decide is choosing; None while nobody is asked."""
        self._words = live.words
        self._pause = moment
        self._you = find_solo_seat(live)
        self._asked = self._you or Seat.ONE
        self._palette = Palette(self._asked)
        self._story = Story(live)
        self._before: TextBoard | None = None  # when the screen opened, or a person last decided
        self._note = ""
        self._waiting_for = BackgroundJob(self, self.notice)
        self._hints = {seat: HintLayers() for seat in Seat}
        self._ways_on: dict[NextStep, str] = {}
        self._after = SingleKeyFilter(self, self.action_after, self._say_which_key)
        self._decided = asyncio.Event()
        self._hurried = asyncio.Event()
        self._paused = False  # since a person last decided
        self._too_late = 0.0  # until then Enter was meant to cut the pause short
        self._heard_in: asyncio.AbstractEventLoop | None = None
        self._thread = 0
        self.told_to_leave: BaseException | None = None
        """What ended the program, if a signal did."""
        players = (
            format_matchup(live, self._you) if self._you else " and ".join(format_seat(live, s) for s in Seat)
        )
        game = live.match.rules.game
        self._scene = Scene(f"{game.title} ({game.name})", players, self._palette)

    def get_default_screen(self) -> Scene:
        return self._scene

    # -- coming and going -------------------------------------------------------------------------

    def on_ready(self) -> None:
        self._heard_in, self._thread = asyncio.get_running_loop(), get_ident()
        # Whoever stopped the program has written on its screen.
        self.app_resume_signal.subscribe(self, lambda _: self.refresh(layout=True))
        if self.told_to_leave:
            self.exit(self.told_to_leave)
        else:
            self.run_worker(self._play_to_the_end())

    def leave(self, why: BaseException) -> None:
        """Take the screen down; a signal's handler may call this at any time."""
        self.told_to_leave = why
        if self._heard_in:
            self._heard_in.call_soon_threadsafe(self.exit, why)

    def panic(self, *renderables: Any) -> None:
        """End at what a terminal cannot send (bytes that are no text), without pages of source."""
        super().panic()

    def action_interrupt(self) -> None:
        self.exit(KeyboardInterrupt())

    def notice(self, text: str) -> None:
        """Say something that is not part of the match; from any thread, as chance is drawn in another."""
        if self._heard_in and self._thread != get_ident():
            self._heard_in.call_soon_threadsafe(self.notice, text)
            return
        self._note = text
        self._draw()

    # -- the match --------------------------------------------------------------------------------

    async def _play_to_the_end(self) -> None:
        live = self.live
        self._before = self._board()
        try:
            while (actor := live.match.actor) is not None:
                if live.person_to_move:
                    await self._let_person_decide(live.person_to_move)
                else:
                    await self._let_machine_decide(actor)
        except (DuelsError, OSError) as problem:
            self.exit(problem)
            return
        suggested, self._ways_on = get_next_steps(live)
        if suggested:  # else what was last said stands: why a program forfeited, or what befell the file
            self._note = suggested
        self._draw()

    async def _let_machine_decide(self, actor: Actor) -> None:
        self._hurried.clear()
        self._draw()
        entry = await run_in_background(self.live.decide_next_entry)
        if entry.no_move:
            self.live.play_entry(entry)
            self.notice(str(entry.no_move))
            return
        if self._pause and (isinstance(actor, Seat) or self._story.ends_in_suspense):
            with suppress(TimeoutError):
                await asyncio.wait_for(self._hurried.wait(), self._pause)
            self._paused = True
        self.live.play_entry(entry)

    async def _let_person_decide(self, seat: Seat) -> None:
        sight = self.live.match.sight(seat)
        try:
            next(self._words.ask(sight))
        except StopIteration as nothing_asked:
            self.live.play(seat, nothing_asked.value)
            return
        self._asked = seat
        labels = {cell.label: cell.number for row in self._board().cells for cell in row}
        self.choice = Choice(sight, self._words, labels)
        self._decided.clear()
        self._draw()
        if self._paused:
            self._too_late, self._paused = monotonic() + KEY_GAP_SECONDS, False
        await self._decided.wait()

    def _enter(self, action: Any | None) -> None:
        """Play what was chosen, if anything was."""
        if action is None:
            self._draw()
        else:
            self._before = self._board()
            self._settle(lambda: self.live.play(self._asked, action))

    def _settle(self, change: Callable[[], None]) -> None:
        """Change the match, which ends what a person was asked."""
        self._waiting_for.nothing()
        self.choice, self._note = None, ""
        try:
            change()
        except (DuelsError, OSError) as problem:
            self.exit(problem)
        self._decided.set()

    # -- drawing ----------------------------------------------------------------------------------

    def on_scene_resized(self) -> None:
        self._draw()

    def _board(self) -> TextBoard:
        """The board, from what one seat may know; once the match is over, what the other had hidden too."""
        match, words = self.live.match, self._words
        board = words.board(match.sight(self._asked))
        if match.over and match.rules.has_secrets:  # then nothing is secret any more
            revealed = words.open_board(match.sight(Seat.ONE), match.sight(Seat.TWO))
            return replace(board, text=str(revealed))
        return board

    def _draw(self) -> None:
        if not self._scene.is_mounted:
            return
        board = self._board()
        new = find_changed_cells(self._before.cells, board.cells) if self._before else frozenset[int]()
        content = self._palette.content
        texts = SceneTexts(
            story=content(self._story.text),
            turn=self._turn(),
            question=content(self._question()),
            note=content(self.choice.refusal if self.choice and self.choice.refusal else self._note),
            keys=self._keys(),
            leave="q" if self._ways_on else self._key(QUIT),
        )
        self._scene.show(board, self.choice, new, texts)

    def _turn(self) -> Content:
        content, live = self._palette.content, self.live
        if live.match.outcome:
            return content(format_result(live, self._you) if self._you else live.match.outcome.reason)
        if not self.choice:
            actor = live.match.actor
            return content(f"{live.names[actor]} is thinking …" if isinstance(actor, Seat) else "…")
        turn = content("Your turn." if self._you else f"{format_seat(live, self._asked)}, your turn.")
        several = len(self.choice.kinds) > 1
        for number, kind in enumerate(self.choice.kinds if several or self.choice.kind else ()):
            mark, style = ("(•)", "bold") if kind == self.choice.kind else ("( )", "none")
            markup = f"   [{style} @click=app.kind({number})]$shown[/]"
            turn += Content.from_markup(markup, shown=f"{mark} {kind or 'other'}")
        return turn + Content.styled("   Tab changes", "dim") if several else turn

    def _question(self) -> str:
        if not self.choice:
            return ""
        return f"{self.choice.question} {self.choice.typed}{'_' if self.choice.typed else ''}"

    def _keys(self) -> Content:
        """The keys that do something now; they can be clicked."""
        if self._ways_on:
            keys = [(after.value, what, f"after('{after.value}')") for after, what in self._ways_on.items()]
        else:
            keys = [
                (self._key(c), c.name, f"command('{c.name}')") for c in COMMANDS if self.choice or c.always
            ]
        shown = [
            Content.from_markup(f"[@click=app.{action}][bold]$key[/bold] $what[/]", key=key, what=what)
            for key, what, action in keys
        ]
        choosing = [Content.from_markup("[bold]arrows Enter[/bold] choose")] if self.choice else []
        return _in_rows([*choosing, *shown], self.size.width - 2)

    def _key(self, command: Command) -> str:
        """What gives a command now: the game may have a meaning of its own for the letter."""
        taken = self.choice is not None and self.choice.takes(command.letter)
        return command.key.upper() if taken else command.letter

    # -- choosing ---------------------------------------------------------------------------------

    def on_key(self, event: events.Key) -> None:
        if self.screen is not self._scene:
            return
        self._hurried.set()
        key = event.key
        letter = (event.character or "").lower()
        if self.choice and self._chosen_by(self.choice, key, letter):
            event.prevent_default()
            return
        command = next((c for c in COMMANDS if key == c.key or letter == c.letter), None)
        after = [after.value for after in self._ways_on]
        if after and not (command and command.always and letter not in after):
            self._after.press(letter if letter.isprintable() and letter else key, after)
        elif command:
            self.action_command(command.name)
        elif self.choice and event.is_printable:
            self.choice.refuse(self.choice.typed + (event.character or ""))
            self._draw()

    def _chosen_by(self, choice: Choice, key: str, letter: str) -> bool:
        """Let a key choose; whether it was one that does."""
        board, listed = self._scene.board, self._scene.listed
        if key in ARROWS:
            (listed if choice.listed else board).move(ARROWS[key])
        elif key in ("tab", "shift+tab"):
            choice.switch_on()
            self._draw()
        elif key in ("escape", "backspace"):
            choice.clear()
            self._draw()
        elif key in ("enter", "space"):
            if monotonic() >= self._too_late:
                self._confirm(choice)
        elif letter.isprintable() and letter and choice.takes(letter):
            self._enter(choice.type(letter))
        else:
            return False
        return True

    def _confirm(self, choice: Choice) -> None:
        board, listed = self._scene.board, self._scene.listed
        if choice.typed:
            self._enter(choice.confirm())
        elif listed.current and choice.listed:
            self._enter(listed.current.action)
        elif board.cursor is not None:
            self._enter(choice.pick(board.cursor))

    def on_board_view_picked(self, event: BoardView.Picked) -> None:
        self._hurried.set()
        if self.choice and self.screen is self._scene:
            self._enter(self.choice.pick(event.cell))

    def on_action_list_picked(self, event: ActionList.Picked) -> None:
        if self.choice and event.option in self.choice.listed and self.screen is self._scene:
            self._enter(event.option.action)

    def action_kind(self, number: int) -> None:
        """Do something else."""
        if self.choice:
            self.choice.switch(self.choice.kinds[number])
            self._draw()

    # -- beside choosing --------------------------------------------------------------------------

    def action_after(self, key: str) -> None:
        """Go on after the match."""
        if NextStep(key) is NextStep.REVIEW:
            self._review()
        else:
            self.exit(NextStep(key))

    def _say_which_key(self) -> None:
        self.notice(format_key_prompt([after.value for after in self._ways_on]))

    def action_command(self, name: str) -> None:
        """Carry out a command; most can be given only by whoever is to decide."""
        if name == "quit":
            self.exit(NextStep.QUIT if self.live.match.over else Quit())
        elif self.screen is not self._scene:
            return
        elif name == "help":
            self.push_screen(Page(f"{help_text()}\n{self.live.match.rules.game.card()}", self._palette))
        elif name == "review" and self.choice:
            self._review()
        elif self.choice:
            commands = {"hint": self._hint, "undo": self._undo, "resign": self._resign}
            commands[name](self.choice)

    def _ask(self, question: str, choice: Choice, answered: Callable[[bool], None]) -> None:
        """Ask before the next key is heard; an answer counts while what was asked for is being chosen."""

        def answer(yes: bool | None) -> None:
            if self.choice is choice:
                answered(bool(yes))

        self.push_screen(QuestionPanel(question), answer)

    def _resign(self, choice: Choice) -> None:
        self._waiting_for.nothing()

        def resign(yes: bool) -> None:
            if yes:
                self._settle(lambda: self.live.resign(self._asked))

        self._ask(RESIGN_QUESTION, choice, resign)

    def _undo(self, choice: Choice) -> None:
        self._waiting_for.nothing()
        back = self.live.find_takeback(self._asked)
        refusal = explain_takeback_refusal(self.live, back)
        if refusal or not back:
            self.notice(refusal)
            return

        def take_back(agreed: bool) -> None:
            if not agreed:
                self.notice(TAKEBACK_REFUSED)
                return
            self._settle(lambda: self.live.take_back(back))
            self._before = self._board()
            self._story.forget()
            self._note = format_takeback(back)

        question = format_consent_question(self.live, back)
        if question:
            self._ask(question, choice, take_back)
        else:
            take_back(True)

    def _hint(self, choice: Choice) -> None:
        sight = self.live.match.sight(self._asked)

        def show(found: Hint[Any]) -> None:
            cells = choice.turn_to(found.actions[0])
            advice = f"Hint: {found.advice} Why: press {self._key(HINT)} again."
            self.notice(self._hints[self._asked].select(sight, advice, f"Hint: {found.text}"))
            if cells:
                self._scene.board.point_at(min(cells))

        self._waiting_for.result("thinking", lambda told: hint(sight, get_oracle(sight.rules, told)), show)

    def _review(self) -> None:
        from duels.analysis.review import review_record
        from duels.terminal.review import render_review

        record = make_record(self.live)
        width = max(20, self.size.width - 4)
        self._waiting_for.result(
            "reviewing",
            lambda told: render_review(review_record(record, told), width),
            lambda text: self.push_screen(Page(text, self._palette)),
        )


def _in_rows(keys: Sequence[Content], width: int) -> Content:
    """The keys side by side, in rows that are broken between two of them."""
    rows = [Content()]
    for key in keys:
        longer = rows[-1] + "  " + key if rows[-1] else key
        if longer.cell_length <= width or not rows[-1]:
            rows[-1] = longer
        else:
            rows.append(key)
    return Content("\n").join(rows)
