"""CI fails where a test was skipped without being listed."""

from __future__ import annotations

from typing import Any

import pytest

pytest_plugins = ["pytester"]
TESTS = """
import pytest

def test_fine():
    pass

@pytest.mark.parametrize("n", [1, 2])
def test_no_data(n):
    pytest.skip("no data")

@pytest.mark.xfail(strict=True, reason="a known fault")
def test_fault():
    assert False
"""


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A project of one file that minds skips as we do: its exit status and what it said."""

    def call(listed: str, *more: str) -> tuple[int, str]:
        monkeypatch.setenv("ONMARGIN_NO_SKIPS", "0" if "off" in more else "1")
        pytester.makeconftest("from tests.skipping import pytest_configure as pytest_configure")
        pytester.mkdir("tests").joinpath("skips.txt").write_text(listed)
        pytester.makepyfile(test_some=TESTS)
        words = ("-p", "no:hypothesispytest", *(word for word in more if word != "off"))
        done = pytester.runpytest_inprocess(*words)
        return int(done.ret), done.stdout.str() + done.stderr.str()

    return call


def test_a_skip_that_is_not_listed_fails_the_run(run: Any) -> None:
    status, said = run("test_some.py::test_no_data[1]: there is none")
    assert status == 1 and "test_no_data[2]: Skipped: no data" in said and "test_no_data[1]: " not in said


def test_a_skip_that_is_listed_does_not(run: Any) -> None:
    status, said = run("# none\n\ntest_some.py::test_no_data*: there is none")
    assert status == 0 and "not listed" not in said


def test_a_file_that_is_skipped_is_noticed_and_workers_tell_what_they_skipped(
    run: Any, pytester: pytest.Pytester
) -> None:
    pytester.makepyfile(test_other="import pytest\npytest.importorskip('no_such_package')")
    status, said = run("test_some.py::test_no_data[2]: there is none", "-n", "1")
    assert status == 1 and "test_other.py: " in said and "no_such_package" in said
    assert "test_no_data[1]: Skipped: no data" in said and "test_no_data[2]: " not in said


def test_only_ci_minds(run: Any) -> None:
    status, said = run("", "off")
    assert status == 0 and "not listed" not in said


def test_a_line_without_a_reason_is_refused(run: Any) -> None:
    status, said = run("test_some.py::test_no_data*")
    assert status != 0 and "wanted `node id: reason`" in said
