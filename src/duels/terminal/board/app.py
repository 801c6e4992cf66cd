"""The Textual application of the full-screen board."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from threading import current_thread, main_thread
from time import monotonic
from typing import Any, ClassVar

from textual import events, work
from textual.app import App
from textual.binding import Binding, BindingType
from textual.content import Content

from duels.analysis.hints import Hint, hint
from duels.core.errors import DuelsError, IllegalMove
from duels.core.narration import TextBoard
from duels.core.rules import Actor, Seat
from duels.play.live import LiveMatch
from duels.play.narrator import format_board_number
from duels.solving.oracles import get_oracle
from duels.terminal import messages
from duels.terminal.board import keys
from duels.terminal.board.background import BackgroundJob, run_in_background
from duels.terminal.board.choice import Choice
from duels.terminal.board.grid import Point, find_changed_cells
from duels.terminal.board.scene import Curtain, Page, QuestionPanel, Scene, SceneTexts
from duels.terminal.board.story import Story
from duels.terminal.board.view import Palette
from duels.terminal.keyboard import KEY_GAP_SECONDS
from duels.terminal.next_step import NextStep, get_step_labels, review_live_match
from duels.terminal.prompts import Quit
from duels.terminal.screen import format_key_prompt

ARROWS: dict[str, Point] = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}
_PROPOSALS = {
    "undo": messages.propose_takeback,
    "resign": messages.propose_resignation,
    "stop": messages.propose_stop,
}

AppResult = NextStep | BaseException
"""The next step that the person chose, or the exception that ended the match."""


class BoardApp(App[AppResult]):
    """One match on the full screen. It runs until a person chooses the next step or leaves."""

    CSS_PATH = "board.tcss"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "interrupt", show=False, priority=True),
        Binding("ctrl+q", "command('quit')", show=False, priority=True),
        Binding("ctrl+z", "suspend_process", show=False, priority=True),
    ]

    def __init__(self, live: LiveMatch, pause_seconds: float = 0.0, in_menu: bool = False) -> None:
        super().__init__(ansi_color=True)
        self.animation_level = "none"
        self.live = live
        self.choice: Choice | None = None
        """The open choice, or None while no person is to move."""
        self._words = live.words
        self._pause_seconds = pause_seconds
        self._in_menu = in_menu
        self._you = messages.find_solo_seat(live)
        self._seat = self._you or Seat.ONE  # the person who moved last or is to move
        self._palette = Palette(self._seat)
        self._must_hide_secrets = live.match.rules.has_hidden_information and len(live.people) == 2
        """Whether the screen must hide the secrets of two people from each other."""
        self._seat_at_keyboard: Seat | None = None  # used if two people share the keyboard
        viewers = [live.people, frozenset[Seat](), *(frozenset({seat}) for seat in Seat)]
        self._stories = {seats: Story(live, seats) for seats in viewers}
        self._previous_board = self._make_board()  # before the last decision of a person
        self._note = ""
        self._job = BackgroundJob(self, self.notice)
        self._hints = {seat: messages.HintStages() for seat in Seat}
        self._next_steps: dict[NextStep, str] = {}
        self._step_keys = keys.SingleKeyFilter(self, self.action_next_step, self._show_valid_keys)
        self._choice_closed = asyncio.Event()
        self._skip_pause = asyncio.Event()
        self._has_paused = False  # since the last decision of a person
        self._ignore_enter_until = 0.0  # it may have been pressed to skip a pause
        self._running_loop: asyncio.AbstractEventLoop | None = None
        self.exit_request: BaseException | None = None
        """The exception for a signal that asks the program to exit."""
        players = " and ".join(messages.format_seat(live, seat) for seat in Seat)
        if self._you:
            players = messages.format_matchup(live, self._you)
        game = live.match.rules.game
        self._scene = Scene(game.full_title, players, self._palette)

    def get_default_screen(self) -> Scene:
        return self._scene

    def on_ready(self) -> None:
        self._running_loop = asyncio.get_running_loop()
        # Redraw after a suspension: the shell has written on the screen.
        self.app_resume_signal.subscribe(self, lambda _: self.refresh(layout=True))
        if self.exit_request:
            self.exit(self.exit_request)
        else:
            self._play_match()

    def leave(self, reason: BaseException) -> None:
        """Close the screen. A signal handler may call this at any time."""
        self.exit_request = reason
        if self._running_loop:
            self._running_loop.call_soon_threadsafe(self.exit, reason)

    def panic(self, *renderables: Any) -> None:
        """Exit without printing a traceback, for example after undecodable input."""
        super().panic()

    def action_interrupt(self) -> None:
        self.exit(KeyboardInterrupt())

    def notice(self, text: str) -> None:
        """Show a notice. Any thread may call this."""
        if self._running_loop and current_thread() is not main_thread():
            self._running_loop.call_soon_threadsafe(self.notice, text)
            return
        self._note = text
        self._draw()

    @work  # the coroutine is created when the worker starts: the app may exit before that
    async def _play_match(self) -> None:
        live = self.live
        try:
            while (actor := live.match.actor) is not None:
                if live.person_to_move:
                    await self._let_person_decide(live.person_to_move)
                else:
                    await self._let_machine_decide(actor)
        except (DuelsError, OSError) as error:
            self.exit(error)
            return
        if isinstance(self.screen, Curtain):
            self.pop_screen()
        self._next_steps = get_step_labels(self._in_menu)
        self._draw()

    async def _let_machine_decide(self, actor: Actor) -> None:
        self._skip_pause.clear()
        self._draw()
        entry = await run_in_background(self.live.decide_next_entry)
        if entry.no_move:
            self.live.play_entry(entry)
            self.notice(str(entry.no_move))
            return
        if self._pause_seconds and (isinstance(actor, Seat) or self._story.ends_in_suspense):
            with suppress(TimeoutError):
                await asyncio.wait_for(self._skip_pause.wait(), self._pause_seconds)
            self._has_paused = True
        self.live.play_entry(entry)

    async def _let_person_decide(self, seat: Seat) -> None:
        sight = self.live.match.sight(seat)
        try:
            next(self._words.ask(sight))
        except StopIteration as only_action:
            self.live.play(seat, only_action.value)
            return
        if self._must_hide_secrets and self._seat_at_keyboard is not seat:
            self._lower_curtain(seat)
        self._seat = seat
        labels = {cell.label: cell.number for row in self._make_board().cells for cell in row}
        self.choice = Choice(sight, self._words, labels)
        self._choice_closed.clear()
        self._draw()
        if self._has_paused:
            self._ignore_enter_until, self._has_paused = monotonic() + KEY_GAP_SECONDS, False
        await self._choice_closed.wait()

    def _lower_curtain(self, seat: Seat) -> None:
        """Hide the match until this person has the keyboard."""
        leave = f"q {'menu' if self._in_menu else 'quit'}"
        request = f"Pass the keyboard to {messages.format_seat(self.live, seat)}, then press Enter.\n{leave}"
        content = self._palette.make_content
        curtain = Curtain(content(self._stories[frozenset()].text), content(request))
        if isinstance(self.screen, Curtain):
            self.switch_screen(curtain)
        else:
            self.push_screen(curtain)
        self._seat_at_keyboard = self._seat = seat
        self._previous_board = self._make_board()
        self._scene.forget_choice()

    @property
    def _story(self) -> Story:
        shows_one_seat = self._must_hide_secrets and not self.live.match.over
        return self._stories[frozenset({self._seat}) if shows_one_seat else self.live.people]

    def _play_or_redraw(self, action: Any | None) -> None:
        if action is None:
            self._draw()
        else:
            self._previous_board = self._make_board()
            self._change_match(lambda: self.live.play(self._seat, action))

    def _change_match(self, change: Callable[[], None]) -> None:
        """Change the match and close the open choice."""
        self._job.cancel()
        self.choice, self._note = None, ""
        try:
            change()
        except (DuelsError, OSError) as error:
            self.exit(error)
        self._choice_closed.set()

    def action_redraw(self) -> None:
        self._draw()

    def _make_board(self) -> TextBoard:
        """Make the board as the person sees it. After the match, it also shows the opponent's secrets."""
        match, words, names = self.live.match, self._words, messages.name_players(self.live)
        sight = match.sight(self._seat)
        board = words.solo_board(sight, names.name(self._seat.other)) or words.board(sight)
        if match.over and match.rules.has_hidden_information:
            revealed = words.open_board(match.sight(Seat.ONE), match.sight(Seat.TWO), names=names)
            return replace(board, text=str(revealed))
        return board

    def _draw(self) -> None:
        is_nobody_at_keyboard = (
            self._must_hide_secrets and not self._seat_at_keyboard and not self.live.match.over
        )
        if is_nobody_at_keyboard or not self._scene.is_mounted:
            return
        board = self._make_board()
        changed = find_changed_cells(self._previous_board.cells, board.cells)
        content, number = self._palette.make_content, format_board_number(self.live.match)
        texts = SceneTexts(
            story=content(self._story.text),
            turn=self._render_turn() + (f"   {number}." if number else ""),
            question=content(self._format_question()),
            note=content(self.choice.rejection if self.choice and self.choice.rejection else self._note),
            keys=self._render_keys(),
            leave_key="q" if self._next_steps else self._get_key(keys.QUIT),
        )
        self._scene.show(board, self.choice, changed, texts)

    def _render_turn(self) -> Content:
        content, live, outcome = self._palette.make_content, self.live, self.live.match.outcome
        if outcome:
            reason = outcome.sentence.render(messages.name_players(live))
            result = messages.format_result(live, self._you) if self._you else reason
            return content(f"{result} {messages.format_score(live)}".rstrip())
        if not self.choice:
            actor = live.match.actor
            if isinstance(actor, Seat) and actor not in live.people:
                return content(f"{live.names[actor]} is thinking …")
            return content("…")
        turn = content("Your turn." if self._you else f"{messages.format_seat(live, self._seat)}, your turn.")
        has_kinds = len(self.choice.kinds) > 1
        for number, kind in enumerate(self.choice.kinds if has_kinds else ()):
            mark, style = ("(•)", "bold") if kind == self.choice.kind else ("( )", "none")
            markup = f"   [{style} @click=app.kind({number})]$label[/]"
            turn += Content.from_markup(markup, label=f"{mark} {kind or 'other'}")
        return turn + Content.styled("   Tab changes", "dim") if has_kinds else turn

    def _format_question(self) -> str:
        if not self.choice:
            return ""
        return f"{self.choice.question} {self.choice.typed_text}{'_' if self.choice.typed_text else ''}"

    def _render_keys(self) -> Content:
        if self._next_steps:
            labels = [
                (step.value, label, f"next_step('{step.value}')") for step, label in self._next_steps.items()
            ]
        else:
            labels = [
                (self._get_key(command), command.name, f"command('{command.name}')")
                for command in keys.list_commands(self.live.match.rules)
                if (self.choice or command.works_anytime)
                and (command is not keys.STOP or self.live.match.can_stop)
            ]
        contents = [
            Content.from_markup(f"[@click=app.{action}][bold]$key[/bold] $label[/]", key=key, label=label)
            for key, label, action in labels
        ]
        if self.choice:
            contents.insert(0, Content.from_markup("[bold]arrows[/bold] choose"))
        return _arrange_in_rows(contents, self.size.width - 2)

    def _get_key(self, command: keys.Command) -> str:
        """Return the command's letter, or its function key if the game uses the letter."""
        is_taken = self.choice is not None and self.choice.accepts(command.letter)
        return command.key.upper() if is_taken else command.letter

    def on_key(self, event: events.Key) -> None:
        if self.screen is not self._scene:
            return
        self._skip_pause.set()
        key = event.key
        letter = (event.character or "").lower()
        if self.choice and self._handle_choice_key(self.choice, key, letter):
            event.prevent_default()
            return
        commands = keys.list_commands(self.live.match.rules)
        command = next((c for c in commands if key == c.key or letter == c.letter), None)
        step_keys = [step.value for step in self._next_steps]
        if step_keys and not (command and command.works_anytime and letter not in step_keys):
            self._step_keys.press(letter if letter.isprintable() and letter else key, step_keys)
        elif command:
            self.action_command(command.name)
        elif self.choice and event.is_printable:
            self.choice.reject(self.choice.typed_text + (event.character or ""))
            self._draw()

    def _handle_choice_key(self, choice: Choice, key: str, letter: str) -> bool:
        """Handle a key that the choice uses. Return False if it does not use the key."""
        board, action_list = self._scene.board, self._scene.action_list
        if key in ARROWS:
            (action_list if choice.listed_options else board).move(ARROWS[key])
        elif key in ("tab", "shift+tab"):
            choice.switch_to_next_kind()
            self._draw()
        elif key in ("escape", "backspace"):
            choice.clear()
            self._draw()
        elif key in ("enter", "space"):
            if monotonic() >= self._ignore_enter_until:
                self._confirm(choice)
        elif letter.isprintable() and letter and choice.accepts(letter):
            self._play_or_redraw(choice.type_letter(letter))
        else:
            return False
        return True

    def _confirm(self, choice: Choice) -> None:
        board, action_list = self._scene.board, self._scene.action_list
        if choice.typed_text:
            self._play_or_redraw(choice.confirm())
        elif action_list.current and choice.listed_options:
            self._play_or_redraw(action_list.current.action)
        elif board.cursor is not None:
            self._play_or_redraw(choice.pick(board.cursor))

    def action_pick(self, cell: int) -> None:
        self._skip_pause.set()
        if self.choice and self.screen is self._scene:
            self._play_or_redraw(self.choice.pick(cell))

    def action_pick_listed(self, number: int) -> None:
        if self.choice and self.screen is self._scene:
            self._play_or_redraw(self.choice.listed_options[number].action)

    def action_kind(self, number: int) -> None:
        if self.choice:
            self.choice.switch(self.choice.kinds[number])
            self._draw()

    def action_next_step(self, key: str) -> None:
        if NextStep(key) is NextStep.REVIEW:
            self._review()
        else:
            self.exit(NextStep(key))

    def _show_valid_keys(self) -> None:
        self.notice(format_key_prompt([step.value for step in self._next_steps]))

    def action_command(self, name: str) -> None:
        """Run a command. Most commands work only while a person is to move."""
        if name == "quit":
            self.exit(NextStep.QUIT if self.live.match.over else Quit())
        elif self.screen is not self._scene:
            return
        elif name == "help":
            rules = self.live.match.rules
            self.push_screen(Page(f"{keys.format_key_help(rules)}\n{rules.game.card()}", self._palette))
        elif name == "review" and self.choice:
            self._review()
        elif name == "hint" and self.choice:
            self._hint(self.choice)
        elif name == "undo" and self.choice and not self._must_hide_secrets:
            self._undo(self.choice)
        elif self.choice:
            self._propose(_PROPOSALS[name], self.choice, self._seat)

    def _undo(self, choice: Choice) -> None:
        """Propose a takeback. If it is unclear whose decision is meant, ask."""
        seats = messages.find_undo_seats(self.live, self._seat)
        if len(seats) == 1:
            self._propose(messages.propose_takeback, choice, seats[0])
            return

        def handle_answer(yes: bool | None) -> None:
            self._propose(messages.propose_takeback, choice, self._seat.other if yes else self._seat)

        other = messages.name_people(self.live).name(self._seat.other)
        self.push_screen(QuestionPanel(f"Take back only the last decision of {other}?"), handle_answer)

    def _propose(
        self, make_proposal: Callable[[LiveMatch, Seat], messages.Proposal], choice: Choice, seat: Seat
    ) -> None:
        self._job.cancel()
        try:
            proposal = make_proposal(self.live, seat)
        except IllegalMove as error:
            self.notice(str(error))
            return

        def handle_answer(yes: bool | None) -> None:
            if self.choice is not choice:
                return  # the question is about a choice that was closed
            if not yes:
                self.notice(proposal.refusal)
                return
            self._seat_at_keyboard = None
            self._change_match(proposal.carry_out)
            self._previous_board = self._make_board()
            for story in self._stories.values():
                story.truncate()
            self._note = proposal.confirmation

        if proposal.question:
            if self._must_hide_secrets and proposal.needs_consent:
                # The other person answers. If the answer is no, this person gets the keyboard back.
                self._lower_curtain(self._seat)
            self.push_screen(QuestionPanel(proposal.question), handle_answer)
        else:
            handle_answer(True)

    def _hint(self, choice: Choice) -> None:
        sight = self.live.match.sight(self._seat)
        stages, opponent = self._hints[self._seat], messages.find_known_opponent(self.live, self._seat)

        def show(result: Hint[Any]) -> None:
            request = f"Press {self._get_key(keys.HINT)} again"
            text = stages.select(sight, result, result.stages[1], request)
            if self._scene.has_room_for(text):
                self.notice(text)
            else:
                self.push_screen(Page(text, self._palette))
            if stages.names_move and (cells := choice.select_kind_of(result.actions[0])):
                self._scene.board.point_at(min(cells))

        self._job.start(
            "thinking", lambda progress: hint(sight, get_oracle(sight.rules, progress), opponent), show
        )

    def _review(self) -> None:
        from duels.terminal.review import render_review

        width = max(20, self.size.width - 4)
        self._job.start(
            "reviewing",
            lambda progress: render_review(review_live_match(self.live, progress), width, reasons_first=True),
            lambda text: self.push_screen(Page(text, self._palette)),
        )


def _arrange_in_rows(contents: Sequence[Content], width: int) -> Content:
    rows = [contents[0]]
    for content in contents[1:]:
        longer = rows[-1] + "  " + content
        if longer.cell_length <= width:
            rows[-1] = longer
        else:
            rows.append(content)
    return Content("\n").join(rows)
