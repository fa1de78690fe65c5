"""Dicts packed by machine code and by Python: the same rows, the same names, the same refusals."""

import gc
import sys
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onmargin.compiled import dicts
from onmargin.features.slots import Packer, Slots

PACKINGS = {"python": dicts.pack, "compiled": dicts.packing()}
NAMES = st.one_of(
    st.sampled_from("abcdefgh"), st.integers(0, 5), st.tuples(st.sampled_from("ab"), st.booleans())
)
VALUES = st.one_of(
    st.floats(), st.integers(-(10**400), 10**400), st.booleans(), st.floats(width=32).map(np.float32),
    st.sampled_from([np.float64(2.5), np.int64(-1), np.int32(7), -1.0, "text", None, Decimal(3)]),
)  # fmt: skip


class Odd:
    """A name whose own functions are called."""

    def __hash__(self):
        return hash("a")

    def __eq__(self, other):
        raise AssertionError("a user's code is called")


def packed(pack, packer, x, room):
    """The row; where it was refused, all is as it was."""
    known = len(packer.slots)
    done = pack(x, *packer.given, room)
    if done < 0:
        packer.slots.give_back(known)
        packer.forget()
        return done, dict(packer.slots)
    values, indices, starts, _ = packer.rows
    return done, starts.tolist(), indices[:done].tolist(), values[:done].tobytes(), dict(packer.slots)


@settings(deadline=None)
@given(st.lists(st.tuples(st.dictionaries(NAMES, VALUES, max_size=9), st.integers(-1, 8)), max_size=8))
def test_machine_code_packs_as_python_does(rounds):
    packers = {name: Packer(Slots("ab"), 1.0) for name in PACKINGS}
    for packer in packers.values():
        packer.leave_unmet(9)
    for x, room in rounds:
        for again in (x, x, dict(x)):
            found = [packed(pack, packers[name], again, room) for name, pack in PACKINGS.items()]
            assert found[0] == found[1]
            assert found[0][0] in (len(x), dicts.REFUSED)


@pytest.mark.parametrize("pack", PACKINGS.values(), ids=PACKINGS)
def test_asked_first_then_learned(pack):
    packer = Packer(Slots("ab"), 1.0)
    packer.leave_unmet(7)
    x = {"x": 1.0, "a": 2, "y": np.float32(3), "z": True}
    assert packed(pack, packer, x, dicts.ASKING)[:3] == (4, [0, 4], [7, 0, 7, 7])
    assert pack(x, *packer.given, 4) == dicts.REFUSED
    assert packed(pack, packer, x, 5)[:3] == (4, [0, 4], [2, 0, 3, 4])
    assert packer.rows.values[:4].tolist() == [1.0, 2.0, 3.0, 1.0]
    x["a"] = -1.0
    assert packed(pack, packer, x, dicts.ASKING)[2] == [2, 0, 3, 4]
    assert packer.rows.values[:4].tolist() == [1.0, -1.0, 3.0, 1.0]
    packer.slots.give_back(4)
    packer.forget()
    assert packed(pack, packer, x, dicts.ASKING)[2] == [2, 0, 3, 7]


@pytest.mark.parametrize("pack", PACKINGS.values(), ids=PACKINGS)
def test_what_is_not_plain_is_refused_and_no_code_of_a_user_is_called(pack):
    packer = Packer(Slots("ab"), 1.0)
    packer.leave_unmet(9)
    for x in ({Odd(): 1.0}, {"a": Decimal(1)}, {("a", Odd()): 1.0}, {"a": 10**400}, {"a": "1"}, {"a": None}):
        assert pack(x, *packer.given, dicts.ASKING) == dicts.REFUSED
    assert pack({f"n{j}": 1.0 for j in range(packer.room + 1)}, *packer.given, 99) == dicts.REFUSED
    assert pack({"a": 1.0}, *packer.given, dicts.ASKING) == 1
    odd = Packer(Slots([Odd()]), 1.0)
    assert pack({"b": 1.0}, *odd.given, 9) == dicts.REFUSED
    packer.take({3j: 1.0}, [3j])
    assert pack({"a": 1.0}, *packer.given, dicts.ASKING) == dicts.REFUSED
    assert not dicts.are_plain([Odd()]) and dicts.are_plain(["a", 1, ("a", 2.0)])


def test_a_row_that_was_replaced_is_packed_no_more():
    packer = Packer(Slots("ab"), 1.0)
    before = packer.given
    packer.take({f"n{j}": 1.0 for j in range(100)}, [f"n{j}" for j in range(100)])
    assert dicts.packing()({"a": 1.0}, *before, dicts.ASKING) == dicts.REFUSED
    assert packer.pack({"a": 1.0}, dicts.ASKING) and packer.rows.starts.tolist() == [0, 1]


@pytest.mark.parametrize("pack", PACKINGS.values(), ids=PACKINGS)
def test_names_and_values_are_counted_right(pack):
    """References: what is borrowed is let go of, what is kept is kept once."""
    packer = Packer(Slots(), 1.0)
    name, number, names = "".join(["na", "me"]), 1e300 / 7, [f"word {j}" for j in range(20)]
    before = sys.getrefcount(name), sys.getrefcount(number)
    x = {name: number}
    for _ in range(50):
        pack(x, *packer.given, 30)
        pack({word: number for word in names}, *packer.given, 30)
    assert len(packer.slots) == 21 and packer.slots["word 19"] == 20
    assert sys.getrefcount(name) == before[0] + 2  # in the dict and in the slots
    assert sys.getrefcount(number) == before[1] + 1
    del packer
    gc.collect()
    assert sys.getrefcount(name) == before[0] + 1
