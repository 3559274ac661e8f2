"""Settings of the DEPTH paper (slug `depth`): the defaults are what was published.

Bamberger, Glick, Baskin and Belinkov: DEPTH: Discourse Education through Pre-Training Hierarchically.
Upstream code: https://github.com/zbambergerNLP/depth, last commit 2024-05-09.
"""

# ruff: noqa: RUF012 (pydantic copies mutable defaults)

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from reprlab.config.papers.depth_finetuning import FinetuningSettings
from reprlab.config.papers.depth_pretraining import (
    AttentionSettings,
    CorruptionSettings,
    LossSettings,
    PretrainingSettings,
    SentenceWeight,
)
from reprlab.config.papers.depth_text import CorpusSettings, LengthSettings, SegmentationSettings, TokenizerSettings
from reprlab.config.settings import (
    Distinct,
    LearningRates,
    OpenProbability,
    PositiveInt,
    Seed,
    Settings,
    decision,
    paper,
    upstream,
)


class PackingAblation(Settings):
    """Figure 7: T5 with and without packing at a high and a low learning rate."""

    enabled: Annotated[bool, paper("appendix A.2, figure 7")] = True
    """Whether the runs are made."""

    packing: Annotated[list[bool], Field(min_length=1), Distinct, paper("appendix A.2, figure 7")] = [True, False]
    """With, without."""

    learning_rates: Annotated[LearningRates, paper("appendix A.2, figure 7")] = [1e-2, 1e-4]
    """Peak learning rates."""

    batch_size: Annotated[PositiveInt, paper("appendix A.2")] = 128
    """Examples of one optimizer step."""

    steps: Annotated[PositiveInt, decision("the figure's length is not printed")] = 64_000
    """Optimizer steps of each run."""


class SentenceWeightAblation(Settings):
    """Figure 10: weight of the sentence loss in DEPTH, from scratch."""

    enabled: Annotated[bool, paper("appendix B.1, figure 10")] = True
    """Whether the runs are made."""

    weights: Annotated[list[SentenceWeight], Field(min_length=1), Distinct, paper("appendix B.1")] = [None, 1.0, 5.0]
    """Values of loss.sentence_weight; null is the baseline."""

    steps: Annotated[PositiveInt, decision("the figure's length is not printed")] = 64_000
    """Optimizer steps of each run."""


class DefectAblation(Settings):
    """A defect of the upstream code, switched on beside the correct run."""

    enabled: bool
    """Whether the runs are made."""

    steps: PositiveInt
    """Optimizer steps of each run."""

    input_length: PositiveInt
    """Tokens of the encoder input and of the target; the defect of the indices shows beyond 127 only."""


class AblationsSettings(Settings):
    """Side experiments."""

    packing_lr: PackingAblation = PackingAblation()
    """Packing and learning rate."""

    sentence_weight: SentenceWeightAblation = SentenceWeightAblation()
    """Weight of the sentence loss."""

    padding_in_loss: Annotated[DefectAblation, decision("to show the dilution by padding; off at paper scale")] = (
        DefectAblation(enabled=False, steps=64_000, input_length=512)
    )
    """loss.count_padding_in_loss on and off."""

    int8_bug: Annotated[DefectAblation, decision("to show what the scrambling costs T5; off at paper scale")] = (
        DefectAblation(enabled=False, steps=64_000, input_length=512)
    )
    """corruption.t5_int8_bug on and off."""


class EvaluationSettings(Settings):
    """Validation loss of the checkpoints, on shuffled and on unshuffled batches."""

    examples: Annotated[PositiveInt, upstream("validation set of the pre-training scripts")] = 20_000
    """Validation passages of each evaluation."""

    seed: Annotated[Seed, decision("one set of masks for all checkpoints, so that their losses compare")] = 42
    """Seed of the masks and shuffles."""

    jobs: Annotated[Literal["run", "group"], decision("a job of hours belongs to one run, one of seconds does not")] = (
        "run"
    )
    """run: one job for each pre-training run; group: one for all runs of a side experiment."""


class StatisticsSettings(Settings):
    """Intervals of the claims."""

    bootstrap: Annotated[PositiveInt, decision("the paper has one seed and no intervals")] = 2_000
    """Bootstrap samples."""

    confidence: Annotated[OpenProbability, decision("the usual level")] = 0.95
    """Level of the intervals."""

    seed: Annotated[Seed, decision("any")] = 0
    """Seed of the bootstrap."""


class ErrorSampleSettings(Settings):
    """Predictions that are put out for annotation by hand (tables 3 and 4)."""

    examples: Annotated[PositiveInt, paper("appendix E")] = 30
    """Predictions sampled of each task."""

    seed: Annotated[Seed, decision("any")] = 0
    """Seed of the sample."""


class DepthSettings(Settings):
    """DEPTH: span corruption plus sentence un-shuffling for encoder-decoders."""

    data: CorpusSettings = CorpusSettings()
    """Pre-training text."""

    segmentation: SegmentationSettings = SegmentationSettings()
    """Sentences and passages."""

    tokenizer: TokenizerSettings = TokenizerSettings()
    """Vocabulary."""

    lengths: LengthSettings = LengthSettings()
    """Sequence lengths in pre-training."""

    corruption: CorruptionSettings = CorruptionSettings()
    """Span corruption and sentence shuffling."""

    attention: AttentionSettings = AttentionSettings()
    """Attention masks in pre-training."""

    loss: LossSettings = LossSettings()
    """Training loss."""

    pretraining: PretrainingSettings = PretrainingSettings()
    """Pre-training."""

    evaluation: EvaluationSettings = EvaluationSettings()
    """Validation loss of the checkpoints."""

    finetuning: FinetuningSettings = FinetuningSettings()
    """Fine-tuning on GLUE, DiscoEval and Natural Instructions."""

    ablations: AblationsSettings = AblationsSettings()
    """Side experiments."""

    error_sample: ErrorSampleSettings = ErrorSampleSettings()
    """Sample for annotation by hand."""

    statistics: StatisticsSettings = StatisticsSettings()
    """Intervals of the claims."""

    @model_validator(mode="after")
    def _sentence_tokens_suffice(self) -> Self:
        if self.segmentation.max_sentences > self.tokenizer.sentence_tokens:
            raise ValueError(
                f"segmentation.max_sentences ({self.segmentation.max_sentences}) is more than "
                f"tokenizer.sentence_tokens ({self.tokenizer.sentence_tokens}): each sentence needs its own token"
            )
        return self
