"""The plan of every paper at every scale: how many jobs, how long it takes, and whether every setting counts."""

import functools
import json
import pkgutil
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from reprlab.config.conditions import condition
from reprlab.config.load import LoadedConfig, leaves, load_config
from reprlab.config.papers import PAPERS
from reprlab.config.runtime import SCALES
from reprlab.planning.paper_plans import make_plan
from reprlab.planning.plan import Plan
from reprlab.plugins import load_plugin
from reprlab.preflight.planned_jobs import TABLE, planned_jobs
from reprlab.runtime.errors import ReprlabError
from reprlab.settings.yaml_text import parse_value

from tests.checkouts import job_counts
from tests.machine_speed import unit_seconds
from tests.settings_read import unread, watching

ROOT = Path(__file__).resolve().parents[2]
# Of processor time, see tests/machine_speed.py.
UNITS = 145
# A process between this one and the engine: Linux counts the memory of the one that starts a program as the program's,
# and a process of the suite may hold torch.
MEASURE = """
import json, resource, subprocess, sys
status = subprocess.run(sys.argv[2:]).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
json.dump([used.ru_utime + used.ru_stime, used.ru_maxrss], open(sys.argv[1], "w"))
sys.exit(status)
"""
MEMORY_KIB = 2**20
# Settings of a paper that no stage at paper scale reads, with the reason. Empty is best.
DEAD: dict[str, str] = {}
PUBLISHED = [".".join(path) for path, _ in leaves(load_config(ROOT, {"scale": "paper"}).as_dict())]
_RESTORING = "papers.punctuation-restoration"
_DESCRIBING = "papers.music-video-description"
_FEATURES = "papers.universal-features"
# Values of settings whose own schema gives none.
SECOND = {
    "papers.asr-adapters.cell.language": ["bn"],
    "papers.asr-adapters.transfer_method": ["conv"],
    "papers.depth.finetuning.tasks.sp_wiki.template": ["dc_wiki"],
    f"{_DESCRIBING}.tracks.archives": ["{scores: music21_corpus}"],
    f"{_DESCRIBING}.tracks.recordings": ["[{members: a, genre: b, tracks: 1}]"],
    f"{_DESCRIBING}.tracks.scores": ["[{members: a, genre: b, tracks: 1}]"],
    f"{_RESTORING}.joint": ["[ner_conll03, chunking_conll00]"],
    f"{_RESTORING}.discriminative.tasks": ["[]"],
    **{
        name: ["{webnlg: webnlg_triples}"]
        for name in PUBLISHED
        if name.startswith(_RESTORING) and name.endswith("further")
    },
    f"{_RESTORING}.tasks.ner_conll03.further": ["{genia: genia}"],
    "papers.intrinsic-dimension.neighbours.token_geometry.estimator": ["two_nn_ml"],
    "papers.prompt-tuning-encoders.beside": ["[]"],
    "papers.reverse-probing.segments.documents": ["{train: 10}"],
    "papers.reverse-probing.summed": ["[[mrpc, ner]]"],
    "papers.reverse-probing.texts": [
        f"{{silver_austen_chains: {{corpus: austen, segmentation: {{splitter: punkt_package, passages: window, "
        f"max_sentences: 20, passage_words: {words}, training_characters: 2000000}}}}}}"
        for words in (100, 200)
    ],
    "papers.reverse-probing.untrained": ["pos"],
    "papers.ssm-rerankers.documents.max_query_of": ["{msmarco_documents: 32}"],
    "papers.ssm-rerankers.documents.queries_of": ["{msmarco_documents: 32}"],
    "papers.ssm-rerankers.passages.queries_of": ["{beir_scifact: 32}"],
    "papers.ssm-rerankers.warm_start.spans": [
        "{a: {words: 8, query_words: 3, scattered: 0, foreign: 0, windows: 1, near: 0, max_length: 32, max_query: 12, "
        "negatives: 3, epochs: 1, batch_size: 4, learning_rate: 1e-3, schedule: constant}}"
    ],
    f"{_FEATURES}.cases.assignment.corpus": ["lua"],
    f"{_FEATURES}.cases.exception.corpus": ["lua"],
    f"{_FEATURES}.merging.rivals.linear.method": ["slerp"],
    f"{_FEATURES}.merging.rivals.linear.options": ["{fraction: 0.5}"],
    f"{_FEATURES}.merging.rivals.task_arithmetic.options": ["{weights: [1.0, 0.5]}"],
    f"{_FEATURES}.text.base": ["[baby_python, brown]"],
}
# Settings that the check of another one holds at one value: another value is put past that check, by itself.
BOUND = {
    f"{_DESCRIBING}.encoding.encoder": "madmom",
    "papers.ssm-rerankers.rerankers.*.family": "electra",
    f"{_FEATURES}.merging.rivals.*.method": "slerp",
    f"{_FEATURES}.merging.rivals.*.over": "seed",
}
# Checks in a plan rather than in its settings, which are off for them.
CHECKS = ("reprlab.papers.ssm_rerankers.plan._check_family",)
# Few of the equal jobs keep a plan small, so that a hundred plans take seconds: edits below `papers.<paper>.`.
SMALLER = {
    "depth": ["finetuning.jobs=ladder"],
    "vocab-memory": ["finetuning.seeds=[1, 2]"],
    "intrinsic-dimension": [
        "sft_dynamics.models=[llama_3_8b]",
        "sft_dynamics.ladder=[62, 945]",
        "comparison.models=[llama_3_8b, llama_2_7b]",
        "icl_unique.shots=[0, 1]",
    ],
    "event-relations": ["data.esc.tested=[0]"],
    "amuro-char": ["finetuning.job=training"],
    "ssm-rerankers": [
        "passages.further=[beir_scifact]",
        "compared=[bert_base, bart_base, opt_125m, mamba1_130m, mamba2_130m, llama_3_2_1b]",
    ],
    "prompt-tuning-encoders": [
        "evaluation.scored=[quora, sts16, newsgroups, tweets]",
        *(
            f"backbones.llama_2_7b.grid.{encoder}=[1]"
            for encoder in ("spt_bi_mean", "spt_bi_sosp", "spt_bi_before_mean", "spt_mntp_sosp", "spt_mntp_before_mean")
        ),
    ],
    "overparameterized-encoders": [
        "evaluation.scored=[scifact, scidocs, newsgroups, sprint, banking77, sts17, sick_r, sts_benchmark]",
        *(f"backbones.{backbone}.depths=[p00, small, large]" for backbone in ("mistral_7b", "qwen2_7b", "phi3_4b")),
    ],
    "domain-adaptive-masking": ["finetuning.seeds=[0]"],
    "punctuation-restoration": ["finetuning.seeds=[0]", "discriminative.seeds=[0]"],
}
# Tables of settings whose entries are all of one kind.
TABLES = ("tasks", "evaluations", "rerankers", "encoders", "backbones")


