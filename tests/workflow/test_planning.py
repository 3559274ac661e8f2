"""The plan of every paper at every scale: how many jobs, how long it takes, and whether every setting counts."""

import functools
import json
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from reprlab.config.load import leaves, load_config
from reprlab.config.papers import PAPERS
from reprlab.config.runtime import SCALES
from reprlab.papers.planning import make_plan
from reprlab.preflight.planned_jobs import TABLE, planned_jobs
from reprlab.runtime.errors import ReprlabError

from tests.checkouts import job_counts

ROOT = Path(__file__).resolve().parents[2]
# A single argument of a program may have so many bytes on Linux, and the shell gets its command as one argument.
CPU_SECONDS = 20
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
_OLMO, _LLAMA = "papers.amuro-char.families.olmo1b", "papers.amuro-char.families.llama3_8b"
_TRAINED_HERE = f"{_OLMO}.model=olmo_mini; {_OLMO}.checkpoints=[main]; {_OLMO}.revisions=[]"
PUBLISHED = [".".join(path) for path, _ in leaves(load_config(ROOT, {"scale": "paper"}).as_dict())]
_MASKING = "papers.domain-adaptive-masking"
_TEXT = {"graph": "wordnet_graph", "domain": "[hpo_definitions]", "general": "[brown]"}
_CURRICULUM = "; ".join(f"{_MASKING}.{name}={value}" for name, value in _TEXT.items())
_OF_CURRICULUM = tuple(
    f"{_MASKING}.{name}" for name in ("curriculum.", "maskings", "pretraining.", "held_out.", "documents")
)
_RESTORING = "papers.punctuation-restoration"
_RESTORED = f"{_RESTORING}.corpus=wikipedia_sample"
# Values of settings whose own schema gives none.
SECOND = {
    f"{_RESTORING}.joint": ["[ner_conll03, chunking_conll00]"],
    f"{_RESTORING}.discriminative.tasks": ["[]"],
    **{
        name: ["{webnlg: webnlg_triples}"]
        for name in PUBLISHED
        if name.startswith(_RESTORING) and name.endswith("further")
    },
    "papers.ssm-rerankers.warm_start.spans": [
        "{a: {words: 8, query_words: 3, scattered: 0, foreign: 0, windows: 1, near: 0, max_length: 32, max_query: 12, "
        "negatives: 3, epochs: 1, batch_size: 4, learning_rate: 1e-3, schedule: constant}}"
    ],
}
# Edits beside which alone a setting is read, or another value of it allowed.
COMPANIONS = {
    "papers.depth.finetuning.seeds": "papers.depth.pretraining.seeds=[2137, 7]",
    "papers.depth.finetuning.tasks.cola.epochs": "papers.depth.finetuning.tasks.cola.steps=null",
    "papers.depth.finetuning.tasks.sp_wiki.epochs": "papers.depth.finetuning.tasks.sp_wiki.steps=null",
    "papers.depth.finetuning.tasks.ni.steps": "papers.depth.finetuning.tasks.ni.epochs=null",
    # Of two lengths one is given.
    "papers.vocab-memory.finetuning.steps": "papers.vocab-memory.finetuning.epochs=null",
    # The corpus of Table 1 is not named in the paper.
    "papers.vocab-memory.unseen.tokenizers": "papers.vocab-memory.unseen.corpus=wikipedia_sample",
    "papers.vocab-memory.unseen.examples": "papers.vocab-memory.unseen.corpus=wikipedia_sample",
    # For models that are drawn at random.
    "papers.intrinsic-dimension.data.scratch.corpus": "papers.intrinsic-dimension.comparison.models=[llama_nano]",
    **{
        name: "papers.intrinsic-dimension.comparison.models=[llama_nano]; "
        "papers.intrinsic-dimension.data.scratch.corpus=wikipedia_sample"
        for name in PUBLISHED
        if name.startswith(("papers.intrinsic-dimension.data.scratch.s", "papers.intrinsic-dimension.data.scratch.p"))
    },
    # The lengths of the published data are known.
    "papers.intrinsic-dimension.cost.characters_otherwise": (
        "papers.intrinsic-dimension.icl_unique.datasets.ag_news.dataset=tweet_ratings"
    ),
    # No further seeds as published.
    "papers.intrinsic-dimension.replication.seeds": "papers.intrinsic-dimension.replication.datasets=[sst2]",
    "papers.intrinsic-dimension.replication.datasets": "papers.intrinsic-dimension.replication.seeds=[7]",
    "papers.intrinsic-dimension.replication.shots": (
        "papers.intrinsic-dimension.replication.seeds=[7]; papers.intrinsic-dimension.replication.datasets=[sst2]"
    ),
    # Where all learning rates are chosen, none is tried; where steps are not known, neither are tokens.
    f"{_OLMO}.candidates": f"{_OLMO}.chosen.xsum=null",
    f"{_LLAMA}.candidates": f"{_LLAMA}.chosen.xsum=null",
    f"{_LLAMA}.tokens_per_step": f"{_LLAMA}.main_step=5",
    f"{_LLAMA}.chat_epochs": f"{_LLAMA}.trainings=[xsum, tulu]",
    f"{_OLMO}.checkpoints": f"{_OLMO}.revisions=[]",
    f"{_OLMO}.revisions": f"{_OLMO}.checkpoints=[main]",
    "papers.amuro-char.grid.everywhere": "papers.amuro-char.grid.tuned=[main]",
    **{
        f"papers.amuro-char.evaluations.{name}.normalisation": f"papers.amuro-char.evaluations.{name}.kind=choice"
        for name in ("mnli_matched", "cnn")
    },
    # A training set has data of its own or is a mixture.
    "papers.amuro-char.trainings.xsum.mixture": "papers.amuro-char.trainings.xsum.dataset=null",
    # Published checkpoints are not pre-trained here.
    **{name: _TRAINED_HERE for name in PUBLISHED if name.startswith("papers.amuro-char.pretraining.")},
    # A cut of the folds and of the seeds must leave those that are named.
    "papers.event-relations.data.esc.folds": "papers.event-relations.data.esc.tested=[0]",
    # The documents of MS MARCO are in no registry entry.
    **{
        name: "papers.ssm-rerankers.documents.dataset=squad_sections"
        for name in PUBLISHED
        if name.startswith(("papers.ssm-rerankers.documents.", "papers.ssm-rerankers.rerankers."))
    },
    # Published models are not warmed up.
    **{
        name: "papers.overparameterized-encoders.backbones.llama_3_8b.model=llama_deep_mini; "
        "papers.overparameterized-encoders.warm_start.text.corpus=squad_text"
        for name in PUBLISHED
        if name.startswith("papers.overparameterized-encoders.warm_start.")
    },
    # Of the further sets the smaller plan has one.
    **{
        name: f"papers.ssm-rerankers.passages.further=[{name.rpartition('.')[2]}]"
        for name in PUBLISHED
        if name.startswith("papers.ssm-rerankers.cost.scored.beir_")
    },
    **{
        name: "papers.ssm-rerankers.rerankers.opt_125m.model=opt_mini; "
        "papers.ssm-rerankers.warm_start.text.corpus=squad_text"
        for name in PUBLISHED
        if name.startswith("papers.ssm-rerankers.warm_start.")
    },
    # Published decoders are not drawn at random.
    **{
        name: "papers.prompt-tuning-encoders.backbones.opt_125m.model=soft_prompt_mini; "
        "papers.prompt-tuning-encoders.warm_start.text.corpus=wordnet_text"
        for name in PUBLISHED
        if name.startswith("papers.prompt-tuning-encoders.warm_start.")
        or name == "papers.prompt-tuning-encoders.backbones.opt_125m.pretrained"
    },
    # The published adapters of MNTP are fetched.
    **{
        name: "papers.prompt-tuning-encoders.backbones.llama_2_7b.model=soft_prompt_mini; "
        "papers.prompt-tuning-encoders.backbones.llama_2_7b.mntp=null; "
        "papers.prompt-tuning-encoders.warm_start.text.corpus=wordnet_text"
        for name in PUBLISHED
        if name.startswith("papers.prompt-tuning-encoders.mntp.")
    },
    # ConceptNet and PubMed are in no registry.
    **{name: _CURRICULUM for name in PUBLISHED if name.startswith(_OF_CURRICULUM)},
    **{
        f"{_MASKING}.{name}": "; ".join(f"{_MASKING}.{other}={_TEXT[other]}" for other in _TEXT if other != name)
        for name in _TEXT
    },
    **{
        name: f"{_CURRICULUM}; {_MASKING}.model=bert_masking_mini; {_MASKING}.warm_start.text.corpus=brown"
        for name in PUBLISHED
        if name.startswith(f"{_MASKING}.warm_start.")
    },
    **{
        f"{_MASKING}.tasks.{name}": f"{_MASKING}.compared=[{name}]; {_MASKING}.warm_start.text.corpus=brown"
        for name in ("wordnet_entities", "conll2003")
    },
    # The text that is restored is internal data of the authors.
    **{
        name: _RESTORED
        for name in PUBLISHED
        if name.removeprefix(f"{_RESTORING}.").startswith(
            ("segmentation.", "excerpts.", "sizes.", "restored", "restoration.", "corruption.", "finetuning.course")
        )
        and name.startswith(_RESTORING)
    },
    **{
        name: f"{_RESTORED}; {_RESTORING}.sizes.t5_base.model=t5_restoration_mini"
        for name in PUBLISHED
        if name.startswith(f"{_RESTORING}.warm_start.")
    },
    f"{_RESTORING}.finetuning.resumed_epochs": f"{_RESTORED}; {_RESTORING}.finetuning.course=upstream_resume",
    **{
        name: f"{_RESTORED}; {_RESTORING}.zero_shot.enabled=true"
        for name in PUBLISHED
        if name.startswith((f"{_RESTORING}.zero_shot.chat", f"{_RESTORING}.zero_shot.excerpts"))
    },
    # Off at paper scale.
    **{
        f"papers.depth.ablations.{name}.{key}": f"papers.depth.ablations.{name}.enabled=true"
        for name in ("padding_in_loss", "int8_bug")
        for key in ("steps", "input_length")
    },
}
# One job for each ladder keeps the plan small, so that a hundred plans take seconds.
SMALLER = {
    "depth": "papers.depth.finetuning.jobs=ladder",
    "vocab-memory": "papers.vocab-memory.finetuning.seeds=[1, 2]",
    "intrinsic-dimension": "papers.intrinsic-dimension.sft_dynamics.models=[llama_3_8b]",
    "event-relations": "papers.event-relations.data.esc.tested=[0]",
    "amuro-char": "papers.amuro-char.finetuning.job=training",
    "ssm-rerankers": "papers.ssm-rerankers.passages.further=[beir_scifact]",
    "prompt-tuning-encoders": "papers.prompt-tuning-encoders.evaluation.scored=[quora, sts12, newsgroups, tweets]",
    "domain-adaptive-masking": "papers.domain-adaptive-masking.finetuning.seeds=[0]",
    "punctuation-restoration": (
        "papers.punctuation-restoration.finetuning.seeds=[0]; papers.punctuation-restoration.discriminative.seeds=[0]"
    ),
}
# Tables of settings whose entries are all of one kind.
TABLES = ("tasks", "evaluations", "rerankers", "encoders", "backbones")


