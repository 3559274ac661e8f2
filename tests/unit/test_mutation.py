"""Faults that are put into code by `make mutants`: one place each, and none in what people read."""

import ast

import pytest

from tests.mutation import draws
from tests.mutation.__main__ import equivalent, modules_of
from tests.mutation.operators import mutants
from tests.mutation.recorded import merged

SOURCE = '''
"""Words for people: 1 < 2."""

def score(values: list[int], k: int = 3, *, seed: int = 0) -> float:
    """The mean of 3."""
    if k < len(values) and not values[0] == -1:
        raise ReprlabError(f"{k + 1} values")
    model.eval()
    with torch.no_grad():
        total = sum(sorted(values)[:k])
    draw(total, k, seed=seed, generator=rng(settings.seed))
    return total / k if k else 0.5
'''


def changes(kind: str) -> set[str]:
    return {line[1:].strip() for one in mutants(SOURCE) if one.kind == kind for line in one.change.splitlines()
            if line.startswith("+")}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("comparison", "if k <= len(values) and (not values[0] == -1):"),
        ("and, or", "if k < len(values) or not values[0] == -1:"),
        ("negation", "if k < len(values) and values[0] == -1:"),
        ("sign", "if k < len(values) and (not values[0] == 1):"),
        ("dropped statement", "pass"),
        ("dropped no_grad", "if True:"),
        ("other function", "total = sum(list(values)[:k])"),
        ("swapped arguments", "draw(k, total, seed=seed, generator=rng(settings.seed))"),
        ("dropped seed=", "draw(total, k, generator=rng(settings.seed))"),
        ("ignored seed", "draw(total, k, seed=seed, generator=rng(0))"),
        ("negated condition", "return total / k if not k else 0.5"),
        ("arithmetic", "return total * k if k else 0.5"),
        ("constant", "return total / k if k else 1.0"),
        ("dropped eval", "model"),
    ],
)
def test_each_operator_changes_one_place(kind, line):
    assert line in changes(kind), changes(kind)


def test_every_fault_is_a_module_and_none_touches_words_types_or_messages():
    found = mutants(SOURCE)
    assert len({one.source for one in found}) == len(found) > 15
    for one in found:
        tree = ast.parse(one.source)
        assert ast.get_docstring(tree) == "Words for people: 1 < 2."
        assert "{k + 1} values" in one.source and "list[int]" in one.source
        removed = [line for line in one.change.splitlines() if line.startswith("-")]
        assert len(removed) == 1 or one.kind == "dropped no_grad"
    assert mutants(SOURCE) == found


def test_what_is_the_same_in_either_order_is_not_swapped():
    source = "a = max(0, min(b, c))\nd = np.maximum(a, b).reshape(-1, 3)\ne = pad(a, b)\n"
    kinds = [(one.line, one.kind) for one in mutants(source)]
    # Sizes and the last call alone: neither `max` nor `maximum`.
    assert [line for line, kind in kinds if kind == "swapped arguments"] == [2, 3]
    # The place that is to be found has any negative number; the other number is a size.
    assert [line for line, kind in kinds if kind == "constant"] == [1, 2]
    assert (2, "sign") not in kinds


def test_a_record_of_some_files_keeps_what_is_known_of_others(tmp_path, monkeypatch):
    monkeypatch.setattr("tests.mutation.recorded.FOLDER", tmp_path)
    (tmp_path / "seconds-1.json").write_text('{"a.py::new": 2.0}')
    known = {"a.py::old": 1.0, "b.py::other": 3.0}
    assert merged(known, ["a.py"]) == {"a.py::new": 2.0, "b.py::other": 3.0}


def test_the_first_and_the_last_draw_of_a_package_are_shown():
    rows = [
        dict(zip(("package", "drawn", "killed", "survived", "untested", "equivalent"), map(str, row), strict=True))
        for row in (("b", 24, 9, 10, 5, 0), ("a", 40, 30, 5, 5, 0), ("b", 30, 29, 1, 0, 0), ("b", 40, 36, 1, 1, 2))
    ]
    lines = draws.table(draws.first_and_last(rows)).splitlines()[2:]
    assert lines == [
        "| `a` | 30 of 40 | 40 | 30 | 5 | 5 | 0 | 75 % |",
        "| `b` | 9 of 24 | 40 | 36 | 1 | 1 | 2 | 95 % |",
    ]
    page = f"before\n{draws.BEGIN}old\n<!-- end -->\nafter\n"
    assert draws.written(page, rows) == draws.written(draws.written(page, rows), rows)
    assert draws.written(page, rows).startswith("before\n<!--") and draws.written(page, rows).endswith("-->\nafter\n")


def test_the_table_of_the_page_is_that_of_the_record():
    page = draws.PAGE.read_text(encoding="utf-8")
    assert draws.BEGIN in page and page == draws.written(page, draws.rows_of_record())


def lines_of(source: str, change: str) -> set[int]:
    """Lines of the statements that begin with what a change takes out."""
    found: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.stmt):
            # A decorator stands in front of what it decorates; the line of a definition is behind it.
            shown = " ".join(line.strip() for line in ast.unparse(node).splitlines()[:1])
            first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])
            found |= set(range(first, (node.end_lineno or first) + 1)) if shown in change else set()
    return found


def test_faults_that_are_called_equivalent_exist_and_have_a_reason():
    for fault, reason in equivalent().items():
        module, change = fault.split("\t")
        assert len(reason.split()) >= 4, fault
        name = module.removesuffix(".py").replace("/", ".")
        (path,) = modules_of(name)
        source = path.read_text(encoding="utf-8")
        known = {" ".join(one.change.split()) for one in mutants(source, lines_of(source, change))}
        assert change in known, f"{fault}: is not a fault of the module any more; delete the line"
