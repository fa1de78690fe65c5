"""The pages in a real Chromium, of a real server process: labelling, restarts, two people, access for all."""

from __future__ import annotations

import json
import urllib.error
import urllib.request

import pytest

from onmargin.server.pages.charts import Line, chart

from .browsing import Server, Visitor, chromium, messages, needs_chromium

pytestmark = needs_chromium
KEYS = {"ham": "1", "spam": "2"}
TRUTHS = messages(400)


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("pages") / "messages.txt"
    path.write_text("".join(f"{text}\n" for text in TRUTHS), encoding="utf-8")
    return path


def opened(data, folder):
    running = Server(data, folder, "--classes", "ham,spam", "--algorithm", "pa1")
    yield running
    if running.process.poll() is None:
        running.stop()


@pytest.fixture
def server(data, tmp_path):
    """One that may be killed."""
    yield from opened(data, tmp_path / "state")


@pytest.fixture(scope="module")
def common(data, tmp_path_factory):
    """One that several tests visit."""
    yield from opened(data, tmp_path_factory.mktemp("common") / "state")


def exported(server, style="plain"):
    with urllib.request.urlopen(f"{server.address}/v1/models/messages/items?style={style}") as answer:
        return [json.loads(line) for line in answer.read().decode().splitlines()]


def test_fifty_items_by_keyboard_an_undo_a_killed_server_and_on(browser, server):
    ann = Visitor(browser, server).label()
    given, order = {}, []

    def answer(times):
        for _ in range(times):
            number, text = ann.item, ann.text
            given[number] = TRUTHS[text]
            order.append(number)
            ann.press(KEYS[TRUTHS[text]])

    curve = "figure.chart"
    empty = ann.page.inner_text(curve)
    answer(20)
    ann.wait_answered(20)
    before = ann.page.inner_text(curve)
    assert "last 20" not in empty and "last 20" in before
    ann.press("u")  # taken back: the last item is there again
    assert ann.item == order[-1]
    ann.wait_answered(19)
    given.pop(order.pop())
    answer(6)
    ann.wait_answered(25)
    assert ann.page.get_attribute(f"{curve} path.one", "d").count("L") > 20  # the curve has moved
    assert ann.page.inner_text(curve) != before
    waits = ann.item
    ann.page.evaluate("window.before = true")
    server.kill()
    server.start()
    ann.page.wait_for_function("!window.before")  # the page comes back by itself, at its question
    ann.page.wait_for_selector(f"[data-item='{waits}']")
    ann.wait_answered(25)
    answer(25)
    ann.wait_answered(50)
    found = {line["item"]: line["label"] for line in exported(server)}
    assert found == given and len(found) == 50
    assert ann.outside() == [] and ann.errors == []
    assert "stopped; the state is in" in server.stop()


def test_two_people_at_once_never_see_the_same_item(browser, common):
    people = [Visitor(browser, common).label() for _ in range(2)]
    seen, before = [], len(exported(common))
    for _ in range(6):
        for one in people:
            seen.append(one.item)
            one.press(KEYS[TRUTHS[one.text]])
    seen += [one.item for one in people]
    assert len(set(seen)) == 14
    people[0].wait_answered(before + 12)
    who = [line["who"] for line in exported(common) if line["item"] in seen]
    assert sorted(map(who.count, set(who))) == [6, 6]
    twice = "for (const _ of [1, 2]) document.dispatchEvent(new KeyboardEvent('keydown', {key: '1'}))"
    people[0].page.evaluate(twice)  # a key pressed twice is one answer: the second was not for the next item
    people[0].press("s")
    people[0].wait_answered(before + 13)
    assert len(exported(common)) == before + 13


def test_back_another_label_skip_and_clicks(browser, server):
    ann = Visitor(browser, server, width=390).label()
    first, text = ann.item, ann.text
    ann.page.get_by_role("button", name="ham").click()
    ann.page.wait_for_function(f"Number(document.querySelector('[data-item]').dataset.item) !== {first}")
    second = ann.item
    ann.press("s")
    ann.press("ArrowLeft")
    assert ann.item == second
    ann.press("ArrowLeft")
    assert ann.item == first and ann.text == text
    pressed = ann.page.get_by_role("button", name="ham")
    assert pressed.get_attribute("aria-pressed") == "true"
    ann.press("2")  # changed; and on with the question that waits
    assert exported(server)[0]["label"] == "spam" and len(exported(server)) == 1
    assert exported(server, "doccano") == [{"id": first, "text": text, "label": ["spam"]}]
    ignored = [line for line in exported(server, "prodigy") if line["answer"] == "ignore"]
    assert [line["meta"]["item"] for line in ignored] == [second]
    for _ in range(2):
        ann.press("u")  # (a key is for what is on the screen: until what was taken back is there)
    assert exported(server) == []
    ann.page.keyboard.press("u")
    ann.page.wait_for_selector(".status.error")
    assert "nothing to undo" in ann.page.inner_text(".status.error")


