"""Adapters and states of decoders, sentence encoders, retrieval and reranking."""

import math
from collections.abc import Iterator
from dataclasses import replace

from reprlab.models.sizes import layers_of, width_of
from reprlab.planning.cost_rules.jobs import Described, Jobs, inference, noted, of_engine, settings_of, source
from reprlab.planning.plan import Job
from reprlab.registry.dataset_entries import TaskEntry
from reprlab.representations.settings import AdapterSettings, CollectSettings, PromptSettings
from reprlab.retrieval.listwise import windows as list_windows
from reprlab.retrieval.read_orders import copies_of
from reprlab.retrieval.rerank_settings import FirstStage, ListSettings, PairSettings, RerankerTraining, Reranking
from reprlab.retrieval.rerank_speed import SpeedSettings
from reprlab.sentences.block_pruning import PruningSettings
from reprlab.sentences.contrastive import share_read_twice
from reprlab.sentences.counted_encoders import costing_alike
from reprlab.sentences.prompt_forms import PromptTraining
from reprlab.sentences.settings import (
    TEXTS_AT_ONCE,
    ContrastiveTraining,
    EncoderSettings,
    Evaluation,
    LayerLosses,
    TripleTexts,
)
from reprlab.settings.base import derive

_TRIPLE = 3
# States are stored in float32.
_BYTES_OF_STATE = 4
BOUNDED = "the most layers that can be chosen"
_FILLED = "texts filled to their length"
_COMPILED = "with Mamba's compiled kernels; the scans in plain PyTorch hold more"
# A prompt of data that no table tells the length of.
_PROMPT_TOKENS = 50.0


def _prompts(jobs: Jobs, job: Job) -> tuple[float, int]:
    """Tokens of a prompt with its demonstrations, and how many there are."""
    _, key, made = jobs.made_by(str(job.inputs["prompts"]))
    settings = PromptSettings.model_validate_json(made.settings["settings"])
    tokens = jobs.size(key.split("/")[0], "prompt").tokens or _PROMPT_TOKENS
    asked = settings.train_items if settings.split == "train" else settings.validation_items
    return (settings.demonstrations + 1) * tokens, asked


def train_adapter(jobs: Jobs, key: str, job: Job) -> Iterator[Described]:
    """Low-rank adapters of a decoder on prompts with their labels."""
    settings = AdapterSettings.model_validate_json(job.settings["settings"])
    length, _ = _prompts(jobs, job)
    yield {
        **jobs.model(source(job)),
        **of_engine(settings.engine),
        "jobs": 1,
        "kept": len(settings.engine.ladder) or 1,
        "text_length": min(settings.max_length, length),
        "decoder_share": 1,
        "adapter_rank": settings.rank,
        "adapter_targets": settings.targets,
        **noted("lengths by characters"),
    }


def collect_states(jobs: Jobs, key: str, job: Job) -> Iterator[Described]:
    """One pass over the prompts for the model, or for each variant of its adapter."""
    settings = CollectSettings.model_validate_json(job.settings["settings"])
    length, asked = _prompts(jobs, job)
    passes, forwarded = max(1, len(settings.steps)), min(asked, settings.limit or asked)
    entry = jobs.entry(source(job))
    states = (layers_of(entry) + 1) * width_of(entry)
    yield {
        **jobs.model(source(job)),
        **inference(1, settings.dtype, part_size=max(1, int(settings.batch_tokens / length))),
        # Lengths of prompts with as many demonstrations are alike, others are not.
        "apart": key.split("/")[2],
        "jobs": passes,
        "kept_bytes": passes * forwarded * states * _BYTES_OF_STATE,
        "forwarded": forwarded,
        "text_length": length,
        # The output layer is read at the last place alone.
        "decoder_extra": 1,
        **noted("lengths by characters; weights in float32 on one device"),
    }