def test_job_counts_are_the_committed_ones() -> None:
    committed = (ROOT / TABLE).read_text(encoding="utf-8")
    assert planned_jobs(ROOT) == committed, "meant? then `python -m reprlab.preflight.planned_jobs --write`"


@pytest.mark.parametrize("scale", ["nano", "mini"])
def test_a_dry_run_makes_no_folder(checkout, scale: str) -> None:
    def held() -> list[str]:
        found = (path.relative_to(checkout.root).as_posix() for path in checkout.root.rglob("*"))
        return sorted(name for name in found if "__pycache__" not in name)

    before = held()
    assert checkout.planned("results/vocab-memory/cost.tsv", scale=scale, config=("build=[vocab-memory]",))
    assert held() == before


@pytest.mark.release
@pytest.mark.parametrize("scale", SCALES)
def test_a_dry_run_plans_every_paper(checkout, scale: str, tmp_path: Path) -> None:
    """All papers in one process: the jobs of the plan, within time and memory, and commands that fit on a screen."""
    plan = make_plan(load_config(ROOT, {"scale": scale}))
    targets = [path for paths in plan.targets.values() for path in paths]
    output = tmp_path / "output.txt"
    command = checkout.command(
        "--dry-run", "--printshellcmds", "--cores", "2", "--config", f"scale={scale}", "--", *targets
    )
    before = unit_seconds()
    with output.open("wb") as handle:
        engine = subprocess.run(
            [sys.executable, "-c", MEASURE, str(tmp_path / "used.json"), *command],
            cwd=checkout.root,
            env=checkout.environment(),
            stdout=handle,
            stderr=subprocess.STDOUT,
            check=False,
        )
    text = output.read_text(encoding="utf-8")
    assert engine.returncode == 0, text[-2000:]
    seconds, kib = json.loads((tmp_path / "used.json").read_text())
    counts = job_counts(text)
    assert counts == {rule: len(jobs) for rule, jobs in plan.jobs.items() if rule in counts}
    # What is planned and not run would be a job that feeds no result; cut models and exports are made when asked for.
    assert set(plan.jobs) == {*counts, "write_report", "gather_neighbours", "pema_adapt", "export_encoder"}
    commands = re.findall(r"^Shell command: (.*)$", text, flags=re.M)
    assert len(commands) == sum(counts.values()) and max(map(len, commands)) < 400
    # What runs beside the engine at its end need not be what ran beside it at its start.
    assert seconds < UNITS * max(before, unit_seconds())
    assert kib < MEMORY_KIB


