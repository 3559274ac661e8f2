"""Settings of domain-adaptive masking (slug `domain-adaptive-masking`).

Kohli, Monis and Mamidi 2025: Choose Your Words Wisely. No code of theirs is known; it builds on Lee et al. 2022.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from reprlab.config import groups
from reprlab.settings import base as t
from reprlab.training.settings import OptimizerSettings

Masking = Literal["random", "random_span", "concept"]
Corpora = Annotated[list[t.CorpusName], t.Distinct]
Share = Annotated[float, Field(gt=0, le=1)]


class Curriculum(t.Settings):
    """Which concepts are masked."""

    frequency: t.PositiveInt
    basic: t.PositiveInt
    hops: t.NonNegativeInt
    general_divisor: t.PositiveFloat
    domain_least: t.PositiveInt
    reported_hops: Annotated[list[t.NonNegativeInt], Field(min_length=1), t.Increasing]
    reported_times: Annotated[list[t.PositiveFloat], Field(min_length=1), t.Distinct]


class Updates(groups.LadderRun, groups.Batches):
    """Continued pre-training on the domain's text."""

    length: Annotated[t.PositiveInt, Field(ge=8)]
    budget: Share
    mask_probability: t.OpenProbability
    schedule: t.Course
    warmup_steps: t.NonNegativeInt
    optimizer: OptimizerSettings
    seeds: t.Seeds


class HeldOut(t.Settings):
    """Losses on held-out text of the domain."""

    batches: t.PositiveInt
    batch_size: t.PositiveInt
    fit_batches: t.PositiveInt
    budget: Share
    mask_probability: t.OpenProbability


class Tagging(groups.Finetuning):
    """Fine-tuning on named entities."""

    pieces: Literal["first", "all"]
    group_by_length: bool
    pretrained: Annotated[groups.Limit, t.ReadBeside("pretraining.seeds=[0, 1, 2]")]
    examples: groups.Limit
    scored: groups.Limit


class Replay(t.Settings):
    """Blocks of general text in each batch of continued pre-training that masks concepts."""

    shares: Annotated[list[t.OpenProbability], t.Distinct]


class Neighbours(t.Settings):
    """Published rivals of continued pre-training on the domain alone."""

    replay: Replay


class DomainAdaptiveMaskingSettings(t.Settings):
    """Continued pre-training that masks whole concepts of a domain."""

    graph: t.CorpusName | None
    domain: Corpora
    general: Corpora
    unavailable: Annotated[str, t.ReadBeside("graph=null; domain=[]; general=[]")]
    documents: groups.Limit
    curriculum: Curriculum
    model: t.ModelName
    maskings: Annotated[list[Masking], t.Distinct]
    pretraining: Updates
    warm_start: Annotated[groups.WarmStart, t.ReadBeside("model=bert_masking_mini; warm_start.text.corpus=brown")]
    held_out: HeldOut
    neighbours: Neighbours
    tasks: Annotated[
        dict[t.SafeName, t.TaskDataName],
        Field(min_length=1),
        t.ReadBeside("compared=[wordnet_entities]; warm_start.text.corpus=brown", of="wordnet_entities"),
        t.ReadBeside("compared=[conll2003]; warm_start.text.corpus=brown", of="conll2003"),
    ]
    compared: Annotated[groups.Names, Field(min_length=1)]
    finetuning: Tagging
    dtype: t.Computed
    cost: groups.Published

    @model_validator(mode="after")
    def _parts_fit(self) -> Self:
        groups.require("compared", self.compared, self.tasks, "tasks")
        given = [bool(part) for part in (self.graph, self.domain, self.general)]
        if any(given) and not all(given):
            raise ValueError("graph, domain and general: name all three, or none")
        return self
