"""Settings of sentence encoders: how a decoder becomes one, how it is trained, what it is scored on."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from reprlab.training.settings import EngineSettings, PretrainSettings

_STRICT = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

Method = Literal["none", "full", "lora", "prompt", "prefix"]
Category = Literal["sts", "retrieval", "reranking", "clustering", "pair_classification", "classification"]
DEPTH = 10
"""Hits that nDCG counts."""
MAIN_METRICS: dict[Category, str] = {
    "sts": "spearman",
    "retrieval": f"ndcg_at_{DEPTH}",
    "reranking": "map",
    "clustering": "v_measure",
    "pair_classification": "average_precision",
    "classification": "accuracy",
}
"""The score of a category that tables show."""


class TextForm(BaseModel):
    """How a text is written for the model; an instruction is between `before` and the text."""

    model_config = _STRICT

    before: str = ""
    """Start of a turn in the model's chat format; not pooled."""
    after: str = ""
    """End of a turn; pooled with the text, as upstream does."""
    begin: bool = True
    """Whether the tokenizer's own first token, where it has one, is before all."""
    max_length: int = Field(default=512, ge=1)
    """Tokens of the text alone; longer ones are cut, so that nothing behind the text is lost."""
    stripped: bool = False
    """Whether blanks around instruction and text together are left out, as L3Prune's code does before it wraps them."""
    whole: bool = False
    """Whether instruction and text are one, between the tokenizer's own tokens, and all of it is pooled and counted, as
    published encoders do; then there is nothing else before or behind."""
    echo: str | None = None
    """What is between two copies of the text, of which the tokens of the second alone are pooled (Echo, Springer et al.
    2024); null: the text stands once, and `after` is pooled with it."""

    @property
    def longest(self) -> int:
        """Tokens of all copies of the longest text."""
        return self.copies * self.max_length

    @property
    def copies(self) -> int:
        """How often a text is read."""
        return 1 if self.echo is None else 2

    @model_validator(mode="after")
    def _apart(self) -> Self:
        if self.whole and self.echo is not None:
            raise ValueError("echo: a whole text has nothing before or behind it, and no second copy")
        return self


class TripleTexts(BaseModel):
    """Triples of data sets as a tokenizer reads them."""

    model_config = _STRICT

    form: TextForm
    """How a text is written, and its longest."""
    split: Literal["train", "validation", "test"] = "train"
    """Part that is read."""
    instructions: dict[str, list[str]] = {}
    """Instructions of a data set's anchors, in turn by row; none by default."""
    both_sides: list[str] = []
    """Data sets whose documents have the instruction too."""
    separator: str = "; "
    """Between instruction and text."""
    limit: int | None = Field(default=None, ge=1)
    """Triples of each data set; null takes all."""


class LowRank(BaseModel):
    """Low-rank adapters (LoRA)."""

    model_config = _STRICT

    rank: int = Field(ge=1)
    """r."""
    alpha: int = Field(ge=1)
    """The update is scaled by alpha / r."""
    dropout: float = Field(default=0.0, ge=0, lt=1)
    """Dropout before the first matrix."""
    targets: list[str] = Field(min_length=1)
    """Names of the adapted linear layers."""
    partial: bool = False
    """Whether some of the names may match nothing, as upstream's do in Phi-3, whose projections are fused."""


TEXTS_AT_ONCE = 48
"""Texts of a forward pass where the losses of all layers are measured."""


