"""Settings of soft prompts as encoders (slug `prompt-tuning-encoders`): Prompt Tuning Can Simply Adapt Large Language
Models to Text Encoders. No code of the authors is public.
"""

from collections.abc import Callable
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from reprlab.config import groups
from reprlab.papers.prompt_tuning_encoders.names import FORMS, PLAIN
from reprlab.sentences.prompt_forms import DecomposedPrompt, PromptForm, ResidualPrompt
from reprlab.sentences.settings import EncoderSettings, LowRank, TextForm
from reprlab.settings import base as t
from reprlab.training.settings import UpdateSettings

Recipe = Literal["soft", "lora", "full"]
_Sizes = Annotated[list[t.PositiveInt], Field(min_length=1), t.Distinct]
_Named = Annotated[list[str], Field(min_length=1), t.Distinct]


class Encoder(t.Settings):
    """A way to make an encoder, for any number of vectors or rank."""

    method: Literal["prompt", "prefix", "lora"]
    bidirectional: bool
    mntp: bool
    position: Literal["append", "prepend"]
    pooling: Literal["first", "last", "mean"]

    @model_validator(mode="after")
    def _sees_the_text(self) -> Self:
        if self.method == "prompt" and self.position == "prepend" and not self.bidirectional:
            raise ValueError(
                "position: prepend needs bidirectional: true; a causal prompt before a text is the same for all texts"
            )
        if self.method == "prefix" and self.bidirectional:
            raise ValueError("the method prefix is causal")
        if self.method != "prompt" and self.position == "prepend":
            raise ValueError(f"position: prepend is for the method prompt, not for {self.method}")
        return self


class Backbone(t.Settings):
    """A decoder and its encoders."""

    model: t.ModelName
    mntp: t.ModelName | None
    pretrained: bool
    full: bool
    grid: dict[t.SafeName, _Sizes]
    triples: groups.Limit
    seeds: t.Seeds


class Course(t.Settings):
    """Settings that depend on the method."""

    learning_rates: t.LearningRates
    warmup_steps: t.NonNegativeInt
    schedule: t.Course


class Training(t.Settings):
    """Contrastive training."""

    triples: Annotated[list[t.TaskDataName], Field(min_length=1), t.Distinct]
    held_out: Annotated[list[t.TaskDataName], Field(min_length=1), t.Distinct]
    held_out_limit: Annotated[t.PositiveInt, Field(ge=2)] | None
    epochs: t.PositiveFloat
    batch_size: Annotated[t.PositiveInt, Field(ge=2)]
    part_size: t.PositiveInt
    evaluate_every: t.PositiveInt
    temperature: t.PositiveFloat
    length: t.PositiveInt
    start: Literal["vocabulary", "normal"]
    optimizer: UpdateSettings
    recipes: dict[Recipe, Course]


class Lora(t.Settings):
    """Low-rank adapters."""

    alpha: t.PositiveInt
    dropout: t.Dropout
    targets: Annotated[
        dict[t.SafeName, _Named], Field(min_length=1), t.ReadBeside("backbones.opt_125m.grid={lora_uni: [1]}", of="opt")
    ]


class Mntp(t.Settings):
    """Post-training of a decoder without a released one."""

    steps: t.PositiveInt
    batch_size: t.PositiveInt
    length: Annotated[t.PositiveInt, Field(ge=8)]
    learning_rate: t.PositiveFloat
    mask: Annotated[str, Field(min_length=1)]
    mask_probability: t.OpenProbability
    rank: t.PositiveInt
    alpha: t.PositiveInt


class Task(t.Settings):
    """A task of the evaluation."""

    dataset: t.TaskDataName
    category: Literal["retrieval", "sts", "clustering", "classification"]
    split: groups.Split
    limit: groups.Limit
    train_limit: groups.Limit
    passages: groups.Limit


class Evaluation(t.Settings):
    """Scores of encoders."""

    tasks: dict[t.SafeName, Task]
    scored: Annotated[groups.Names, Field(min_length=1)]
    length: t.PositiveInt
    per_label: t.PositiveInt
    draws: Annotated[t.PositiveInt, Field(ge=2)]
    bootstrap: Annotated[t.PositiveInt, Field(ge=100)]


class Residual(t.Settings):
    """Vectors with a network that is added to them."""

    vectors: Annotated[list[t.PositiveInt], t.Distinct]
    width: t.PositiveInt
    layer_norm: bool


