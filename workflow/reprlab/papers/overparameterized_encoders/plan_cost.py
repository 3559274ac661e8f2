"""Cost of L3Prune: the losses by layer of each decoder, and its training at each depth."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from reprlab.config.load import LoadedConfig
from reprlab.models.sizes import layers_of
from reprlab.papers.overparameterized_encoders.results import CHOSEN, LABELS
from reprlab.planning.adapted_layers import adapted_layers
from reprlab.planning.cost_jobs import computed, equal_jobs
from reprlab.reporting.cost_layout import CostRun
from reprlab.reporting.published import read_printed
from reprlab.sentences.contrastive import share_read_twice
from reprlab.sentences.depths import kept_layers
from reprlab.sentences.settings import TEXTS_AT_ONCE, EncoderSettings, LowRank
from reprlab.settings.base import derive

if TYPE_CHECKING:
    from reprlab.papers.overparameterized_encoders.schema import OverparameterizedEncodersSettings

_TEXTS = 3
_FILLED = "texts filled to their length"


def cost_runs(
    config: LoadedConfig, paper: "OverparameterizedEncodersSettings", scale: str, name: str
) -> Iterator[CostRun]:
    """The cost runs of one scale; `name` is that of the cells."""
    recipe, sample = paper.training, paper.sample
    sizes = read_printed(config.root, "overparameterized-encoders", "table1", keys=2)
    minutes = read_printed(config.root, "overparameterized-encoders", "table2")
    dtype = computed(config, paper.dtype, scale)
    for model in paper.compared:
        backbone, printed = paper.backbones[model], LABELS.get(model, "")
        shared: dict[str, Any] = {"model": backbone.model, "text_length": paper.max_length, "dtype": dtype}
        yield equal_jobs(
            scale,
            "measure_layers",
            [f"{model}/{name}"],
            name=model,
            jobs=1,
            headless=True,
            steps=0,
            batch_size=sample.batch_size,
            sequences=_TEXTS,
            forwarded=_TEXTS * sample.batch_size * sample.batches,
            part_size=min(TEXTS_AT_ONCE, _TEXTS * sample.batch_size),
            note=_FILLED,
            **shared,
        )
        layers = layers_of(config.models[backbone.model])
        setting = "papers.overparameterized-encoders.training.adapter.targets"
        targets = adapted_layers(config, backbone.model, recipe.adapter.targets, setting)
        for depth in backbone.depths:
            published = sizes.get(f"{printed} {depth}", {}) if scale == "paper" else {}
            # Losses choose these two; what is not known yet is bounded by the half that they lie in.
            most = {"small": layers // 2, "large": layers, "one": 1}.get(depth)
            kept = int(published.get("layers") or most or kept_layers(layers, int(depth[1:])))
            bounded = depth in CHOSEN and not published
            yield equal_jobs(
                scale,
                "train_encoder",
                [f"{model}/{name}_{depth}"],
                name=f"{model}/{depth}",
                jobs=len(recipe.seeds),
                steps=backbone.steps,
                batch_size=recipe.batch_size,
                sequences=_TEXTS,
                part_size=min(recipe.part_size, _TEXTS * recipe.batch_size),
                recomputed=share_read_twice(_TEXTS * recipe.batch_size, recipe.part_size),
                encoder=EncoderSettings(
                    method="lora",
                    pooling=paper.pooling,
                    layers=kept,
                    adapter=derive(LowRank, recipe.adapter, backbone, targets=targets),
                ),
                published_hours=f"{float(minutes[printed][depth]) / 60:.3f}" if published else "",
                note="; ".join(filter(None, (_FILLED, "the most layers that can be chosen" if bounded else ""))),
                **shared,
            )
