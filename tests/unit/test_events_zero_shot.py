"""The row of a chat model: real requests of the openai client to a local server, each sent once."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chat_endpoint import KEY, Endpoint, serving
from event_samples import write_documents
from reprlab.artifacts.tables import read_parquet, read_tsv
from reprlab.config.load import load_config
from reprlab.events.settings import ZeroShotClassification
from reprlab.events.zero_shot import answered_label, relation_prompt
from reprlab.planning.paper_plans import make_plan
from reprlab.runtime.errors import ReprlabError
from reprlab.stages.ask_relations import ask_relations

ROOT = Path(__file__).parents[2]


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    """Says that good is a cause, and nothing of other events."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with serving(lambda prompt: " It is CAUSE, not entails." if "<m> good" in prompt else "none") as server:
        yield server


def arguments(folder: Path, endpoint: Endpoint, **chat: object) -> dict[str, Any]:
    examples = write_documents(folder / "events.parquet", {"train": 2, "validation": 1, "test": 2})
    asked = {"model": "m", "base_url": endpoint.address, **chat}
    settings = ZeroShotClassification.model_validate({"events": {}, "labels": ["CAUSE", "ENTAILS"], "chat": asked})
    out = {"out": folder / "answers.parquet", "metrics": folder / "scores.tsv"}
    return {"examples": examples, "cache": folder / "cache", "settings": settings, **out}


def test_every_pair_is_asked_once_and_scored(endpoint: Endpoint, tmp_path: Path) -> None:
    ask_relations(**arguments(tmp_path, endpoint))
    answers = read_parquet(tmp_path / "answers.parquet").to_pandas()
    # Test documents of four, five and one mentions.
    assert len(answers) == 6 + 10
    pairs = answers[(answers.document == "test0") & (answers["head"] == 0)]
    assert set(pairs.predicted) == {"CAUSE"}, "good is in its prompts"
    assert (answers[answers["head"] == 1].predicted == "NONE").all()
    scores = read_tsv(tmp_path / "scores.tsv")
    assert set(scores.name) == {"model", "majority relation", "no relation", "pair of words"} and set(scores.split) == {
        "test"
    }
    # The same pair of sentences is one request, whatever document it stands in.
    prompts = endpoint.prompts
    assert len(prompts) == len(set(prompts)) and all("Answer with one of" in prompt for prompt in prompts)
    assert {(request["path"], request["key"], request["temperature"]) for request in endpoint.asked} == {
        ("/v1/chat/completions", f"Bearer {KEY}", 0.0)
    }
    before = (tmp_path / "answers.parquet").read_bytes(), (tmp_path / "scores.tsv").read_bytes()
    ask_relations(**arguments(tmp_path, endpoint))
    assert len(endpoint.asked) == len(prompts), "an answer is kept"
    assert before == ((tmp_path / "answers.parquet").read_bytes(), (tmp_path / "scores.tsv").read_bytes())
    ask_relations(**arguments(tmp_path, endpoint, model="another"))
    assert len(endpoint.asked) == 2 * len(prompts)
    assert not any(KEY in path.read_text(encoding="utf-8") for path in (tmp_path / "cache").rglob("*.json"))


def test_a_refused_key_is_one_line_without_the_key(
    endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint.status = 401
    with pytest.raises(ReprlabError, match="refuses the key in OPENAI_API_KEY") as refused:
        ask_relations(**arguments(tmp_path, endpoint))
    assert KEY not in str(refused.value) and not (tmp_path / "scores.tsv").exists()
    endpoint.status = 404
    with pytest.raises(ReprlabError, match="check OPENAI_API_KEY, base_url and model") as refused:
        ask_relations(**arguments(tmp_path, endpoint))
    assert KEY not in str(refused.value)
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(ReprlabError, match="OPENAI_API_KEY"):
        ask_relations(**arguments(tmp_path, endpoint))


def test_the_first_label_of_an_answer_counts() -> None:
    names = ["NONE", "CAUSE", "CAUSED_BY"]
    answers = ("Cause", "caused_by.", "It is none; not CAUSE", "because", "")
    assert [answered_label(answer, names) for answer in answers] == [1, 2, 0, 0, 0]
    prompt = relation_prompt("a <m> b </m>", "c <m> d </m>", names)
    assert "Event 1: a <m> b </m>\nEvent 2: c <m> d </m>" in prompt and "NONE, CAUSE, CAUSED_BY" in prompt


def test_it_is_off_by_default_and_planned_where_it_is_asked_for() -> None:
    assert "ask_relations" not in make_plan(load_config(ROOT, {"scale": "paper", "build": ["event-relations"]})).jobs
    edited = load_config(
        ROOT, {"scale": "paper", "build": ["event-relations"], "set": "papers.event-relations.zero_shot.enabled=true"}
    )
    jobs = make_plan(edited).jobs["ask_relations"]
    assert sorted(jobs) == [f"event_storyline_v0_9/wrapped.fold{fold}" for fold in range(5)]
