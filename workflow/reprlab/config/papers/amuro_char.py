"""Settings of amuro-char: the defaults are what was published.

Sun and Dredze: Amuro & Char: Analyzing the Relationship between Pre-Training and Fine-Tuning of Large Language Models.
Upstream code: https://github.com/KaiserWhoLearns/AmuroCharPTFTRelationship, 2025-03-18.
"""

# ruff: noqa: RUF012 (pydantic copies mutable defaults)

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from reprlab.config.papers.amuro_char_data import EVALUATIONS, TRAININGS, EvaluationSet, Names, TrainingSet
from reprlab.config.papers.amuro_char_families import FAMILIES, CheckpointName, Family
from reprlab.config.papers.amuro_char_groups import GroupSettings
from reprlab.config.settings import (
    CorpusName,
    Distinct,
    NonNegativeFloat,
    NonNegativeInt,
    OpenProbability,
    PositiveFloat,
    PositiveInt,
    Probability,
    SafeName,
    Seed,
    Settings,
    decision,
    paper,
    upstream,
)

Format = Literal["io", "instruct"]
Dtype = Literal["auto", "float32", "bfloat16"]


class LadderPretraining(Settings):
    """Pre-training of a decoder on the spot, for families whose checkpoints no hub is asked for."""

    corpus: Annotated[CorpusName, decision("real text that a package carries")] = "wikipedia_sample"
    """Corpus, an entry of datasets.yaml."""

    pieces: Annotated[Annotated[PositiveInt, Field(ge=300)], decision("4096 in all")] = 4_093
    """Pieces of the byte-level BPE vocabulary, trained on the corpus."""

    passage_words: Annotated[PositiveInt, decision("texts of some paragraphs")] = 400
    """Words of a text, which ends with the end token."""

    context: Annotated[Annotated[PositiveInt, Field(ge=16)], decision("short prompts fit")] = 256
    """Tokens of a row; texts are joined and cut."""

    steps: Annotated[PositiveInt, decision("two to three minutes on a laptop")] = 1_000
    """Updates."""

    batch_size: Annotated[PositiveInt, decision("fits the steps")] = 8
    """Rows of one update."""

    learning_rate: Annotated[PositiveFloat, decision("small models train well at it")] = 2e-3
    """Peak learning rate."""

    warmup_steps: Annotated[NonNegativeInt, decision("a twentieth of the steps")] = 50
    """Steps of linear warm-up; then the rate falls by a cosine to 0 at the last step."""

    weight_decay: Annotated[NonNegativeFloat, decision("OLMo's")] = 0.1
    """Decoupled weight decay."""

    beta2: Annotated[OpenProbability, decision("OLMo's")] = 0.95
    """Decay of the running mean of the squared gradient."""

    clip_norm: Annotated[PositiveFloat, decision("OLMo's")] = 1.0
    """Gradients are scaled down to this norm."""

    dtype: Annotated[Dtype, decision("as the machine does it best")] = "auto"
    """Arithmetic; auto takes numerics.dtype of config.yaml."""

    evaluation_batches: Annotated[PositiveInt, decision("enough for an interval")] = 40
    """Held-out batches on which every checkpoint's loss is measured."""

    seed: Annotated[Seed, decision("any")] = 0
    """Seed of weights and data order."""


