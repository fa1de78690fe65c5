"""Label Studio's protocol as it speaks it (version 1.23): connect, predict, annotate, change, delete."""

from __future__ import annotations

import pytest

from onmargin.errors import BadInput
from onmargin.server.labelling.desk import Desk
from onmargin.server.labelling.label_studio import Backend, Interface
from onmargin.server.refusals import NotFound
from onmargin.server.service import Service

CONFIG = """<View><Header value="Which?"/><Text name="message" value="$body"/>
<Choices name="kind" toName="message"><Choice value="ham"/><Choice value="spam"/></Choices></View>"""
PROJECT = {"id": 4, "label_config": CONFIG}


@pytest.fixture
def backend(tmp_path):
    service = Service(tmp_path)
    service.create("sms", {"algorithm": "pa1", "text": {"bits": 10}})
    desk = Desk(service)
    yield Backend(desk, "sms")
    desk.close()
    service.close()


def task(number, text):
    return {"id": number, "data": {"body": text, "from": "somebody"}, "project": 4}


def told(backend, action, number, text="", choice=None, **more):
    result = [{"from_name": "kind", "to_name": "message", "type": "choices", "value": {"choices": [choice]}}]
    annotation = {"id": number, "result": result if choice else [], "was_cancelled": False, **more}
    body = {"action": action, "project": PROJECT, "annotation": annotation, "task": task(number, text)}
    return backend.told(body)


def test_it_connects_predicts_and_learns(backend):
    asked = {"tasks": [task(1, "win a prize"), task(2, "lunch at noon")], "label_config": CONFIG}
    assert backend.setup({"project": "4.1", "schema": CONFIG}) == {"model_version": "sms@0"}
    empty = backend.predict(asked)["results"]
    assert [one["result"] for one in empty] == [[], []] and empty[0]["score"] == 0.0
    for number in range(6):
        told(
            backend,
            "ANNOTATION_CREATED",
            number,
            *(("win a prize", "spam") if number % 2 else ("lunch", "ham")),
        )
    again = told(backend, "ANNOTATION_CREATED", 5, "win a prize", "spam")  # a webhook that was sent twice
    assert again == {"learned": 1, "model_version": "sms@6"}
    found = backend.predict(asked)
    assert found["model_version"] == "sms@6"
    choice = {"from_name": "kind", "to_name": "message", "type": "choices"}
    assert [one["result"] for one in found["results"]] == [
        [{**choice, "value": {"choices": ["spam"]}}], [{**choice, "value": {"choices": ["ham"]}}],
    ]  # fmt: skip
    assert all(0.5 < one["score"] < 1 for one in found["results"])


def test_an_annotation_that_is_changed_or_deleted_is_unlearned(backend):
    told(backend, "ANNOTATION_CREATED", 1, "win", "spam")
    told(backend, "ANNOTATION_CREATED", 2, "lunch", "ham")
    assert told(backend, "ANNOTATION_UPDATED", 1, "win", "ham")["model_version"] == "sms@2"
    body = {"action": "ANNOTATIONS_DELETED", "project": PROJECT, "annotations": [{"id": 2}, {"id": 99}]}
    assert backend.told(body) == {"learned": 1, "model_version": "sms@1"}
    assert backend.told(body) == {"learned": 0, "model_version": "sms@1"}  # (a webhook that was sent twice)
    assert told(backend, "ANNOTATION_UPDATED", 1, "win", None)["model_version"] == "sms@0"
    for body in ({"action": "PROJECT_UPDATED", "project": PROJECT}, {"action": "START_TRAINING"}, {}):
        assert backend.told(body)["learned"] == 0


def test_what_does_not_fit_is_refused_in_one_line(backend):
    for config in (None, "<View", "<View/>", '<View><Choices toName="a"/></View>'):
        with pytest.raises(BadInput) as refusal:
            backend.setup({"schema": config})
        assert "\n" not in str(refusal.value)
    with pytest.raises(BadInput, match="wanted a list of tasks"):
        backend.predict({"tasks": 3, "label_config": CONFIG})
    with pytest.raises(BadInput, match="item"):
        backend.predict({"tasks": [{}], "label_config": CONFIG})
    with pytest.raises(BadInput, match="the annotation's id is None"):  # (two without one would be the same)
        told(backend, "ANNOTATION_CREATED", None, "win", "spam")
    assert Interface.read(CONFIG) == Interface("kind", "message", "body")
    with pytest.raises(NotFound):
        Backend(backend._desk, "nowhere")
