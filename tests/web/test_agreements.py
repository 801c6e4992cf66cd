"""Takebacks, rematches and invitations need both visitors' consent."""

from tests.web.serving import Visitor, pair


def test_a_takeback_needs_the_other_s_consent(base: str) -> None:
    ann, bob, match = pair(base, "chain")
    ann.act(match, "4")
    assert ann.offer(match, "takeback").status_code == 204
    offer = {"what": "takeback", "by": "Player 1", "undoes_more": False}
    assert bob.see(match)["offer"] == {**offer, "mine": False}
    assert ann.offer(match, "takeback", "yes").status_code == 409, "not one's own"
    assert bob.offer(match, "takeback", "no").status_code == 204
    assert ann.see(match)["refused"] == {**offer, "mine": True}
    assert len(ann.see(match)["log"]) == 1
    ann.offer(match, "takeback")
    assert bob.offer(match, "takeback", "yes").status_code == 204
    assert ann.see(match)["log"] == []
    assert ann.see(match)["turn"] == "you"
    assert bob.offer(match, "takeback", "yes").status_code == 409
    ann.act(match, "4")
    ann.offer(match, "takeback")
    bob.act(match, "5")
    assert bob.offer(match, "takeback", "yes").status_code == 409, "it has lapsed"
    ann.offer(match, "takeback")
    assert bob.see(match)["offer"]["undoes_more"], "what he played since"


def test_only_yes_is_consent(base: str) -> None:
    ann, bob, match = pair(base, "leap")
    ann.act(match, "1")
    bob.act(match, "1")
    before = bob.see(match)["event"]
    ann.offer(match, "takeback")
    for answer in ("No", "maybe", "YES"):
        assert bob.offer(match, "takeback", answer).status_code == 422
    assert bob.offer(match, "takeback", event=before).status_code == 409, "he asks for his own move"
    assert len(bob.see(match)["log"]) == 4
    assert bob.offer(match, "takeback", "yes").status_code == 204
    assert len(bob.see(match)["log"]) == 2


def test_repeated_offers_and_answers_count_once(base: str) -> None:
    ann = Visitor(base)
    match = ann.start("lights", "random")
    ann.act(match, "1")
    ann.see_when(match, "you")
    ann.act(match, ann.see(match)["actions"][0]["action"])
    event = ann.see_when(match, "you")["event"]
    for _ in range(2):
        assert ann.offer(match, "takeback", event=event).status_code == 204
    assert len(ann.see(match)["log"]) == 2, "one decision was taken back, and not two"
    assert ann.offer(match, "takeback", event=event + 50).status_code == 409, "nobody was ever shown that"
    assert ann.post(f"{match}/offer", offer="takeback").status_code == 422
    ann, bob, match = pair(base, "chain")
    ann.act(match, "4")
    event = ann.see(match)["event"]
    ann.offer(match, "takeback")
    answered = bob.see(match)["event"]
    for _ in range(2):
        assert bob.offer(match, "takeback", "no", event=answered).status_code == 204
    assert ann.offer(match, "takeback", event=event).status_code == 204
    assert ann.see(match)["offer"] is None, "it was offered once, and declined"
    ann.offer(match, "takeback")
    answered = bob.see(match)["event"]
    for _ in range(2):
        assert bob.offer(match, "takeback", "yes", event=answered).status_code == 204
    assert ann.see(match)["log"] == []


