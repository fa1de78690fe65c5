"""The queue of items for people: leases, undo, back; every answer is learned once, whatever happens."""

from __future__ import annotations

import itertools
import threading

import numpy as np
import pytest

from onmargin.errors import BadInput
from onmargin.server.labelling.acts import ANSWER, TAKE_BACK, Act, Acts
from onmargin.server.labelling.desk import Desk
from onmargin.server.labelling.items import New
from onmargin.server.service import Service

WORDS = ["cheap", "prize", "now", "call", "lunch", "noon", "meeting", "see", "you", "later", "win", "free"]
SPECS = {"algorithm": "pa1", "text": {"bits": 10}}
draw = np.random.default_rng(0)
TEXTS = [" ".join(draw.choice(WORDS, 6)) + f" {number}" for number in range(60)]
TRUTHS = ["spam" if any(word in text for word in ("cheap", "prize", "win")) else "ham" for text in TEXTS]


class Clock:
    """A time that only moves when it is told to."""

    def __init__(self) -> None:
        self.time = 1000.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def place(tmp_path):
    """A service with one model, and a way to start it again."""
    running = Place(tmp_path)
    yield running
    running.stop()


class Place:
    def __init__(self, folder) -> None:
        self.folder = folder
        self.start()
        self.service.create("sms", SPECS)

    def start(self) -> None:
        self.service = Service(str(self.folder))
        self.desk = Desk(self.service, lease=60.0)

    def stop(self) -> None:
        self.desk.close()
        self.service.close()

    def again(self) -> None:
        self.stop()
        self.start()

    def queue(self, clock=None):
        queue = self.desk.queue("sms")
        if not len(queue):
            queue.announce(["ham", "spam"])
            queue.add(New(text, {}, f"t{number}") for number, text in enumerate(TEXTS))
        return queue

    def coefficients(self):
        """What the model would answer to every text: all of its scores."""
        return [one["scores"] for one in self.service.predict("sms", [{"text": text} for text in TEXTS])]


def alone(answers):
    """The scores of a model that was told these answers and nothing else, by a service in memory's place."""
    from onmargin.features.text import Text
    from onmargin.protocols.requested.naming import named

    features, learner = Text(bits=10, names=True), named("pa1", "classes", {"random_state": 0}).model
    width = features.transform([]).shape[1]
    for number, (text, label) in enumerate(answers):
        row = features.partial_fit(  # (one by one, as answers come)
            [text]
        ).transform([text])
        if not number:
            learner.partial_fit(np.zeros((1, width)), [label], sample_weight=[0.0])
        learner.learn_one(dict(zip(row.indices.tolist(), row.data.tolist(), strict=True)), label)
    tables = [features.transform([text]) for text in TEXTS]
    return [
        learner.decide_one(dict(zip(row.indices.tolist(), row.data.tolist(), strict=True)))[1]
        for row in tables
    ]


def labelled(queue, who, times):
    """Questions and true answers; the items asked for."""
    asked = []
    for _ in range(times):
        number = queue.ask(who).item.number
        queue.answer(who, number, TRUTHS[number])
        asked.append(number)
    return asked


def test_answers_reach_the_model_in_their_order_bit_for_bit(place):
    queue = place.queue()
    asked = labelled(queue, "ann", 20)
    assert len(set(asked)) == 20
    assert place.service.state("sms")["rounds"] == 20
    assert place.coefficients() == alone([(TEXTS[number], TRUTHS[number]) for number in asked])


def test_an_answer_that_is_changed_or_undone_was_never_learned(place):
    queue = place.queue()
    asked = labelled(queue, "ann", 12)
    queue.answer("ann", asked[3], "spam" if TRUTHS[asked[3]] == "ham" else "ham")
    assert queue.undo("ann") == asked[3]  # (what was said last)
    assert queue.ask("ann").item.number == asked[3]
    assert queue.undo("ann") == asked[-1]
    kept = [number for number in asked if number not in (asked[3], asked[-1])]
    assert place.coefficients() == alone([(TEXTS[number], TRUTHS[number]) for number in kept])
    assert queue.standing().answered == 10 and queue.history("ann") == kept


def test_everything_is_there_after_a_restart(place):
    queue = place.queue()
    labelled(queue, "ann", 8)
    queue.skip("ann", queue.ask("ann").item.number)
    queue.undo("ann")
    queue.skip("bob", queue.ask("bob").item.number)
    labelled(queue, "bob", 5)
    waits = queue.ask("ann").item.number
    before, scores, standing = queue.history("ann"), place.coefficients(), queue.standing()
    place.again()
    after = place.queue()
    assert after.ask("ann").item.number == waits  # the same question, still theirs
    assert after.history("ann") == before and place.coefficients() == scores
    assert after.standing()[:7] == standing[:7]
    asked = labelled(after, "ann", 10)
    assert not set(asked[1:]) & set(before)


