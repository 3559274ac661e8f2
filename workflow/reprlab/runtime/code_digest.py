"""Digest of the code that a stage runs, found from the import graph (standard library only: it is planning code).

Snakemake does not look at imports. The digest goes into a rule's params, so that an edit of a function reruns the
stages that import its module and no others. Comments, formatting and docstrings do not count.
"""

import ast
import functools
import hashlib
import itertools
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from reprlab.runtime.kept_digests import KeptDigests

PACKAGE = "reprlab"
# Positions of statements.
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
ROOT = Path(__file__).resolve().parents[1]
# Command line, logs, progress and atomic writing cannot change a result; an edit there must not retrain a model. How
# tables and JSON are written can: that is in `artifacts`.
NEUTRAL = f"{PACKAGE}.runtime"
# Parsing hundreds of modules takes seconds at the start of every run. Beside the bytecode of this module, and of this
# module's own content: another way to look at code finds nothing there.
_KEPT = KeptDigests(
    Path(__file__).parent / "__pycache__" / f"code_digest.{sys.implementation.cache_tag}.json",
    Path(__file__).read_bytes(),
)


def code_digest(stage: str, *plugins: str) -> str:
    """Sixteen hex digits for what `reprlab.stages.<stage>` and the named plugins import, themselves included.

    Plugins are given as `<group>.<name>`, as in `load_plugin`.
    """
    return digest_of_modules(module_digests(stage, *plugins))


def digest_of_modules(modules: Iterable[str]) -> str:
    """Sixteen hex digits for the syntax trees of modules."""
    digest = hashlib.sha256()
    for module in sorted(modules):
        digest.update(f"{module}\0{tree_digest(module)}\n".encode())
    return digest.hexdigest()[:16]


def module_digests(stage: str, *plugins: str) -> dict[str, str]:
    """The modules that a stage and its plugins import, in order, with the digests of their syntax trees."""
    names = {f"{PACKAGE}.stages.{stage}", *(f"{PACKAGE}.{plugin}" for plugin in plugins)}
    found = {module: tree_digest(module) for module in sorted(imported_modules(*sorted(names)))}
    _KEPT.save()
    return found


def edited_modules(planned: Mapping[str, str]) -> list[str]:
    """Modules whose code is not what `planned`, from `module_digests`, says."""
    return [module for module, digest in planned.items() if not module_path(module) or tree_digest(module) != digest]


def imported_modules(*roots: str) -> set[str]:
    """The package's own modules reached from `roots` by any import statement, also those inside functions."""
    seen: set[str] = set()
    waiting = list(roots)
    while waiting:
        module = waiting.pop()
        if module in seen or module == NEUTRAL or module.startswith(NEUTRAL + "."):
            continue
        seen.add(module)
        waiting.extend(_read(module)[0] - seen)
    return seen


def imported_packages(modules: Iterable[str]) -> set[str]:
    """What modules of the package import from elsewhere, by the first part of its name; Python's own is left out."""
    return set().union(*(_read(module)[2] for module in modules if module_path(module))) - sys.stdlib_module_names


def module_path(module: str) -> Path | None:
    """The source file of a module of the package, or None where there is none."""
    stem = ROOT.joinpath(*module.split(".")[1:])
    for path in (stem / "__init__.py", stem.with_suffix(".py")):
        if path.is_file():
            return path
    return None


@functools.cache
def _read(module: str) -> tuple[frozenset[str], str, frozenset[str]]:
    """The modules of the package that a module imports, its digest, and the other packages that it imports. Its tree is
    not kept: hundreds of them would slow down every collection of garbage from then on."""
    path = module_path(module)
    if path is None:
        raise FileNotFoundError(f"{module}: no such module below {ROOT}")
    content = path.read_bytes()
    # Whether it is a package decides what a relative import means.
    names, digest = _KEPT.of(f"{module} {path.name}", content, lambda: _parsed(module, path, content))
    own = frozenset(name for name in names if _is_own(name) and _is_there(name))
    return own, digest, frozenset(name for name in names if not _is_own(name))


@functools.cache
def _is_there(module: str) -> bool:
    """Whether it has a source file: thousands of import statements name a few hundred modules."""
    return module_path(module) is not None


def _parsed(module: str, path: Path, content: bytes) -> tuple[list[str], str]:
    """What a module's statements import, whether or not it is there, and its digest: modules of the package in full,
    of others the first part of the name."""
    tree = ast.parse(content.decode(), filename=str(path))
    names = _imports(module, tree)
    for block in _blocks(tree):
        block[:] = [statement for statement in block if not _is_string(statement)]
    return names, hashlib.sha256(ast.dump(tree, include_attributes=False).encode()).hexdigest()[:16]


def _imports(module: str, tree: ast.Module) -> list[str]:
    found: set[str] = set()
    for node in itertools.chain.from_iterable(_blocks(tree, running=True)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(module, node)
            found.add(base)
            found.update(f"{base}.{alias.name}" for alias in node.names)
    own = {name for name in found if _is_own(name)}
    # Importing a.b.c runs a/__init__ and a/b/__init__ as well.
    parents = {name.rsplit(".", depth)[0] for name in own for depth in range(1, name.count(".") + 1)}
    return sorted(own | parents | {name.partition(".")[0] for name in found - own})


def _is_own(name: str) -> bool:
    return name == PACKAGE or name.startswith(PACKAGE + ".")


def _absolute(module: str, node: ast.ImportFrom) -> str:
    if node.level == 0:
        return node.module or ""
    path = module_path(module)
    is_package = path is not None and path.name == "__init__.py"
    parts = module.split(".")
    parts = parts[: len(parts) - node.level + (1 if is_package else 0)]
    return ".".join(parts + ([node.module] if node.module else []))


def tree_digest(module: str) -> str:
    """Sixteen hex digits for the syntax tree of a module, docstrings left out."""
    return _read(module)[1]


def _blocks(node: ast.AST, *, running: bool = False) -> Iterator[list[ast.stmt]]:
    """The lists of statements in a module, a statement, a handler or a case, and in what is in them; only those that
    can run, where asked: what `if TYPE_CHECKING:` holds does not."""
    typed = running and isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    for name in _BLOCKS[1:] if typed else _BLOCKS:
        held = getattr(node, name, [])
        if isinstance(held, list):  # the body of a conditional expression is none, and no statement holds that
            if name not in ("handlers", "cases"):
                yield held
            for statement in held:
                yield from _blocks(statement, running=running)


def _is_string(statement: ast.stmt) -> bool:
    """Whether a statement is only a string: a docstring of a module, class, function or attribute."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )
