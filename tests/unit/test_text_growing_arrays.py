"""Arrays on disk that grow in length and in type."""

import numpy as np
import pytest
from reprlab.text import growing_arrays
from reprlab.text.growing_arrays import GrowingArray


@pytest.mark.parametrize(
    ("pieces", "dtype"),
    [
        ([[1, 255], [7]], np.uint8),
        ([[1, 255], [], [256], [3]], np.uint16),
        ([[1, 2, 3, 4, 5], [65_536, 1], [128_255]], np.uint32),
        ([[70_000], [-1]], np.int64),
        ([[]], np.uint8),
    ],
)
def test_the_type_is_the_smallest_that_holds_all(tmp_path, monkeypatch, pieces, dtype) -> None:
    monkeypatch.setattr(growing_arrays, "_BLOCK", 2)
    path = tmp_path / "ids.npy"
    with GrowingArray(path) as grown:
        for piece in pieces:
            grown.write(np.array(piece, dtype=np.int32))
    found = np.load(path)
    assert found.dtype == dtype
    assert found.tolist() == [value for piece in pieces for value in piece]
    assert [file.name for file in tmp_path.iterdir()] == ["ids.npy"]


def test_a_given_type_is_the_least(tmp_path) -> None:
    with GrowingArray(tmp_path / "offsets.npy", np.dtype(np.int64)) as grown:
        grown.write(np.array([1, 2], dtype=np.int64))
    assert np.load(tmp_path / "offsets.npy").dtype == np.int64


def test_what_went_wrong_inside_is_what_is_raised(tmp_path) -> None:
    with pytest.raises(OSError, match="no room"), GrowingArray(tmp_path / "ids.npy") as grown:
        grown._handle.close()
        raise OSError("no room")
