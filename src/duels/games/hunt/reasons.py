"""Why to do in hunt what the strategy does, in a sentence or two that follow from the numbers shown."""

from duels.core.notation import listed
from duels.core.rules import Sight
from duels.core.words import either
from duels.games.hunt.rules import Action, Known, Move, Phase
from duels.solving.oracle import Judged, Verdict

MOSTLY = 0.6
"""Above it one action is what to do, with exceptions; below, mixing itself is the advice."""


def why(sight: Sight[Action, Known], verdict: Verdict[Action], at: dict[int, float]) -> str:
    """Why the best is best; `at`: where the other token may be, by cell."""
    best = [judged for judged in verdict.actions if judged.best]
    mostly = max(best, key=lambda judged: judged.weight)
    often = either([judged.action.cell for judged in best])
    clear = mostly.weight > MOSTLY
    if sight.view.phase is Phase.OBSERVE:
        return _reason_to_name(sight, at, mostly.action.cell if clear else None)
    if sight.view.cell == 0:
        where = "anywhere" if len(best) == len(at) else f"on {often}"
        return f"Enter {where}, at random, so that nothing can be guessed, and keep the tunnel."
    if not clear:
        return (
            f"Be on {often}, at random: whichever you always chose, the other player would learn "
            "to name, so what one is worth against the strategy decides little."
        )
    return _reason_to_go(sight, at, verdict, mostly)


def _reason_to_name(sight: Sight[Action, Known], at: dict[int, float], mostly: int | None) -> str:
    """Why to name the cell `mostly`, or, where there is none, why to mix; `at`: where the other may be."""
    if not any(at.values()):
        return "The other token is still off the grid: any observation misses, so give nothing away."
    # On the own cell it could not be found any more: that was a collision.
    nameable = [action.cell for action in sight.actions if action.cell != sight.view.cell]
    likeliest = max(nameable, key=at.__getitem__)
    if mostly is None:
        return (
            f"Of the positions that you may name, {likeliest} is the likeliest place of the other token, "
            f"about {at[likeliest]:.0%}; but names that can be foreseen tell it where to hide: mix them."
        )
    why = ", the likeliest place that you may name" if mostly == likeliest else ""
    return f"Mostly name {mostly}: the other token is there with a chance of about {at[mostly]:.0%}{why}."


def _reason_to_go(
    sight: Sight[Action, Known], at: dict[int, float], verdict: Verdict[Action], mostly: Judged[Action]
) -> str:
    """Why to be on one cell most of the time."""
    here, cell = sight.view.cell, mostly.action.cell
    if cell == here:
        beside = [c for c in (here - 1, here + 1) if c in at]
        risks = listed([f"{c} with a chance of about {at[c]:.0%}" for c in beside])
        told = f"Mostly stay: the other token is on {risks}, and whoever moves onto it loses."
        step = max(
            (j for j in verdict.actions if j.action in (Move(here - 1), Move(here + 1))),
            key=lambda judged: judged.value.number,
        )
        gain = step.value.number - mostly.value.number
        if gain < 0.0005:
            return told
        return (
            f"{told} Going to {step.action.cell} looks better by about {100 * gain:.1f} points, "
            "but done often it would be foreseen."
        )
    (stay,) = (j.value.number for j in verdict.actions if j.action == Move(here))
    there = f"Mostly step to {cell}, where the other token is with a chance of about {at[cell]:.0%}"
    lost = mostly.value.number - stay
    if lost < 0.0005:
        return f"{there}; now and then step elsewhere, so that you cannot be found by habit."
    return f"{there}; on {here} you are easier to find, which costs about {100 * lost:.1f} points."
