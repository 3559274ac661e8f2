"""Settings of amuro-char: the defaults are what was published.

Sun and Dredze: Amuro & Char: Analyzing the Relationship between Pre-Training and Fine-Tuning of Large Language Models.
Upstream code: https://github.com/KaiserWhoLearns/AmuroCharPTFTRelationship, 2025-03-18.
"""

# ruff: noqa: RUF012 (pydantic copies mutable defaults)

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, StringConstraints, model_validator

from reprlab.config.papers.amuro_char_data import EVALUATIONS, TRAININGS, EvaluationSet, TrainingSet
from reprlab.config.settings import (
    CorpusName,
    Distinct,
    LearningRates,
    ModelName,
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

Names = Annotated[list[SafeName], Distinct]
CheckpointName = Annotated[
    str,
    BeforeValidator(lambda value: str(value) if type(value) is int else value),
    Field(pattern=r"^(main|[0-9]{1,8})$"),
]
Revision = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.-]+$")]
PairName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9_]+<-[a-z0-9_]+$")]
Pairs = Annotated[list[PairName], Distinct]
Format = Literal["io", "instruct"]
Dtype = Literal["auto", "float32", "bfloat16"]


class ChosenRates(Settings):
    """Learning rate by training set, chosen beforehand; null: the candidates are tried."""

    xsum: PositiveFloat | None = None
    """Of the summary task."""

    socialiqa: PositiveFloat | None = None
    """Of question generation."""

    mnli: PositiveFloat | None = None
    """Of inference."""

    paws: PositiveFloat | None = None
    """Of paraphrase."""

    tulu: PositiveFloat | None = None
    """Of the instruction mixture."""


class Family(Settings):
    """A model with its checkpoints, and how they are fine-tuned."""

    model: ModelName
    """Entry of models.yaml; a model that is drawn at random is pre-trained here, by `pretraining` below."""

    checkpoints: Annotated[list[CheckpointName], Field(min_length=1), Distinct]
    """Checkpoints in the order of their steps, by which they are named; the last one may be named main."""

    revisions: list[Revision] = []
    """Their branches on the hub, where the model has more than one; empty: the revision of the model's entry."""

    main_step: NonNegativeInt = 0
    """Step of main; 0 where it is not known. Of a ladder trained here it is the last step."""

    tokens_per_step: PositiveInt | None = None
    """Tokens of one update of pre-training; null where they are not known."""

    trainings: Names = list(TRAININGS)
    """Training sets that the family is fine-tuned on."""

    batch_size: PositiveInt = 8
    """Rows of one update."""

    epochs: PositiveInt = 3
    """Passes over a training set."""

    chat_epochs: PositiveInt = 5
    """Passes over an instruction mixture."""

    candidates: LearningRates
    """Learning rates among which the loss on held-out rows decides, where none is chosen below."""

    chosen: ChosenRates = ChosenRates()
    """Learning rates by training set."""

    max_length: PositiveInt = 2_048
    """Tokens of a training row (cut at the right) and of a prompt with its shots."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if "main" in self.checkpoints[:-1]:
            raise ValueError("checkpoints: main is the last one")
        if self.revisions and len(self.revisions) != len(self.checkpoints):
            raise ValueError(f"{len(self.revisions)} revisions for {len(self.checkpoints)} checkpoints")
        return self


_OLMO_STEPS = {1_000: 4, 18_000: 75, 342_000: 1_434, 424_000: 1_778, 505_000: 2_118, 592_000: 2_483, 738_000: 3_095}
FAMILIES = {
    "olmo1b": Family(
        model="olmo_1b",
        checkpoints=[*map(str, _OLMO_STEPS), "main"],
        revisions=[*(f"step{step}-tokens{billions}B" for step, billions in _OLMO_STEPS.items()), "main"],
        main_step=738_020,
        tokens_per_step=2_048 * 2_048,
        candidates=[2e-5, 2e-6, 2e-7],
        chosen=ChosenRates(xsum=2e-7, socialiqa=2e-6, mnli=2e-6, paws=2e-6, tulu=2e-6),
    ),
    "llama3_8b": Family(
        model="llama_3_8b",
        checkpoints=["main"],
        trainings=["xsum", "socialiqa", "mnli", "paws"],
        batch_size=16,
        epochs=2,
        candidates=[5e-5, 5e-6, 5e-7],
        chosen=ChosenRates(xsum=5e-6, socialiqa=5e-6, mnli=5e-6, paws=5e-6),
    ),
}


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


def _pairs(train: str, *evals: str) -> list[str]:
    return [f"{name}<-{train}" for name in evals]


class TransferGroups(Settings):
    """Pairs of the mean ratio of change (section 4.3), by direction."""

    class_to_generation: Pairs = [*_pairs("mnli", "xsum", "socialiqa"), *_pairs("paws", "xsum", "socialiqa")]
    """Trained on classification, scored on generation."""

    generation_to_class: Pairs = [
        *_pairs("xsum", "paws", "mnli_matched"),
        *_pairs("socialiqa", "paws", "mnli_matched"),
    ]
    """Trained on generation, scored on classification."""


class DomainGroups(Settings):
    """Pairs of the change out of domain (figures 5 and 15), by task."""

    nli: Pairs = _pairs("mnli", "rte", "gpt3nli")
    """Inference."""

    summary: Pairs = _pairs("xsum", "cnn")
    """Summaries."""

    question_generation: Pairs = _pairs("socialiqa", "tweetqa", "sciq_qg")
    """Questions."""

    paraphrase: Pairs = _pairs("paws", "qqp", "stsb")
    """Paraphrases."""


class LearningGroups(Settings):
    """Pairs of Table 6."""

    learned_in_pretrain: Pairs = _pairs("tulu", "sciq", "hellaswag", "arc_challenge", "arc_easy", "openbookqa")
    """Solved before any fine-tuning."""

    learned_in_finetune: Pairs = [
        *_pairs("mnli", "mnli_matched", "mnli_mismatched"),
        *_pairs("paws", "paws"),
        *_pairs("xsum", "xsum", "xlsum"),
        *_pairs("socialiqa", "socialiqa"),
        *_pairs("tulu", "boolq"),
    ]
    """Solved after fine-tuning only."""

    counted_twice: Names = ["sciq"]
    """Evaluation sets that stand twice in the released list, and so in Table 6."""


class GroupSettings(Settings):
    """Which pairs (evaluation set<-training set) the summaries average over; pairs without data are left out."""

    mrc: Annotated[TransferGroups, upstream("produce_tables.py")] = TransferGroups()
    """Mean ratio of change."""

    ood: Annotated[DomainGroups, paper("figure 5")] = DomainGroups()
    """Change out of domain."""

    table6: Annotated[LearningGroups, upstream("gen_paper_figs.ipynb")] = LearningGroups()
    """Table 6."""


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
