"""Malformed requests, names and database rows: the server rejects them, and others can play."""

import json
import logging
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any
from unicodedata import category
from urllib.parse import quote

import httpx

from duels.players import PLAYER_KINDS
from tests.attack.fuzzing import word
from tests.attack.harness import Case
from tests.web.serving import Visitor, pair, serving

_POSTS: dict[str, dict[str, Any]] = {
    "/matches": {"game": "lights", "against": "friend", "first": "me", "name": "Ann"},
    "/matches?": {"match": "a", "entries": 1, "against": "random"},
    "/review": {"record": "duels record 2"},
    "/daily": {"answered": {}},
    "/daily/lights": {"answer": "1", "date": "2026-01-01"},
    "/practice/lights": {"answer": "1", "seed": "7", "aim": "0.5", "skill": {}},
    "/j/{}": {"name": "Ann"},
    "/m/{}/act": {"action": "1", "event": 1},
    "/m/{}/offer": {"offer": "takeback", "answer": "", "event": 1},
    "/m/{}/device": {"remove": False},
    "/m/{}/withdraw": {"odd": 1},
    "/device": {"token": "a"},
}
_GETS = (
    "/{}",
    "/m/{}",
    "/m/{}/events",
    "/m/{}/record",
    "/j/{}",
    "/g/{}",
    "/lesson/{}",
    "/picture/{}",
    "/daily?result={}",
    "/practice/lights/hint?aim={}",
    "/static/{}",
    "/practice/lights?seed={}",
)
_NAME_PIECES = (
    *("You", "you", "Y", "o", "u", "о", "Υ", "Player", "P1ayer", "1", "2", "l", " ", "\xa0", "\u200b"),
    *("\u202e", "\u2066", "\u200d", "\ufe0f", "👩", "\U0001f3fd", "🚀", "🇩", "🇪", "\u0301", "é"),
    *("casual", "Ann", "Аnn", "(2)", "."),
)
_TABLES = {"matches": "id", "log": "match", "seats": "match", "invites": "match"}


@contextmanager
def quiet_server(**settings: Any) -> Iterator[tuple[str, Path, list[str]]]:
    """A server, its database and its log."""
    logged: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: logged.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger().addHandler(handler)
    try:
        with TemporaryDirectory() as folder:
            database = Path(folder) / "web.sqlite3"
            with serving(str(database), **settings) as base:
                yield base, database, logged
    finally:
        logging.getLogger().removeHandler(handler)


def _check(answer: httpx.Response) -> None:
    assert answer.status_code < 500, f"{answer.status_code}: {answer.text}"
    if answer.status_code >= 400 and answer.headers["content-type"] == "application/json":
        assert answer.json()["message"].count("\n") == 0


# -- odd text -----------------------------------------------------------------------------------------------


def odd_text(rng: Random) -> Iterator[Case]:
    """Odd text in every field, path and header is refused in one sentence, and nothing is logged."""
    with quiet_server(public_url="http://duels.example") as (base, _, logged):
        visitor = Visitor(base, Host="duels.example", Origin="http://duels.example")
        while True:
            path = rng.choice((*_POSTS, *_GETS))
            body = dict(_POSTS[path]) if path in _POSTS else None
            if body:
                body[rng.choice([*body])] = _value(rng)
            path = path.format(quote(_text(rng), safe="", errors="replace"))
            forwarded = rng.choice(("192.0.2.7", "2001:db8::1", "a:b", "::", "1:2", "a, b", "", "9" * 99))
            yield Case(
                f"{path} {str(body)[:200]!a} {forwarded}",
                partial(_send, visitor, path, body, forwarded, logged),
            )


def _text(rng: Random) -> str:
    return rng.choice((word(rng)[:200], "\ud800", "a\0"))


def _value(rng: Random) -> Any:
    text = _text(rng)
    return rng.choice(
        (text, text, text, [text], {text: text}, {"lights": {text: [text]}}, 1, -1, 10**30, None)
    )


def _send(visitor: Visitor, path: str, body: Any, forwarded: str, logged: list[str], _: Path) -> None:
    logged.clear()
    headers = {"X-Forwarded-For": forwarded}
    if body is None:
        _check(visitor.get(path, **headers))
    else:
        _check(visitor.post_raw(path, json.dumps(body).encode(), **headers))
    assert not logged, logged