def test_an_offer_can_be_withdrawn_only_before_it_is_accepted(base: str) -> None:
    ann, bob, match = pair(base, "chain")
    ann.act(match, "4")
    assert ann.offer(match, "takeback", "no").status_code == 409, "nothing is offered"
    ann.offer(match, "takeback")
    offered = [visitor.see(match)["event"] for visitor in (ann, bob)]
    for _ in range(2):
        assert ann.offer(match, "takeback", "no", event=offered[0]).status_code == 204
    assert (bob.see(match)["offer"], bob.see(match)["refused"]) == (None, None)
    assert ann.see(match)["event"] == offered[0] + 1, "it was withdrawn once"
    assert bob.offer(match, "takeback", "yes", event=offered[1]).status_code == 409
    assert len(ann.see(match)["log"]) == 1
    ann.offer(match, "takeback")
    offered = [visitor.see(match)["event"] for visitor in (ann, bob)]
    assert bob.offer(match, "takeback", "yes", event=offered[1]).status_code == 204
    assert ann.offer(match, "takeback", "no", event=offered[0]).status_code == 409
    assert ann.see(match)["log"] == []


def test_revealing_entries_cannot_be_taken_back_against_a_bot(base: str) -> None:
    ann = Visitor(base)
    match = ann.start("flip", "random")
    assert ann.offer(match, "takeback").status_code == 422
    ann.act(match, "A1")
    refused = ann.offer(match, "takeback")
    assert refused.status_code == 422
    assert "it revealed a secret or a chance outcome" in refused.json()["message"]
    match = ann.start("lights", "random")
    ann.act(match, "4")
    assert ann.offer(match, "takeback").status_code == 204
    assert ann.see(match)["log"] == []


def test_a_rematch_swaps_the_seats(base: str) -> None:
    ann, bob, match = pair(base, "lights")
    assert ann.offer(match, "rematch").status_code == 422, "it is not over"
    ann.act(match, "resign")
    ann.offer(match, "rematch")
    assert bob.offer(match, "rematch", "yes").status_code == 204
    again = f"/m/{ann.see(match)['rematch']}"
    assert bob.see(match)["rematch"] == ann.see(match)["rematch"]
    assert ann.see(again)["seat"] == 2
    assert bob.see(again)["seat"] == 1
    assert bob.see(again)["players"][0]["name"] == "Bob"
    assert bob.see(again)["turn"] == "you"
    assert bob.offer(match, "rematch").status_code == 204
    assert f"/m/{ann.see(match)['rematch']}" == again, "there is one"
    alone = ann.start("lights", "random")
    ann.act(alone, "resign")
    ann.offer(alone, "rematch")
    assert ann.see(f"/m/{ann.see(alone)['rematch']}")["seat"] == 2


def test_an_invitation_works_once_and_only_for_others(base: str) -> None:
    ann, bob, eve = Visitor(base), Visitor(base), Visitor(base)
    match = ann.start("lights", "friend")
    link = ann.see(match)["invite"]["link"]
    path = link[link.index("/j/") :]
    assert ann.get(path).json()["mine"]
    assert ann.post(path).status_code == 422
    first, again = bob.post(path), bob.post(path)
    assert (first.status_code, first.text) == (200, again.text), "pressed twice"
    back = bob.get(path)
    assert (back.status_code, back.headers["location"]) == (303, match), "the link leads back"
    late = eve.post(path)
    unknown = eve.post("/j/AAAAAAAAAAAAAAAAAAAAAA")
    assert (late.status_code, late.text) == (404, unknown.text)
    assert (eve.get(path).status_code, eve.get(path).text) == (404, unknown.text)
    assert ann.see(match)["invite"] is None


def test_an_invitation_shows_the_board_of_its_match(base: str) -> None:
    ann = Visitor(base)
    ann.get("/daily/lights")  # from now on, home shows today's position
    match = ann.see(ann.start("lights", "friend"))
    link = match["invite"]["link"]
    invited = Visitor(base).get(link[link.index("/j/") :]).json()["board"]
    page = ann.get("/g/lights").json()
    assert invited == page["board"]
    assert not {"today", "board_is_todays"} & page.keys(), "it is the start of a match"
    home = {game["name"]: game for game in ann.get("/").json()["games"]}
    assert home["lights"]["board"] != invited
    assert [home[name]["board_is_todays"] for name in ("lights", "hunt")] == [True, False]
