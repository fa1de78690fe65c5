"""Others' learners behind FastAPI as people build them: `python -m benchmarks.served_peers river|vw PORT`."""

from __future__ import annotations

import sys
from typing import Any

import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel


class Asked(BaseModel):
    """One example by name."""

    x: dict[str, float]


class Told(Asked):
    """One example and its label."""

    y: str


class River:
    """River's PA-I."""

    def __init__(self) -> None:
        from river.linear_model import PAClassifier

        self._model = PAClassifier(C=1.0, mode=1)

    def predict(self, x: dict[str, float]) -> str:
        """The label."""
        return "yes" if self._model.predict_one(x) else "no"

    def learn(self, x: dict[str, float], y: str) -> None:
        """One round."""
        self._model.learn_one(x, y == "yes")


class Wabbit:
    """Vowpal Wabbit's engine fed with its text, as its daemon is."""

    def __init__(self) -> None:
        from vowpalwabbit import Workspace

        self._engine = Workspace("--quiet --loss_function hinge --binary")

    @staticmethod
    def _text(x: dict[str, float], label: str = "") -> str:
        return f"{label} | " + " ".join(f"{name}:{value}" for name, value in x.items())

    def predict(self, x: dict[str, float]) -> str:
        """The label."""
        return "yes" if self._engine.predict(self._text(x)) > 0 else "no"

    def learn(self, x: dict[str, float], y: str) -> None:
        """One round."""
        self._engine.learn(self._text(x, "1" if y == "yes" else "-1"))


def application(learner: Any) -> FastAPI:
    """Two routes and health."""
    app = FastAPI()

    @app.post("/predict")
    async def predict(asked: Asked) -> dict[str, str]:
        return {"label": learner.predict(asked.x)}

    @app.post("/learn")
    async def learn(told: Told) -> dict[str, bool]:
        learner.learn(told.x, told.y)
        return {"learned": True}

    @app.get("/healthz")
    async def healthz() -> dict[str, str]:
        return {"status": "ok"}

    return app


if __name__ == "__main__":
    made = River() if sys.argv[1] == "river" else Wabbit()
    uvicorn.run(application(made), host="127.0.0.1", port=int(sys.argv[2]), log_level="warning")