# -- names --------------------------------------------------------------------------------------------------


def names(rng: Random) -> Iterator[Case]:
    """Names that imitate somebody: two people and the server's words stay distinct."""
    with quiet_server() as (base, _, _logged):
        ann, bob = Visitor(base), Visitor(base)
        while True:
            first, second = ("".join(rng.choices(_NAME_PIECES, k=rng.randint(1, 6))) for _ in range(2))
            second = rng.choice((first, first.upper(), f" {first}\u200b", second))
            yield Case(f"{first!a} and {second!a}", partial(_meet, ann, bob, first, second))


def _meet(ann: Visitor, bob: Visitor, first: str, second: str, _: Path) -> None:
    match = ann.start("lights", "friend", name=first)
    link = ann.see(match)["invite"]["link"]
    assert bob.post(link[link.index("/j/") :], name=second).status_code == 200
    names = [player["name"] for player in ann.see(match)["players"]]
    plain = ["".join(name.casefold().split()) for name in names]
    assert plain[0] != plain[1], f"both are called {names}"
    reserved = {"you", "your", *PLAYER_KINDS}
    for number, (name, key) in enumerate(zip(names, plain, strict=True), start=1):
        assert key not in reserved, f"somebody is called {name}"
        assert key != f"player{3 - number}", f"player {number} is called {name}"
        assert len(name) <= 30, name
        assert not [c for c in name.replace("\u200d", "") if category(c) == "Cf"], f"marks in {name!a}"


# -- damaged rows -------------------------------------------------------------------------------------------


def damaged_rows(rng: Random) -> Iterator[Case]:
    """One value in a row of a match is arbitrary: only that match may become unreadable."""
    with quiet_server() as (base, database, logged):
        ann, bob, match = pair(base, "lights", name="Ann")
        for visitor, action in ((ann, "1"), (bob, "2-3"), (ann, "4")):
            assert visitor.act(match, action).status_code == 204
        good = ann.start("leap", "friend").removeprefix("/m/")
        template = match.removeprefix("/m/")
        with closing(sqlite3.connect(database)) as db:
            rows = [
                (table, dict(zip([column[0] for column in found.description], row, strict=True)))
                for table, key in _TABLES.items()
                for found in [db.execute(f"SELECT * FROM {table} WHERE {key} = ?", (template,))]
                for row in found.fetchall()
            ]
        number = 0
        while True:
            number += 1
            index = rng.randrange(len(rows))
            column = rng.choice(
                [name for name in rows[index][1] if name not in ("id", "match", "identity", "token")]
            )
            value = rng.choice(
                (word(rng), word(rng).encode(errors="replace"), rng.choice((-1, 0, 3, 999, 1e300)))
            )
            if isinstance(value, str) and any("\ud800" <= c <= "\udfff" for c in value):
                value = b"\xff"
            copy = (number, rows, index, column, value)
            name = f"{rows[index][0]}.{column} = {str(value)[:60]!a}"
            yield Case(name, partial(_read_damaged, ann, database, good, copy, logged))


def _read_damaged(ann: Visitor, database: Path, good: str, copy: Any, logged: list[str], _: Path) -> None:
    number, rows, index, column, value = copy
    match = f"damaged-{number:08}"
    logged.clear()
    with closing(sqlite3.connect(database, timeout=30)) as db:
        with db:
            for at, (table, row) in enumerate(rows):
                new = {**row, _TABLES[table]: match} | ({"token": match} if "token" in row else {})
                new |= {column: value} if at == index else {}
                db.execute(
                    f"INSERT OR IGNORE INTO {table} VALUES ({', '.join('?' * len(new))})", [*new.values()]
                )
        try:
            listed = ann.get("/")
            _check(listed)
            assert good in {row["match"] for row in listed.json()["matches"] if not row["problem"]}
            for path in (f"/m/{match}", f"/m/{match}/record", f"/j/{match}", "/health", f"/m/{good}"):
                _check(ann.get(path))
            _check(ann.post(f"/m/{match}/act", action="5", event=5))
            assert len(logged) <= 1, logged
        finally:
            with db:
                for table, key in _TABLES.items():
                    db.execute(f"DELETE FROM {table} WHERE {key} = ?", (match,))
