"""Settings of the DEPTH paper (slug `depth`): the defaults are what was published.

Bamberger, Glick, Baskin and Belinkov: DEPTH: Discourse Education through Pre-Training Hierarchically.
Upstream code: https://github.com/zbambergerNLP/depth, last commit 2024-05-09.
"""

# ruff: noqa: RUF012 (pydantic copies mutable defaults)

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from reprlab.config.papers.depth_finetuning import FinetuningSettings
from reprlab.config.settings import (
    CorpusName,
    Distinct,
    Ladder,
    LearningRates,
    ModelName,
    NonNegativeFloat,
    NonNegativeInt,
    OpenProbability,
    PositiveFloat,
    PositiveInt,
    Probability,
    Seed,
    Seeds,
    Settings,
    decision,
    paper,
    upstream,
)

Objective = Literal["t5", "depth"]
Init = Literal["fs", "cpt"]
SentenceWeight = Annotated[float, Field(gt=0, le=1000)] | None


class CorpusSettings(Settings):
    """The pre-training text."""

    corpus: Annotated[CorpusName, paper("section 3"), upstream("hydra_configs/default.yaml")] = "c4_en"
    """Data set of documents, an entry of datasets.yaml."""

    shuffle_buffer: Annotated[PositiveInt, upstream("data loading of the pre-training scripts")] = 10_000
    """Documents in the shuffle buffer when the corpus is streamed."""

    shards: Annotated[PositiveInt, upstream("data loading of the pre-training scripts")] = 1_024
    """Shards of the streamed corpus."""


class SegmentationSettings(Settings):
    """Documents into sentences and passages."""

    splitter: Annotated[Literal["nltk", "punkt_package", "punkt_trained"], paper("section 2.1")] = "nltk"
    """Sentence splitter: NLTK's Punkt model (needs its data), the one in a package, or one trained on the corpus."""

    max_sentences: Annotated[PositiveInt, paper("section 2.1, footnote 1")] = 20
    """Sentences of a passage that are kept; at most the number of sentence tokens."""

    passages: Annotated[Literal["document", "window"], paper("appendix A.2")] = "document"
    """document: one passage per document, the rest is dropped; window: documents are cut into consecutive passages."""

    passage_words: Annotated[PositiveInt, decision("about one input of 512 pieces")] = 380
    """Words of a passage when passages is window; at least one sentence."""


class TokenizerSettings(Settings):
    """Vocabulary: pieces, sentinels and the sentence tokens of DEPTH."""

    source: Annotated[Literal["model", "trained"], paper("section 2.1")] = "model"
    """model: the tokenizer published with pretraining.model; trained: a Unigram one trained on the passages."""

    pieces: Annotated[Annotated[PositiveInt, Field(ge=64)], upstream("T5's vocabulary")] = 32_000
    """Pieces of the vocabulary, without the tokens below."""

    sentinels: Annotated[PositiveInt, paper("section 2.2")] = 100
    """Sentinel tokens <extra_id_0> and following that stand for masked spans."""

    sentence_tokens: Annotated[PositiveInt, paper("section 2.1, footnote 1")] = 20
    """Sentence tokens <sent_0> and following; each sentence of a passage gets one of them, without replacement."""


class LengthSettings(Settings):
    """Sequence lengths in pre-training, in tokens."""

    input: Annotated[PositiveInt, paper("appendix A.1, point 2")] = 512
    """Tokens of the encoder input; longer passages are truncated."""

    target: Annotated[PositiveInt, upstream("run_configs/")] = 512
    """Tokens of the decoder target."""


class CorruptionSettings(Settings):
    """Span corruption and sentence shuffling."""

    mask_probability: Annotated[OpenProbability, paper("section 3")] = 0.3
    """Share of the tokens that is masked."""

    mean_span_length: Annotated[Annotated[float, Field(ge=1)], paper("section 3")] = 3.0
    """Mean length of a masked span, in tokens."""

    sentinel_replacement: Annotated[bool, upstream("encoder_decoder_utils/corruption.py")] = True
    """DEPTH draws its sentinels with replacement, so that two spans may share one; false keeps them distinct."""

    shuffle_probability: Annotated[Probability, paper("section 2.2")] = 0.5
    """Probability that the sentences of a batch are shuffled; one coin for the whole batch."""

    t5_int8_bug: Annotated[bool, decision("upstream scrambles T5 inputs beyond 127 tokens; never by default")] = False
    """true repeats the upstream T5 collator's 8-bit indices, which lose and duplicate tokens beyond 127."""


