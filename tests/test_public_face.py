"""What users call is what it was: names, signatures, defaults."""

import json

import pytest

from tests.public_face import SNAPSHOT, face

WRITTEN = json.loads(SNAPSHOT.read_text())
FACE = face()


def test_no_public_name_has_come_or_gone():
    assert sorted(FACE) == sorted(WRITTEN)


@pytest.mark.parametrize("name", sorted(WRITTEN))
def test_names_signatures_and_defaults_are_those_of_the_snapshot(name):
    """A change made on purpose is written anew by `python -m tests.public_face`, and seen in the diff."""
    assert FACE[name] == WRITTEN[name]
