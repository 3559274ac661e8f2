"""An `.npy` file that is written piece by piece, when neither its length nor its largest value is known beforehand."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType

import numpy as np

_BLOCK = 1 << 22


class GrowingArray:
    """A flat integer array on disk, in the smallest type, from `dtype` on, that holds what was written.

    A type that proves too small is widened by writing the file again; the first tokens of a corpus nearly always decide
    the type, so that little is written twice.
    """

    def __init__(self, path: Path, dtype: np.dtype | None = None) -> None:
        self._path, self._dtype, self._count = path, dtype or np.dtype(np.uint8), 0

    def __enter__(self) -> GrowingArray:
        self._open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._handle.close()
            return
        with self._handle as handle:
            self._write_header()
            if handle.tell() != self._start:
                raise AssertionError("the header of an .npy file outgrew its room")
            handle.flush()
            os.fsync(handle.fileno())

    def write(self, values: np.ndarray) -> None:
        """Append integers [n]."""
        needed = np.promote_types(self._dtype, _smallest(values))
        if needed != self._dtype:
            self._widen(needed)
        self._handle.write(values.astype(self._dtype, copy=False).tobytes())
        self._count += len(values)

    def _open(self) -> None:
        self._handle = self._path.open("wb")
        self._write_header()
        self._start = self._handle.tell()

    def _write_header(self) -> None:
        self._handle.seek(0)
        # NumPy reserves room in a header for a length that grows.
        header = {"descr": np.lib.format.dtype_to_descr(self._dtype), "fortran_order": False, "shape": (self._count,)}
        np.lib.format.write_array_header_1_0(self._handle, header)

    def _widen(self, dtype: np.dtype) -> None:
        self._handle.close()
        narrow = self._path.with_name(f"{self._path.name}.narrow")
        self._path.rename(narrow)
        old, start = self._dtype, self._start
        self._dtype = dtype
        self._open()
        with narrow.open("rb") as handle:
            handle.seek(start)
            while block := handle.read(_BLOCK * old.itemsize):
                self._handle.write(np.frombuffer(block, old).astype(dtype).tobytes())
        narrow.unlink()


def _smallest(values: np.ndarray) -> np.dtype:
    if len(values) == 0:
        return np.dtype(np.uint8)
    return values.dtype if values.min() < 0 else np.min_scalar_type(int(values.max()))
