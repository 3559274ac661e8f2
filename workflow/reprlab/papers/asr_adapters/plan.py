"""Plan of asr-adapters: recognisers of every cell, controls, ablation, depth, transfer, counts, and the results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from reprlab.audio.settings import CountedTuning, CountedTunings, RecogniserSettings, Tuning
from reprlab.papers.asr_adapters.results import RESULTS
from reprlab.planning.cost_jobs import add_cost
from reprlab.planning.plan import Job, Plan
from reprlab.planning.result_jobs import add_results
from reprlab.planning.shared_jobs import add_model, add_task
from reprlab.results.sources import Items, Source, Value, rivals
from reprlab.settings.base import derive
from reprlab.training.settings import EngineSettings, OptimizerSettings, ScheduleSettings

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig
    from reprlab.papers.asr_adapters.schema import AsrAdaptersSettings, Method

SLUG = "asr-adapters"
# A set may have one of them.
_HELD_OUT = ("validation", "test")
COUNTS = {"cer": ("character_errors", "characters"), "wer": ("word_errors", "words")}
_DEPTH = "ff"
# Model, method, language, minutes and seed of a recogniser.
_About = tuple[str, str, str, float, int]


def add_jobs(plan: Plan, config: LoadedConfig) -> None:
    """Plan all of the paper at the config's scale."""
    made = Recognisers(plan, config, config.papers[SLUG])
    parts = (made.main(), made.large(), made.one_cell(), made.depths(), made.transfers(), made.counts())
    entries = [entry for part in parts for entry in part]
    add_results(plan, SLUG, RESULTS, entries, root=config.root, scale=config.scale, options=made.options)
    add_cost(plan, config, SLUG)


