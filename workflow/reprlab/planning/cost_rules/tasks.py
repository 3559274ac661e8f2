"""Fine-tuning on labelled examples, completions and pairs of texts, and what such models answer."""

import math
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from reprlab.evaluation.completion_settings import CompletionScoring
from reprlab.evaluation.examples import TRAIN
from reprlab.planning.cost_rules.jobs import Described, Jobs, inference, noted, of_engine, source
from reprlab.planning.plan import Job
from reprlab.structure.seq2seq_settings import GenerationSettings, PairSettings, PairTraining
from reprlab.training.completion_settings import CompletionTuningSettings
from reprlab.training.finetuning_settings import FinetuneSettings

_FILLED = "inputs filled to their length"
# Tasks whose head is one layer on top of states that are read at every place or at some.
_WITHOUT_OUTPUT_LAYER = ("tags", "spans")


def finetune_model(jobs: Jobs, key: str, job: Job) -> Iterator[Described]:
    """Each model with each learning rate, and the splits that are scored."""
    settings = FinetuneSettings.model_validate_json(job.settings["settings"])
    cells = len(job.settings["names"]) * len(settings.learning_rates)
    yield {
        **_finetuned(jobs, job, source(job), settings, settings.splits),
        "jobs": cells,
        "kept": cells if settings.keep else 0,
    }


def measure_finetuning(jobs: Jobs, key: str, job: Job) -> Iterator[Described]:
    """One training without scores."""
    settings = FinetuneSettings.model_validate_json(job.settings["settings"])
    yield {**_finetuned(jobs, job, source(job), settings, []), "jobs": 1}


def _finetuned(jobs: Jobs, job: Job, model: str, settings: FinetuneSettings, splits: list[str]) -> Described:
    data, task, engine = jobs.key_of(job.inputs["examples"]), settings.task, settings.engine
    steps, notes = engine.steps, []
    trained = jobs.size(data, TRAIN, settings.train_limit)
    if settings.epochs is not None:
        steps = max(1, math.ceil(settings.epochs * trained.at_most(settings.train_limit) / engine.batch_size))
        notes.append(trained.note)
    scored = [jobs.size(data, split, settings.eval_limit) for split in splits]
    forwarded = sum(each.at_most(settings.eval_limit) for each in scored) * len(task.eval_modes)
    length = trained.within(task.input_length)
    notes += [_FILLED if trained.tokens is None else "", *(each.note for each in scored)]
    if settings.embedding is not None:
        notes.append("memory with the whole embedding")
    if jobs.entry(model).architecture == "deberta_v2":
        notes.append("without the products of relative positions")
    # The head of a classifier is read at one place; a text is written as long as it may be.
    shape: Described = {"labels": max(2, len(task.labels)), "decoder_extra": 1}
    if task.kind == "text_to_text":
        shape = {"decoder_extra": task.target_length}
    elif task.kind in _WITHOUT_OUTPUT_LAYER or jobs.entry(model).architecture == "t5":
        # Of T5 the encoder alone has the head of a classifier.
        shape = {"headless": True}
    return {
        **jobs.language_model(model, job),
        **of_engine(engine, steps),
        **shape,
        "text_length": length,
        "forwarded": forwarded,
        **noted(*notes),
    }


def finetune_completions(jobs: Jobs, key: str, job: Job) -> Iterator[Described]:
    """Each model with each learning rate."""
    settings = CompletionTuningSettings.model_validate_json(job.settings["settings"])
    data, part = jobs.key_of(job.inputs["prompts"]).split("/")
    rows = jobs.size(data, part)
    yield {
        **jobs.model(source(job)),
        "jobs": len(job.settings["names"]) * len(settings.learning_rates),
        "kept": len(job.settings["names"]),
        "apart": key.split("/")[1],
        "steps": max(1, math.ceil(settings.epochs * rows.examples / settings.batch_size)),
        "batch_size": settings.batch_size,
        "part_size": max(1, settings.batch_size // settings.accumulation),
        "dtype": settings.dtype,
        "text_length": rows.within(settings.max_length),
        "decoder_share": 1,
        **noted(rows.note, _FILLED if rows.tokens is None else ""),
    }


def score_completions(jobs: Jobs, key: str, job: Job) -> Iterator[Described]:
    """Each model on each cell: those that write, by what they write, and those that read; a shot is as long as the
    question, with its answer."""
    settings = CompletionScoring.model_validate_json(job.settings["settings"])
    groups: dict[tuple[int, int], list[tuple[int, float]]] = defaultdict(list)
    notes = []
    for cell in settings.cells:
        data, part = jobs.key_of(str(settings.prompts[cell.eval])).split("/")
        rows = jobs.size(data, part)
        notes.append(rows.note)
        question = rows.within(settings.max_length)
        length = min(settings.max_length, (cell.shots + 1) * question + cell.shots * rows.answer)
        written, beams = {
            "generate": (settings.max_new_tokens, 1),
            "free": (settings.free_tokens, 1),
            "constrained": (settings.free_tokens, settings.beams),
        }.get(cell.method, (0, 1))
        # The choices of a question stand behind it.
        length += 0 if written else rows.answer
        answering = len([model for model in settings.models if not cell.names or model.name in cell.names])
        groups[written, beams].append((answering * rows.at_most(None), length))
    for (written, beams), asked in groups.items():
        prompts = sum(count for count, _ in asked)
        yield {
            **jobs.model(source(job)),
            **inference(jobs.batch, settings.dtype, forwarded=prompts, generated=written, beams=beams),
            "jobs": 1,
            "text_length": sum(count * length for count, length in asked) / prompts,
            "decoder_extra": 1,
            **noted(*notes),
        }


def _pairs(jobs: Jobs, job: Job, split: str, limit: int | None = None) -> tuple[int, Any]:
    """Pairs of a split, and the size of one."""
    _, key, made = jobs.made_by(str(job.inputs["pairs"]))
    settings = PairSettings.model_validate_json(made.settings["settings"])
    limits = [most for most in (settings.limits.get(split), limit) if most is not None]  # type: ignore[call-overload]
    size = jobs.size(key.split("/")[0], split, min(limits, default=None))
    return size.at_most(min(limits, default=None)), size


def train_seq2seq(jobs: Jobs, key: str, job: Job) -> Iterator[Described]:
    """Updates on pairs."""
    settings = PairTraining.model_validate_json(job.settings["settings"])
    count, size = _pairs(jobs, job, "train")
    steps, engine = settings.engine.steps, settings.engine
    if settings.epochs is not None:
        steps = max(1, math.ceil(settings.epochs * count / engine.batch_size))
    answer = size.tokens if settings.copied else size.answer
    yield {
        **jobs.language_model(source(job), job),
        **of_engine(engine, steps),
        "jobs": 1,
        "kept": len(engine.ladder) or 1,
        "text_length": size.within(settings.input_length),
        "decoder_extra": min(settings.target_length, answer or settings.target_length),
        **noted(size.note),
    }


def generate_seq2seq(jobs: Jobs, key: str, job: Job) -> Iterator[Described]:
    """Answers by beam search."""
    settings = GenerationSettings.model_validate_json(job.settings["settings"])
    count, size = _pairs(jobs, job, settings.split, settings.limit)
    yield {
        **jobs.language_model(source(job), job),
        **inference(jobs.batch, settings.dtype, forwarded=count, beams=settings.beams),
        "jobs": 1,
        "text_length": size.within(settings.input_length),
        "generated": min(settings.max_length, size.answer or settings.max_length),
        **noted(size.note),
    }