def measure_layers(jobs: Jobs, key: str, job: Job) -> Iterator[Described]:
    """Batches of triples; all depths are read off one pass."""
    settings = LayerLosses.model_validate_json(job.settings["settings"])
    size = settings.batch_size
    yield {
        **jobs.model(source(job)),
        **inference(size, settings.dtype, forwarded=_TRIPLE * size * settings.batches),
        "jobs": 1,
        "headless": True,
        "sequences": _TRIPLE,
        "part_size": min(TEXTS_AT_ONCE, _TRIPLE * size),
        "text_length": _longest(jobs, job),
        **noted(_FILLED),
    }


def _counted(jobs: Jobs, job: Job, encoder: EncoderSettings) -> tuple[EncoderSettings, str]:
    """The encoder with a number of layers. Losses choose two of them: what is not known yet is bounded by the half that
    they lie in."""
    encoder = costing_alike(encoder)
    pruning = _pruning(jobs, job)
    kept = encoder.layers if pruning is None else pruning.layers
    if not isinstance(kept, str):
        return encoder.model_copy(update={"layers": kept}), ""
    layers = layers_of(jobs.entry(source(job)))
    most = layers // 2 if kept == "small" else layers
    return encoder.model_copy(update={"layers": most}), BOUNDED


def _pruning(jobs: Jobs, job: Job) -> PruningSettings | None:
    """How layers of a job's decoder were removed before, if any were."""
    stage, _, made = jobs.made_by(source(job))
    return PruningSettings.model_validate_json(made.settings["settings"]) if stage == "prune_block" else None


def _apart(jobs: Jobs, job: Job, encoder: EncoderSettings, bounded: str, *, scored: bool = False) -> str:
    """What tells encoders from others that may cost as much: a depth that is bounded, which a printed one may
    replace by the name of the row, how layers were removed, and what is trained once for all depths.

    Args:
        scored: whether it is scored, which costs as much of each neighbour of such a depth.
    """
    made = jobs.made_by(str(job.inputs["encoders"]))[2] if "encoders" in job.inputs else job
    objective = settings_of(made).get("objective", {}).get("kind", "")
    if not bounded:
        return "" if scored else objective
    pruning = _pruning(jobs, job)
    layers, way = (pruning.layers, pruning.method) if pruning else (encoder.layers, objective)
    return f"{layers} {'beside' if scored and way else way}".strip()


def prune_block(jobs: Jobs, key: str, job: Job) -> Iterator[Described]:
    """The drawn texts choose the block, and once more fit what stands in for it."""
    settings = PruningSettings.model_validate_json(job.settings["settings"])
    passes = 2 if settings.method == "replace_me" else 1
    yield {
        **jobs.model(source(job)),
        **inference(jobs.batch, settings.dtype, forwarded=passes * settings.texts),
        "jobs": 1,
        "headless": True,
        "text_length": _longest(jobs, job),
        **noted(_FILLED),
    }


