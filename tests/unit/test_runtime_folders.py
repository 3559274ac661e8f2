"""The cache that the environment names, and paths that Python cannot import from."""

from pathlib import Path

import pytest
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.folders import download_cache, require_importable


def test_an_empty_cache_variable_is_unset(tmp_path, monkeypatch):
    own = tmp_path / "resources/downloads"
    monkeypatch.delenv("REPRLAB_CACHE", raising=False)
    assert download_cache(tmp_path) == own
    monkeypatch.setenv("REPRLAB_CACHE", "")
    assert download_cache(tmp_path) == own
    monkeypatch.setenv("REPRLAB_CACHE", str(tmp_path / "shared"))
    assert download_cache(tmp_path) == tmp_path / "shared"


def test_a_colon_in_the_path_is_refused_in_one_line():
    require_importable(Path("/home/a b/re{p}'r"))
    with pytest.raises(ReprlabError, match=r"/home/a:b: Python cannot import from a path with ':'; move or rename"):
        require_importable(Path("/home/a:b"))