class AttentionSettings(Settings):
    """DEPTH's hierarchical attention masks in pre-training."""

    mask_rows: Annotated[Literal["sent", "sent_eosen"], upstream("encoder_decoder_utils/t5_model.py")] = "sent"
    """Whose view is restricted: sentence tokens, or end-of-sentence tokens too."""

    mask_keys: Annotated[Literal["sent", "sent_eosen"], upstream("encoder_decoder_utils/t5_model.py")] = "sent"
    """What counts as sentence token among the keys of decoder and cross attention."""

    mask_padding: Annotated[bool, decision("the paper is silent; upstream attends to padding")] = True
    """Whether padding is hidden in encoder and cross attention."""


class LossSettings(Settings):
    """The training loss."""

    sentence_weight: Annotated[SentenceWeight, paper("section 2.4; weights: appendix B.1")] = None
    """null: the mean over all labels; w: w times the mean over sentence tokens plus the mean over the others."""

    count_padding_in_loss: Annotated[bool, decision("upstream does, by mistake; never by default")] = False
    """true counts padded label positions in the DEPTH loss, as upstream does."""


class OptimizerSettings(Settings):
    """AdamW without parameter-wise scaling."""

    name: Annotated[Literal["adamw"], paper("section 3")] = "adamw"
    """Optimizer."""

    learning_rate: Annotated[PositiveFloat, paper("appendix A.2")] = 1e-4
    """Peak learning rate."""

    weight_decay: Annotated[NonNegativeFloat, upstream("run_configs/")] = 0.0
    """Weight decay."""

    beta1: Annotated[Annotated[float, Field(ge=0, lt=1)], upstream("plain torch AdamW, its default")] = 0.9
    """Decay of the first moment."""

    beta2: Annotated[Annotated[float, Field(ge=0, lt=1)], upstream("plain torch AdamW, its default")] = 0.999
    """Decay of the second moment."""

    epsilon: Annotated[PositiveFloat, upstream("plain torch AdamW, its default")] = 1e-8
    """Added to the denominator."""

    clip_norm: Annotated[PositiveFloat, upstream("run_configs/")] = 1.0
    """Gradients are scaled down to this norm."""


class ScheduleSettings(Settings):
    """The learning rate over the steps, one shape per objective; both start with a linear warm-up."""

    warmup_steps: Annotated[NonNegativeInt, paper("section 3")] = 10_000
    """Steps of linear warm-up."""

    depth: Annotated[Literal["constant", "linear", "inverse_sqrt", "cosine"], paper("section 3")] = "linear"
    """Shape after the warm-up for DEPTH: linear falls to 0 at the run's horizon."""

    t5: Annotated[Literal["constant", "linear", "inverse_sqrt", "cosine"], paper("section 3")] = "inverse_sqrt"
    """Shape after the warm-up for T5: inverse_sqrt falls with the square root of the step."""


class RunSettings(Settings):
    """One pre-training run, made once for each objective."""

    init: Literal["random", "published", "t5_fs"]
    """random; published: released weights (published_weights); t5_fs: last checkpoint of the T5 run from scratch."""

    steps: PositiveInt
    """Optimizer steps."""

    horizon_steps: PositiveInt
    """Step at which a linear or cosine schedule ends."""

    ladder: Ladder
    """Steps at which checkpoints are kept, evaluated and fine-tuned."""

    @model_validator(mode="after")
    def _ladder_within_steps(self) -> Self:
        if self.ladder[-1] > self.steps:
            raise ValueError(f"ladder goes to {self.ladder[-1]}, beyond steps ({self.steps})")
        return self


