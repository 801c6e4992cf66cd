"""Generate docs/baselines.md and its charts from the results of `make baselines`.

python docs/baselines/build.py          write them from the JSON files beside this script
python docs/baselines/build.py --check  fail if they are out of date
"""

import sys
from pathlib import Path

from runs import FORMS, LEARNERS, NEAR, Baseline, Form, format_steps_to_near, read_form, spread

sys.path.insert(0, str(Path(__file__).parents[1] / "performance"))
sys.path.insert(0, str(Path(__file__).parents[1] / "solved"))

import charts
from pieces import table

DOCS = Path(__file__).parents[1]
COLUMNS = ("learner", "steps", "final exploitability", "perfect after", "time")

HEAD = f"""\
# Baselines

For researchers who want reference points: how close three simple learners get to perfect play, and in
how many steps. `make baselines` trains each with five seeds and the same settings in every game, and
generates this page.

[Exploitability](environments/grading.md) is exact: 0 is perfect play, 0.5 the worst. In the charts, lines
are medians over the seeds, and bands reach from the best seed to the worst.

All three learn in self-play on arrays of games. A step is a decision that the learner trains on. We
grade the policy without exploration. lights and leap have no chance, so the best opponent beats such a
policy always or never, and lines drop suddenly. The settings come from a few trials and are not tuned
further.

In chain, a game that reaches its limit counts as a draw in the grade, in Q-learning and in DQN. PPO in
Stable-Baselines3 estimates the value of the last position instead. The observations do not contain how
much of the limit is left (`limit_ends="draw"` would add it). So the game that all three learn differs
slightly from the graded game.

| learner | method |
|---|---|
| [tabular Q-learning](../examples/q_learning.py) | a value for every action of every state |
| [masked PPO](../examples/masked_ppo.py) | sb3-contrib's `MaskablePPO` on our `DuelVecEnv` |
| [masked DQN](../examples/masked_dqn.py) | double DQN in one file of PyTorch |

'Perfect after' is the number of steps after which a run's exploitability stayed below {NEAR:g}, as
median and range over the seeds. Runs were graded after about 1,000, 2,000, 5,000, … steps. Time is
the CPU time of one run, including grading.
"""


def title(form: Form) -> str:
    return ", ".join([form.game, *(f"{name} = {value}" for name, value in form.options.items())])


def row(baseline: Baseline) -> tuple[str, ...]:
    return (
        LEARNERS[baseline.learner],
        f"{baseline.steps[-1]:,}",
        spread(baseline.final),
        format_steps_to_near(baseline),
        f"{baseline.seconds:,.0f} s" if baseline.seconds >= 1 else "under 1 s",
    )


def section(name: str) -> str:
    form = read_form(name)
    return f"""\
## {title(form)}

![Exploitability by steps](images/baselines-{name}.svg)

Random play has an exploitability of {form.random:.3f} here.

{table(COLUMNS, [row(baseline) for baseline in form.baselines])}"""


def picture(name: str) -> str:
    form = read_form(name)
    points = {b.learner: list(zip(b.steps, b.grades, strict=True)) for b in form.baselines}
    series = {name: points.get(learner, []) for learner, name in LEARNERS.items()}
    return charts.bands(f"Exploitability by steps: {title(form)}", series, top=0.5)


def main() -> None:
    files = {DOCS / "baselines.md": "\n".join((HEAD, *(section(form) for form in FORMS)))}
    files |= {DOCS / "images" / f"baselines-{form}.svg": picture(form) for form in FORMS}
    if "--check" in sys.argv[1:]:
        outdated = [
            path.name
            for path, text in files.items()
            if not path.exists() or path.read_text(encoding="utf-8") != text
        ]
        sys.exit(f"Out of date: {', '.join(outdated)}. Run make baselines." if outdated else 0)
    for path, text in files.items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
