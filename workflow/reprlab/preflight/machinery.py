"""Checks of models, scorers and of what stages need from the machine."""

from collections.abc import Iterator
from typing import Any

from reprlab.data.origins.errors import OriginError
from reprlab.planning.plan import Plan
from reprlab.preflight.findings import Finding
from reprlab.preflight.probes import hub_file
from reprlab.preflight.sources import setting
from reprlab.registry.models import ModelEntry
from reprlab.runtime.errors import ReprlabError

# Files of which a model or tokenizer repository has at least one.
_WEIGHTS = ("model.safetensors", "model.safetensors.index.json", "pytorch_model.bin")
_TOKENIZERS = ("spiece.model", "tokenizer.json", "tokenizer.model")

_LABELS = {"classification": ["one", "other"], "tags": ["B-ONE", "O"]}


def check_models(plan: Plan) -> Iterator[Finding]:
    """Each model on the meta device against the closed formula, and each hub repository's files."""
    from reprlab.models.counting import parameter_count
    from reprlab.models.formula import t5_parameters

    for name, job in plan.jobs.get("build_model", {}).items():
        entry = ModelEntry.model_validate_json(job.settings["entry"])
        try:
            count = parameter_count(entry)
        except ReprlabError as error:
            yield Finding("model", name, "problem", str(error))
            continue
        expected = (
            t5_parameters(entry.config, int(entry.config["vocab_size"]), entry.tie_output)
            if entry.architecture == "t5"
            else count
        )
        if count == expected:
            yield Finding("model", name, "ok", f"{count:,} parameters on the meta device")
        else:
            yield Finding("model", name, "problem", f"{count:,} parameters, expected {expected:,}; see models.yaml")
        if entry.origin.kind == "hub":
            files = {"config.json": ("config.json",), "weights": _WEIGHTS}
            yield _repository(name, entry.origin.repository, entry.origin.revision, files, entry.licence)
    for name, job in plan.jobs.get("train_tokenizer", {}).items():
        wanted = setting(job, "settings")
        if wanted.get("source") == "model":
            yield _repository(name, wanted["model"], wanted["revision"], {"a tokenizer": _TOKENIZERS}, "")


def _repository(name: str, repository: str, revision: str, files: dict[str, tuple[str, ...]], licence: str) -> Finding:
    where = f"hub:{repository}@{revision}"
    for what, choices in files.items():
        reason = ""
        for path in choices:
            try:
                hub_file(repository, revision, path, "model")
                break
            except OriginError as error:
                reason = reason or str(error)
        else:
            return Finding("origin", name, "problem", f"{where}: {what}: {reason}")
    return Finding("origin", name, "ok", f"{where}{f'; licence: {licence}' if licence else ''}")


def check_scorers(plan: Plan) -> Iterator[Finding]:
    """One right and one wrong answer through each scorer that fine-tuning uses."""
    from reprlab.evaluation.scoring import score_rows

    seen = set()
    for job in plan.jobs.get("finetune_model", {}).values():
        task: dict[str, Any] = setting(job, "settings")["task"]
        kind = task["kind"]
        # A task that names none has those of its data, which are not read here.
        labels = task["labels"] or _LABELS.get(kind, [])
        for metric in task["metrics"]:
            if (key := (metric, tuple(labels), kind)) in seen:
                continue
            seen.add(key)
            gold, answers = _answers(kind, labels)
            try:
                rows = score_rows([metric], gold, answers, labels, [""] * len(gold), resamples=2)
                value = float(rows[0]["value"])
            except (ReprlabError, ValueError, TypeError) as error:
                yield Finding("scorer", metric, "problem", f"fails on a made-up answer ({error})")
                continue
            shown = f" of {len(labels)} labels" if labels else ""
            yield Finding("scorer", metric, "ok", f"scores made-up answers{shown}: {value:.1f}")


def _answers(kind: str, labels: list[str]) -> tuple[list[Any], list[Any]]:
    if kind == "regression":
        return [1.0, 2.0, 3.0], [1.0, 2.5, 2.0]
    if kind == "tags":
        return [labels, labels], [labels, labels[::-1]]
    if labels:
        return [*labels, labels[0]], [*labels, "no label"]
    return [["the cat sat"], ["a dog"]], ["the cat sat", "nothing"]


def check_tools(plan: Plan) -> Iterator[Finding]:
    """Requirements of stages besides the locked packages."""
    from reprlab.events.parses import open_parser
    from reprlab.text.sentences import nltk_splitter

    splitters = {setting(job, "settings").get("splitter") for job in plan.jobs.get("segment_documents", {}).values()}
    if "nltk" in splitters:
        try:
            nltk_splitter()
            yield Finding("tool", "nltk", "ok", "punkt_tab is on this machine")
        except ReprlabError as error:
            yield Finding("tool", "nltk", "problem", str(error))
    for name in sorted({setting(job, "settings")["parser"] for job in plan.jobs.get("parse_sentences", {}).values()}):
        try:
            open_parser(name)
            yield Finding("tool", name, "ok", "the spaCy pipeline is on this machine")
        except ReprlabError as error:
            yield Finding("tool", name, "problem", str(error))
