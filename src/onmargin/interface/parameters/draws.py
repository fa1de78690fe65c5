"""Seeds and uniforms from `random_state`: one generator for each purpose."""

from __future__ import annotations

import numpy as np

from ...errors import BadInput, shown
from ..river import River

DRAWS = 5  # the purpose of the generator that rounds draw from


def seed_of(owner: River) -> int:
    """`random_state` as a whole number; drawn once a model where it is none, so that growth goes on."""
    seed = owner.random_state
    if not isinstance(seed, int | np.integer):
        if owner._entropy is None:
            owner._entropy = drawn_seed(seed)
        seed = owner._entropy
    if seed < 0:
        raise BadInput(f"random_state={shown(seed)}; wanted a whole number of at least 0")
    return int(seed)


def drawn_seed(state: object) -> int:
    """A seed from a generator of the user's, or from the machine's entropy."""
    if isinstance(state, np.random.RandomState):
        return int(state.randint(2**31 - 1))
    if isinstance(state, np.random.Generator):
        return int(state.integers(2**31 - 1))
    if state is not None:
        raise BadInput(f"random_state={shown(state)}; wanted None, a whole number or a NumPy generator")
    return int(np.random.SeedSequence().generate_state(1)[0])


def generator_of(owner: River, purpose: int) -> np.random.Generator:
    """A generator of our own for each purpose, so that none disturbs another."""
    return np.random.default_rng([seed_of(owner), purpose])


def uniforms(
    owner: River, first: int, count: int, weights: np.ndarray | None = None, purpose: int = DRAWS
) -> np.ndarray:
    """Numbers first, first + 1, ... of one stream; rows of weight 0 are not seen and use none up."""
    bits = np.random.PCG64(generator_of(owner, purpose).integers(2**63))
    bits.advance(int(first))
    draw = np.random.Generator(bits)
    if weights is None or not weights.size:
        return draw.random(count)
    luck, seen = np.zeros(count), weights > 0
    luck[seen] = draw.random(int(seen.sum()))
    return luck