class CompletionTuning(Settings):
    """Fine-tuning with the loss on completions only."""

    warmup_ratio: Annotated[Probability, upstream("finetune.py")] = 0.03
    """Share of the updates over which the rate rises; then it falls linearly to 0."""

    weight_decay: Annotated[NonNegativeFloat, upstream("finetune.py")] = 0.0
    """Decoupled weight decay."""

    clip_norm: Annotated[PositiveFloat | None, upstream("finetune.py: off")] = None
    """Gradients are scaled down to this norm; null: no clipping."""

    accumulation: Annotated[PositiveInt, decision("memory; it does not change the update")] = 8
    """Parts of a batch, where it divides the batch."""

    dtype: Annotated[Dtype, upstream("finetune.py")] = "bfloat16"
    """Arithmetic; auto takes numerics.dtype of config.yaml."""

    held_out: Annotated[PositiveInt, decision("from the training split, beside the training rows")] = 500
    """Rows whose loss chooses the learning rate and is reported."""

    seed: Annotated[Seed, upstream("finetune.py")] = 42
    """Seed of the choice of rows, their order and dropout."""

    job: Annotated[
        Literal["checkpoint", "training"], decision("a process start is nothing beside an hour of training")
    ] = "checkpoint"
    """What one job fine-tunes and scores: one checkpoint, or all of a training set (a process start costs seconds)."""


class PromptSettings(Settings):
    """Prompts (section 3 and table 5)."""

    further_formats: Annotated[Annotated[list[Format], Distinct], paper("table 5")] = ["io", "instruct"]
    """Formats of prompts besides the default, in which all models are trained and scored."""

    template_spacing: Annotated[Literal["upstream", "clean"], upstream("format_generalization.py")] = "upstream"
    """upstream: line end and space between the fields, missing spaces as released; clean: line ends alone."""

    end: Annotated[
        Literal["as_written", "stripped"], upstream("format_generalization.py: most prompts end with a space")
    ] = "as_written"
    """stripped: without the white space at the end of a prompt, which a tokenizer may put into the answer's token."""

    input_words: Annotated[PositiveInt | None, decision("whole texts")] = None
    """Each text of an input is cut to its first words; null: it is whole."""

    shots: Annotated[NonNegativeInt, paper("section 3")] = 4
    """Solved examples before each question."""

    shots_source: Annotated[
        Literal["train", "eval_head"], decision("upstream takes the first scored rows, and scores them")
    ] = "train"
    """train: drawn from the training split, else from rows that are not scored; eval_head: as upstream."""

    seed: Annotated[Seed, decision("any")] = 42
    """Seed of the drawn shots, which are the same for all questions of a set."""


class PredictionSettings(Settings):
    """From prompts to predictions and scores (section 3, appendix C)."""

    max_new_tokens: Annotated[PositiveInt, upstream("predict.py")] = 60
    """Tokens of a generated text."""

    stop_at_newline: Annotated[bool, upstream("predict.py: the text is not cut")] = False
    """Cut a generated text at its first line end."""

    free_tokens: Annotated[PositiveInt, paper("appendix C.1")] = 5
    """Free: generated tokens in which a label word is looked for."""

    beams: Annotated[PositiveInt, paper("appendix C.1")] = 5
    """Constrained: beams, each of which is to hold a label word."""

    all_subtokens: Annotated[bool, paper("appendix C.1: the first; upstream takes all")] = False
    """TokenProb: every sub-token of a label word is a candidate, in place of the first."""

    unlabelled_gold_as_no: Annotated[
        bool, decision("upstream scores QQP and STS-B on test splits without labels, as if all were no")
    ] = False
    """Score these sets (unlabelled_upstream) as if all their right answers were no, to show what that did."""

    bootstrap: Annotated[PositiveInt, upstream("eval_pred.py")] = 3_000
    """Resamples of the scored rows."""

    dtype: Annotated[Dtype, upstream("predict.py")] = "bfloat16"
    """Arithmetic; auto takes numerics.dtype of config.yaml."""

    seed: Annotated[Seed, decision("any")] = 0
    """Seed of the bootstrap."""


class Sweep(Settings):
    """A further dimension of the grid: which sets and checkpoints it covers."""

    evaluations: Names
    """Evaluation sets; those without data are left out."""

    checkpoints: Annotated[list[CheckpointName], Distinct] = []
    """Checkpoints; none named means all."""


