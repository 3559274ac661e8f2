"""Plausible faults of a module, each a change of one place of its syntax tree."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Container, Iterator
from dataclasses import dataclass

_COMPARED: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
_COMPUTED: dict[type, type] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Div, ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
_OTHER_NAMES = {
    "max": "min", "min": "max", "any": "all", "all": "any", "sorted": "list", "reversed": "list", "argmax": "argmin",
    "argmin": "argmax", "mean": "sum", "cumsum": "sum", "precision": "recall", "recall": "precision", "train": "eval",
    "maximum": "minimum", "minimum": "maximum", "floor": "ceil", "ceil": "floor", "softmax": "sigmoid", "log": "log1p",
}  # fmt: skip
# Their first two arguments may change places; the first size of these may be any negative number.
_SYMMETRIC = ("max", "min", "maximum", "minimum", "gcd", "equal", "array_equal")
_SIZED = ("reshape",)
_SILENT = ("no_grad", "inference_mode")
# Their arguments say what is told, not what is computed.
_TELLS = ("ReprlabError", "ValueError", "TypeError", "warning", "info", "debug", "Field", "cast", "TypeVar", "getattr")
_SAID = (
    "description", "help", "prog", "title", "caption", "encoding", "newline", "strict", "exist_ok", "parents", "frozen",
    "extra", "slots", "device",
    # How a figure looks: no number is in it.
    "alpha", "capsize", "color", "figsize", "fontsize", "layout", "linestyle", "linewidth", "loc", "marker", "ncols",
    "rotation", "zorder")  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One fault."""

    line: int
    """The first line of what is changed, in the module as it is."""
    kind: str
    """The operator."""
    change: str
    """The lines that differ, as `-` and `+`, of the module written out from its syntax tree."""
    source: str
    """The module with the fault."""


def mutants(source: str, lines: Container[int] | None = None) -> list[Mutant]:
    """All faults of a module, or of some of its lines, in their order."""
    places = enumerate(_places(ast.parse(source)))
    wanted = [number for number, (line, _) in places if lines is None or line in lines]
    found = [one for number in wanted if (one := mutant(source, number))]
    return sorted(found, key=lambda one: (one.line, one.kind, one.change))


def kinds(source: str) -> list[str]:
    """The operator of each change that can be made to a module; a few of them give the same module again."""
    return [kind for _, kind in _places(ast.parse(source))]


def mutant(source: str, number: int) -> Mutant | None:
    """The module with one of its changes; None where that gives the same module again."""
    tree = ast.parse(source)
    before, (line, kind) = ast.unparse(tree), _places(tree)[number]
    _apply(tree, number)
    text = ast.unparse(tree)
    return None if text == before else Mutant(line, kind, _difference(before, text), text + "\n")


def _difference(before: str, after: str) -> str:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    return "\n".join(line for line in lines if line[:3] not in ("---", "+++") and line[:2] != "@@")


def _places(tree: ast.Module) -> list[tuple[int, str]]:
    return [(line, kind) for line, kind, _ in _changes(tree)]


def _apply(tree: ast.Module, number: int) -> None:
    for index, (_, _, change) in enumerate(_changes(tree)):
        if index == number:
            change()
            return


def _changes(tree: ast.Module) -> Iterator[tuple[int, str, object]]:
    """Every change that can be made: line, operator, and a function that makes it in this tree."""
    skipped = _skipped(tree)
    for parent in ast.walk(tree):
        for field, value in ast.iter_fields(parent):
            places = list(enumerate(value)) if isinstance(value, list) else [(None, value)]
            for index, node in places:
                if isinstance(node, ast.AST) and id(node) not in skipped:
                    yield from _of(parent, field, index, node)


