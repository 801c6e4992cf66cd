"""Write hunt's shipped files: the strategy, its self-play and its certificate."""

import hashlib
import json
import zlib
from math import ceil, floor
from typing import TYPE_CHECKING

from duels.core.rules import Seat
from duels.games.hunt.self_play import MAX_STEPS, STEP, STORED_DIGITS, UNITS, format_header
from duels.games.hunt.strategy import CHECKSUM, Certificate, Strategy, digest_certificate
from duels.solving.store import pack_shorts, pack_table

if TYPE_CHECKING:  # it is slow to import
    from duels.games.hunt.certify.pair_values import SelfPlay


def pack_strategy(strategy: Strategy) -> bytes:
    """Return the file that `strategy.decode_strategy` reads."""
    parts = (
        pack_shorts(part) for seat in Seat for part in (strategy[seat].moves, strategy[seat].observations)
    )
    return zlib.compress(b"".join(parts), 9)


def write_certificate(certificate: Certificate, strategy: bytes) -> bytes:
    """Return the file of a certificate, rounded to the safe side. CERTIFICATE_DIGEST is its checksum."""
    claim: dict[str, object] = {
        str(seat.value): [floor(b.low * 10_000) / 10_000, min(1.0, ceil(b.high * 10_000) / 10_000)]
        for seat, b in certificate.against.items()
    }
    claim["strategy"] = hashlib.sha256(strategy).hexdigest()
    return f"{json.dumps({**claim, CHECKSUM: digest_certificate(claim)})}\n".encode()


def write_self_play(self_play: "SelfPlay", strategy: bytes) -> bytes:
    """Return the file of a strategy's solved self-play."""
    return pack_table(format_header(strategy), pack_self_play(self_play))


def pack_self_play(self_play: "SelfPlay") -> bytes:
    """Return the table of `PairValues`.

    It has means by each side's observations, small differences, and the opening's values.
    """
    import numpy as np

    from duels.games.hunt.certify.pair_values import list_unreachable, rearrange

    parts: list[bytes] = []
    for seat in Seat:
        exact = rearrange(self_play.chances[seat]) * UNITS
        own_means = np.rint(exact.mean(axis=-1, keepdims=True))
        other_means = np.rint(exact.mean(axis=-2, keepdims=True) - exact.mean(axis=(-2, -1), keepdims=True))
        rest = np.rint((exact - own_means - other_means) / STEP)
        rest[:, list_unreachable()] = 0
        assert np.abs(rest).max() <= MAX_STEPS
        parts += [table.astype("<i2").tobytes() for table in (own_means, other_means)]
        parts.append(rest.astype("i1").tobytes())
    parts += [np.rint(UNITS * self_play.opening[digits]).astype("<u2").tobytes() for digits in STORED_DIGITS]
    return b"".join(parts)