def test_every_page_is_for_everybody(browser, common):
    """axe finds nothing, light and dark; a phone need not scroll sideways; nothing leaves."""
    from axe_playwright_python.sync_playwright import Axe

    axe, pages = Axe(), ["/", "/models/messages", common.path, "/models/nowhere"]
    bob = Visitor(browser, common).label()
    for _ in range(8):
        bob.press(KEYS[TRUTHS[bob.text]])
    for scheme, width in (("light", 1280), ("dark", 390)):
        one = Visitor(browser, common, scheme, width)
        for path in pages:
            one.visit(path)
            one.page.wait_for_selector(".om main h1", state="attached")
            if path != "/models/nowhere":
                one.page.wait_for_selector("figure.chart")
            found = axe.run(one.page).response["violations"]
            assert [(v["id"], v["nodes"][0]["html"]) for v in found] == [], (path, scheme)
            assert one.page.evaluate("document.documentElement.scrollWidth") <= width, path
        assert one.outside() == [] and one.errors == []
    assert one.page.title().startswith("Not found")
    assert "There is no model 'nowhere'" in one.page.inner_text("main")
    one.visit("/somewhere")
    assert "There is no page /somewhere." in one.page.inner_text("main")
    with pytest.raises(urllib.error.HTTPError) as refused:  # a program is told in its own way
        urllib.request.urlopen(f"{common.address}/v1/models/")
    said = json.loads(refused.value.read())["detail"]
    assert refused.value.code == 404 and said == "there is no GET /v1/models/; /docs has every route"


def test_the_dashboard_is_live(browser, common):
    ann, eve = Visitor(browser, common).label(), Visitor(browser, common).visit("/")
    before = len(exported(common))
    for _ in range(6):
        ann.press(KEYS[TRUTHS[ann.text]])
    eve.page.wait_for_function(
        "n => document.querySelector('.facts')?.innerText.includes('of ' + n)", arg=before + 6
    )
    shown = eve.page.inner_text(".card")
    for words in ("Error overall", "Labels used", "Pace", "Drift", "Top features", "Loss against its bound"):
        assert words in shown
    eve.page.wait_for_function("document.querySelector('table.confusion')?.innerText.includes('ham')")
    assert "+ speaks for spam" in eve.page.inner_text(".bars + p")
    eve.page.wait_for_function("document.querySelectorAll('figure.chart')[1].innerText.includes('bound: ')")


def test_a_curve_leaves_the_drawing_at_its_top():
    """It does not run along it, as if the first rounds had been as good as the later ones."""
    at = list(range(1, 101))
    drawn = chart("Error", [Line("overall", at, [0.9 if n < 5 else 0.04 for n in at])])
    heights = [float(point.split()[1]) for point in drawn.split('d="M')[1].split('"')[0].split("L")]
    assert ">5 %<" in drawn
    assert max(heights[:4]) < 0 and min(heights[4:]) == max(heights[4:]) == pytest.approx(20)


def test_items_come_by_file_and_any_word_is_a_label(browser, tmp_path):
    (tmp_path / "few.txt").write_text("one\n", encoding="utf-8")
    server = Server(tmp_path / "few.txt", tmp_path / "state")
    ann = Visitor(browser, server).label()
    ann.page.keyboard.press("+")  # by the keyboard alone
    ann.page.keyboard.type("us")  # (no commands within a field)
    ann.page.keyboard.press("Enter")
    ann.wait_answered(1)
    done = ann.page.get_by_role("heading", name="All done")
    done.wait_for()
    for key in ("u", "ArrowLeft"):  # what is done may still be changed
        ann.page.keyboard.press(key)
        ann.page.wait_for_selector("[data-item='0']")
        ann.page.keyboard.press("+")
        ann.page.keyboard.type("number")
        ann.page.keyboard.press("Enter")
        done.wait_for()
    more = tmp_path / "more.jsonl"
    more.write_text('{"text": "two", "label": ["number"]}\n{"text": "tree"}\n', encoding="utf-8")
    ann.page.set_input_files("input[type=file]", more)
    taken = "document.getElementById('import-said').textContent.includes('2 items taken')"
    ann.page.wait_for_function(taken)
    ann.page.wait_for_selector("[data-item]")
    assert ann.text == "tree"
    more.write_text('{"text": "two"}\n{"text": 3', encoding="utf-8")
    ann.page.set_input_files("input[type=file]", more)
    ann.page.wait_for_function("document.getElementById('import-said').textContent.includes('line 2')")
    assert [line["label"] for line in exported_of(server, "few")] == ["number", "number"]
    server.stop()


def exported_of(server, name):
    with urllib.request.urlopen(f"{server.address}/v1/models/{name}/items") as answer:
        return [json.loads(line) for line in answer.read().decode().splitlines()]