class GridSettings(Settings):
    """Which cells are made besides each training set's own evaluations (default format, default shots)."""

    families: Annotated[Names, paper("section 3")] = ["olmo1b", "llama3_8b"]
    """Families, among `families`."""

    tuned: Annotated[list[CheckpointName], Distinct, decision("all of them")] = []
    """Checkpoints that are fine-tuned; none named means all."""

    everywhere: Annotated[Names, decision("needed only where not all checkpoints are fine-tuned")] = []
    """Training sets on which all checkpoints are fine-tuned nevertheless."""

    cross: Annotated[Sweep, paper("section 6")] = Sweep(evaluations=["xsum", "socialiqa", "mnli_matched", "paws"])
    """Sets that every fine-tuned model is scored on, whatever it was trained on."""

    formats: Annotated[Sweep, paper("figures 2 and 3")] = Sweep(
        evaluations=["mnli_matched", "paws", "xsum", "socialiqa", "rte", "qqp", "cnn", "tweetqa"]
    )
    """Sets on which BASE and the model tuned for them get all formats."""

    methods: Annotated[Sweep, paper("table 3")] = Sweep(
        evaluations=["mnli_matched", "rte", "paws", "stsb"], checkpoints=["main"]
    )
    """Classification sets on which Free and Constrained stand beside TokenProb."""

    few_shot: Annotated[Sweep, decision("the sets of figure 6")] = Sweep(
        evaluations=["mnli_matched", "paws", "xsum", "socialiqa", "hellaswag", "sciq"]
    )
    """Sets on which BASE gets other numbers of shots."""

    further_shots: Annotated[list[NonNegativeInt], upstream("result tables")] = [0, 2, 6]
    """Those numbers."""

    tuned_shots: Annotated[list[NonNegativeInt], decision("the original gives all models the same shots")] = []
    """Numbers of shots, besides `prompts.shots`, with which a fine-tuned model is scored on the sets of its task. It
    was trained without any."""


class AmuroCharSettings(Settings):
    """Fine-tuning of checkpoints along pre-training."""

    families: Annotated[dict[SafeName, Family], paper("section 3", candidates=upstream("training scripts"))] = FAMILIES
    """Models with their checkpoints."""

    pretraining: LadderPretraining = LadderPretraining()
    """Pre-training on the spot."""

    evaluations: Annotated[dict[SafeName, EvaluationSet], paper("tables 1 and 5")] = EVALUATIONS
    """Evaluation sets by name."""

    trainings: Annotated[dict[SafeName, TrainingSet], paper("table 1")] = TRAININGS
    """Training sets by name."""

    finetuning: CompletionTuning = CompletionTuning()
    """Fine-tuning."""

    prompts: PromptSettings = PromptSettings()
    """Prompts."""

    prediction: PredictionSettings = PredictionSettings()
    """Predictions and scores."""

    grid: GridSettings = GridSettings()
    """Cells."""

    groups: GroupSettings = GroupSettings()
    """Summaries."""

    @model_validator(mode="after")
    def _names_exist(self) -> Self:
        for name in self.grid.families:
            if name not in self.families:
                raise ValueError(f"grid.families: {name} is not in families")
        for name in self.grid.families:
            for train in self.families[name].trainings:
                if train not in self.trainings:
                    raise ValueError(f"families.{name}.trainings: {train} is not in trainings")
        for name, training in self.trainings.items():
            for part in training.mixture:
                if part not in self.trainings or self.trainings[part].mixture:
                    raise ValueError(f"trainings.{name}.mixture: {part} is no training set with data of its own")
        sweeps = (self.grid.cross, self.grid.formats, self.grid.methods, self.grid.few_shot)
        named = [name for sweep in sweeps for name in sweep.evaluations]
        for training in self.trainings.values():
            named += [*training.in_domain, *training.out_of_domain]
        for name in named:
            if name not in self.evaluations:
                raise ValueError(f"the evaluation set {name} is not in evaluations")
        return self
