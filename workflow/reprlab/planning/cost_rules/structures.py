"""Relations of events, coreference, speech, and descriptions of music."""

import math
from collections.abc import Iterator

from reprlab.audio.settings import RecogniserSettings
from reprlab.coreference.settings import CoreferenceTraining, HeadSettings, SegmentSettings
from reprlab.events.settings import PairClassification, PairTiming, Retrieval, RetrieverTraining
from reprlab.models.sizes import width_of
from reprlab.music.prefix_settings import PrefixDescription, PrefixTraining
from reprlab.music.settings import DescriberTraining, DescriptionGeneration
from reprlab.planning.cost_rules.jobs import Described, Jobs, inference, noted, of_engine, source
from reprlab.planning.plan import Job

_UNTRAINED_RANKINGS = ("random", "chains", "nearest")
# Tokens of the name of a relation.
_LABEL_TOKENS = 4
# Tokens of the music in a describer's prompt: one for each clip.
_CLIPS = 3
# Layers that an adaptor before the language model stands for: its gradient goes through all of the frozen model, as
# that of the smallest adapters does.
_THROUGH = ["q_proj"]


def train_retriever(jobs: Jobs, key: str, job: Job) -> Iterator[Described]:
    """Each seed; every mention of a batch's documents is read once an update."""
    settings = RetrieverTraining.model_validate_json(job.settings["settings"])
    data, training = jobs.key_of(job.inputs["examples"]), settings.training
    documents, mentions = jobs.size(data, "train", settings.events.limit), jobs.size(data, "mentions")
    engine, each = training.engine, math.ceil(mentions.examples)
    yield {
        **jobs.model(source(job)),
        **of_engine(engine, _steps(training.epochs, documents.at_most(settings.events.limit), engine.batch_size)),
        "jobs": len(settings.seeds),
        "kept": len(settings.seeds),
        "headless": True,
        "sequences": each,
        "part_size": each * max(1, engine.batch_size // engine.accumulation),
        "text_length": mentions.within(training.max_length),
        **noted(documents.note, mentions.note),
    }


def _steps(epochs: float, examples: float, batch_size: int) -> int:
    return max(1, math.ceil(epochs * examples / batch_size))


def rank_partners(jobs: Jobs, key: str, job: Job) -> Iterator[Described]:
    """Every mention of all documents for each seed; rankings without a model cost nothing."""
    settings = Retrieval.model_validate_json(job.settings["settings"])
    if settings.pooling in _UNTRAINED_RANKINGS:
        return
    data = jobs.key_of(job.inputs["examples"])
    documents = [jobs.size(data, split, settings.events.limit) for split in ("train", "validation", "test")]
    mentions = jobs.size(data, "mentions")
    yield {
        **jobs.model(source(job)),
        **inference(jobs.batch, settings.dtype),
        "jobs": len(settings.seeds),
        "headless": True,
        "forwarded": math.ceil(mentions.examples * sum(each.at_most(settings.events.limit) for each in documents)),
        "text_length": mentions.within(settings.max_length),
        **noted(mentions.note, *(each.note for each in documents)),
    }


def _asked(jobs: Jobs, data: str, settings: PairClassification, regime: str) -> float:
    """Pairs of a document: all, or each event with the k that were retrieved."""
    every = jobs.size(data, "pairs").examples
    return every if regime == "all" else min(every, settings.k * jobs.size(data, "mentions").examples)


def train_pair_classifier(jobs: Jobs, key: str, job: Job) -> Iterator[Described]:
    """Each seed: documents whose pairs are read from their states, or pairs as text; and the validation split after
    each pass."""
    settings = PairClassification.model_validate_json(job.settings["settings"])
    data, engine, limit = jobs.key_of(job.inputs["examples"]), settings.engine, settings.events.limit
    documents, held_out = (jobs.size(data, split, limit) for split in ("train", "validation"))
    passes = math.ceil(settings.epochs) if settings.patience else 0
    seeds = len(settings.seeds)
    shared: Described = {**jobs.model(source(job)), "jobs": seeds, "kept": seeds}
    notes = noted(documents.note, "all passes, where early stopping may end before" if passes else "")
    if settings.kind == "discriminative":
        steps = _steps(settings.epochs, documents.at_most(limit), engine.batch_size)
        length = documents.within(settings.max_length)
        forwarded = passes * held_out.at_most(limit)
        yield {**shared, **of_engine(engine, steps), "headless": True, "text_length": length,
               "forwarded": forwarded, **notes}  # fmt: skip
        return
    pairs = jobs.size(data, "pairs")
    # What is related is trained on, whether it was retrieved or not.
    trained = _asked(jobs, data, settings, settings.negatives) + jobs.size(data, "related").examples
    yield {
        **shared,
        **of_engine(engine, _steps(settings.epochs, trained * documents.at_most(limit), engine.batch_size)),
        "text_length": pairs.within(settings.max_length),
        "decoder_extra": _LABEL_TOKENS,
        "forwarded": math.ceil(passes * held_out.at_most(limit) * _asked(jobs, data, settings, settings.inference)),
        **notes,
    }


def classify_pairs(jobs: Jobs, key: str, job: Job) -> Iterator[Described]:
    """Validation and test split for each seed."""
    settings = PairClassification.model_validate_json(job.settings["settings"])
    data, limit = jobs.key_of(job.inputs["examples"]), settings.events.limit
    documents = [jobs.size(data, split, limit) for split in ("validation", "test")]
    yield _classified(
        jobs, job, settings, data, sum(each.at_most(limit) for each in documents),
        _asked(jobs, data, settings, settings.inference), len(settings.seeds),
    )  # fmt: skip


def _classified(
    jobs: Jobs, job: Job, settings: PairClassification, data: str, documents: float, pairs: float, seeds: int
) -> Described:
    described = {**jobs.model(source(job)), "jobs": seeds}
    if settings.kind == "discriminative":
        size = jobs.size(data, "test")
        batch = inference(jobs.batch, settings.engine.dtype, forwarded=math.ceil(documents))
        return {**described, **batch, "headless": True, "text_length": size.within(settings.max_length)}
    size = jobs.size(data, "pairs")
    return {
        **described,
        **inference(jobs.batch, settings.engine.dtype, forwarded=math.ceil(documents * pairs)),
        "text_length": size.within(settings.max_length),
        # Each label is written behind the pair, or the likeliest one is.
        "decoder_extra": _LABEL_TOKENS * (len(settings.labels) + 1 if settings.decoding == "scored" else 1),
        **noted(size.note),
    }


def time_pairs(jobs: Jobs, key: str, job: Job) -> Iterator[Described]:
    """Documents of some sizes, with all pairs and with each number of retrieved ones, again and again."""
    settings = PairTiming.model_validate_json(job.settings["settings"])
    data = jobs.key_of(job.inputs["examples"])
    pairs = sum(n * (n - 1) / 2 + sum(min(n * (n - 1) / 2, k * n) for k in settings.ks) for n in settings.sizes)
    turns = settings.repeats * len(settings.sizes) * (1 + len(settings.ks))
    each = pairs * settings.repeats / turns
    yield _classified(jobs, job, settings.classification, data, turns, each, 1)


def train_coreference(jobs: Jobs, key: str, job: Job) -> Iterator[Described]:
    """Encoder and head, each seed."""
    yield _coreference(jobs, job, [source(job)], frozen=False)


def probe_coreference(jobs: Jobs, key: str, job: Job) -> Iterator[Described]:
    """A head on frozen encoders, which run in every update unless their states are stored."""
    yield _coreference(jobs, job, list(job.settings.get("encoders", ())), frozen=True)


def _coreference(jobs: Jobs, job: Job, encoders: list[str], *, frozen: bool) -> Described:
    settings = CoreferenceTraining.model_validate_json(job.settings["settings"])
    _, key, made = jobs.made_by(str(job.inputs["documents"]))
    segments = SegmentSettings.model_validate_json(made.settings["settings"])
    data = key.split("/")[0]

    def size(split: str) -> int:
        limit = segments.documents.get(split)
        return jobs.size(data, split, limit).at_most(limit)

    trained = jobs.size(data, "train", segments.documents.get("train"))
    tokens = trained.tokens or float(segments.segment_length)
    pieces = math.ceil(tokens / segments.segment_length)
    # Stored states are those of an encoder of the source's making.
    model = encoders[0] if encoders else _stored(jobs, job)
    width = width_of(jobs.entry(model))
    once, parameters = head_flops(settings.head, width, tokens), head_parameters(settings.head, width)
    passes = settings.epochs * size("validation") + size("test")
    return {
        **jobs.model(model),
        **of_engine(settings.engine, settings.epochs * size("train")),
        "jobs": len(settings.seeds),
        "kept": 0 if frozen else len(settings.seeds),
        "headless": True,
        "frozen": frozen,
        "sequences": pieces * len(encoders),
        "part_size": max(1, pieces * len(encoders)),
        "text_length": tokens / pieces,
        "forwarded": pieces * len(encoders) * passes,
        "beside": 3 * once + (0 if encoders else once * passes / (settings.epochs * size("train"))),
        "beside_forward": once / (pieces * len(encoders)) if encoders else 0,
        "beside_parameters": parameters,
        **noted(trained.note, "all passes, where early stopping may end before"),
    }


def _stored(jobs: Jobs, job: Job) -> str:
    states = job.inputs["states"]
    return source(jobs.made_by(states if isinstance(states, str) else states[0])[2])


def head_flops(head: HeadSettings, width: int, tokens: float) -> float:
    """FLOPs of the coreference head on a document, forward: scores of spans, then coarse and fine scores of pairs.

    Source: `coreference.head.CoreferenceHead`, whose scorers project each part of their input once.
    """
    spans, hidden, features = tokens * head.max_span_width, head.hidden, head.features
    kept = min(head.max_spans, head.span_ratio * tokens)
    pairs, span = kept * min(head.max_antecedents, kept), 3 * width + features
    mentions = 3 * tokens * width * hidden + tokens * head.max_span_width**2 * hidden
    mentions += spans * hidden * (features + 1)
    coarse = kept * span * span + kept * kept * span
    fine = 2 * kept * span * hidden + pairs * hidden * (span + 4 * features + 1)
    return 2 * (mentions + coarse + fine)


def head_parameters(head: HeadSettings, width: int) -> int:
    """Weights of its matrices."""
    span, features = 3 * width + head.features, head.features
    return span * head.hidden + span * span + (3 * span + 4 * features) * head.hidden + 3 * head.hidden


def train_recogniser(jobs: Jobs, key: str, job: Job) -> Iterator[Described]:
    """Updates on utterances, and the two held-out splits; lengths are frames of 20 ms."""
    settings = RecogniserSettings.model_validate_json(job.settings["settings"])
    data, limit = jobs.key_of(job.inputs["speech"]), settings.evaluation_utterances
    trained = jobs.size(data, "train", 0)
    length = trained.tokens or 500.0
    scored = [jobs.size(data, split, limit) for split in ("validation", "test")]
    # As many of the trained length as are as long as those of the split.
    frames = sum(each.at_most(limit) * (each.tokens or length) for each in scored)
    frozen = settings.tuning.method == "head"
    yield {
        **jobs.model(source(job)),
        **of_engine(settings.engine),
        "jobs": 1,
        "kept": 1,
        "tuning": settings.tuning,
        "frozen": frozen,
        "text_length": length,
        "forwarded": math.ceil(frames / length),
        **noted(*(each.note for each in scored), "" if trained.tokens else "utterances of 10 s"),
    }


def train_describer(jobs: Jobs, key: str, job: Job) -> Iterator[Described]:
    """A language model behind music, frozen but for its adapters and what turns states into tokens."""
    settings = DescriberTraining.model_validate_json(job.settings["settings"])
    adapter = settings.adapter
    yield {
        **_behind_music(jobs, key, job, settings, _CLIPS),
        "adapter_rank": adapter.rank if adapter else 1,
        "adapter_targets": list(adapter.targets) if adapter else _THROUGH,
        **_noted(jobs, key, settings.task, "" if adapter else "the adaptor counted as LoRA of rank 1"),
    }


def train_prefix(jobs: Jobs, key: str, job: Job) -> Iterator[Described]:
    """A frozen language model behind a linear map of music."""
    settings = PrefixTraining.model_validate_json(job.settings["settings"])
    yield {
        **_behind_music(jobs, key, job, settings, settings.vectors),
        "adapter_rank": 1,
        "adapter_targets": _THROUGH,
        **_noted(jobs, key, settings.task, "the linear map counted as LoRA of rank 1"),
    }


def _behind_music(
    jobs: Jobs, key: str, job: Job, settings: DescriberTraining | PrefixTraining, heard: int
) -> Described:
    """A run over texts that `heard` tokens of music stand before."""
    size, engine = jobs.size(key.split("/")[1], settings.task), settings.engine
    steps = engine.steps if settings.epochs is None else round(settings.epochs * size.examples / engine.batch_size)
    told = size.tokens is not None
    length = heard + (size.tokens or 0) + size.answer if told else settings.max_length
    return {
        **jobs.model(source(job)),
        **of_engine(engine, max(1, steps)),
        "jobs": 1,
        "kept": 1,
        "text_length": min(settings.max_length, length),
        "decoder_share": 1,
    }


def _noted(jobs: Jobs, key: str, size: str, note: str) -> Described:
    return dict(noted(jobs.size(key.split("/")[1], size).note, note))


def describe_tracks(jobs: Jobs, key: str, job: Job) -> Iterator[Described]:
    """Texts that are sampled token by token."""
    yield _sampled(jobs, key, job, DescriptionGeneration.model_validate_json(job.settings["settings"]))


def describe_by_prefix(jobs: Jobs, key: str, job: Job) -> Iterator[Described]:
    """As describe_tracks; a prefix has about as many vectors as a track has clips."""
    yield _sampled(jobs, key, job, PrefixDescription.model_validate_json(job.settings["settings"]))


def _sampled(jobs: Jobs, key: str, job: Job, settings: DescriptionGeneration | PrefixDescription) -> Described:
    size = jobs.size(key.split("/")[1], "described", settings.limit)
    return {
        **jobs.model(source(job)),
        **inference(settings.batch_size, "float32", forwarded=size.at_most(settings.limit)),
        "jobs": 1,
        "text_length": _CLIPS + (size.tokens or 0),
        "decoder_extra": 1,
        "generated": min(settings.max_new_tokens, size.answer or settings.max_new_tokens),
        **noted(size.note),
    }
