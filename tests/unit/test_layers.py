"""No arrow goes back up: what a module may import, by the declared order of packages."""

import ast
from collections.abc import Mapping
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2] / "workflow/reprlab"
PAPERS = tuple(f"papers.{path.parent.name}" for path in sorted(ROOT.glob("papers/*/__init__.py")))
# From the ground up, packages and the modules beside them. What stands side by side, as the papers do, does not import
# each other. Imports for the type checker and those inside functions count. There are no exceptions.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("runtime",),
    ("artifacts", "plugins"),
    ("settings",),
    ("hub",),
    # Which baselines a kind of answer has; how they are made is the rest of the package.
    ("baselines.declared",),
    ("registry",),
    ("audio.completeness",),
    # How text and sound files are decoded and how a text is given to a tokenizer, for all that has one.
    ("data.text_files", "text.encoding", "audio.decoding", "audio.transcripts"),
    # Rows of documents with chains, which readers of data write.
    ("coreference.scores", "data.schema"),
    ("coreference.rows",),
    ("coreference.names",),
    ("concepts",),
    ("data",),
    ("text",),
    ("objectives",),
    ("models",),
    ("inference",),
    ("evaluation",),
    ("training",),
    ("statistics",),
    ("geometry",),
    # Answers that need no model, where trainings and scorers make them beside their own.
    ("baselines.seen", "baselines.words"),
    ("baselines.transcripts",),
    ("audio", "coreference", "features", "representations", "retrieval"),
    ("events", "sentences", "structure"),
    ("baselines",),
    ("reporting",),
    ("music", "results"),
    # A stage knows a paper by name alone, as a plugin.
    ("stages",),
    # Settings of a run; a paper's schema is found by its name.
    ("config",),
    ("planning", "runs"),
    PAPERS,
    ("cluster", "preflight", "scaffold", "terminal"),
    # The commands by their names, and what code of others may rely on.
    ("__main__", "library"),
)
HEIGHT = {name: height for height, layer in enumerate(LAYERS) for name in layer}


def layer_of(module: str) -> str:
    """The name in LAYERS that a module belongs to; '' where it has none."""
    return max((name for name in HEIGHT if f"{module}.".startswith(f"{name}.")), key=len, default="")


def imports_of(tree: ast.Module, modules: set[str]) -> set[str]:
    """Those of `modules` that a file imports, whole modules and names of them."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            found |= {str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)}
    return {name.removeprefix("reprlab.") for name in found} & modules


def package() -> dict[str, set[str]]:
    """Every module with what it imports, without the name of the package."""
    files = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in ROOT.rglob("*.py")
        if path.parent != ROOT or path.stem != "__init__"
        if path != ROOT / "papers/__init__.py"
    }
    return {name: imports_of(ast.parse(path.read_text(encoding="utf-8")), set(files)) for name, path in files.items()}


def arrows_up(imports: Mapping[str, set[str]]) -> list[str]:
    """Imports that no layer allows."""
    return [
        f"{module} imports {other}"
        for module, others in sorted(imports.items())
        for other in sorted(others)
        if layer_of(module) != layer_of(other) and HEIGHT[layer_of(other)] >= HEIGHT[layer_of(module)]
    ]


def test_every_module_has_a_layer_and_every_layer_modules():
    modules = package()
    assert [module for module in modules if not layer_of(module)] == []
    assert set(HEIGHT) == {layer_of(module) for module in modules}


def test_no_modules_import_each_other_in_a_circle():
    # A package that gathers the names of its modules is not a circle.
    imports = {
        module: {other for other in others if not f"{module}.".startswith(f"{other}.")}
        for module, others in package().items()
    }
    assert sorted(TopologicalSorter(imports).static_order()) == sorted(imports)


def test_no_arrow_goes_back_up():
    assert arrows_up(package()) == []


def test_an_arrow_back_up_is_found():
    known = {"inference.causal_batches", "training.completion_texts", "papers.depth.plan", "papers.amuro_char.plan"}
    source = "def f():\n    from reprlab.training.completion_texts import start_ids\n"
    assert imports_of(ast.parse(source), known) == {"training.completion_texts"}
    assert imports_of(ast.parse("from reprlab.training import completion_texts"), known) == {
        "training.completion_texts"
    }
    assert arrows_up({"inference.causal_batches": {"training.completion_texts"}}) != []
    assert arrows_up({"training.completion_texts": {"inference.causal_batches"}}) == []
    assert arrows_up({"papers.depth.plan": {"papers.amuro_char.plan"}}) != []
    assert arrows_up({"papers.amuro_char.plan": {"papers.depth.plan"}}) != []
    assert arrows_up({"results.frame": {"planning.result_jobs"}}) != []
