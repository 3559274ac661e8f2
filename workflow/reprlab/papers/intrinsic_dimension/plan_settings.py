"""Settings of the jobs around hidden states, from those of the paper."""

from typing import TYPE_CHECKING

from reprlab.geometry.settings import EstimatorSettings
from reprlab.papers.intrinsic_dimension.plan_needs import Collection, Dtype, Run, RunKey, Split
from reprlab.representations.settings import AdapterSettings, CollectSettings, DimensionSettings, PromptSettings
from reprlab.training.settings import EngineSettings, OptimizerSettings, ScheduleSettings

if TYPE_CHECKING:
    from reprlab.config.papers.intrinsic_dimension import IntrinsicDimensionSettings
    from reprlab.config.papers.intrinsic_dimension_prompts import PromptedDataset


def prompt_settings(
    paper: "IntrinsicDimensionSettings", entry: "PromptedDataset", split: Split, k: int, unique: bool, seed: int | None
) -> PromptSettings:
    """Prompts of a data set with k demonstrations; `seed` takes the place of the main one."""
    data = paper.data
    return PromptSettings(
        template=entry.template,
        words=entry.words,
        split=split,
        train_items=paper.icl_unique.pool if unique else data.train_items,
        validation_items=data.validation_items,
        validation_splits=entry.validation_splits,
        max_words=entry.max_words,
        demonstrations=k,
        unique=unique,
        seed=data.demonstration_seed if seed is None else seed,
    )


def adapter_settings(paper: "IntrinsicDimensionSettings", key: RunKey, run: Run, dtype: Dtype) -> AdapterSettings:
    """A fine-tuning run."""
    wanted = paper.finetuning
    engine = EngineSettings(
        steps=key.steps,
        ladder=sorted(run.ladder),
        batch_size=wanted.batch_size,
        accumulation=wanted.accumulation,
        optimizer=OptimizerSettings(
            learning_rate=wanted.learning_rate, weight_decay=wanted.weight_decay, clip_norm=wanted.clip_norm
        ),
        schedule=ScheduleSettings(name="linear", warmup_steps=run.warmup_steps),
        dtype=dtype,
        seed=wanted.seed if key.seed is None else key.seed,
    )
    return AdapterSettings(
        engine=engine,
        rank=wanted.rank,
        alpha=wanted.alpha,
        dropout=wanted.dropout,
        targets=wanted.targets,
        max_length=wanted.max_length,
    )


def collect_settings(paper: "IntrinsicDimensionSettings", one: Collection) -> CollectSettings:
    """A pass over prompts."""
    return CollectSettings(
        dtype=one.dtype,
        label_ids=paper.collection.label_ids,
        batch_tokens=paper.collection.batch_tokens,
        limit=one.limit,
        steps=sorted(one.steps),
    )


def dimension_settings(paper: "IntrinsicDimensionSettings", one: Collection) -> DimensionSettings:
    """Every estimator on a collection, TwoNN and Levina-Bickel on its halves as well."""
    wanted = paper.estimation
    estimators = [
        EstimatorSettings(name="two_nn", kind="two_nn", discard=wanted.discard, duplicates=wanted.duplicates),
        EstimatorSettings(name="two_nn_ml", kind="two_nn_ml", duplicates=wanted.duplicates),
        EstimatorSettings(
            name="levina_bickel", kind="levina_bickel", neighbours=wanted.neighbours, duplicates=wanted.duplicates
        ),
        EstimatorSettings(name="gride_2_4", kind="gride", ranks=(2, 4), duplicates=wanted.duplicates),
    ]
    # The float32 sample stands beside a subset of the same size, which has no halves either; beside other seeds
    # the spread over seeds is what counts.
    halves = wanted.halves if one.limit is None and one.seed is None else 0
    return DimensionSettings(
        estimators=estimators,
        subsets=sorted(one.subsets),
        draws=halves,
        draw_estimators=["two_nn", "levina_bickel"],
        seed=wanted.seed,
    )