class Decomposed(t.Settings):
    """Vectors as the product of two factors."""

    vectors: Annotated[list[t.PositiveInt], t.Distinct]
    rank: t.PositiveInt
    spread: t.PositiveFloat

    @model_validator(mode="after")
    def _of_low_rank(self) -> Self:
        if self.vectors and self.rank > min(self.vectors):
            raise ValueError(
                f"rank ({self.rank}): {min(self.vectors)} vectors have no larger rank; set it to that at most"
            )
        return self


class Neighbours(t.Settings):
    """Published rivals, each beside the plain prompt with as many vectors."""

    residual: Residual
    decomposed: Decomposed

    def sizes(self) -> dict[str, list[int]]:
        """The numbers of vectors of each, by its name."""
        return {name: getattr(self, name).vectors for name in FORMS}

    def form(self, name: str) -> PromptForm | None:
        """What a neighbour trains in place of its vectors; None: it is none."""
        if name == "residual":
            return t.derive(ResidualPrompt, self.residual)
        return t.derive(DecomposedPrompt, self.decomposed) if name == "decomposed" else None


class PromptTuningEncodersSettings(t.Settings):
    """Soft prompts behind the text, beside adapters and all weights."""

    encoders: dict[t.SafeName, Encoder]
    backbones: Annotated[
        dict[t.SafeName, Backbone],
        t.ReadBeside(".grid={spt_mntp_mean: [1]}", of="opt_125m.mntp"),
        t.ReadBeside(".model=soft_prompt_nano; warm_start.text.corpus=wordnet_text", of="pretrained"),
    ]
    compared: Annotated[groups.Names, Field(min_length=1)]
    published: dict[t.SafeName, groups.PublishedEncoder]
    beside: groups.Names
    training: Training
    neighbours: Neighbours
    lora: Lora
    evaluation: Evaluation
    dtype: t.Computed
    warm_start: Annotated[
        groups.WarmStart, t.ReadBeside("backbones.opt_125m.model=soft_prompt_nano; warm_start.text.corpus=wordnet_text")
    ]
    mntp: Annotated[Mntp, t.ReadBeside("backbones.llama_2_7b.mntp=null; warm_start.text.corpus=wordnet_text")]
    cost: groups.Published

    @model_validator(mode="after")
    def _parts_fit(self) -> Self:
        groups.require("compared", self.compared, self.backbones, "backbones")
        groups.require("beside", self.beside, self.published, "published")
        groups.require("evaluation.scored", self.evaluation.scored, self.evaluation.tasks, "evaluation.tasks")
        for name, backbone in self.backbones.items():
            groups.require(f"backbones.{name}.grid", backbone.grid, self.encoders, "encoders")
            # Those that are not compared are of another scale.
            for encoder, sizes in backbone.grid.items() if name in self.compared else ():
                if self.length(encoder, max(sizes)) < self.training.length:
                    raise ValueError(
                        f"evaluation.length ({self.evaluation.length}) has no room for the tokens of a training text "
                        f"({self.training.length}) beside the {max(sizes)} vectors of backbones.{name}.grid.{encoder}"
                    )
        if missing := {"soft", "lora", "full"} - set(self.training.recipes):
            raise ValueError(f"training.recipes lacks {', '.join(sorted(missing))}")
        return self

    def plain(self, encoder: str) -> str:
        """The name of the encoder whose prompt another one has in another form, or its own."""
        return PLAIN if encoder in FORMS else encoder

    def length(self, encoder: str, size: int) -> int:
        """Tokens of a text that is scored: those of the evaluation less the vectors beside it."""
        given = self.encoders.get(self.plain(encoder))
        return self.evaluation.length - (size if given and given.method in ("prompt", "prefix") else 0)

    def made(self, encoder: str, size: int, length: int, layers: Callable[[], list[str]]) -> EncoderSettings:
        """The settings of one encoder; `none` and `full` have no size and pool the last token.

        Args:
            length: tokens of a text; vectors are not counted.
            layers: names the linear layers of the decoder that adapters are for.
        """
        form = TextForm(max_length=length)
        if encoder in ("none", "full"):
            return EncoderSettings.model_validate({"method": encoder, "pooling": "last", "form": form})
        given = self.encoders[self.plain(encoder)]
        shared = {"method": given.method, "pooling": given.pooling, "bidirectional": given.bidirectional, "form": form}
        if given.method == "lora":
            return EncoderSettings.model_validate(
                {**shared, "adapter": t.derive(LowRank, self.lora, rank=size, targets=layers())}
            )
        own = {"vectors": size, "position": given.position, "start": self.training.start}
        return EncoderSettings.model_validate({**shared, **own})