def _skipped(tree: ast.Module) -> set[int]:
    """Nodes that are types, words for people or declarations of settings."""
    found: set[int] = set()

    def skip(node: ast.AST | None) -> None:
        if node is not None:
            found.update(id(one) for one in ast.walk(node))

    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant()):
                skip(node)
            case ast.AnnAssign():
                skip(node.annotation)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                skip(node.returns)
                for argument in (*node.args.args, *node.args.kwonlyargs, *node.args.posonlyargs):
                    skip(argument.annotation)
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in _TELLS:
                skip(node)
            case ast.Call(func=ast.Attribute(attr=name), args=sizes) if name in _SIZED:
                for size in sizes:
                    if isinstance(size, ast.UnaryOp):
                        skip(size)
            case ast.keyword(arg=name) if name in _SAID:
                skip(node)
            case ast.If(test=ast.Name(id="TYPE_CHECKING")) | ast.Raise() | ast.Import() | ast.ImportFrom():
                skip(node)
            case ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
                skip(node)
    return found


def _of(parent: ast.AST, field: str, index: int | None, node: ast.AST) -> Iterator[tuple[int, str, object]]:
    line = getattr(node, "lineno", getattr(parent, "lineno", 0))

    def put(new: ast.AST) -> None:
        if index is None:
            setattr(parent, field, new)
        else:
            getattr(parent, field)[index] = new

    match node:
        case ast.Constant(value=bool() as value):
            yield line, "truth value", lambda: put(ast.Constant(not value))
        case ast.Constant(value=int() as value):
            yield line, "constant", lambda: put(ast.Constant(value + 1))
        case ast.Constant(value=float() as value):
            yield line, "constant", lambda: put(ast.Constant(value * 2 if value else 1.0))
        case ast.Compare(ops=[operator]) if type(operator) in _COMPARED:
            yield line, "comparison", lambda: node.ops.__setitem__(0, _COMPARED[type(operator)]())
        case ast.BinOp(op=operator) if type(operator) in _COMPUTED:
            yield line, "arithmetic", lambda: setattr(node, "op", _COMPUTED[type(operator)]())
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            yield line, "sign", lambda: put(operand)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield line, "negation", lambda: put(operand)
        case ast.BoolOp(op=operator):
            other = ast.Or if isinstance(operator, ast.And) else ast.And
            yield line, "and, or", lambda: setattr(node, "op", other())
        case ast.If(test=test) | ast.IfExp(test=test):
            yield line, "negated condition", lambda: setattr(node, "test", ast.UnaryOp(ast.Not(), test))
        case ast.comprehension(ifs=[_, *_]):
            yield getattr(node.target, "lineno", line), "dropped filter", lambda: node.ifs.clear()
        case ast.Attribute(attr="seed", ctx=ast.Load()) if field != "func":
            yield line, "ignored seed", lambda: put(ast.Constant(0))
        case ast.Expr(value=ast.Call()) | ast.AugAssign():
            yield line, "dropped statement", lambda: put(ast.Pass())
        case ast.With(items=[ast.withitem(context_expr=ast.Call(func=ast.Attribute(attr=name)))]) if name in _SILENT:
            yield line, "dropped no_grad", lambda: put(ast.If(ast.Constant(True), node.body, []))
        case ast.Call():
            yield from _of_call(node, line, put)


def _of_call(node: ast.Call, line: int, put: object) -> Iterator[tuple[int, str, object]]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name in _OTHER_NAMES:
        attribute = "attr" if isinstance(node.func, ast.Attribute) else "id"
        yield line, "other function", lambda: setattr(node.func, attribute, _OTHER_NAMES[name])
    if name in ("eval", "detach", "abs", "clone", "sort_values", "sort_index") and isinstance(node.func, ast.Attribute):
        owner = node.func.value
        yield line, f"dropped {name}", lambda: put(owner)  # type: ignore[operator]
    plain = [one for one in node.args if not isinstance(one, ast.Starred)]
    if name not in _SYMMETRIC and len(plain) > 1 and plain == node.args and ast.dump(plain[0]) != ast.dump(plain[1]):
        yield line, "swapped arguments", lambda: node.args.__setitem__(slice(0, 2), node.args[1::-1])
    for place, keyword in enumerate(node.keywords):
        if keyword.arg and keyword.arg not in _SAID:
            at = getattr(keyword, "lineno", line)
            yield at, f"dropped {keyword.arg}=", lambda place=place: node.keywords.pop(place)
