"""What users call is what it was: names, signatures, defaults."""

import json

import pytest

from tests.public_face import SNAPSHOT, face

WRITTEN = json.loads(SNAPSHOT.read_text())
FACE = face()


def test_no_public_name_has_come_or_gone():
    assert sorted(FACE) == sorted(WRITTEN)


@pytest.mark.parametrize("name", sorted(WRITTEN))
def test_signatures_and_defaults_are_those_of_the_snapshot(name):
    """Methods may be added; those that are there keep their signatures. Constructors are exactly the same."""
    written, now = WRITTEN[name], FACE[name]
    missing = {member: value for member, value in written.items() if now.get(member) != value}
    assert missing == {}
    if "__init__" in written:
        assert now["__init__"] == written["__init__"]
