"""README and docs name only what exists: links, files, targets, rules, settings, data, tests."""

import re
from functools import cache
from pathlib import Path

import pytest
import yaml
from pydantic import BaseModel
from reprlab.config.load import load_config
from reprlab.config.papers import PAPERS
from reprlab.config.runtime import SCALES, WorkflowSettings
from reprlab.papers.depth.plan import add_jobs
from reprlab.planning.plan import Plan
from reprlab.planning.stages import STAGES

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "config/README.md", "profiles/generic-cluster/README.md"]
PAGES += sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("docs/**/*.md"))
# Made by a run, or put beside the page later; everything else that a page names must be in the repository.
_MADE = ("results", "runs/", ".venv", ".snakemake")
# Files that the worked examples make.
_INVENTED = {"mine.yaml", "nyt.yaml", "config/papers/sentiment.yaml", "resources/published/sentiment/table1.tsv"}


@cache
def read(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def prose(page: str) -> str:
    """The page without marked blocks: those are content of files."""
    return re.sub(r"^```\w+ [^\n]+\n.*?^```$", "", read(page), flags=re.M | re.S)


def code_spans(page: str) -> list[str]:
    return re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```$", "", prose(page), flags=re.M | re.S))


def anchors(page: str) -> set[str]:
    """GitHub's anchors of the headings."""
    titles = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```$", "", read(page), flags=re.M | re.S), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def keys_of(model: BaseModel, prefix: str) -> set[str]:
    """Dotted names of all settings and groups, with `*` for the names of a mapping's entries as well."""
    found = set()
    for name in type(model).model_fields:
        value, path = getattr(model, name), f"{prefix}{name}"
        found.add(path)
        if isinstance(value, BaseModel):
            found |= keys_of(value, f"{path}.")
        elif isinstance(value, dict):
            for key, entry in value.items():
                found.add(f"{path}.{key}")
                if isinstance(entry, BaseModel):
                    found |= keys_of(entry, f"{path}.{key}.") | keys_of(entry, f"{path}.<name>.")
    return found


@cache
def settings() -> set[str]:
    found = keys_of(WorkflowSettings(), "") | {f"threads.{name}" for name in ("default", *stages())}
    for slug, paper in load_config(ROOT, {"scale": "paper"}).papers.items():
        found |= keys_of(paper, f"papers.{slug}.")
    return found


@cache
def stages() -> frozenset[str]:
    folder = ROOT / "workflow/reprlab/stages"
    return frozenset(path.stem for path in folder.glob("[a-z]*.py"))


@cache
def rules() -> frozenset[str]:
    return frozenset(STAGES)


@cache
def registries() -> frozenset[str]:
    data = yaml.safe_load((ROOT / "config/datasets.yaml").read_text())
    models = yaml.safe_load((ROOT / "config/models.yaml").read_text())
    return frozenset([*data["archives"], *data["corpora"], *data["tasks"], *models])


@cache
def known_tests() -> frozenset[str]:
    text = "\n".join(path.read_text() for path in ROOT.glob("tests/**/test_*.py"))
    return frozenset(re.findall(r"^ *def (test_\w+)", text, flags=re.M))


@cache
def targets() -> frozenset[str]:
    """Targets of the Makefile, and the papers, which it leaves to the engine."""
    own = re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), flags=re.M)
    return frozenset([*own, *PAPERS, *(slug.replace("-", "_") for slug in PAPERS)])


def matches(pattern: str, names: set[str]) -> bool:
    regex = re.escape(pattern).replace(r"\*", "[^.]+")
    return any(re.fullmatch(regex, name) for name in names)


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if target.startswith(("http://", "https://")):
            continue
        path, _, anchor = target.partition("#")
        file = (ROOT / page).parent / path if path else ROOT / page
        name = str(file.resolve().relative_to(ROOT))
        assert file.exists(), f"{page}: {target}"
        if anchor and name.endswith(".md"):
            assert anchor in anchors(name), f"{page}: {target} has no such heading"


@pytest.mark.parametrize("page", PAGES)
def test_named_files_exist(page):
    for span in code_spans(page):
        if not re.fullmatch(r"[\w.-]+/|[\w.-]+(/[\w.-]+)+/?|[\w-]+\.(yaml|md|py|txt|cff)|Makefile|Snakefile", span):
            continue
        if span.startswith(_MADE) or span in _INVENTED or re.match(r"[a-z-]+/[A-Z]|google/|zbamberger", span):
            continue
        places = [ROOT / span, (ROOT / page).parent / span, ROOT / "config" / span, ROOT / "workflow/reprlab" / span]
        module = [*ROOT.glob(f"workflow/reprlab/papers/depth/{span}"), *ROOT.glob(f"workflow/reprlab/config/{span}")]
        assert any(place.exists() for place in places) or module, f"{page}: `{span}`"


