"""Every item of the seeds is shown by something that is there."""

import pytest
from docs import seeds

ITEMS = {"S0": 35, "S1": 33, "S2": 41, "S3": 16, "S4": 8}  # as an audit counted them


def test_every_item_is_listed_once_in_order():
    found = {seed: list(numbered) for seed, numbered in seeds.items().items()}
    assert found == {seed: [str(k + 1) for k in range(count)] for seed, count in ITEMS.items()}
    assert sum(ITEMS.values()) == 133


@pytest.mark.parametrize("seed", ITEMS)
def test_every_item_is_shown_by_something_that_is_there(seed):
    for number, (what, *links) in seeds.items()[seed].items():
        assert what and links, f"{seed}.{number} is shown by nothing"
        lost = [link for link in links if not seeds.leads_somewhere(link)]
        assert not lost, f"{seed}.{number} ({what}): {', '.join(lost)} is not there"


@pytest.mark.parametrize(
    "link",
    [
        "om.Nobody",
        "reproduce nothing",
        "row Z9",
        "onmargin fly",
        "tests/test_seeds.py::test_gone",
        "docs/no.md",
    ],
)
def test_a_link_that_is_lost_is_noticed(link):
    assert not seeds.leads_somewhere(link)


def test_the_page_is_written_from_the_list():
    assert seeds.PAGE.read_text(encoding="utf-8") == seeds.page(), "run `make docs`"