_THOUSANDS = [2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000]


class RunsSettings(Settings):
    """Pre-training from scratch (fs) and continued pre-training (cpt)."""

    fs: Annotated[RunSettings, paper("section 3", horizon_steps=upstream("run_configs/"))] = RunSettings(
        init="random", steps=1_000_000, horizon_steps=1_000_000, ladder=[*_THOUSANDS, 512_000, 1_000_000]
    )
    """From scratch."""

    cpt: Annotated[
        RunSettings,
        paper("section 3 and tables 2, 6", horizon_steps=upstream("run_configs/: its scripts ask for 1M steps")),
    ] = RunSettings(init="published", steps=256_000, horizon_steps=1_000_000, ladder=_THOUSANDS)
    """Continued pre-training."""


class PretrainingSettings(Settings):
    """Pre-training of T5 and DEPTH: the same model, data and optimizer, two objectives."""

    model: Annotated[ModelName, paper("section 3 (T5-Base, 220M)"), upstream("google/t5-v1_1-base")] = "t5_v1_1_base"
    """Architecture, an entry of models.yaml."""

    published_weights: Annotated[ModelName, paper("section 3, CPT"), upstream("google/t5-v1_1-base")] = (
        "t5_v1_1_base_pretrained"
    )
    """Released weights for runs that start from `published` and for the T5-Base rows."""

    objectives: Annotated[list[Objective], Field(min_length=1), Distinct, paper("section 3")] = ["t5", "depth"]
    """Objectives that are trained and compared."""

    dropout: Annotated[Annotated[float, Field(ge=0, lt=1)], upstream("run_configs/")] = 0.0
    """Dropout in pre-training."""

    batch_size: Annotated[PositiveInt, paper("appendix C")] = 200
    """Examples of one optimizer step, over all devices and accumulated parts."""

    accumulation: Annotated[PositiveInt, upstream("run_configs/")] = 2
    """Parts into which the batch of a step is cut; their gradients are added up."""

    packing: Annotated[bool, paper("section 3")] = False
    """Whether the T5 objective joins passages up to the full length."""

    dtype: Annotated[Literal["auto", "float32", "bfloat16"], upstream("run_configs/")] = "bfloat16"
    """Arithmetic in pre-training and fine-tuning; auto takes numerics.dtype of config.yaml."""

    evaluation_every: Annotated[PositiveInt, upstream("run_configs/")] = 1_000
    """Steps between two rows of the training curve."""

    seeds: Annotated[Seeds, upstream("hydra_configs/default.yaml")] = [2137]
    """Seeds of initial weights and of the order of the data; every seed is a whole set of runs."""

    collator_seed: Annotated[Seed, upstream("encoder_decoder_utils/data_collator_utils.py")] = 42
    """Seed of masks, sentence tokens and shuffles."""

    optimizer: OptimizerSettings = OptimizerSettings()
    """Optimizer."""

    schedule: ScheduleSettings = ScheduleSettings()
    """Learning-rate schedule."""

    runs: RunsSettings = RunsSettings()
    """The runs."""

    @model_validator(mode="after")
    def _parts_are_equal(self) -> Self:
        if self.batch_size % self.accumulation:
            raise ValueError(f"batch_size ({self.batch_size}) must be a multiple of accumulation ({self.accumulation})")
        return self

    @model_validator(mode="after")
    def _runs_fit(self) -> Self:
        for name, run in (("fs", self.runs.fs), ("cpt", self.runs.cpt)):
            if run.horizon_steps <= self.schedule.warmup_steps:
                raise ValueError(
                    f"runs.{name}.horizon_steps ({run.horizon_steps}) must exceed "
                    f"schedule.warmup_steps ({self.schedule.warmup_steps})"
                )
        if self.runs.fs.init == "t5_fs":
            raise ValueError("runs.fs.init is t5_fs: the run from scratch cannot start from itself")
        if self.runs.cpt.init == "t5_fs" and "t5" not in self.objectives:
            raise ValueError("runs.cpt.init is t5_fs, but objectives lacks t5")
        return self


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