class EncoderSettings(BaseModel):
    """A decoder as a sentence encoder."""

    model_config = _STRICT

    method: Method
    """Trained: nothing, all weights, low-rank adapters, vectors beside the text, or keys and values of each
    layer."""
    pooling: Literal["first", "last", "mean", "weighted_mean"]
    """Vector of a text from its tokens' states; with `prompt` from those of the prompt (SOSP, EOSP, mean)."""
    pooler: bool = False
    """Whether the vector is what the model's own layer makes of the pooled state (BERT's, of `first`)."""
    bidirectional: bool = False
    """Whether tokens see those behind them."""
    layers: int | Literal["small", "large"] | None = None
    """Layers that are kept: a number, or one of the two that the untrained losses choose; null keeps all."""
    vectors: int = Field(default=0, ge=0)
    """k of `prompt` and `prefix`."""
    position: Literal["append", "prepend"] = "append"
    """Where the vectors of `prompt` are."""
    start: Literal["vocabulary", "normal"] = "vocabulary"
    """Initial values: embeddings of drawn tokens, or N(0, 1)."""
    adapter: LowRank | None = None
    """The adapters of `lora`."""
    form: TextForm = TextForm()
    """How a text is written."""
    both_ends: bool = False
    """Whether the states that are pooled are the mean of the first layer's and the last one's, each behind the final
    norm (WhiteningBERT, Huang et al. 2021)."""
    normalised: bool = False
    """Whether vectors have length 1, which classification and clustering see."""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.method in ("prompt", "prefix")) != bool(self.vectors):
            raise ValueError(f"vectors ({self.vectors}) belong to the methods prompt and prefix, not to {self.method}")
        if (self.method == "lora") != (self.adapter is not None):
            raise ValueError("adapter belongs to the method lora, and to no other")
        if self.method == "prompt" and self.position == "prepend" and not self.bidirectional:
            raise ValueError("position: prepend needs bidirectional: true; a causal prompt before a text is blind")
        if self.pooler and self.method != "none":
            raise ValueError(f"pooler belongs to encoders of others, which are not trained here, not to {self.method}")
        if self.method == "prefix" and self.bidirectional:
            raise ValueError("the method prefix is causal")
        if self.both_ends and (self.pooler or self.method in ("prompt", "prefix")):
            raise ValueError(
                "both_ends: the states of a prompt or a prefix, or what a pooler reads, are the last layer's"
            )
        return self


class PostTraining(BaseModel):
    """Adapters of a decoder on an objective of its own, merged into its weights."""

    model_config = _STRICT

    training: PretrainSettings
    """Objective, loop, optimizer and schedule."""
    adapter: LowRank
    """The adapters."""


class Matryoshka2D(BaseModel):
    """Losses that are added at a layer and a prefix of dimensions, drawn for each update (`sentences.matryoshka`)."""

    model_config = _STRICT

    kind: Literal["matryoshka_2d"] = "matryoshka_2d"
    """Which objective it is."""
    narrowest: int = Field(ge=1)
    """Dimensions of the shortest prefix; others have twice, four times ... as many, and fewer than all."""
    weight: float = Field(ge=0)
    """Of the losses at the drawn layer, the drawn prefix, and both; that of whole vectors of the last layer has 1."""
    alignment: float = Field(ge=0)
    """Of the Kullback-Leibler divergence from the last layer to the drawn one."""
    temperature: float = Field(gt=0)
    """Vectors are divided by it before they become distributions."""


class ContrastiveTraining(BaseModel):
    """Training on triples: each learning rate with each seed; the rate is chosen on held-out pairs."""

    model_config = _STRICT

    encoder: EncoderSettings
    """The encoder to train."""
    engine: EngineSettings
    """Loop, optimizer and schedule; a batch is this many triples. Its seed and rate are replaced."""
    learning_rates: list[float] = Field(min_length=1)
    """Peak learning rates."""
    seeds: list[int] = Field(min_length=1)
    """Seeds of data order and of what is drawn at the start."""
    epochs: float | None = Field(default=None, gt=0)
    """Passes over the full batches of the triples, in place of the engine's steps; null: those."""
    temperature: float = Field(gt=0)
    """Cosines are divided by it."""
    evaluate_every: int = Field(ge=1)
    """Updates between two looks at the held-out pairs."""
    mixed: bool = True
    """Whether a batch may hold triples of several data sets."""
    held_out_limit: int | None = Field(default=None, ge=2)
    """Held-out pairs of each file; null takes all."""
    part_size: int = Field(default=256, ge=1)
    """Texts in one forward pass of a training step: memory, not the result."""
    # Without one the settings are written as they were before there was any, and so are names of what is trained.
    objective: Matryoshka2D | None = Field(default=None, exclude_if=lambda given: given is None)
    """What is added to the contrastive loss; null: nothing."""

    @model_validator(mode="after")
    def _nested(self) -> Self:
        encoder = self.encoder
        if self.objective and (encoder.method not in ("full", "lora") or encoder.pooler or encoder.both_ends):
            raise ValueError("objective: of states as they are, of an encoder of the method full or lora")
        return self