@pytest.mark.parametrize("what", ["answer", "forget"])
def test_a_crash_between_the_act_and_the_model_is_made_good(place, what):
    """As kill -9 would leave it: the act is on the disk, and the model was never told."""
    queue = place.queue()
    asked = labelled(queue, "ann", 6)
    number = asked[2] if what == "forget" else queue.ask("ann").item.number
    place.stop()
    acts = Acts(place.folder / "labelling" / "sms.sqlite")
    acts.write(
        [
            Act(
                -1,
                number,
                TAKE_BACK if what == "forget" else ANSWER,
                None if what == "forget" else "ham",
                "ann",
            )
        ]
    )
    acts.close()
    place.start()
    for _ in range(2):  # (told once, however often it is started)
        after = place.queue()
        kept = [n for n in asked if n != number] + ([] if what == "forget" else [number])
        labels = {**dict(enumerate(TRUTHS)), **({} if what == "forget" else {number: "ham"})}
        assert place.coefficients() == alone([(TEXTS[n], labels[n]) for n in kept])
        assert after.standing().answered == len(kept) == place.service.state("sms")["rounds"]
        place.again()


def test_two_people_never_have_the_same_item(place):
    queue, seen, lock = place.queue(), [], threading.Lock()

    def work(who):
        while (question := queue.ask(who)) is not None:
            number = question.item.number
            with lock:
                seen.append(number)
            queue.answer(who, number, TRUTHS[number])

    people = [threading.Thread(target=work, args=(f"person {n}",)) for n in range(4)]
    for one in people:
        one.start()
    for one in people:
        one.join()
    assert sorted(seen) == list(range(60))
    assert place.service.state("sms")["rounds"] == 60 and queue.standing().verdict[0]


def test_an_item_comes_back_when_its_time_is_up(tmp_path):
    clock = Clock()
    place = Place(tmp_path)
    queue = place.queue()
    queue._now = clock
    first = queue.ask("ann").item.number
    assert queue.ask("ann").item.number == first  # still theirs
    others = {queue.ask(f"person {n}").item.number for n in range(59)}
    assert first not in others and queue.ask("bob") is None
    clock.time += 61
    taken = [queue.ask(f"late {n}").item.number for n in range(60)]
    assert sorted(taken) == list(range(60))
    with pytest.raises(BadInput, match="somebody else has it now"):
        queue.answer("ann", first, "ham")
    holder = f"late {taken.index(first)}"
    queue.answer(holder, first, "ham")
    with pytest.raises(BadInput, match="somebody else has answered this item meanwhile"):
        queue.answer("ann", first, "spam")
    assert place.service.state("sms")["rounds"] == 1
    clock.time = 10.0  # a clock that goes backwards keeps nothing for ever
    assert queue.ask("ann") is not None
    place.stop()


def test_only_what_is_ones_own_can_be_undone(place):
    queue = place.queue()
    mine = labelled(queue, "ann", 3)
    labelled(queue, "bob", 3)
    assert queue.undo("ann") == mine[-1]
    with pytest.raises(BadInput, match="nothing to undo"):
        queue.undo("eve")


def test_what_is_refused_changes_nothing(place):
    queue = place.queue()
    number = queue.ask("ann").item.number
    for label, words in (("eggs", "not among ham, spam"), ("", "not among"), (None, "not among")):
        with pytest.raises(BadInput, match=words):
            queue.answer("ann", number, label)
    for item in (-1, 60):
        with pytest.raises(BadInput, match="is not there; wanted 0 to 59"):
            queue.answer("ann", item, "ham")
    with pytest.raises(BadInput, match="at least one label"):
        queue.plan(0)
    with pytest.raises(BadInput, match="wanted 2 to 30 labels"):
        queue.announce(["ham", "ham"])
    with pytest.raises(BadInput, match="wanted a text, an object"):
        queue.add([New("fine"), New([])])
    assert len(queue) == 60 and queue.standing().answered == 0 and queue.ask("ann").item.number == number
    assert place.service.state("sms")["rounds"] == 0


def test_a_label_that_the_model_refuses_is_not_kept(tmp_path):
    service = Service(str(tmp_path))
    service.create("two", {"algorithm": "pa1", "classes": ["ham", "spam"]})
    desk = Desk(service)
    queue = desk.queue("two")
    assert queue.is_closed and queue.labels() == ["ham", "spam"]  # as the model announced them
    queue.add([New({"a": 1.0}), New({"a": 2.0})])
    queue.announce(["ham", "eggs"])  # (somebody thought better of it)
    number = queue.ask("ann").item.number
    with pytest.raises(BadInput):
        queue.answer("ann", number, "eggs")
    assert queue.standing().answered == 0 and service.state("two")["rounds"] == 0
    queue.answer("ann", queue.ask("ann").item.number, "ham")
    assert queue.standing().answered == 1 and service.state("two")["rounds"] == 1
    desk.close()
    service.close()