# What reads settings and registries.
READERS = (
    "reprlab.config.load.read_yaml",
    "reprlab.config.names.read_keys",
    "reprlab.registry.models.load_models",
    "reprlab.registry.datasets.load_registry",
)


@pytest.fixture
def read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file is read once, not for each of thousands of plans; nobody writes into what was read."""
    for reader in READERS:
        monkeypatch.setattr(reader, functools.cache(pkgutil.resolve_name(reader)))


@functools.lru_cache(maxsize=4)
def dump(paper: str, edits: str, cost: bool) -> str:
    """All jobs of a paper's plan at paper scale but the table of costs, which reads the plan itself; or that one.

    Never the report: it lists all that differs from the published settings, whether a stage reads it or not.
    """
    config = load_config(ROOT, {"scale": "paper", "set": edits, "build": [paper]})
    return jobs_of(config, paper, config.papers[paper], cost)


def jobs_of(config: LoadedConfig, paper: str, settings: Any, cost: bool = False) -> str:
    """The same of these settings of the paper."""
    plan = make_plan(replace(config, papers={paper: settings}))
    stages = {"estimate_cost"} if cost else plan.jobs.keys() - {"estimate_cost", "write_report"}
    return repr({stage: jobs for stage, jobs in plan.jobs.items() if stage in stages})


def schema_at(schema: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    """The schema of one setting."""
    here = schema

    def followed(one: dict[str, Any]) -> dict[str, Any]:
        return schema["$defs"][one["$ref"].rpartition("/")[2]] if "$ref" in one else one

    for key in path:
        # A group that may be null is one of several choices.
        choices = [followed(one) for one in (here, *here.get("anyOf", []))]
        entries = [*here.get("patternProperties", {}).values(), here.get("additionalProperties")]
        named = [one["properties"][key] for one in choices if key in one.get("properties", {})]
        here = followed((named or entries)[0] or {})
    return here


def alternatives(schema: dict[str, Any], path: tuple[str, ...], value: Any) -> Iterator[str]:
    """Other values for a setting, as text of an edit; some are refused."""
    here = schema_at(schema, path)
    for choice in [here, *here.get("anyOf", [])]:
        yield from (str(one) for one in choice.get("enum", []) if one != value)
    if isinstance(value, bool):
        yield str(not value).lower()
    elif isinstance(value, int):
        yield from map(str, (value * 2, value // 2 or 1, value + 1, max(value - 1, 1), value * 5))
    elif isinstance(value, float):
        yield from map(str, (value / 2 or 0.1, min(value * 2, 0.9)))
    elif isinstance(value, list):
        rest = ["null" if one is None else str(one).lower() if isinstance(one, bool) else str(one) for one in value[1:]]
        yield from ([f"[{', '.join(rest)}]"] if rest else [])
        yield from ([f"[{value[0]}, 7]"] if value else [])
        yield from (
            "[7]",
            "[7, 8]",
            "[teacher_forced]",
            "[a]",
            "[a, b]",
            "[a, b, c]",
            "[a, b, c, d]",
            "[a=b]",
            "[paws, mnli]",
            "[mnli]",
            "[rte<-paws]",
            "[matched]",
            "[train]",
            "[test]",
            "[validation]",
            "[a, b, c, d, e]",
        )
        if not any(isinstance(one, int | float | list) for one in value):
            yield from (f"[{name}]" for name in registered_names(path[-1]))
    elif isinstance(value, dict):
        yield "{total: 2}"
    else:
        yield from (registered_names(path[-1]) if path[-1] in ("dataset", "model", "corpus", "mntp") else ())
        yield from (
            "'{text}'",
            "'{source}'",
            "2",
            "100_000",
            "5.0",
            "[1e-3]",
            "test",
            "cola",
            "accuracy",
            "SPwiki",
            "https://a.test/v1",
            *registered_names(path[-1]),
        )


@functools.cache
def registered_names(key: str) -> tuple[str, ...]:
    """Models and data sets, for a setting of this name: those that it is likely to name first."""
    config = load_config(ROOT)
    tasks, corpora, models = config.datasets.tasks, config.datasets.corpora, config.models
    if key == "dataset":
        return (*tasks, *corpora, *models)
    return (*corpora, *models, *tasks) if key == "corpus" else (*models, *corpora, *tasks)


def representative(paths: list[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """Settings of tables of equal entries (tasks) once for each kind of entry: the first, the last and one between."""
    entries: dict[tuple[str, ...], list[str]] = {}
    for path in paths:
        table = next((name for name in TABLES if name in path[:-2]), None)
        if table is not None:
            place = path.index(table) + 1
            names = entries.setdefault(path[:place], [])
            names += [path[place]] if path[place] not in names else []
    for path in paths:
        known = next((found for found in entries if path[: len(found)] == found), None)
        if known is None or path[len(known)] in {entries[known][i] for i in (0, len(entries[known]) // 2, -1)}:
            yield path


def reaches(paper: str, path: tuple[str, ...], edits: list[str], others: list[str]) -> tuple[str, str, int]:
    """The first value of a setting that gives another plan beside other edits; why there is but one plan, where others
    were refused; how many plans."""
    name, cost = ".".join(("papers", paper, *path)), path[0] == "cost" or path[-1] == "published_model"
    beside = [edit for edit in others if not edit.startswith(f"{name}=")]
    first, reason, made = "", "", 0
    # The published value may not go with what it is read beside: then two other values are compared.
    for tried, own in enumerate(["", *edits], 1):
        try:
            found = dump(paper, "; ".join([*beside, *([f"{name}={own}"] if own else [])]), cost)
        except ReprlabError as error:
            reason = reason or str(error)
            continue
        if found != (first or found):
            return own, "", tried
        first, made = found, made + 1
    return "", reason if made < 2 else "", len(edits) + 1


def reaches_alone(paper: str, path: tuple[str, ...], value: str) -> bool:
    """Whether a value that is not checked gives another plan."""
    config = load_config(ROOT, {"scale": "paper", "build": [paper]})
    with ExitStack() as off:
        for check in CHECKS:
            off.enter_context(patch(check))
        other = unchecked(config.papers[paper], path, value)
        return jobs_of(config, paper, other) != jobs_of(config, paper, config.papers[paper])


def unchecked(settings: Any, path: tuple[str, ...], value: str) -> Any:
    """The settings with another value, which is not checked."""
    if not path:
        return value
    below = settings if isinstance(settings, dict) else settings.__dict__
    changed = {path[0]: unchecked(below[path[0]], path[1:], value)}
    return {**settings, **changed} if isinstance(settings, dict) else settings.model_copy(update=changed)


def changes_nothing(paper: str, edits: list[str]) -> bool:
    """Whether edits say what is published."""
    published = load_config(ROOT, {"scale": "paper"})
    try:
        return load_config(ROOT, {"scale": "paper", "set": "; ".join(edits)}).as_dict() == published.as_dict()
    except ReprlabError:
        return False


@pytest.mark.release
@pytest.mark.usefixtures("read_once")
@pytest.mark.parametrize("paper", PAPERS)
def test_every_published_setting_reaches_a_stage(paper: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Changes each setting of the paper at paper scale and looks for the change in the jobs.

    Beside other settings only where its schema says so, and where it is true that it is not read without them.
    """
    # The other papers' settings say nothing of this one's.
    monkeypatch.setattr("reprlab.config.load.PAPERS", {paper: PAPERS[paper]})
    schema = PAPERS[paper].model_json_schema()
    values = dict(leaves(load_config(ROOT, {"scale": "paper"}).papers[paper].model_dump(mode="json")))
    dead: list[str] = []
    refused: list[str] = []
    needless: list[str] = []
    smaller = [f"papers.{paper}.{edit}" for edit in SMALLER.get(paper, [])]
    start, tried = time.process_time(), 0
    for path in representative(list(values)):
        if "const" in schema_at(schema, path):
            continue  # one value only, so far
        name = ".".join(("papers", paper, *path))
        others = [*SECOND.get(name, []), *alternatives(schema, path, values[path])]
        edits = [edit for edit in others if parse_value(edit, name=name) != values[path]]
        beside = [f"papers.{paper}.{edit}" for edit in condition(PAPERS[paper], path)]
        # A smaller plan first, which saves time; what does not show there may show in the whole one.
        for small in [smaller, []] if smaller else [[]]:
            reached, reason, plans = reaches(paper, path, edits, [*small, *beside])
            tried += plans
            if reached:
                break
        held = next((value for pattern, value in BOUND.items() if fnmatchcase(name, pattern)), None)
        if reason and held is not None:
            dead += [] if reaches_alone(paper, path, held) else [name]
        elif not reached:
            (refused if reason else dead).append(f"{name}: {reason}" if reason else name)
        elif beside and not changes_nothing(paper, beside) and reaches(paper, path, [reached], small)[0]:
            needless.append(name)
    # Refused: the test must know a second value. Needless: it is read without what its schema says.
    found = {"dead": sorted(dead), "refused": refused, "needless": needless}
    known = sorted(name for name in DEAD if name.startswith(f"papers.{paper}."))
    assert found == {"dead": known, "refused": [], "needless": []}, json.dumps(found, indent=1)
    assert (time.process_time() - start) / tried < 1, "a plan takes a fraction of a second"


