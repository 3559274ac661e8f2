"""Settings of the jobs around hidden states, from those of the paper."""

from typing import TYPE_CHECKING

from reprlab.config.settings import derive
from reprlab.geometry.settings import EstimatorSettings
from reprlab.papers.intrinsic_dimension.plan_needs import Collection, Dtype, Run, RunKey, Split
from reprlab.representations.settings import AdapterSettings, CollectSettings, DimensionSettings, PromptSettings
from reprlab.training.settings import EngineSettings, ScheduleSettings

if TYPE_CHECKING:
    from reprlab.config.papers.intrinsic_dimension import IntrinsicDimensionSettings, PromptedDataset


def prompt_settings(
    paper: "IntrinsicDimensionSettings", entry: "PromptedDataset", split: Split, k: int, unique: bool, seed: int | None
) -> PromptSettings:
    """Prompts of a data set with k demonstrations; `seed` takes the place of the main one."""
    data = paper.data
    return derive(
        PromptSettings,
        entry,
        data,
        split=split,
        train_items=paper.icl_unique.pool if unique else data.train_items,
        demonstrations=k,
        unique=unique,
        seed=data.demonstration_seed if seed is None else seed,
    )


def adapter_settings(paper: "IntrinsicDimensionSettings", key: RunKey, run: Run, dtype: Dtype) -> AdapterSettings:
    """A fine-tuning run."""
    wanted = paper.finetuning
    engine = derive(
        EngineSettings,
        wanted,
        steps=key.steps,
        ladder=sorted(run.ladder),
        schedule=ScheduleSettings(name=wanted.schedule, warmup_steps=run.warmup_steps),
        dtype=dtype,
        seed=wanted.seed if key.seed is None else key.seed,
    )
    return derive(AdapterSettings, wanted, engine=engine)


def collect_settings(paper: "IntrinsicDimensionSettings", one: Collection) -> CollectSettings:
    """A pass over prompts."""
    return derive(CollectSettings, paper.collection, dtype=one.dtype, limit=one.limit, steps=sorted(one.steps))


def dimension_settings(paper: "IntrinsicDimensionSettings", one: Collection) -> DimensionSettings:
    """Every estimator on a collection, and some on its halves as well."""
    wanted = paper.estimation
    # The float32 sample stands beside a subset of the same size, which has no halves either; beside other seeds
    # the spread over seeds is what counts.
    halves = wanted.halves if one.limit is None and one.seed is None else 0
    return DimensionSettings(
        estimators=[
            derive(EstimatorSettings, recipe, name=name, duplicates=wanted.duplicates)
            for name, recipe in wanted.estimators.items()
        ],
        subsets=sorted(one.subsets),
        draws=halves,
        draw_estimators=wanted.halved,
        seed=wanted.seed,
    )
