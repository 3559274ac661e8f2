"""Language models on running text: pre-training, its validation, merges, and features of their states."""

from collections.abc import Iterator
from typing import Any

from reprlab.features.settings import AutoencoderSettings, EncodingSettings, QualitySettings, SampleSettings
from reprlab.objectives.settings import SpanSettings
from reprlab.planning.cost_rules.jobs import Described, Jobs, inference, of_engine, source
from reprlab.planning.plan import Job
from reprlab.training.merge_settings import MergeEvaluation
from reprlab.training.settings import EvaluationRuns, EvaluationSettings, PretrainSettings, TextSettings

# Passes of a batch when an autoencoder is judged: the mean state, the states, then the loss as it is, with nought, with
# the mean and with what is reconstructed.
_QUALITY_PASSES = 6


def pretrain_lm(jobs: Jobs, key: str, job: Job) -> Iterator[Described]:
    """Updates; what is read does not depend on the corpus, as texts are packed or filled."""
    settings = PretrainSettings.model_validate_json(job.settings["settings"])
    if settings.engine.steps:
        devices = jobs.devices("pretrain_lm")
        described = {**of_engine(settings.engine, devices=devices), **read(jobs, job, settings)}
        # Each tells its own times.
        described |= {"kept": len(settings.engine.ladder) or 1, "apart": key}
        yield {**jobs.language_model(source(job), job), "jobs": 1, **described}


def read(jobs: Jobs, job: Job, settings: TextSettings) -> Described:
    """Lengths of encoder and decoder. Span corruption: of n tokens, np are masked, in np/s spans of mean length s, and
    a sentinel is for each span in the encoder and before it in the decoder."""
    length = settings.input_length
    if settings.objective not in ("t5", "depth"):
        return {"text_length": length, "decoder_share": 1 if settings.objective == "causal_lm" else 0}
    given = settings.objective_settings
    spans = SpanSettings(**{name: given[name] for name in SpanSettings.model_fields if name in given})
    masked, sentinels = spans.mask_probability, spans.mask_probability / spans.mean_span_length
    # Sentence tokens and ends of sentences are copied to the decoder, two a sentence; few texts have as many sentences
    # as are kept, and a quarter of the tokens is more than English sentences need.
    tokenizer = jobs.vocabulary(job)
    sentences = min(2 * (tokenizer.sentence_tokens if tokenizer else 0), length // 4)
    return {
        "text_length": length,
        "encoder_share": 1 - masked + sentinels,
        "decoder_share": masked + sentinels,
        "decoder_extra": sentences if settings.objective == "depth" else 0,
    }


def evaluate_lm(jobs: Jobs, key: str, job: Job) -> Iterator[Described]:
    """Every checkpoint of every run; DEPTH's batches are evaluated twice, shuffled and in order."""
    for run in EvaluationRuns.model_validate_json(job.settings["runs"]).runs:
        turns = 2 if run.settings.objective == "depth" else 1
        yield _evaluated(jobs, job, str(run.ladder), run.settings, turns * run.settings.batches, len(run.steps))


def _evaluated(
    jobs: Jobs, job: Job, model: str, settings: EvaluationSettings, batches: int, checkpoints: int
) -> Described:
    described = inference(settings.batch_size, settings.dtype, forwarded=batches * settings.batch_size)
    return {
        **jobs.language_model(model, job), "jobs": max(1, checkpoints), **described, **read(jobs, job, settings)
    }  # fmt: skip


def evaluate_mask_controls(jobs: Jobs, key: str, job: Job) -> Iterator[Described]:
    """Held-out batches, and those on which a bias is fitted."""
    for run in EvaluationRuns.model_validate_json(job.settings["runs"]).runs:
        batches = run.settings.batches + int(job.settings["fit_batches"])
        yield _evaluated(jobs, job, str(run.ladder), run.settings, batches, 1)


def evaluate_merges(jobs: Jobs, key: str, job: Job) -> Iterator[Described]:
    """Each model on each corpus, and each point between two models on those that are swept."""
    runs = MergeEvaluation.model_validate_json(job.settings["runs"])
    points = sum(len(sweep.values) for sweep in runs.sweeps.values())
    passes = len(runs.scored) * len(runs.texts) + points * len(runs.swept)
    first = str(runs.models[runs.first])
    yield _evaluated(jobs, job, first, runs.evaluation, passes * runs.evaluation.batches, 1)


def _coded(jobs: Jobs, job: Job) -> tuple[Described, int]:
    model = source(job)
    return {**jobs.model(model), "headless": True}, int(jobs.entry(model).config["intermediate_size"])


def train_autoencoder(jobs: Jobs, key: str, job: Job) -> Iterator[Described]:
    """The frozen model's pass over a block, and the autoencoder: 4 FLOPs a weight pair forward, and 6 backward, as the
    states take no gradient."""
    settings = AutoencoderSettings.model_validate_json(job.settings["settings"])
    described, width = _coded(jobs, job)
    features = settings.shape.features
    yield {
        **described,
        **of_engine(settings.engine),
        "jobs": 1,
        "kept": 1,
        "text_length": settings.block,
        "frozen": True,
        "beside": 10 * width * features * settings.block,
        "beside_parameters": 2 * width * features + width + features,
    }


def evaluate_autoencoder(jobs: Jobs, key: str, job: Job) -> Iterator[Described]:
    """Passes of the model over each block, and one through the autoencoder."""
    settings = QualitySettings.model_validate_json(job.settings["settings"])
    described, width = _coded(jobs, job)
    yield {
        **described,
        **inference(settings.batch_blocks, "float32", forwarded=_QUALITY_PASSES * settings.blocks),
        "jobs": 1,
        "text_length": settings.block,
        "beside_forward": 4 * width * _features(jobs, job) * settings.block / _QUALITY_PASSES,
    }


def encode_features(jobs: Jobs, key: str, job: Job) -> Iterator[Described]:
    """One pass over a sample of blocks, and the encoding half of an autoencoder."""
    settings = EncodingSettings.model_validate_json(job.settings["settings"])
    _, _, drawn = jobs.made_by(str(job.inputs["sample"]))
    sample = SampleSettings.model_validate_json(drawn.settings["settings"])
    described, width = _coded(jobs, job)
    yield {
        **described,
        **inference(settings.batch_blocks, "float32", forwarded=sample.blocks * len(sample.texts)),
        "jobs": 1,
        "text_length": sample.block,
        "beside_forward": 2 * width * _features(jobs, job) * sample.block,
    }


def _features(jobs: Jobs, job: Job) -> int:
    made = job.inputs.get("autoencoder")
    if not made:
        return 0
    trained: Any = AutoencoderSettings.model_validate_json(jobs.made_by(str(made))[2].settings["settings"])
    return int(trained.shape.features)