def test_job_counts_are_the_committed_ones() -> None:
    committed = (ROOT / TABLE).read_text(encoding="utf-8")
    assert planned_jobs(ROOT) == committed, "meant? then `python -m reprlab.preflight.planned_jobs --write`"


@pytest.mark.parametrize("scale", SCALES)
def test_a_dry_run_plans_every_paper(checkout, scale: str, tmp_path: Path) -> None:
    """All papers in one process: the jobs of the plan, within time and memory, and commands that fit on a screen."""
    plan = make_plan(load_config(ROOT, {"scale": scale}))
    targets = [path for paths in plan.targets.values() for path in paths]
    output = tmp_path / "output.txt"
    command = checkout.command(
        "--dry-run", "--printshellcmds", "--cores", "2", "--config", f"scale={scale}", "--", *targets
    )
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
    assert set(plan.jobs) == {*counts, "write_report", "pema_adapt", "export_encoder"}
    commands = re.findall(r"^Shell command: (.*)$", text, flags=re.M)
    assert len(commands) == sum(counts.values()) and max(map(len, commands)) < 400
    assert seconds < CPU_SECONDS
    assert kib < MEMORY_KIB


def dump(paper: str, overrides: dict[str, Any], *, cost: bool = False) -> str:
    """All jobs of a paper's plan as text but for the table of costs, which reads the plan itself; or that one."""
    config = load_config(ROOT, {**overrides, "build": [paper]})
    plan = make_plan(replace(config, papers={paper: config.papers[paper]}))
    return repr({stage: jobs for stage, jobs in plan.jobs.items() if (stage == "estimate_cost") == cost})


