"""Perfect play needs only the base install."""

import subprocess
import sys


def test_the_perfect_players_need_no_numpy() -> None:
    program = (
        "import sys; from duels.games.lights import oracle; from duels.games.leap import oracle; "
        "from duels.games.chain import oracle; from duels.games.flip import oracle; "
        "print('numpy' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"
