"""Jobs of music-video-description: tracks, what is heard, annotations, two stages of training, descriptions, scores."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from reprlab.music.own_folder import own_paths
from reprlab.music.settings import (
    DescriberTraining,
    DescriptionGeneration,
    DescriptionScoring,
    ExampleSettings,
)
from reprlab.planning.adapted_layers import check_adapted
from reprlab.planning.plan import Job, Plan
from reprlab.planning.shared_jobs import add_archive, add_model
from reprlab.results.sources import Source, Value, rivals
from reprlab.settings.base import derive
from reprlab.training.settings import EngineSettings, OptimizerSettings, ScheduleSettings

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig
    from reprlab.papers.music_video_description.schema import MusicVideoDescriptionSettings, Training

SLUG = "music-video-description"
ADAPTOR = "adaptor"
"""The section of the adaptor alone, before a language model that stays as it is."""


class Descriptions:
    """Jobs of the paper; each method gives the sources of its results."""

    def __init__(self, plan: Plan, config: LoadedConfig, paper: MusicVideoDescriptionSettings) -> None:
        self.plan, self.config, self.paper = plan, config, paper
        self.title = f"{paper.called}; texts by {self._writer()}"
        archives = dict.fromkeys(paper.tracks.archives.values())
        receipts = [add_archive(plan, config, name) for name in archives]
        own: dict[str, list[str]] = {}
        settings = paper.tracks
        if settings.folder:
            folder = config.own_folder / settings.folder
            own = {"tracks.folder": [str(path) for path in own_paths(folder)]}
            if not Path(settings.folder).is_absolute():
                # One folder for all runs, found from that of a run, where jobs are.
                settings = settings.model_copy(update={"folder": os.path.relpath(folder, config.run_folder)})
        tracks = Job({"receipts": receipts}, {"settings": settings}, given=own)
        self.own = own
        self.tracks = plan.add("build_tracks", paper.name, tracks)["out"]
        shards = [{"shard": place, "shards": paper.tracks.shards} for place in range(paper.tracks.shards)]
        keys = [f"{paper.name}/{one['shard']}of{one['shards']}" for one in shards]
        self.heard = [
            plan.add("hear_tracks", key, Job({"tracks": self.tracks}, one))["out"]
            for key, one in zip(keys, shards, strict=True)
        ]
        served = {} if paper.annotation_model is None else {"model": self._model(paper.annotation_model)}
        self.annotations = [
            plan.add(
                "annotate_tracks",
                key,
                Job(
                    {"tracks": self.tracks, "heard": heard, **served},
                    {**one, "settings": paper.annotation},
                    # Frames of a video are read where they lie.
                    given=own,
                ),
            )["out"]
            for key, one, heard in zip(keys, shards, self.heard, strict=True)
        ]
        encoder = {} if paper.audio_model is None else {"model": self._model(paper.audio_model)}
        encoded = Job({"tracks": self.tracks, **encoder}, {"settings": paper.encoding})
        self.states = plan.add("encode_audio", paper.name, encoded)["out"]
        check_adapted(config, paper.model, paper.lora.targets, "papers.music-video-description.lora.targets")
        self.model = self._model(paper.model)

    @property
    def untrained(self) -> dict[str, Value]:
        """The rows of the model as it is, beside which all that is trained stands."""
        return {"part": "scores", "section": "baseline", "inputs": self.paper.main}

    def heard_in(self) -> Iterator[Source]:
        """What madmom hears in each track, and how right it is."""
        job = Job({"tracks": self.tracks, "heard": self.heard})
        made = self.plan.add("judge_hearing", self.paper.name, job)
        title = self.paper.called
        yield Source(
            path=Path(made["out"]),
            factors={"part": "hearing"},
            keys={"genre": "genre"},
            where={"name": "heard"},
            data=title,
            **rivals("track label", made["out"], on=["genre"]),
        )
        keys = {"track": "track", "genre": "genre", "key": "key_label", "chords": "chords"}
        wide = ["bpm", "beats", "n_downbeats"]
        yield Source(path=Path(made["features"]), factors={"part": "features"}, keys=keys, wide=wide, data=title)

    def cost(self) -> Iterator[Source]:
        """What annotating costs, estimated without asking."""
        job = Job({"tracks": self.tracks, "heard": self.heard}, {"settings": self.paper.annotation}, given=self.own)
        path = self.plan.add("estimate_annotation", self.paper.name, job)["out"]
        wide = ["requests", "prompt_tokens", "answer_tokens", "dollars"]
        yield Source(
            path=Path(path), factors={"part": "cost"}, keys={"text": "step"}, wide=wide, data=self.paper.called
        )

    def table1(self) -> Iterator[Source]:
        """Table 1: the model as it is, each combination of inputs, and answers to the instruction alone; and losses."""
        paper, untrained = self.paper, self.untrained
        yield self._scored("baseline", paper.main, paper.seeds[0], {})
        for seed in paper.seeds:
            yield self.losses("caption", "1", seed, self.trained("caption", "1", seed))
            for inputs in (paper.main, *paper.ablations):
                yield self._scored("main" if inputs == paper.main else "ablation", inputs, seed, untrained)
                yield self.losses("description", inputs, seed, self.trained("description", inputs, seed))
            for inputs in paper.blank:
                yield self._scored("sanity", inputs, seed, untrained)

    def show(self) -> None:
        """The page of examples."""
        paper, seed = self.paper, self.paper.seeds[0]
        sections = (("not trained", "baseline"), (f"inputs {paper.main}", "main"), ("instruction alone", "sanity"))
        described = {
            name: self.described(section, paper.main, seed)
            for name, section in sections
            if section != "sanity" or paper.main in paper.blank
        }
        inputs: dict[str, str | list[str]] = {
            "tracks": self.tracks,
            "heard": self.heard,
            "annotations": self.annotations,
            "after": [str(path) for path in described.values()],
        }
        settings = ExampleSettings(described=described, shown=paper.shown)
        made = self.plan.add("show_tracks", SLUG, Job(inputs, {"settings": settings}))
        self.plan.add_targets(SLUG, made.values())

    def _writer(self) -> str:
        settings = self.paper.annotation
        names = {
            "template": "a template of ours",
            "chat": settings.chat.model,
            "local": str(self.paper.annotation_model),
        }
        return names[settings.backend]

    def _model(self, name: str) -> str:
        return add_model(self.plan, self.config, name, seed=0)

    def given(self, **more: str) -> dict[str, str | list[str]]:
        """What trainings and descriptions read, and `more`."""
        return {"model": self.model, "annotations": self.annotations, "states": self.states, **more}

    def trained(self, task: str, inputs: str, seed: int, *, lora: bool = True) -> dict[str, str]:
        """A describer and its losses; without LoRA the adaptor alone learns descriptions as well."""
        paper = self.paper
        caption = task == "caption"
        given = self.given()
        if not caption and "1" in inputs:
            given["start"] = self.trained("caption", "1", seed)["out"]
        engine, epochs = self.engine_of(task, seed)
        settings = DescriberTraining(
            task="caption" if caption else "description",
            inputs=inputs,
            max_length=paper.lora.max_length,
            adapter=None if caption or not lora else paper.lora,
            engine=engine,
            epochs=epochs,
        )
        key = f"{paper.model}/{paper.name}/{task}_{inputs}{'' if lora else f'_{ADAPTOR}'}_s{seed}"
        return self.plan.add("train_describer", key, Job(given, {"settings": settings}))

    def engine_of(self, task: str, seed: int) -> tuple[EngineSettings, float | None]:
        """Loop and passes of a stage of the training; where the passes are given, they replace the loop's steps."""
        wanted = self.paper.caption if task == "caption" else self.paper.description
        return self._engine(wanted, seed), wanted.epochs if wanted.steps is None else None

    def _engine(self, wanted: Training, seed: int) -> EngineSettings:
        # Where passes are given, the steps follow from the tracks.
        steps = wanted.steps or wanted.warmup_steps + 1
        return derive(
            EngineSettings,
            wanted,
            steps=steps,
            optimizer=derive(OptimizerSettings, self.paper.optimizer, learning_rate=wanted.learning_rate),
            schedule=ScheduleSettings(name=wanted.schedule, warmup_steps=min(wanted.warmup_steps, steps - 1)),
            dtype=self.config.arithmetic(self.paper.dtype),
            seed=seed,
            log_every=max(1, steps // 20),
        )

    def described(self, section: str, inputs: str, seed: int) -> Path:
        """Descriptions of the test tracks by a describer of a section of the table."""
        paper = self.paper
        given = self.given()
        if section != "baseline":
            given["describer"] = self.trained("description", inputs, seed, lora=section != ADAPTOR)["out"]
        settings = derive(
            DescriptionGeneration, paper.generation, inputs=inputs, blank=section == "sanity", seed=seed,
            limit=paper.generation.tracks,
        )  # fmt: skip
        mode = {"baseline": "untrained", "sanity": "blank", ADAPTOR: ADAPTOR}.get(section, "full")
        key = f"{paper.model}/{paper.name}/{inputs}_{mode}_s{seed}"
        return Path(self.plan.add("describe_tracks", key, Job(given, {"settings": settings}))["out"])

    def _scored(self, section: str, inputs: str, seed: int, untrained: dict[str, Value]) -> Source:
        return self.scores(section, inputs, seed, self.described(section, inputs, seed), untrained)

    def scores(self, section: str, inputs: str, seed: int, described: Path, untrained: dict[str, Value]) -> Source:
        """Scores of descriptions, beside those that need no model."""
        paper = self.paper
        given: dict[str, str | list[str]] = {
            "descriptions": str(described), "annotations": self.annotations, "model": self._model(paper.score_model),
        }  # fmt: skip
        settings = DescriptionScoring(resamples=paper.resamples)
        job = Job(
            {"annotations": self.annotations, "model": given["model"]},
            {"settings": settings, "limit": paper.generation.tracks},
        )
        beside = self.plan.add("score_description_baselines", paper.name, job)["out"]
        # The model, the set of tracks and the cell, whichever stage described them.
        key = "/".join(described.with_suffix("").parts[-3:])
        path = Path(self.plan.add("score_descriptions", key, Job(given, {"settings": settings}))["out"])
        factors: dict[str, Value] = {"part": "scores", "section": section, "inputs": inputs, "seed": seed}
        return Source(
            path=path,
            factors={**factors, "model": paper.model, "encoder": paper.score_model},
            where={"name": "model"},
            data=self.title,
            **rivals("description", beside),
            untrained=untrained,
        )

    def losses(self, task: str, inputs: str, seed: int, trained: dict[str, str]) -> Source:
        """Losses of a stage of the training."""
        factors: dict[str, Value] = {"part": "losses", "task": task, "inputs": inputs, "seed": seed}
        path = Path(trained["metrics"])
        return Source(path=path, factors=factors, keys={"step": "step"}, wide=["loss"], data=self.title)