def schema_at(schema: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    """The schema of one setting."""
    here = schema
    for key in path:
        entries = [*here.get("patternProperties", {}).values(), here.get("additionalProperties")]
        here = here.get("properties", {}).get(key) or entries[0] or {}
        here = schema["$defs"][here["$ref"].rpartition("/")[2]] if "$ref" in here else here
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
            yield from (f"[{name}]" for name in registered_names())
    else:
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
            *registered_names(),
        )


@functools.cache
def registered_names() -> tuple[str, ...]:
    """Models and data sets."""
    config = load_config(ROOT)
    return (*config.models, *config.datasets.corpora, *config.datasets.tasks)


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


@pytest.mark.parametrize("paper", PAPERS)
def test_every_published_setting_reaches_a_stage(paper: str) -> None:
    """Changes each setting of the paper at paper scale and looks for the change in the jobs."""
    small = SMALLER.get(paper, "")
    schema = PAPERS[paper].model_json_schema()
    values = dict(leaves(load_config(ROOT, {"scale": "paper"}).papers[paper].model_dump(mode="json")))
    bases = {cost: dump(paper, {"scale": "paper", "set": small}, cost=cost) for cost in (False, True)}
    dead: list[str] = []
    refused: list[str] = []
    start, tried = time.process_time(), 0
    for path in representative(list(values)):
        name, cost = ".".join(("papers", paper, *path)), path[0] == "cost" or path[-1] == "published_model"
        if "const" in schema_at(schema, path):
            continue  # one value only, so far
        beside = [edit for edit in (small, COMPANIONS.get(name, "")) if edit and not edit.startswith(f"{name}=")]
        # The published value does not go with a companion: then two other values are compared.
        if name in COMPANIONS:
            alone = ""
        else:
            alone = (
                bases[cost]
                if beside == [small]
                else dump(paper, {"scale": "paper", "set": "; ".join(beside)}, cost=cost)
            )
        understood, reason, reached = False, "", False
        again = [json.dumps(values[path])] if name in COMPANIONS else []
        for edit in [*SECOND.get(name, []), *alternatives(schema, path, values[path]), *again]:
            tried += 1
            try:
                found = dump(paper, {"scale": "paper", "set": "; ".join([*beside, f"{name}={edit}"])}, cost=cost)
            except ReprlabError as error:
                reason = str(error)
                continue
            understood, alone = True, alone or found
            if found != alone:
                reached = True
                break
        if not reached:
            (dead if understood else refused).append(name if understood else f"{name}: {reason}")
    assert not refused, f"the test must know a second value for each: {'; '.join(refused)}"
    assert sorted(dead) == sorted(name for name in DEAD if name.startswith(f"papers.{paper}."))
    assert (time.process_time() - start) / tried < 1, "a plan takes a fraction of a second"


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
