"""Loops over bytes lie on disk under their own fingerprint: learners are not compiled anew for them."""

from pathlib import Path

import pytest
from numba import config

from onmargin.compiled.parts import own_sources
from onmargin.features.scanning import kept, murmur, tokens


@pytest.mark.skipif(config.DISABLE_JIT, reason="plain Python has no cache")
def test_machine_code_of_another_text_is_cleared():
    mark = kept.text_of(kept.SCANNING)
    assert tokens.hash_texts.__name__ == f"hash_texts_{mark}" and mark != own_sources()
    folder = Path(murmur.hash_slices.stats.cache_path)
    folder.mkdir(parents=True, exist_ok=True)
    stale, fresh = folder / "murmur.loop_00000000-1.py311.nbi", folder / f"murmur.loop_{mark}-1.py311.nbi"
    for path in (stale, fresh):
        path.touch()
    try:
        assert kept.clear_stale() >= 1
        assert fresh.exists() and not stale.exists()
    finally:
        fresh.unlink()


def test_another_folder_is_another_fingerprint():
    assert kept.text_of(kept.SCANNING) != kept.text_of(kept.SCANNING, "features") != kept.text_of("features")