@pytest.mark.parametrize("paper", PAPERS)
def test_every_published_setting_is_read(paper: str) -> None:
    """By one plan at paper scale; under which others a setting is read, and that it changes a job, is tried elsewhere.

    `make test-all` changes each setting instead and looks for the change in the jobs.
    """
    config = load_config(ROOT, {"scale": "paper"})
    settings = config.papers[paper]
    values = dict(leaves(settings.model_dump(mode="json")))
    with watching(settings) as read:
        load_plugin("papers", f"{paper}.plan").add_jobs(Plan(), config)
    missing = unread(settings, [path for path in values if not condition(PAPERS[paper], path)], read)
    assert missing == sorted(
        name.removeprefix(f"papers.{paper}.") for name in DEAD if name.startswith(f"papers.{paper}.")
    )


def test_the_table_of_dead_settings_names_settings() -> None:
    known = {
        ".".join(("papers", paper, *path))
        for paper, settings in load_config(ROOT, {"scale": "paper"}).papers.items()
        for path, _ in leaves(settings.model_dump(mode="json"))
    }
    assert set(DEAD) <= known


def test_shared_jobs_are_planned_once() -> None:
    """The plan of all papers has no more jobs than those of the papers alone, and at least those of the largest."""
    for scale in SCALES:
        together = make_plan(load_config(ROOT, {"scale": scale})).jobs
        alone: dict[str, Counter[str]] = {}
        for line in (ROOT / TABLE).read_text(encoding="utf-8").splitlines()[1:]:
            paper, at, rule, jobs = re.split("\t", line)
            if at == scale:
                alone.setdefault(rule, Counter())[paper] = int(jobs)
        for rule, counts in alone.items():
            assert max(counts.values()) <= len(together[rule]) <= counts.total()
