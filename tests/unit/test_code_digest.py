"""What changes a stage's digest, and what does not."""

import ast
import collections
import shutil

import pytest
from reprlab.runtime import code_digest as module


@pytest.fixture
def package(tmp_path, monkeypatch):
    root = tmp_path / "reprlab"
    files = {
        "__init__.py": "",
        "stages/__init__.py": "",
        "stages/a.py": "def a():\n    from reprlab.lib.used import f\n    return f()\n",
        "stages/b.py": "from ..lib import other\n",
        "lib/__init__.py": "",
        "lib/used.py": '"""Doc."""\nimport reprlab.runtime.log\n\n\ndef f():\n    """Doc."""\n    return 1\n',
        "lib/other.py": "X = 1\n",
        "runtime/__init__.py": "",
        "runtime/log.py": "X = 1\n",
        "objectives/__init__.py": "",
        "objectives/depth.py": "Y = 1\n",
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(module, "ROOT", root)

    def digest(stage, *plugins):
        module._read.cache_clear()
        return module.code_digest(stage, *plugins)

    yield root, digest
    module._read.cache_clear()


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_a_function_body_changes_the_stages_that_import_it_and_no_others(package):
    root, digest = package
    before = digest("a"), digest("b")
    edit(root / "lib/used.py", "return 1", "return 2")
    assert digest("a") != before[0]
    assert digest("b") == before[1]


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("lib/used.py", '    """Doc."""', '    """Other words."""'),
        ("lib/used.py", '"""Doc."""\nimport', '"""Module, described."""\nimport'),
        ("lib/used.py", "return 1", "return 1  # a comment"),
        ("runtime/log.py", "X = 1", "X = 2"),
        ("lib/other.py", "X = 1", "X = 2"),
    ],
)
def test_words_and_what_is_not_imported_change_nothing(package, name, old, new):
    root, digest = package
    before = digest("a")
    edit(root / name, old, new)
    assert digest("a") == before


def test_relative_imports_and_imports_inside_functions_are_seen(package):
    _, digest = package
    digest("a")
    assert "reprlab.lib.used" in module.imported_modules("reprlab.stages.a")
    assert "reprlab.lib.other" in module.imported_modules("reprlab.stages.b")


def test_a_plugin_counts_where_it_is_named(package):
    root, digest = package
    before = digest("a"), digest("a", "objectives.depth")
    assert before[0] != before[1]
    edit(root / "objectives/depth.py", "Y = 1", "Y = 2")
    assert digest("a") == before[0]
    assert digest("a", "objectives.depth") != before[1]


def test_what_is_imported_for_types_alone_does_not_run(package):
    root, digest = package
    typed = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from reprlab.lib import other\n    import torch\n"
    edit(root / "stages/a.py", "def a", f"{typed}else:\n    import numpy.linalg\n\n\ndef a")
    before = digest("a")
    edit(root / "lib/other.py", "X = 1", "X = 2")
    assert digest("a") == before
    assert module.imported_packages(module.imported_modules("reprlab.stages.a")) == {"numpy"}


def test_packages_of_elsewhere_are_found_by_any_import(package):
    root, digest = package
    edit(root / "lib/used.py", "    return 1", "    with open('x'):\n        import scipy.stats as s\n    return 1")
    edit(root / "objectives/depth.py", "Y = 1", "from PIL import Image\nimport os, json, yaml.nodes\n")
    digest("a")
    stage = module.imported_modules("reprlab.stages.a")
    assert module.imported_packages(stage) == {"scipy"}
    assert module.imported_packages({*stage, "reprlab.objectives.depth"}) == {"scipy", "PIL", "yaml"}


def test_a_deleted_module_is_not_found(package):
    root, digest = package
    shutil.rmtree(root / "stages")
    with pytest.raises(FileNotFoundError):
        digest("a")


@pytest.mark.parametrize(
    ("stage", "writes"),
    [
        ("tabulate_paper", "artifacts.tables"),
        ("build_prompts", "artifacts.tables"),
        ("train_tokenizer", "artifacts.json_files"),
        ("pretrain_lm", "artifacts.tables"),
    ],
)
def test_what_writes_the_bytes_of_a_result_is_in_its_digest(stage, writes):
    assert f"reprlab.{writes}" in module.imported_modules(f"reprlab.stages.{stage}")


def test_what_is_called_neutral_knows_no_format_of_results():
    for path in (module.ROOT / "runtime").glob("*.py"):
        imported, _, _ = module._read(f"{module.NEUTRAL}.{path.stem}")
        assert {name for name in imported if not name.startswith(module.NEUTRAL)} <= {"reprlab"}, path
        names = {node.names[0].name for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Import)}
        assert not names & {"csv", "numpy", "pandas", "pyarrow", "torch", "pyarrow.parquet"}, path


def test_no_module_imports_in_a_way_that_the_graph_cannot_see():
    """`importlib` and `__import__` stand in plugins.py, where the rules name the module to the digest, and where what
    the plan names is loaded ahead of its job."""
    hidden = []
    for path in module.ROOT.rglob("*.py"):
        tree = ast.parse(path.read_text())
        # An evaluation set may be called eval: where a module gives the name to a value of its own, only calls count.
        own = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        own |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
        for node in ast.walk(tree):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.Name) and node.id in {"__import__", "exec", "eval"} - own:
                names = [node.id]
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("exec", "eval"):
                names = [node.func.id]
            for name in names:
                if name.split(".")[0] in ("importlib", "__import__", "exec", "eval", "runpy", "pkgutil"):
                    hidden.append(f"{path.relative_to(module.ROOT)}: {name}")
    # Versions of packages are metadata, not code; the names for code of others are in the layer that none imports.
    assert sorted(entry for entry in hidden if "importlib.metadata" not in entry) == [
        "library.py: importlib.import_module",
        "plugins.py: importlib",
        "runtime/preloaded.py: importlib",
    ]


def modules():
    return [
        ".".join(("reprlab", *path.relative_to(module.ROOT).with_suffix("").parts)).removesuffix(".__init__")
        for path in sorted(module.ROOT.rglob("*.py"))
    ]


def is_declaration(name):
    """Settings, entries of registries, and packages, whose own file says what they are for."""
    last = name.rpartition(".")[2]
    declared = ("reprlab.settings", "reprlab.registry", "reprlab.baselines.declared")
    return last.endswith("settings") or name.startswith(declared)


def test_settings_import_settings_alone():
    """An edit of what asks a chat model must not make everything again whose settings name one."""
    found = {
        name: {
            one
            for one in module._read(name)[0]
            if not is_declaration(one) and module.module_path(one).name != "__init__.py" and "runtime" not in one
        }
        for name in modules()
        if name.rpartition(".")[2].endswith("settings")
    }
    assert {name: imported for name, imported in found.items() if imported} == {}


def test_the_widest_edits():
    """Of 112 stages, how many an edit of a module runs again; the five widest, beside settings and registries."""
    stages = [name for name in modules() if name.startswith("reprlab.stages.")]
    reached = collections.Counter(name for stage in stages for name in module.imported_modules(stage))
    code = {
        name.removeprefix("reprlab."): reached[name]
        for name in modules()
        if not is_declaration(name) and module.module_path(name).name != "__init__.py"
    }
    widest = dict(sorted(code.items(), key=lambda one: -one[1])[:5])
    held = {"artifacts.tsv": 106, "artifacts.tables": 101, "artifacts.json_files": 95}
    held |= {"hub.revisions": 92, "plugins": 91}
    assert widest.keys() == held.keys() and all(widest[name] <= held[name] for name in held), widest
    assert code["inference.chat"] <= 7