@pytest.mark.parametrize("page", PAGES)
def test_named_settings_exist(page):
    named = set(re.findall(r"\b(papers\.[a-z-]+\.[\w.*<>]*\w)", prose(page)))
    named |= {span for span in code_spans(page) if re.fullmatch(r"(runtime|numerics|threads)\.\w+", span)}
    # The manual shows how a misspelt key is refused.
    for key in named - {"papers.depth.pretraining.optimizer.learning_rte", "runtime.py"}:
        assert matches(key, settings()), f"{page}: {key}"


@pytest.mark.parametrize("page", PAGES)
def test_named_make_targets_exist(page):
    for target in re.findall(r"(?:^ {4}|`)make ([a-z_-]+)(?=[\s`])", prose(page), flags=re.M):
        assert target in targets(), f"{page}: make {target}"


@cache
def planned_results():
    from reprlab.config.load import load_config
    from reprlab.planning.paper_plans import make_plan

    planned = {path for paths in make_plan(load_config(ROOT)).targets.values() for path in paths}
    shared = {f"results/{name}" for name in ("report.html", "summary.tsv", "neighbours.tsv")}
    return planned | {path.replace(".png", ".svg") for path in planned} | shared


@pytest.mark.parametrize("page", PAGES)
def test_named_results_are_planned(page):
    for path in re.findall(r"results/[a-z-]+/\w+\.(?:tsv|png|svg)|results/\w+\.(?:html|tsv)", prose(page)):
        assert path in planned_results(), f"{page}: {path}"


@pytest.mark.parametrize("page", PAGES)
def test_named_tests_exist(page):
    for name in re.findall(r"`(test_\w+)`", prose(page)):
        assert name in known_tests() or name in rules(), f"{page}: {name}"


def test_each_footgun_names_its_guard():
    """A trap without a test says so in words."""
    rows = re.findall(r"^\| (?!trap|---)(.+) \|$", read("docs/footguns.md"), flags=re.M)
    assert len(rows) > 60
    for row in rows:
        assert re.search(r"`test_\w+`|no test", row.rpartition(" | ")[2]), row


def test_each_stage_of_depth_is_on_its_page():
    table = read("docs/papers/depth.md").partition("## Stages")[2].partition("\n## ")[0]
    named = set(re.findall(r"`(\w+)`", "\n".join(line.split("|")[1] for line in table.splitlines() if "|" in line)))
    assert named <= rules()
    plan = Plan()
    add_jobs(plan, load_config(ROOT, {}))
    assert set(plan.jobs) - {"preview_corruption"} <= named


def test_data_and_models_are_named_right():
    table = read("docs/papers/depth.md").partition("## Stand-in data")[2].partition("\n## ")[0]
    for line in [line for line in table.splitlines() if line.startswith("| ")][2:]:
        for name in re.findall(r"`(\w+)`", "|".join(line.split("|")[2:])):
            assert name in registries(), name
    scales = set(
        re.findall(r"^\| `(\w+)`", read("README.md").partition("## Scales")[2].partition("\n## ")[0], flags=re.M)
    )
    assert scales == set(SCALES)


def test_stand_ins_are_those_of_the_settings():
    """The columns of the table against what each scale plans."""
    from reprlab.config.load import load_config

    table = read("docs/papers/depth.md").partition("## Stand-in data")[2].partition("\n## ")[0]
    rows = {}
    for line in table.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        for column in re.findall(r"`(\w+)`", cells[0]) if cells else []:
            rows[column] = [cells[1], cells[1] if cells[2] == "same" else cells[2], cells[3]]
    for place, scale in enumerate(("mini", "small", "paper")):
        for task in load_config(ROOT, {"scale": scale}).papers["depth"].finetuning.tasks.values():
            for column in task.columns:
                shown = rows[column][place]
                assert shown.startswith(f"`{task.dataset}`" if task.dataset else "empty"), (scale, column, shown)


def test_all_papers_are_listed_with_a_column_for_each_scale():
    text = read("README.md").partition("## Papers")[2]
    rows = re.findall(
        r"^\| \[`([a-z-]+)`\]\(docs/papers/\1\.md\) \| (.+?) \|((?: [^|]+ \|){4})[^|]+\|$", text, flags=re.M
    )
    assert {slug for slug, _, _ in rows} == set(PAPERS)
    # Nothing was ever trained as published.
    assert not [slug for slug, _, scales in rows if "✓" in scales.split("|")[3]]
    titles = [title for _, title, _ in rows]
    cited = " ".join((ROOT / "CITATION.cff").read_text().split())
    assert len(set(titles)) == 14
    for title in titles:
        assert title in cited, title


@pytest.mark.parametrize("page", [page for page in PAGES if page.startswith("docs/papers/")])
def test_pages_of_papers_are_short(page):
    assert len(read(page).splitlines()) <= 110


@pytest.mark.parametrize("page", PAGES)
def test_pages_hold_nothing_of_one_machine(page):
    text = read(page)
    assert not re.search(r"(?<![\w.])/(home|root|Users|work|tmp)/", text)
    # Package indexes are reached by their clients' own configuration.
    assert not re.search(r"https?://[^\s)]*(pypi|pythonhosted|npmjs|download\.pytorch|deb\.debian)", text)