def train_encoder(jobs: Jobs, key: str, job: Job) -> Iterator[Described]:
    """Each seed with each rate on triples, and the looks at held-out pairs."""
    settings = ContrastiveTraining.model_validate_json(job.settings["settings"])
    engine, texts = settings.engine, _TRIPLE * settings.engine.batch_size
    encoder, bounded = _counted(jobs, job, settings.encoder)
    steps, notes = engine.steps, [_FILLED, bounded]
    if settings.epochs is not None:
        _, _, made = jobs.made_by(str(job.inputs["triples"]))
        limit = settings_of(made).get("limit")
        rows = [jobs.size(jobs.key_of(path), "train", limit) for path in made.inputs["triples"]]
        count = sum(min(each.at_most(limit), limit or math.inf) for each in rows)
        steps = max(1, round(settings.epochs * (count // engine.batch_size)))
        notes += [each.note for each in rows]
    pairs = [jobs.size(jobs.key_of(path), "validation", settings.held_out_limit)
             for path in job.inputs.get("held_out", ())]  # fmt: skip
    notes += [each.note for each in pairs]
    looks = math.ceil(steps / settings.evaluate_every) if pairs else 0
    yield {
        **jobs.model(source(job)),
        **of_engine(engine, steps),
        "jobs": len(settings.seeds) * len(settings.learning_rates),
        "kept": len(settings.seeds),
        "sequences": _TRIPLE,
        "part_size": min(settings.part_size, texts),
        "recomputed": share_read_twice(texts, settings.part_size),
        "forwarded": looks * 2 * sum(each.at_most(settings.held_out_limit) for each in pairs),
        "text_length": _longest(jobs, job),
        "encoder": encoder,
        "apart": _apart(jobs, job, settings.encoder, bounded),
        **noted(*notes),
    }


def train_prompt(jobs: Jobs, key: str, job: Job) -> Iterator[Described]:
    """As an encoder with a plain prompt: beside the decoder what another form computes is next to nothing."""
    given = PromptTraining.model_validate_json(job.settings["settings"])
    plain = derive(ContrastiveTraining, given).model_dump_json()
    yield from train_encoder(jobs, key, replace(job, settings={**job.settings, "settings": plain}))


def _longest(jobs: Jobs, job: Job) -> int:
    """Tokens that the texts of a job's triples were cut to, all copies together."""
    _, _, made = jobs.made_by(str(job.inputs["triples"]))
    return TripleTexts.model_validate_json(made.settings["settings"]).form.longest


def evaluate_encoder(jobs: Jobs, key: str, job: Job) -> Iterator[Described]:
    """The texts of all tasks for each seed, and the triples whose loss is measured."""
    settings = Evaluation.model_validate_json(job.settings["settings"])
    encoder, bounded = _counted(jobs, job, settings.encoder)
    form, notes = settings.encoder.form, [bounded]
    read = []
    for path, task in zip(job.inputs["tasks"], settings.tasks, strict=True):
        size = jobs.size(jobs.key_of(path), "texts", task.passages)
        notes.append(size.note)
        count = size.at_most(task.passages if task.category == "retrieval" else None)
        read.append((count, form.copies * size.within(form.max_length)))
    if settings.sample is not None and "triples" in job.inputs:
        read.append((_TRIPLE * settings.sample.batch_size * settings.sample.batches, _longest(jobs, job)))
    if settings.whitening is not None and settings.whitening.fit_on == "train":
        read.append((settings.whitening.texts, form.longest))
    texts = sum(count for count, _ in read)
    # Whole and as it is, it is a model without its output layer.
    whole = encoder.method == "none" and encoder.layers is None
    yield {
        **jobs.model(source(job)),
        **inference(jobs.batch, settings.dtype, forwarded=texts),
        "jobs": len(settings.seeds) if "encoders" in job.inputs else 1,
        "text_length": sum(count * length for count, length in read) / texts,
        "apart": _apart(jobs, job, settings.encoder, bounded, scored=True),
        **({"headless": True} if whole else {"encoder": encoder}),
        **noted(*notes),
    }


def _passages(jobs: Jobs, data: str) -> tuple[int, float | None, str]:
    """Passages of a collection, by its entry or the table of sizes, and their tokens."""
    entry = TaskEntry.model_validate_json(jobs.plan.jobs["build_examples"][data].settings["entry"])
    size = jobs.size(data, "passages", entry.options.get("passages"))
    return size.at_most(None), size.tokens, size.note


def retrieve_passages(jobs: Jobs, key: str, job: Job) -> Iterator[Described]:
    """Every passage and query through a bi-encoder; words are counted on the processor."""
    settings = FirstStage.model_validate_json(job.settings["settings"])
    if settings.kind == "bm25":
        return
    data = jobs.key_of(job.inputs["examples"])
    passages, tokens, note = _passages(jobs, data)
    queries = [jobs.size(data, split, settings.queries.get(split)) for split in settings.splits]
    yield {
        **jobs.model(source(job)),
        **inference(jobs.batch, "float32"),
        "jobs": 1,
        "headless": True,
        "forwarded": passages + sum(each.at_most(None) for each in queries),
        "text_length": min(settings.max_length, tokens or settings.max_length),
        **noted(note, "queries as long as passages", *(each.note for each in queries)),
    }


def _reranker(jobs: Jobs, model: str) -> tuple[Described, str]:
    scans = jobs.entry(model).architecture.startswith("mamba")
    return {**jobs.model(model), "headless": True}, _COMPILED if scans else ""


def train_reranker(jobs: Jobs, key: str, job: Job) -> Iterator[Described]:
    """Each seed on groups of a passage that answers and others."""
    settings = RerankerTraining.model_validate_json(job.settings["settings"])
    lists = _lists(job)
    longest = lists.longest(settings.pairs.max_query) if lists else _longest_pair(settings.pairs, job)
    described, scans = _reranker(jobs, source(job))
    data = jobs.key_of(job.inputs["examples"])
    run = str(job.inputs.get("run", ""))
    # Where groups are drawn from text, nothing is retrieved.
    retrieved = bool(run) and jobs.made_by(run)[0] == "retrieve_passages"
    limit = _first_stage(jobs, run).queries.get("train") if retrieved else None
    trained = jobs.size(data, "train", limit)
    # A list is one sequence.
    group, engine = 1 if lists else 1 + settings.negatives, settings.engine
    yield {
        **described,
        **of_engine(engine, max(1, math.ceil(settings.epochs * trained.at_most(limit) / engine.batch_size))),
        "jobs": len(settings.seeds),
        "kept": len(settings.seeds),
        "sequences": group,
        "part_size": group * max(1, engine.batch_size // engine.accumulation),
        "apart": longest,
        "text_length": longest,
        **noted(_FILLED, scans, trained.note),
    }


def _longest_pair(pairs: PairSettings, job: Job) -> int:
    """Tokens of a pair, each time that it is read."""
    return pairs.max_length * copies_of(job.settings.get("order", "once"))


def _lists(job: Job) -> ListSettings | None:
    """How lists are read, by a job that reads them in place of pairs."""
    return ListSettings.model_validate_json(job.settings["lists"]) if "lists" in job.settings else None


def _first_stage(jobs: Jobs, run: str) -> FirstStage:
    return FirstStage.model_validate_json(jobs.made_by(run)[2].settings["settings"])


def rerank_passages(jobs: Jobs, key: str, job: Job) -> Iterator[Described]:
    """Each passage of the first stage; with a stride, each window of it; of lists each window of the ranking."""
    settings = Reranking.model_validate_json(job.settings["settings"])
    described, scans = _reranker(jobs, source(job))
    lists, pairs, notes = _lists(job), 0.0, [_FILLED, scans]
    length = lists.longest(settings.pairs.max_query) if lists else _longest_pair(settings.pairs, job)
    for one in settings.collections:
        data, stage = jobs.key_of(str(one.examples)), _first_stage(jobs, str(one.run))
        limit = stage.queries.get(one.split)
        queries = jobs.size(data, one.split, limit)
        windows = 1
        if settings.stride:
            tokens = _passages(jobs, data)[1] or length
            windows += max(0, math.ceil((tokens - length) / settings.stride))
        asked = len(list_windows(stage.depth, lists.window, lists.step)) if lists else windows * stage.depth
        pairs += asked * queries.at_most(limit)
        notes.append(queries.note)
    yield {
        **described,
        **inference(jobs.batch, settings.dtype, forwarded=math.ceil(pairs)),
        "jobs": len(settings.seeds),
        "apart": length,
        "text_length": length,
        **noted(*notes),
    }


def measure_rerankers(jobs: Jobs, key: str, job: Job) -> Iterator[Described]:
    """The documents of a query at each length, again and again."""
    settings = SpeedSettings.model_validate_json(job.settings["settings"])
    described, scans = _reranker(jobs, source(job))
    turns = (settings.warmups + settings.repeats) * max(1, len(settings.attention))
    updates = turns * sum(settings.training_batches)
    yield {
        **described,
        **inference(settings.batch, settings.dtype),
        # An update is three passes forward.
        "forwarded": turns * settings.documents * len(settings.lengths) + 3 * updates,
        "jobs": 1,
        "text_length": sum(settings.lengths) / len(settings.lengths),
        **noted(scans),
    }
