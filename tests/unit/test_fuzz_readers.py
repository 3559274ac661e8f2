"""Whatever bytes a reader is given, it yields rows or raises the project's own error, in bounded time and memory.

The default suite tries a few inputs of each reader, the same each time; `-m slow` tries at least 100,000 in all with a
new seed, which REPRLAB_FUZZ_SEED repeats.
"""

import io
import json
import os
import random
import resource
import time
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from reader_cases import CASES, Case, as_json
from reprlab.runtime.errors import ReprlabError

FEW = 60
MANY = 4_500
SECONDS_EACH = 5.0
MEGABYTES = 600
SEED = int(os.environ.get("REPRLAB_FUZZ_SEED") or random.SystemRandom().randrange(2**32))


@st.composite
def changed(draw: st.DrawFn, good: bytes, pieces: tuple[bytes, ...]) -> bytes:
    """The good bytes cut, repeated, overwritten, with pieces of the format or random bytes put in."""
    content = good
    piece = st.one_of(st.sampled_from(pieces), st.binary(max_size=6)) if pieces else st.binary(max_size=6)
    for _ in range(draw(st.integers(0, 4))):
        kind = draw(st.sampled_from(["cut", "end", "insert", "overwrite", "repeat"]))
        start = draw(st.integers(0, len(content)))
        length = draw(st.integers(0, 40))
        if kind == "cut":
            content = content[:start] + content[start + length :]
        elif kind == "end":
            content = content[:start]
        elif kind == "insert":
            content = content[:start] + draw(piece) * draw(st.integers(1, 3)) + content[start:]
        elif kind == "overwrite":
            added = draw(piece)
            content = content[:start] + added + content[start + len(added) :]
        else:
            content = content[:start] + content[start : start + length] * draw(st.integers(2, 20)) + content[start:]
    return content


def inputs_of(case: Case) -> st.SearchStrategy[bytes]:
    inner = changed(case.good, case.pieces).map(case.wrap)
    kinds = [inner, changed(case.wrap(case.good), ()), st.binary(max_size=60)] if case.outer else [inner]
    if case.suffix == "parquet":
        kinds.append(footers(case.good))
    if case.pieces:
        kinds.append(st.lists(st.sampled_from(case.pieces), max_size=30).map(b"".join).map(case.wrap))
    if case.suffix == "json":
        scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5))
        kinds.append(trees(json.loads(case.good), scalars).map(as_json))
    return st.one_of(kinds)


@st.composite
def footers(draw: st.DrawFn, good: bytes) -> bytes:
    """A Parquet file of the same length whose footer contradicts itself or its pages."""
    content = bytearray(good)
    start = len(good) - 8 - int.from_bytes(good[-8:-4], "little")
    for _ in range(draw(st.integers(1, 4))):
        content[draw(st.integers(start, len(good) - 9))] = draw(st.integers(0, 255))
    return bytes(content)


def trees(good: Any, scalars: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """The good value with any of its parts replaced by something of another kind."""
    other = st.one_of(scalars, st.lists(scalars, max_size=2), st.dictionaries(st.text(max_size=3), scalars, max_size=2))
    if isinstance(good, dict):
        same = st.fixed_dictionaries({}, optional={key: trees(value, scalars) for key, value in good.items()})
    elif isinstance(good, list):
        same = st.tuples(*[trees(value, scalars) for value in good]).map(list)
    else:
        same = st.just(good)
    return st.one_of(same, same, same, other)


def hold(name: str, case: Case, folder: Path, examples: int, start: int | None) -> None:
    """Try `examples` inputs."""
    path = folder / f"main.{case.suffix}"
    path.write_bytes(case.wrap(case.good))
    # The sample itself must be readable, or nothing is tested.
    assert case.read(path) is not None
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    def one(content: bytes) -> None:
        path.write_bytes(content)
        began = time.process_time()
        try:
            case.read(path)
        except ReprlabError as error:
            assert len(str(error).splitlines()) == 1
            # What only all rows of a data set together show is said of the data set; settings are given as text here.
            assert any(where in str(error) for where in (path.name, "toy: ", "(command line)")), str(error)
        assert time.process_time() - began < SECONDS_EACH, f"{name}: {len(content)} bytes took too long"

    test = given(inputs_of(case))(one)
    phases = [Phase.generate, Phase.shrink]
    health = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    test = settings(
        max_examples=examples, deadline=None, phases=phases, database=None, suppress_health_check=health,
        derandomize=start is None,
    )(test)  # fmt: skip
    if start is not None:
        test = seed(start)(test)
    test()
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert grown < MEGABYTES, f"{name}: {grown:.0f} MB more were needed"


@pytest.mark.parametrize("name", CASES)
def test_a_few_inputs(name: str, tmp_path: Path) -> None:
    hold(name, CASES[name], tmp_path, FEW, None)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_many_inputs(name: str, tmp_path: Path) -> None:
    print(f"REPRLAB_FUZZ_SEED={SEED}")
    hold(name, CASES[name], tmp_path, MANY, SEED)


def test_too_few_sentences_are_those_of_a_file(tmp_path: Path) -> None:
    """Found by many inputs: all but one sentence were damaged."""
    path = tmp_path / "main.parquet"
    case = CASES["scrambled_pairs"]
    table = pyarrow.parquet.read_table(io.BytesIO(case.good))
    pyarrow.parquet.write_table(table.slice(0, 0), path)
    with pytest.raises(ReprlabError, match=r"main\.parquet: 0 sentences can be edited"):
        case.read(path)


def test_every_footer_byte_may_be_anything(tmp_path: Path) -> None:
    """Found by many inputs: pyarrow ended the process on a footer whose columns contradict themselves."""
    path, good = tmp_path / "main.parquet", CASES["tokens"].good
    errors = 0
    for place in range(len(good) - 8 - int.from_bytes(good[-8:-4], "little"), len(good)):
        for value in (0x00, 0x01, 0x15, 0x18, 0x19, 0x2C, 0x7F, 0xFF):
            path.write_bytes(good[:place] + bytes([value]) + good[place + 1 :])
            try:
                CASES["tokens"].read(path)
            except ReprlabError:
                errors += 1
    assert errors > 1_000


def test_many_is_at_least_a_hundred_thousand() -> None:
    assert len(CASES) * MANY >= 100_000
