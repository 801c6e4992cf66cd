"""Writes docs/baselines.md and its pictures from what `make baselines` measured: no number is typed by hand.

python docs/baselines/build.py          writes them from the JSON files beside this script
python docs/baselines/build.py --check  fails if they are not what the files say
"""

import sys
from pathlib import Path

from runs import FORMS, LEARNERS, NEAR, Baseline, Form, measured, near_in_words, spread

sys.path.insert(0, str(Path(__file__).parents[1] / "performance"))
sys.path.insert(0, str(Path(__file__).parents[1] / "solved"))

import charts
from pieces import table

DOCS = Path(__file__).parents[1]
COLUMNS = ("learner", "steps", "exploitability in the end", "perfect after", "time")

HEAD = f"""\
# Baselines

How far simple learners come, and in how many steps. `make baselines` runs them, each over five seeds and with
the same settings in every game, and writes this page. [Exploitability](environments/grading.md) is exact: 0
is perfect play, one half the worst. Lines are medians over the seeds; bands go from the best seed to the
worst. One seed says little: report several, with their range.

All three learn in self-play, on arrays of games. A step is a decision that is learned from. What is graded is
the policy without the random moves with which it explores. In lights and leap, where there is no chance
either, the best opponent beats such a policy always or never, so lines drop at once.

Settings come from a few trials on these games and are not tuned further.

In chain a game that reaches its limit is graded as drawn. Q-learning and DQN take such an end for a draw,
too; PPO, as Stable-Baselines3 has it, goes on to estimate what would have come. None of them is shown how
much of the limit is left (`limit_ends="draw"` would show it), so all three learn a slightly different
game from the one that is graded.

| learner | |
|---|---|
| [tabular Q-learning](../examples/q_learning.py) | a value for every action of every state |
| [masked PPO](../examples/masked_ppo.py) | sb3-contrib's `MaskablePPO` on our `DuelVecEnv` |
| [masked DQN](../examples/masked_dqn.py) | double DQN in one file of PyTorch |

'Perfect after' are the steps after which a run's exploitability stayed below {NEAR:g}: the median and the
range over the seeds. Runs were looked at three times for every power of ten. Time is CPU time of one run,
with its grading.
"""


def title(form: Form) -> str:
    return ", ".join([form.game, *(f"{name} = {value}" for name, value in form.options.items())])


def row(each: Baseline) -> tuple[str, ...]:
    return (
        LEARNERS[each.learner],
        f"{each.steps[-1]:,}",
        spread(each.final),
        near_in_words(each),
        f"{each.seconds:,.0f} s" if each.seconds >= 1 else "under 1 s",
    )


def section(name: str) -> str:
    form = measured(name)
    return f"""\
## {title(form)}

![Exploitability by steps](images/baselines-{name}.svg)

Random play has an exploitability of {form.random:.3f} here.

{table(COLUMNS, [row(each) for each in form.baselines])}"""


def picture(name: str) -> str:
    form = measured(name)
    points = {each.learner: list(zip(each.steps, each.grades, strict=True)) for each in form.baselines}
    series = {called: points.get(learner, []) for learner, called in LEARNERS.items()}
    return charts.bands(f"Exploitability by steps: {title(form)}", series, top=0.5)


def main() -> None:
    files = {DOCS / "baselines.md": "\n".join((HEAD, *(section(form) for form in FORMS)))}
    files |= {DOCS / "images" / f"baselines-{form}.svg": picture(form) for form in FORMS}
    if "--check" in sys.argv[1:]:
        wrong = [
            path.name
            for path, text in files.items()
            if not path.exists() or path.read_text(encoding="utf-8") != text
        ]
        sys.exit(f"Not what was measured: {', '.join(wrong)}" if wrong else 0)
    for path, text in files.items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
