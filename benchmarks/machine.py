"""Where it was measured and with what, in words that name no host."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("onmargin", "scikit-learn", "river", "numba", "numpy", "scipy")


def processor() -> str:
    """The processor's name and how many cores a process may use."""
    name = platform.machine()
    listed = Path("/proc/cpuinfo")
    if listed.exists():
        names = [
            row.split(":", 1)[1] for row in listed.read_text().splitlines() if row.startswith("model name")
        ]
        name = f"{' '.join(names[0].split())} ({name})" if names else name
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{name}, {cores} cores, {platform.system()}"


def versions() -> str:
    """Python and the packages."""
    found = [f"Python {platform.python_version()}"]
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"{name} absent")
    return ", ".join(found)


def machine() -> str:
    """Where it ran, and with what."""
    return f"{processor()}; {versions()}; one thread."
