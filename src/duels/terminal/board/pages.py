"""What is shown over the board for a while: a text to read, a question to answer."""

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen, Screen
from textual.widgets import Static

from duels.terminal.board.ink import Palette
from duels.terminal.layout import wrap


class Page(Screen[None]):
    """A text as long as it likes; it is left by Escape, Enter or q."""

    DEFAULT_CSS = """
    Page { background: ansi_default; color: ansi_default; }
    Page #text { height: 1fr; padding: 0 1; background: ansi_default; color: ansi_default; }
    Page #way { dock: bottom; height: 1; padding: 0 1; text-style: dim; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        ("escape,enter,q,backspace", "leave", "Back"),
        ("down,j", "scroll(1)", "Down"),
        ("up,k", "scroll(-1)", "Up"),
        ("pagedown,space", "page(1)", "Next page"),
        ("pageup,b", "page(-1)", "Page before"),
        ("home", "scroll_to(False)", "Top"),
        ("end", "scroll_to(True)", "Bottom"),
    ]

    def __init__(self, text: str, palette: Palette) -> None:
        super().__init__()
        self._text = text
        self._palette = palette

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="text", can_focus=False):
            yield Static(id="words")
        yield Static(
            "Escape goes back to the board; up, down, space, Home and End scroll.", id="way", markup=False
        )

    def on_resize(self, event: events.Resize) -> None:
        text = wrap(self._text, max(20, event.size.width - 4))
        self.query_one("#words", Static).update(self._palette.content(text))

    def action_leave(self) -> None:
        self.dismiss()

    def action_scroll(self, lines: int) -> None:
        self.query_one("#text").scroll_relative(y=lines, animate=False)

    def action_scroll_to(self, end: bool) -> None:
        text = self.query_one("#text")
        text.scroll_to(y=text.max_scroll_y if end else 0, animate=False)

    def action_page(self, pages: int) -> None:
        text = self.query_one("#text")
        text.scroll_relative(y=pages * (text.size.height - 1), animate=False)


class Ask(ModalScreen[bool]):
    """A question to be answered by y or n."""

    DEFAULT_CSS = """
    Ask { align: center middle; background: transparent; color: ansi_default; }
    Ask #box { width: auto; max-width: 90%; height: auto; border: round ansi_default; padding: 1 3;
        background: ansi_default; }
    Ask Static { width: auto; height: auto; background: ansi_default; color: ansi_default; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        ("y", "answer(True)", "Yes"),
        ("n,escape", "answer(False)", "No"),
    ]

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = question

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield Static(f"{self._question}\n", markup=False)
            yield Static(
                Content.from_markup(
                    "[@click=screen.answer(True)][bold]y[/bold] yes[/]    "
                    "[@click=screen.answer(False)][bold]n[/bold] no[/]"
                )
            )

    def action_answer(self, yes: bool) -> None:
        self.dismiss(yes)
