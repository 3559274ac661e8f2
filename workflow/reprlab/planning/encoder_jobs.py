"""Jobs around sentence encoders that any paper may ask for: training, its export, the scores of others' encoders."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

from pydantic import BaseModel

from reprlab.baselines.vectors import LEXICAL
from reprlab.config.groups import PublishedEncoder
from reprlab.config.load import LoadedConfig
from reprlab.planning.plan import Job, Plan
from reprlab.planning.shared_jobs import add_model, add_task
from reprlab.planning.warm_starts import Start
from reprlab.registry.dataset_entries import reader_settings
from reprlab.results.sources import Source, rivals
from reprlab.runtime.errors import ReprlabError
from reprlab.sentences.prompt_forms import PromptTraining
from reprlab.sentences.settings import (
    ContrastiveTraining,
    EmbeddingTask,
    EncoderSettings,
    Evaluation,
    TaskScores,
    TextForm,
    TripleTexts,
)
from reprlab.settings.base import derive


def check_positions(config: LoadedConfig, model: str, encoder: EncoderSettings, setting: str) -> EncoderSettings:
    """The settings of an encoder, whose texts and trained vectors have room in the learned positions of its model.

    Args:
        setting: dotted name of the texts' length, for the message.

    Raises:
        ReprlabError: they have not.
    """
    longest, most = encoder.form.longest + encoder.vectors, config.models[model].learned_positions
    if most is not None and longest > most:
        beside = f" beside {encoder.vectors} vectors" if encoder.vectors else ""
        beside += ", twice" if encoder.form.copies > 1 else ""
        raise ReprlabError(
            f"{setting} ({encoder.form.max_length}){beside}: {model} has {most} learned positions; set it to "
            f"{(most - encoder.vectors) // encoder.form.copies} at most, or name another model"
        )
    return encoder


def add_triples(plan: Plan, tokenizer: str, triples: Sequence[str], settings: TripleTexts) -> str:
    """Plan the tokens of triples; returns their folder. Equal ones are made once, whatever asks for them."""
    made_by = "_".join(PurePath(tokenizer).relative_to("results/shared").parts)
    asked = f"{tokenizer} {list(triples)} {settings.model_dump_json()}"
    cell = f"{settings.split}_{hashlib.sha256(asked.encode()).hexdigest()[:8]}"
    inputs: dict[str, str | list[str]] = {"tokenizer": tokenizer, "triples": list(triples)}
    return plan.add("tokenize_triples", f"{made_by}/{cell}", Job(inputs, {"settings": settings}))["out"]


def add_encoder(
    plan: Plan, key: str, start: Start, inputs: Mapping[str, str | list[str]], settings: ContrastiveTraining
) -> dict[str, str]:
    """Plan an encoder with all its seeds; `key` is model/cell. Returns its outputs by name.

    The export of each seed is planned beside it and is not a target: it is made where somebody asks for it.
    """
    return _with_exports(plan, "train_encoder", key, start, inputs, settings)


def add_prompt(
    plan: Plan, key: str, start: Start, inputs: Mapping[str, str | list[str]], settings: PromptTraining
) -> dict[str, str]:
    """The same of an encoder whose prompt is trained in another form; what comes out is a plain prompt."""
    return _with_exports(plan, "train_prompt", key, start, inputs, settings)


def _with_exports(
    plan: Plan,
    stage: str,
    key: str,
    start: Start,
    inputs: Mapping[str, str | list[str]],
    settings: ContrastiveTraining,
) -> dict[str, str]:
    trained = plan.add(stage, key, start.job(inputs, {"settings": settings}))
    exported = {"encoders": trained["out"], "tokenizer": start.tokenizer}
    for seed in settings.seeds:
        plan.add("export_encoder", f"{key}_seed_{seed}", start.job(exported, {"seed": seed}))
    return trained


def embedding_task(config: LoadedConfig, name: str, task: Any, **more: Any) -> EmbeddingTask:
    """A task of the evaluation as its stage takes it; its data set says whether queries are passages of their own."""
    own = getattr(reader_settings(config.datasets.tasks[task.dataset]), "drop_own", False)
    return derive(EmbeddingTask, task, name=name, drop_own=own, **more)


class TextBaselines:
    """Scores of vectors of texts that no model made, on the tasks of a paper."""

    def __init__(
        self, plan: Plan, config: LoadedConfig, key: str, tasks: Mapping[str, Any], *groups: BaseModel, **own: Any
    ) -> None:
        """Plan them; `tasks`, `groups` and `own` as of `add_published`. Instructions are not read."""
        self.config, self.tasks = config, tasks
        asked = [embedding_task(config, name, task, instruction="") for name, task in tasks.items()]
        data = [add_task(plan, config, task.dataset) for task in tasks.values()]
        job = Job({"tasks": data}, {"settings": derive(TaskScores, *groups, tasks=asked, **own)})
        self.path = Path(plan.add("evaluate_text_baselines", key, job)["out"])

    def of(self, name: str) -> dict[str, Any]:
        """Those that an encoder must beat in a task, as fields of its source."""
        labelled = self.tasks[name].category == "classification"
        return rivals("labelled vectors" if labelled else "vectors", self.path, where={"dataset": name})

    def shown(self, about: Mapping[str, Any], keys: Mapping[str, str]) -> Iterator[Source]:
        """The rows of what knows words alone, as those of an encoder."""
        for name, task in self.tasks.items():
            yield Source(
                path=self.path,
                factors={**about, "dataset": name, "category": task.category},
                keys=dict(keys),
                where={"dataset": name, "name": LEXICAL},
                data=self.config.datasets.tasks[task.dataset].title,
                unjudged="a baseline",
            )


def add_published(
    plan: Plan,
    config: LoadedConfig,
    key: str,
    given: PublishedEncoder,
    tasks: Mapping[str, Any],
    *groups: BaseModel,
    setting: str,
    **own: Any,
) -> str:
    """Plan the scores of an encoder of others as it is; only retrieval has two kinds of texts. Returns their table.

    Args:
        tasks: the tasks by name, each with its dataset. groups, own: the other settings of the evaluation.
        setting: dotted name of `given`, for messages.

    Raises:
        ReprlabError: its texts may be longer than its learned positions.
    """
    words = {
        kind: {"instruction": before, "passage_instruction": other}
        for kind, before, other in ((True, given.query, given.passage), (False, given.text, given.text))
    }
    form = TextForm(whole=True, max_length=given.max_length)
    settings = derive(
        Evaluation,
        *groups,
        encoder=EncoderSettings(
            method="none",
            pooling="first" if given.pooling == "pooler" else given.pooling,
            pooler=given.pooling == "pooler",
            normalised=True,
            form=form,
        ),
        tasks=[
            embedding_task(config, name, task, **words[task.category == "retrieval"]) for name, task in tasks.items()
        ],
        separator="",
        **own,
    )
    check_positions(config, given.model, settings.encoder, f"{setting}.max_length")
    model = add_model(plan, config, given.model, seed=0)
    data = [add_task(plan, config, task.dataset) for task in tasks.values()]
    job = Job({"model": model, "tokenizer": model, "tasks": data}, {"settings": settings})
    return plan.add("evaluate_encoder", key, job)["out"]
