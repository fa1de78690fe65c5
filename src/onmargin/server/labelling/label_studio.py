"""Label Studio's protocol of an ML backend: it asks for predictions, and tells of every annotation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from xml.etree import ElementTree

from ...errors import BadInput, shown
from .acts import Act
from .desk import Desk
from .items import Content, New, checked

CREATED, UPDATED, DELETED = "ANNOTATION_CREATED", "ANNOTATION_UPDATED", "ANNOTATIONS_DELETED"
SEVERAL = "ANNOTATIONS_CREATED"
WHO = "label-studio"  # who answers, whoever annotates there

Json = Mapping[str, object]


class Interface(NamedTuple):
    """Of a labelling interface: the choices, what they are about, and which field of a task that is."""

    choices: str
    about: str
    field: str | None

    @classmethod
    def read(cls, config: object) -> Interface:
        """From its XML; one with `<Choices>` is wanted."""
        try:
            tree = ElementTree.fromstring(config if isinstance(config, str) else "")
        except (ElementTree.ParseError, ValueError):
            raise BadInput(f"the labelling interface is {shown(config)}; wanted XML with <Choices>") from None
        choices = next(tree.iter("Choices"), None)
        if choices is None or not choices.get("name"):
            raise BadInput("the labelling interface has no <Choices name=...>; our learners choose a class")
        about = choices.get("toName") or "text"
        tag = next((one for one in tree.iter() if one.get("name") == about), None)
        value = "" if tag is None else tag.get("value", "")
        field = value[1:].split("[")[0] if value.startswith("$") else None
        return cls(choices.get("name", ""), about, field)


class Backend:
    """One model as Label Studio's backend; its version changes with every round."""

    def __init__(self, desk: Desk, name: str) -> None:
        self._desk, self._name = desk, name
        desk.service.state(name)  # (refused where it is not there)

    @property
    def version(self) -> str:
        """The model as it is now."""
        return f"{self._name}@{self._desk.service.state(self._name)['rounds']}"

    def setup(self, body: Json) -> Json:
        """It connects, and shows its interface."""
        Interface.read(body.get("schema"))
        return {"model_version": self.version}

    def predict(self, body: Json) -> Json:
        """A choice for every task, as far as the model knows any; the score is 1 / (1 + exp(-margin))."""
        interface, tasks, version = Interface.read(body.get("label_config")), body.get("tasks"), self.version
        if not isinstance(tasks, list):
            raise BadInput(f"tasks={shown(tasks)}; wanted a list of tasks")
        queue = self._desk.queue(self._name)
        found = []
        for task in tasks:
            guess = queue.guess(_content(task, interface.field))
            result = [] if guess is None else [_choice(interface, guess[0])]
            score = 0.0 if guess is None else 1.0 / (1.0 + math.exp(-min(guess[1], 700.0)))
            found.append({"result": result, "score": score, "model_version": version})
        return {"results": found, "model_version": version}

    def told(self, body: Json) -> Json:
        """A webhook: annotations that were made, changed or deleted are learned, changed and unlearned."""
        action, project = body.get("action"), _mapping(body.get("project"))
        known, number = 0, project.get("id", 0)
        if action in (CREATED, UPDATED):
            known += self._answered(number, body.get("annotation"), body.get("task"), project)
        elif action == SEVERAL:
            for annotation, task in zip(_list(body.get("annotation")), _list(body.get("task")), strict=False):
                known += self._answered(number, annotation, task, project)
        elif action == DELETED:
            for annotation in _list(body.get("annotations")):
                known += self._deleted(number, _mapping(annotation).get("id"))
        return {"learned": known, "model_version": self.version}

    def _answered(self, project: object, annotation: object, task: object, told: Json) -> int:
        """One annotation is one item: two people may annotate a task. Without a choice it is none."""
        given = _mapping(annotation)
        chosen = _chosen(given.get("result"))
        queue, key = self._desk.queue(self._name), _key(project, given.get("id"))
        if chosen is None or given.get("was_cancelled"):
            return self._deleted(project, given.get("id"))
        field = Interface.read(told["label_config"]).field if "label_config" in told else None
        about = {
            "label_studio": {
                "project": project,
                "annotation": given.get("id"),
                "by": given.get("completed_by"),
            }
        }
        (number,) = queue.add([New(_content(task, field), about, key)])
        act: Act = queue.answer(WHO, number, chosen)
        return int(act.label == chosen)

    def _deleted(self, project: object, annotation: object) -> int:
        queue = self._desk.queue(self._name)
        number = queue.number(_key(project, annotation))
        return 0 if number is None else int(queue.forget(WHO, number))


def _key(project: object, annotation: object) -> str:
    if not isinstance(annotation, int | str) or isinstance(annotation, bool):
        raise BadInput(f"the annotation's id is {shown(annotation)}; wanted a number")
    return f"label-studio-{project}-{annotation}"


def _choice(interface: Interface, label: object) -> Json:
    value = {"choices": [str(label)]}
    return {"from_name": interface.choices, "to_name": interface.about, "type": "choices", "value": value}


def _chosen(result: object) -> object:
    """The choice within an annotation; None: there is none."""
    for part in _list(result):
        choices = _list(_mapping(_mapping(part).get("value")).get("choices"))
        if choices:
            return choices[0]
    return None


def _content(task: object, field: str | None) -> Content:
    """What a task shows: the field that its interface names, or the only text, or all of its values."""
    data = _mapping(_mapping(task).get("data"))
    if field is not None and field in data:
        return checked(data[field])
    texts = [value for value in data.values() if isinstance(value, str)]
    if len(texts) == 1 and len(data) == 1:
        return checked(texts[0])
    return checked({name: value for name, value in data.items() if isinstance(value, str | int | float)})


def _mapping(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else []
