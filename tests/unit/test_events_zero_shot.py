"""The row of a chat model: real requests of the openai client to a local server, each sent once."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from event_samples import write_documents
from reprlab.artifacts.tables import read_parquet, read_tsv
from reprlab.config.load import load_config
from reprlab.events.settings import ZeroShotClassification
from reprlab.events.zero_shot import answered_label, relation_prompt
from reprlab.papers.planning import make_plan
from reprlab.runtime.errors import ReprlabError
from reprlab.stages.ask_relations import ask_relations

ROOT = Path(__file__).parents[2]
KEY = "sk-a-secret-of-this-test"


class Endpoint(ThreadingHTTPServer):
    """Says that t0 is a cause, and nothing of other events; keeps what it is asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.asked: list[dict[str, Any]] = []
        self.lock = threading.Lock()
        self.status = 200

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class Answer(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with self.server.lock:
            self.server.asked.append({"path": self.path, "key": self.headers["authorization"], **request})
        message = {
            "role": "assistant",
            "content": " It is CAUSE, not entails." if "t0" in request["messages"][0]["content"] else "none",
        }
        content: dict[str, Any] = {"id": "1", "object": "chat.completion", "created": 1, "model": "m"}
        content["choices"] = [{"index": 0, "finish_reason": "stop", "message": message}]
        if self.server.status != 200:
            content = {"error": {"message": f"the key {KEY} is wrong"}}
        body = json.dumps(content).encode()
        self.send_response(self.server.status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        """Nothing on the terminal."""


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server = Endpoint()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


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
    assert set(pairs.predicted) == {"CAUSE"}, "t0 is in its prompts"
    assert (answers[answers["head"] == 1].predicted == "NONE").all()
    scores = read_tsv(tmp_path / "scores.tsv")
    assert set(scores.name) == {"model", "majority relation", "no relation"} and set(scores.split) == {"test"}
    # The same pair of sentences is one request, whatever document it stands in.
    prompts = [request["messages"][0]["content"] for request in endpoint.asked]
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
    assert "ask_relations" not in make_plan(load_config(ROOT, {"scale": "paper"})).jobs
    edited = load_config(ROOT, {"scale": "paper", "set": "papers.event-relations.zero_shot.enabled=true"})
    jobs = make_plan(edited).jobs["ask_relations"]
    assert sorted(jobs) == [f"event_storyline_v0_9/wrapped.fold{fold}" for fold in range(5)]