class EmbeddingTask(BaseModel):
    """One task of the evaluation."""

    model_config = _STRICT

    name: str
    """Name in the tables."""
    category: Category
    """Kind of the task."""
    split: Literal["train", "validation", "test"] = "test"
    """Part that is scored."""
    instruction: str = ""
    """Instruction of the texts; of retrieval's and reranking's queries alone."""
    passage_instruction: str = ""
    """Instruction of retrieval's passages and reranking's candidates."""
    limit: int | None = Field(default=None, ge=1)
    """Examples; null takes all."""
    passages: int | None = Field(default=None, ge=1)
    """Passages of retrieval, those of the queries first; null takes all."""
    drop_own: bool = False
    """Whether the passage that has a query's own id is the query itself, and no hit of retrieval."""
    train_limit: int | None = Field(default=None, ge=1)
    """Training examples that classification draws from; null takes all."""
    per_label: int | None = Field(default=None, ge=1)
    """Examples of a label in few-shot classification; null: the evaluation's."""
    same: str = "same"
    """Label of pairs whose texts belong together."""


class TripleSample(BaseModel):
    """A sample of triples whose contrastive loss is measured."""

    model_config = _STRICT

    split: Literal["train", "validation", "test"] = "train"
    """Part that the triples are of, for the row of the loss."""

    batch_size: int = Field(default=64, ge=1)
    """Triples in a batch."""
    batches: int = Field(default=20, ge=1)
    """Batches, drawn over all data together."""
    temperature: float = Field(gt=0)
    """As in training."""
    seed: int = Field(default=0, ge=0)
    """Seed of the draw."""


class Whitening(BaseModel):
    """A linear map after which vectors have no mean, and covariance one (`sentences.whitening`)."""

    model_config = _STRICT

    fit_on: Literal["train", "test"]
    """Texts that it is fitted on: those of training triples, or of the task itself, before it is scored on them."""
    texts: int = Field(ge=1)
    """Texts of the triples, drawn without replacement; of fewer all. A task gives all of its own."""
    dimensions: int | None = Field(ge=1)
    """k: directions of the largest variance that are kept; null, or more than there are: all."""
    seed: int = Field(ge=0)
    """Seed of the draw."""


class TaskScores(BaseModel):
    """Scores of vectors of texts on tasks."""

    model_config = _STRICT

    tasks: list[EmbeddingTask] = Field(min_length=1)
    """The tasks, in the order of their files."""
    seeds: list[int] = Field(min_length=1)
    """Seeds that the encoder was trained with; the first alone where nothing is trained."""
    per_label: int = Field(default=32, ge=1)
    """Examples of a label in few-shot classification (MTEB's setting of the tweet task), where a task names none."""
    draws: int = Field(default=10, ge=1)
    """Draws of them."""
    resamples: int = Field(default=1000, ge=1)
    """Bootstrap samples of an interval."""


class Evaluation(TaskScores):
    """Scores of encoders on tasks."""

    encoder: EncoderSettings
    """The encoder."""
    sample: TripleSample | None = None
    """Triples whose loss is measured too."""
    whitening: Whitening | None = None
    """What is done with the vectors before they are scored; the loss of triples is that of the vectors as they are."""
    separator: str = ": "
    """Between instruction and text."""
    dtype: Literal["float32", "bfloat16"] = "float32"
    """Arithmetic of the forward pass."""

    @model_validator(mode="after")
    def _of_one_length(self) -> Self:
        if self.whitening is not None and self.encoder.normalised:
            raise ValueError("whitening: of vectors as they are, not of normalised ones")
        return self


class LayerLosses(TripleSample):
    """The contrastive loss of an untrained model cut at each of its layers (L3Prune, section 3.2)."""

    encoder: EncoderSettings
    """The encoder, with all its layers."""
    dtype: Literal["float32", "bfloat16"] = "float32"
    """Arithmetic of the forward pass; norms, cosines and losses are in float32."""