def test_items_stream_in_while_people_label(place):
    queue = place.queue()
    labelled(queue, "ann", 5)
    assert queue.add(New(text, {}, f"t{n}") for n, text in enumerate(TEXTS)) == list(range(60))  # known keys
    more = queue.add(New(f"free prize {number}", {}, f"more{number}") for number in range(100))
    assert more == list(range(60, 160)) and len(queue) == 160 and queue.number("more7") == 67
    seen = {queue.ask(f"person {n}").item.number for n in range(150)}
    assert len(seen) == 150 and max(seen) >= 60


def test_the_curve_counts_guesses_made_before_the_label_was_known(place):
    queue = place.queue()
    guesses = []
    for _ in range(30):
        question = queue.ask("ann")
        number = question.item.number
        if question.guess is not None:
            guesses.append(question.guess[0] == TRUTHS[number])
        queue.answer("ann", number, TRUTHS[number])
    standing = queue.standing()
    assert list(standing.rights) == guesses and len(guesses) > 20
    so_far, late = standing.curve()
    assert so_far[-1] == sum(guesses) / len(guesses) and late[-1] == sum(guesses[-20:]) / 20
    assert late[:20] == so_far[:20]
    assert dict(standing.counts) == {
        label: sum(TRUTHS[n] == label for n in queue.history("ann")) for label in ("ham", "spam")
    }


def test_it_says_when_to_stop_and_why(place):
    queue = place.queue()
    assert queue.standing().verdict == (False, "go on: labels of two classes are wanted to learn at all")
    queue.plan(10)
    labelled(queue, "ann", 10)
    assert queue.standing().verdict == (
        True,
        "the budget of 10 labels is used up; raise it if more are wanted",
    )
    queue.plan(None)
    queue.advise()
    assert not queue.standing().verdict[0]
    labelled(queue, "ann", 45)
    advice = queue.advise()
    assert advice.number == pytest.approx(queue._choice.advice.number) and queue.standing().advice == advice
    labelled(queue, "ann", 4)
    queue.skip("ann", queue.ask("ann").item.number)
    assert queue.ask("ann") is None
    assert queue.standing().verdict == (True, "no item is left: 59 answered, 1 skipped")


def test_labels_that_are_keys_are_their_own():
    from onmargin.protocols.pools.labelling import keys_of

    assert keys_of(["ham", "spam"]) == {"1": "ham", "2": "spam"}
    assert keys_of(range(10)) == {str(n): n for n in range(10)}
    assert keys_of(["2", "cat", "0"]) == {"2": "2", "1": "cat", "0": "0"}  # (a digit keeps its key)
    assert keys_of([1, 2, "s"]) == {"1": 1, "2": 2, "3": "s"}  # (s skips)
    assert list(itertools.islice(keys_of([f"class {n}" for n in range(40)]), 3)) == ["1", "2", "3"]


def test_a_label_keeps_its_key_when_others_go(tmp_path):
    running = Place(tmp_path)
    running.service.learn("sms", [{"text": "cheap", "y": "spam"}, {"text": "lunch", "y": "ham"}]).result(60)
    queue = running.desk.queue("sms")
    queue.add([New(text) for text in TEXTS[:5]])
    known = queue.keys()  # what the model has met elsewhere is offered
    assert sorted(known.values()) == ["ham", "spam"] and list(known) == ["1", "2"]
    for number, label in enumerate(("first", "second")):
        queue.answer("ann", number, label)
    assert queue.keys() == {**known, "3": "first", "4": "second"}
    queue.answer("ann", 0, "ham")  # nobody says "first" any more
    assert queue.keys() == {**known, "4": "second"}
    running.again()
    queue = running.desk.queue("sms")
    assert queue.keys() == {**known, "4": "second"}
    queue.answer("ann", 0, "first")
    assert queue.keys() == {**known, "3": "first", "4": "second"}
    running.stop()


def test_what_the_model_can_never_learn_is_no_item(place):
    queue = place.queue()
    with pytest.raises(BadInput, match="wanted at most 1000000"):
        queue.add([New("fine"), New("x " * 500_001)])
    assert len(queue) == len(TEXTS)


def test_more_labels_than_one_request_holds_are_all_learned(place):
    import onmargin.server.labelling.desk as desk

    queue = place.desk.queue("sms")
    count = desk.AT_ONCE + 10
    numbers = queue.add([New(f"{TEXTS[n % 60]} {n}") for n in range(count)])
    assert queue.take({number: TRUTHS[number % 60] for number in numbers}) == count
    assert place.service.state("sms")["rounds"] == count and queue.catch_up() == 0


def test_one_act_that_is_refused_keeps_no_other_from_being_learned(place):
    queue = place.queue()
    labelled(queue, "ann", 2)
    queue.acts.write([Act(-1, 50, ANSWER, 2**70, "ann"), Act(-1, 51, ANSWER, "ham", "ann")])
    place.again()  # (as a crash leaves them: put down, and not yet learned)
    queue = place.queue()
    assert queue.catch_up() == 0 and place.service.state("sms")["rounds"] == 3
    assert sorted(queue.history("ann"))[-1] == 51 and 50 not in queue.history("ann")
