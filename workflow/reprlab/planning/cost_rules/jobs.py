"""The jobs of a paper as rules of cost see them: their models, data and sizes."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from reprlab.planning.data_sizes import DataSizes, Size
from reprlab.planning.plan import Job, Plan
from reprlab.planning.stages import STAGES
from reprlab.registry.models import ModelEntry
from reprlab.runtime.errors import ReprlabError
from reprlab.text.tokenizers import TokenizerSettings
from reprlab.training.settings import EngineSettings

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig

Described = dict[str, Any]
"""Fields of a `CostRun`; `apart` is what else tells its jobs from those of other runs."""

# Where a job that trains or merges has the model that it starts from.
_STARTS = ("model", "init", "encoder", "models", "first")
# Sequences of a batch of inference, where settings do not say: that of config.yaml changes no result.
_AT_ONCE = 64


class Jobs:
    """The jobs behind a paper's results."""

    def __init__(self, plan: Plan, config: LoadedConfig, slug: str) -> None:
        self.plan, self.config, self.slug = plan, config, slug
        self.batch = _AT_ONCE
        self.sizes = DataSizes.load(config.root)
        self._makers: dict[str, tuple[str, str]] = {}
        for stage, planned in plan.jobs.items():
            for key in planned:
                for path in plan.outputs(stage, key).values():
                    self._makers[path] = stage, key
                    # Models that a job keeps beside its tables are no outputs of their own.
                    start, within, _ = path.partition(f"/{key}/")
                    if within:
                        self._makers[start + f"/{key}"] = stage, key
        self._names: dict[tuple[Any, ...], str] = {}

    def behind(self) -> Iterator[tuple[str, str, Job]]:
        """Stage, key and job of all that the paper's results are made from, in an order that no other paper changes."""
        seen: set[tuple[str, str]] = set()
        waiting = list(self.plan.targets.get(self.slug, ()))
        while waiting:
            made = self._made(waiting.pop())
            if made is not None and made not in seen:
                seen.add(made)
                for paths in self.plan.jobs[made[0]][made[1]].inputs.values():
                    waiting += [paths] if isinstance(paths, str) else paths
        order = {stage: place for place, stage in enumerate(STAGES)}
        for stage, key in sorted(seen, key=lambda made: (order[made[0]], made[1])):
            yield stage, key, self.plan.jobs[stage][key]

    def made_by(self, path: str) -> tuple[str, str, Job]:
        """Stage, key and job of a file, or of the folder that it is in.

        Raises:
            ReprlabError: no job of the plan makes it.
        """
        made = self._made(path)
        if made is None:
            raise ReprlabError(f"{path}: no job of the plan makes it")
        return *made, self.plan.jobs[made[0]][made[1]]

    def _made(self, path: str) -> tuple[str, str] | None:
        while path:
            if path in self._makers:
                return self._makers[path]
            path = path.rpartition("/")[0]
        return None

    def key_of(self, path: str | list[str]) -> str:
        """Key of the job that makes a file: the name of a data set."""
        return self.made_by(str(path))[1]

    def model(self, path: str) -> Described:
        """Name of the model that a folder holds, trained or not."""
        entry = self.entry(path)
        return {"model": self.named(entry)}

    @functools.cached_property
    def models(self) -> dict[str, ModelEntry]:
        """Entries by the names that rules gave."""
        return {}

    def entry(self, path: str) -> ModelEntry:
        """The entry of the model that a folder holds.

        Raises:
            ReprlabError: nothing says which model it is.
        """
        stage, key, job = self.made_by(path)
        if stage == "build_model":
            return ModelEntry.model_validate_json(job.settings["entry"])
        return self.entry(source(job, f"{stage} {key}: nothing says which model {path} is"))

    def named(self, entry: ModelEntry) -> str:
        """Name of the first model of the registry that is counted like the entry."""
        known = entry.architecture, json.dumps(entry.config, sort_keys=True), entry.tie_output
        if known not in self._names:
            alike = (name for name, one in self.config.models.items() if one.config == entry.config
                     and (one.architecture, one.tie_output) == (entry.architecture, entry.tie_output))  # fmt: skip
            name = self._names[known] = next(alike, f"model_{len(self._names)}")
            self.models[name] = entry
        return self._names[known]

    def vocabulary(self, job: Job) -> TokenizerSettings | None:
        """The tokenizer of the job, where it is one with sentinels of our own."""
        tokenizer = str(job.inputs.get("tokenizer", ""))
        made = self._made(tokenizer) if tokenizer else None
        if made is None or made[0] != "train_tokenizer":
            return None
        return TokenizerSettings.model_validate_json(self.plan.jobs[made[0]][made[1]].settings["settings"])

    def language_model(self, path: str, job: Job) -> Described:
        """A model with the rows of the embedding that the job's tokenizer asks for."""
        wanted = self.vocabulary(job)
        rows = {"vocabulary": wanted.vocabulary().padded_size} if wanted else {}
        return {**self.model(path), **rows}

    def devices(self, stage: str) -> int:
        """Devices of a job of a stage, where the paper says how many it had."""
        published = getattr(self.config.papers[self.slug].cost, "pretraining_devices", 1)
        return int(published) if self.config.scale == "paper" and stage == "pretrain_lm" else 1

    def size(self, data: str, part: str, otherwise: int | None = None) -> Size:
        """See `DataSizes.of`."""
        return self.sizes.of(data, part, otherwise)


def source(job: Job, lack: str = "nothing says which model it starts from") -> str:
    """The model that a job starts from or has trained before: a folder, or a checkpoint within one.

    Raises:
        ReprlabError: with the words `lack`.
    """
    for name in _STARTS:
        start = job.settings.get(name) or job.inputs.get(name)
        if start:
            return str(start if isinstance(start, str) else start[0])
    raise ReprlabError(lack)


def settings_of(job: Job, name: str = "settings") -> Any:
    """A setting of a rendered job as plain values."""
    return json.loads(job.settings[name])


def of_engine(engine: EngineSettings, steps: int | None = None, devices: int = 1) -> Described:
    """What a training loop says of its cost."""
    return {
        "steps": engine.steps if steps is None else steps,
        "batch_size": engine.batch_size,
        "part_size": max(1, engine.batch_size // engine.accumulation // devices),
        "devices": devices,
        "dtype": engine.dtype,
    }


def inference(size: int, dtype: str, **further: Any) -> Described:
    """Sequences that are sent forward only, in batches of this size."""
    return {"steps": 0, "batch_size": size, "part_size": size, "dtype": dtype, **further}


def noted(*notes: str) -> Mapping[str, str]:
    """The note of a run, each part once."""
    return {"note": "; ".join(dict.fromkeys(filter(None, notes)))}


def common_name(keys: Iterable[str]) -> str:
    """What the keys of jobs have in common: `bert/cola/s1` and `bert/cola/s2` are `bert/cola/s*`."""
    found = []
    for part in zip(*(key.split("/") for key in keys), strict=False):
        start = _shared(part)
        end = _shared([name[len(start) :][::-1] for name in part])[::-1]
        found.append(start if len(set(part)) == 1 else f"{start}*{end}")
    while len(found) > 1 and found[-1] == "*":
        found.pop()
    return "/".join(found)


def _shared(names: Sequence[str]) -> str:
    """The beginning that names share."""
    first, last = min(names), max(names)
    places = range(min(len(first), len(last)))
    return first[: next((place for place in places if first[place] != last[place]), len(places))]
