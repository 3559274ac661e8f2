"""Jobs that any paper may ask for: archives, corpora, tasks, initial models."""

from collections.abc import Callable, Mapping
from pathlib import PurePath
from types import MappingProxyType
from typing import Any

from reprlab.config.load import LoadedConfig
from reprlab.planning.plan import Job, Plan
from reprlab.registry.dataset_entries import Wanted, part_of
from reprlab.runtime.errors import ReprlabError


def add_archive(
    plan: Plan, config: LoadedConfig, archive: str, part: Callable[[list[Any]], list[Any]] | None = None
) -> str:
    """Plan the download of an archive, or of the `part` of its files that is read; returns its receipt."""
    entry = config.datasets.archives[archive]
    wanted = Wanted(files=part(entry.files)) if part else Wanted()
    # Origins, licence and purpose do not change the bytes: the files and their digests identify a download.
    files = [file.model_dump(mode="json", exclude_none=True) for file in wanted.of(entry).files]
    return plan.add("fetch_archive", archive, Job(factors={"files": files}, settings={"wanted": wanted}))["receipt"]


def add_corpus(plan: Plan, config: LoadedConfig, corpus: str, options: Mapping[str, Any] | None = None) -> str:
    """Plan the documents of a corpus; returns their path. `options` are set on top of those of its reader."""
    entry = config.datasets.corpora[corpus]
    entry = entry.model_copy(update={"options": {**entry.options, **(options or {})}})
    receipts = [add_archive(plan, config, archive, part_of(entry)) for archive in entry.archives]
    job = Job({"receipts": receipts}, {"entry": _identity(entry)}, plugins=(f"data.readers.{entry.reader}",))
    return plan.add("build_documents", corpus, job)["out"]


def add_task(
    plan: Plan, config: LoadedConfig, dataset: str, sentences: Mapping[str, str] = MappingProxyType({})
) -> str:
    """Plan the examples of a task; `sentences` maps each corpus that it is built from to its passages.

    Raises:
        ReprlabError: the task is built from passages of a corpus that `sentences` does not hold.
    """
    cut = tuple(sentences.items())
    return plan.once(("task", dataset, cut), lambda: _add_task(plan, config, dataset, sentences))


def _add_task(plan: Plan, config: LoadedConfig, dataset: str, sentences: Mapping[str, str]) -> str:
    entry = config.datasets.tasks[dataset]
    missing = [corpus for corpus in entry.documents if corpus not in sentences]
    if missing:
        raise ReprlabError(
            f"data set {dataset} is built from passages of {', '.join(missing)}, which this paper does not cut; "
            "name another entry of config/datasets.yaml, tasks"
        )
    inputs = {
        "receipts": [add_archive(plan, config, archive) for archive in entry.archives],
        "documents": [sentences[corpus] for corpus in entry.documents],
    }
    job = Job(inputs, {"entry": _identity(entry)}, plugins=(f"data.readers.{entry.reader}",))
    return plan.add("build_examples", dataset, job)["out"]


def add_model(
    plan: Plan, config: LoadedConfig, model: str, *, seed: int, tokenizer: str = "", dropout: float | None = None
) -> str:
    """Plan the initial weights of a model; returns their folder.

    A random model is drawn for the size of `tokenizer` (a tokenizer folder; its entry may name the model whose own it
    has otherwise), with `seed`, and so is a new head. Where papers draw one for tokenizers of their own, that of the
    later one is named by its tokenizer too.
    """
    asked = ("model", model, seed, tokenizer, dropout)
    return plan.once(asked, lambda: _add_model(plan, config, model, seed, tokenizer, dropout))


def _add_model(plan: Plan, config: LoadedConfig, model: str, seed: int, tokenizer: str, dropout: float | None) -> str:
    entry = config.models[model]
    if dropout is not None:
        entry = entry.model_copy(update={"config": {**entry.config, "dropout_rate": dropout}})
    random = entry.origin.kind == "scratch"
    if random and entry.origin.tokenizer and not tokenizer:
        tokenizer = add_tokenizer(plan, config, entry.origin.tokenizer)
    seed = 0 if entry.is_complete else seed
    name = model if entry.is_complete else f"{model}_s{seed}"
    packaged = [entry.origin.archive, *entry.origin.continued] if entry.origin.kind == "package" else []
    receipts = [add_archive(plan, config, archive) for archive in packaged]
    settings = {"entry": entry, "seed": seed}
    job = Job({"tokenizer": tokenizer if random else "", "receipts": receipts}, settings)
    known = plan.jobs.get("build_model", {}).get(name)
    if known and random and known.inputs["tokenizer"] != tokenizer:
        name = f"{name}_{PurePath(tokenizer).name}"
    return plan.add("build_model", name, job)["out"]


def add_tokenizer(plan: Plan, config: LoadedConfig, model: str) -> str:
    """Plan the tokenizer of a model, without its weights; returns its folder.

    Raises:
        ReprlabError: the model's weights are random, so that it has no tokenizer of its own.
    """
    entry = config.models[model]
    if entry.origin.kind == "scratch":
        raise ReprlabError(f"models.yaml: {model} is built from nothing and has no tokenizer; name one that has")
    receipts = [add_archive(plan, config, entry.origin.archive)] if entry.origin.kind == "package" else []
    return plan.add("extract_tokenizer", model, Job({"receipts": receipts}, {"entry": entry}))["out"]


def _identity(entry: Any) -> Any:
    """The entry without the words that say what the data is for: they are for people and change no byte."""
    return entry.model_copy(update={"homepage": "", "purpose": ""})
