"""What a paper downloads, the models that it begins with, and what it asks of paid endpoints."""

from collections.abc import Iterator
from typing import Any

from reprlab.planning.cost_rules.jobs import Jobs, common_name, settings_of
from reprlab.planning.data_sizes import KNOWN_BYTES
from reprlab.planning.plan import Job
from reprlab.registry.dataset_entries import ArchiveEntry, Wanted
from reprlab.registry.models import HubOrigin, ModelEntry, PackageOrigin
from reprlab.reporting.cost_layout import OtherJobs

_NAMED = 3
_COUNTED = ("calls", "asked_tokens", "answered_tokens")
# Tokens of an answer that is a label, and of the question around a pair.
_LABEL, _QUESTION = 5, 80


def other_jobs(jobs: Jobs) -> Iterator[OtherJobs]:
    """Archives in one row, each initial model in its own, and each stage that asks."""
    behind = list(jobs.behind())
    archives = jobs.config.datasets.archives
    yield from _archives([(archives[key], job) for stage, key, job in behind if stage == "fetch_archive"])
    for name, (count, entry) in _models(jobs, behind).items():
        origin = entry.origin
        short = isinstance(origin, PackageOrigin) and origin.dtype != "float32"
        yield OtherJobs(
            stage="build_model", name=name, jobs=count, model=name, from_hub=isinstance(origin, HubOrigin),
            weight_bytes=2 if short else 4,
        )  # fmt: skip
    for stage, ask in _ASKED.items():
        found = [(key, asked) for made, key, job in behind if made == stage and (asked := ask(jobs, key, job))]
        if found:
            sums = {name: sum(asked[name] for _, asked in found) for name in _COUNTED}
            note = next((asked["note"] for _, asked in found if asked.get("note")), "")
            name = common_name([key for key, _ in found])
            yield OtherJobs(stage=stage, name=name, jobs=len(found), note=note, **sums)


def _models(jobs: Jobs, behind: list[tuple[str, str, Job]]) -> dict[str, tuple[int, ModelEntry]]:
    """Models that are written, with how many folders there are of each and whether one of them is of the hub."""
    found: dict[str, tuple[int, ModelEntry]] = {}
    for stage, _, job in behind:
        if stage == "build_model":
            entry = ModelEntry.model_validate_json(job.settings["entry"])
            name = jobs.named(entry)
            count, first = found.get(name, (0, entry))
            found[name] = count + 1, entry if isinstance(entry.origin, HubOrigin) else first
    return found


def _archives(fetched: list[tuple[ArchiveEntry, Job]]) -> Iterator[OtherJobs]:
    if not fetched:
        return
    size, unknown = 0.0, []
    for entry, job in fetched:
        known = [file.bytes for file in Wanted.model_validate_json(job.settings["wanted"]).of(entry).files]
        if None in known and entry.name not in KNOWN_BYTES:
            unknown.append(entry.name)
        size += KNOWN_BYTES.get(entry.name) or sum(each or 0 for each in known)
    more = f" and {len(unknown) - _NAMED} more" if len(unknown) > _NAMED else ""
    note = f"sizes not known: {', '.join(unknown[:_NAMED])}{more}" if unknown else ""
    yield OtherJobs(stage="fetch_archive", name="archives", jobs=len(fetched), downloaded_bytes=size, note=note)


def _annotation(jobs: Jobs, key: str, job: Job) -> dict[str, Any] | None:
    """Each step of each track; answers are as long as they may be. One step sees the frames."""
    settings = settings_of(job)
    if settings["backend"] != "chat":
        return None
    name = key.split("/")[0]
    tracks = sum(jobs.size(name, part).examples for part in ("description", "described")) / job.settings["shards"]
    steps = jobs.size(name, "asked")
    _, _, built = jobs.made_by(str(job.inputs["tracks"]))
    frames = settings_of(built)["seconds"] / settings["frame_seconds"]
    image = settings["image_tokens"].get(settings["chat"]["model"], {}).get(settings["image_detail"], 0)
    return {
        "calls": tracks * steps.examples,
        "asked_tokens": tracks * (steps.examples * (steps.tokens or 0) + frames * image),
        "answered_tokens": tracks * steps.examples * settings["chat"]["max_tokens"],
        "note": "answers as long as they may be",
    }


def _relations(jobs: Jobs, key: str, job: Job) -> dict[str, Any]:
    """Every pair of the test split."""
    data, settings = jobs.key_of(job.inputs["examples"]), settings_of(job)
    documents, pairs = jobs.size(data, "test", settings["events"]["limit"]), jobs.size(data, "pairs")
    count = documents.examples * pairs.examples
    tokens = (pairs.tokens or 0) + _QUESTION
    return {"calls": count, "asked_tokens": count * tokens, "answered_tokens": count * _LABEL, "note": documents.note}


def _pairs(jobs: Jobs, key: str, job: Job) -> dict[str, Any]:
    """Every pair of texts."""
    settings = settings_of(job)
    data = jobs.key_of(job.inputs["pairs"]).split("/")[0]
    size = jobs.size(data, settings["split"], settings["limit"])
    count = size.at_most(settings["limit"])
    asked = count * ((size.tokens or 0) + _QUESTION)
    return {"calls": count, "asked_tokens": asked, "answered_tokens": count * size.answer, "note": size.note}


def _features(jobs: Jobs, key: str, job: Job) -> dict[str, Any] | None:
    """An explanation of each feature, and a digit for each distinct token that it is tried on."""
    settings = settings_of(job)
    if settings["chat"] is None:
        return None
    parts = [jobs.size("universal_features", part) for part in ("explained", "simulated")]
    count = settings["features"]
    return {
        "calls": count * sum(part.examples for part in parts),
        "asked_tokens": count * sum(part.examples * (part.tokens or 0) for part in parts),
        "answered_tokens": count * sum(part.examples * part.answer for part in parts),
    }


_ASKED = {
    "annotate_tracks": _annotation,
    "ask_relations": _relations,
    "ask_seq2seq": _pairs,
    "interpret_features": _features,
}
