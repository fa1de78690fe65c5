"""CI skips no test unnoticed.

With ONMARGIN_NO_SKIPS=1 (as `.ci/run` sets it) a run fails where a test was skipped that is not in
`skips.txt`.
"""

from __future__ import annotations

import os
import re
from typing import Any

import pytest

LISTED = "tests/skips.txt"


class NoSkips:
    """Fails a run in which a test was skipped without being listed; the controller of the workers has it."""

    def __init__(self, allowed: list[tuple[re.Pattern[str], str]]) -> None:
        self.allowed = allowed
        self.skipped: dict[str, str] = {}  # node id -> reason

    def _note(self, report: Any) -> None:
        if report.skipped and not hasattr(report, "wasxfail"):
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            self.skipped[report.nodeid] = reason

    pytest_runtest_logreport = pytest_collectreport = lambda self, report: self._note(report)

    def unlisted(self) -> dict[str, str]:
        """Those that no line of the list allows."""
        return {
            node: reason
            for node, reason in self.skipped.items()
            if not any(pattern.fullmatch(node) for pattern, _ in self.allowed)
        }

    def pytest_sessionfinish(self, session: Any) -> None:
        if self.unlisted() and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        for node, reason in self.unlisted().items():
            terminalreporter.line(f"SKIPPED, but not listed in {LISTED}: {node}: {reason}", red=True)


def listed(text: str) -> list[tuple[re.Pattern[str], str]]:
    """Lines `node id: reason`; a * in the node id stands for anything, # begins a comment."""
    found = []
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            node, colon, reason = line.partition(": ")
            if not colon or not reason.strip():
                raise pytest.UsageError(f"{LISTED} has {line!r}; wanted `node id: reason`")
            found.append((re.compile(re.escape(node).replace(r"\*", ".*")), reason.strip()))
    return found


def pytest_configure(config: pytest.Config) -> None:
    if os.environ.get("ONMARGIN_NO_SKIPS") == "1" and not hasattr(config, "workerinput"):
        config.pluginmanager.register(NoSkips(listed((config.rootpath / LISTED).read_text())), "no-skips")