class Recognisers:
    """Jobs of the recognisers; each method gives the sources of its results."""

    def __init__(self, plan: Plan, config: LoadedConfig, paper: AsrAdaptersSettings) -> None:
        self.plan, self.config, self.paper = plan, config, paper

    @property
    def options(self) -> dict[str, str]:
        """What claims must know."""
        return {"model": self.paper.model, "floor": self.paper.floor}

    def main(self) -> Iterator[Source]:
        """Table 2 with its learning curves, and what is heard in training (Table 1)."""
        paper = self.paper
        for language in paper.spoken:
            for minutes in paper.sizes:
                for name, models in paper.compared.items():
                    for model in models:
                        for seed in paper.seeds:
                            about = (model, name, language, minutes, seed)
                            made = self._train(*about)
                            yield self._scores(made, "main", about)
                            yield self._source(made["curve"], "curve", about, {"step": "step"})
                            heard = self._source(made["metrics"], "data", about, wide=["minutes"])
                            # The file says it in each of its rows.
                            yield heard.model_copy(update={"where": {"name": "model", "split": "test"}})

    def large(self) -> Iterator[Source]:
        """Table 4."""
        for one in self.paper.large:
            for name in ("ft", _DEPTH):
                about = (one.model, name, one.language, one.minutes, self.paper.seeds[0])
                yield self._scores(self._train(*about), "large", about)

    def one_cell(self) -> Iterator[Source]:
        """Controls, the drawn encoder, what of conv's gain is norm, rate or width, and rivals of conv."""
        paper, cell = self.paper, self.paper.cell
        parts = (
            ("control", paper.controls, paper.seeds),
            ("ablation", paper.ablation, paper.seeds),
            ("rival", self._rivals(), paper.rival_seeds),
        )
        for part, names, seeds in parts:
            for name in names:
                for seed in seeds:
                    about = (paper.model, name, cell.language, cell.minutes, seed)
                    yield self._scores(self._train(*about), part, about)
        for seed in paper.seeds:
            about = (paper.floor, "conv", cell.language, cell.minutes, seed)
            yield self._scores(self._train(*about), "control", about)

    def _rivals(self) -> list[str]:
        """ConvAdapt and what it is held against; nothing without rivals."""
        return ["conv", *self.paper.rivals] if self.paper.rivals else []

    def depths(self) -> Iterator[Source]:
        """Figure 2: fully connected layers of each adapter."""
        paper = self.paper
        for language in paper.depth_languages:
            for depth in paper.depths:
                about = (paper.wide_model, _DEPTH, language, paper.transfer_minutes, paper.seeds[0])
                made = self._train(*about, depth=depth)
                yield self._scores(made, "depth", about, {"depth": depth})

    def transfers(self) -> Iterator[Source]:
        """Table 5: adapters that begin as those of another language."""
        paper, method, minutes = self.paper, self.paper.transfer_method, self.paper.transfer_minutes
        for language in dict.fromkeys(target for _, target in paper.transfers):
            for source in ["", *(one for one, target in paper.transfers if target == language)]:
                about = (paper.wide_model, method, language, minutes, paper.seeds[0])
                made = self._train(*about, source=source)
                yield self._scores(made, "transfer", about, {"start": source or "none"})
                yield self._source(
                    made["curve"], "transfer curve", about, {"step": "step"}, more={"start": source or "none"}
                )

    def counts(self) -> Iterator[Source]:
        """What is trained, exactly, of the models of this scale and of the published ones."""
        paper = self.paper
        used = [model for models in paper.compared.values() for model in models]
        models = list(dict.fromkeys([*paper.counted, paper.model, paper.wide_model, *used]))
        names = [name for name in paper.methods if name != "head"]
        # A start changes no count.
        tunings = {name: derive(Tuning, paper.methods[name].tuning, initial_scale=1.0) for name in names}
        counted = [CountedTuning(model=model, name=name, tuning=tunings[name]) for model in models for name in names]
        for depth in paper.depths:
            tuning = tunings[_DEPTH].model_copy(update={"depth": depth})
            counted += [CountedTuning(model=model, name=f"ff_{depth}", tuning=tuning) for model in models]
        entries = {model: self.config.models[model] for model in models}
        settings = CountedTunings(entries=entries, tunings=counted, symbols=paper.symbols)
        path = self.plan.add("count_tunings", "asr_adapters", Job(settings={"settings": settings}))["out"]
        yield Source(path=Path(path), factors={"part": "counts"}, keys={"model": "model", "method": "method"})

    def _train(
        self,
        model: str,
        name: str,
        language: str,
        minutes: float,
        seed: int,
        *,
        depth: int | None = None,
        source: str = "",
    ) -> dict[str, str]:
        paper, method = self.paper, self.paper.methods[name]
        own = method.tuning.depth
        depth = own if depth is None else depth
        dataset = paper.languages[language]
        inputs: dict[str, str | list[str]] = {
            "speech": add_task(self.plan, self.config, dataset),
            "model": add_model(self.plan, self.config, model, seed=seed),
        }
        cell = f"{name}_{minutes:g}min" + (f"_{depth}layers" if depth != own else "") + f"_s{seed}"
        if source:
            inputs["source"] = self._train(model, name, source, minutes, seed)["out"]
            cell += f"_from_{source}"
        settings = self._settings(method, minutes, seed, depth)
        return self.plan.add("train_recogniser", f"{model}/{dataset}/{cell}", Job(inputs, {"settings": settings}))

    def _settings(self, method: Method, minutes: float, seed: int, depth: int) -> RecogniserSettings:
        paper, training = self.paper, self.paper.training
        engine = derive(
            EngineSettings,
            training,
            optimizer=derive(OptimizerSettings, training.optimizer, learning_rate=method.learning_rate),
            schedule=ScheduleSettings(name=training.schedule, warmup_steps=training.warmup_steps),
            dtype=self.config.arithmetic(training.dtype),
            seed=seed,
            log_every=max(1, training.steps // 20),
        )
        scale = method.tuning.initial_scale
        start = training.initial_scale if scale is None else scale
        tuning = derive(Tuning, method.tuning, depth=depth, initial_scale=start)
        return RecogniserSettings(
            tuning=tuning,
            minutes=minutes,
            data_seed=paper.data_seed,
            engine=engine,
            head_learning_rate=training.head_learning_rate,
            evaluation_utterances=training.evaluation_utterances,
        )

    def _scores(
        self, made: dict[str, str], part: str, about: _About, more: Mapping[str, Value] = MappingProxyType({})
    ) -> Source:
        found = self._source(made["metrics"], part, about, more=more)
        path = Path(made["metrics"])
        where = {"name": "model", "split": list(_HELD_OUT)}
        items = Items(path=Path(made["hypotheses"]), item="id", counts=COUNTS)
        return found.model_copy(update={"where": where, "items": items, **rivals("transcript", path)})

    def _source(
        self,
        path: str,
        part: str,
        about: _About,
        keys: Mapping[str, str] = MappingProxyType({}),
        wide: Sequence[str] = (),
        more: Mapping[str, Value] = MappingProxyType({}),
    ) -> Source:
        names = ("model", "method", "language", "size", "seed")
        factors: dict[str, Value] = {"part": part, **dict(zip(names, about, strict=True)), **more}
        title = self.config.datasets.tasks[self.paper.languages[about[2]]].title
        return Source(path=Path(path), factors=factors, keys=dict(keys), wide=list(wide), data=title)
