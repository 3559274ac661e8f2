"""A chat endpoint that breaks, cuts off, filters, floods, or is another one: what is kept, and what is said."""

import json
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from chat_endpoint import KEY, Endpoint, serving, trickling
from reprlab.config.load import load_config
from reprlab.inference import chat
from reprlab.inference.chat import ask, converse
from reprlab.inference.chat_settings import ChatSettings
from reprlab.planning.paper_plans import make_plan
from reprlab.runtime.errors import ReprlabError

ROOT = Path(__file__).parents[2]


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with serving(str.upper) as server:
        yield server


def at(endpoint: Endpoint, **more: Any) -> ChatSettings:
    return ChatSettings(model="m", base_url=endpoint.address, **more)


def choice(**more: Any) -> Callable[[dict[str, Any]], Any]:
    """A change of the only choice of a completion."""
    return lambda completion: {**completion, "choices": [{**completion["choices"][0], **more}]}


def test_the_endpoint_that_the_environment_names_is_in_the_key(
    endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(str.title) as other:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.address)
        assert ask(["one"], ChatSettings(model="m"), tmp_path) == ["ONE"]
        monkeypatch.setenv("OPENAI_BASE_URL", f"{other.address}/")
        assert ask(["one"], ChatSettings(model="m"), tmp_path) == ["One"]
        assert ask(["one"], at(endpoint), tmp_path) == ["ONE"], "named or found, it is the same endpoint"
    assert len(endpoint.asked) == len(other.asked) == 1
    monkeypatch.delenv("OPENAI_BASE_URL")
    assert ChatSettings(model="m").base_url == "https://api.openai.com/v1"


@pytest.mark.parametrize(
    ("paper", "stage"), [("event-relations", "ask_relations"), ("punctuation-restoration", "ask_seq2seq")]
)
def test_another_endpoint_makes_another_job(paper: str, stage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def planned(address: str) -> str:
        monkeypatch.setenv("OPENAI_BASE_URL", address)
        config = load_config(ROOT, {"scale": "mini", "build": [paper], "set": f"papers.{paper}.zero_shot.enabled=true"})
        return json.dumps([job.settings for job in make_plan(config).jobs[stage].values()], default=str)

    assert "http://one/v1" in planned("http://one/v1") and "http://two/v1" in planned("http://two/v1")


def changed_answer(text: str) -> str:
    return text.replace("ONE", "TWO")


@pytest.mark.parametrize("damage", [lambda text: "{}", lambda text: "[]", lambda text: text[:50], changed_answer])
def test_a_kept_answer_that_is_not_what_was_kept_is_asked_for_again(
    endpoint: Endpoint, tmp_path: Path, damage: Callable[[str], str], caplog: pytest.LogCaptureFixture
) -> None:
    assert ask(["one"], at(endpoint), tmp_path) == ["ONE"]
    (place,) = tmp_path.glob("*.json")
    whole = place.read_bytes()
    place.write_text(damage(place.read_text()), encoding="utf-8")
    with caplog.at_level("WARNING", logger="reprlab"):
        assert ask(["one"], at(endpoint), tmp_path) == ["ONE"]
    assert f"{place}: an answer of a chat model that is damaged or was edited; made again" in caplog.text
    assert len(endpoint.asked) == 2 and place.read_bytes() == whole


def test_an_answer_of_another_request_in_the_place_of_this_one_is_not_used(endpoint: Endpoint, tmp_path: Path) -> None:
    ask(["one"], at(endpoint), tmp_path)
    (one,) = tmp_path.glob("*.json")
    ask(["two"], at(endpoint), tmp_path)
    (two,) = set(tmp_path.glob("*.json")) - {one}
    two.write_bytes(one.read_bytes())
    assert ask(["two"], at(endpoint), tmp_path) == ["TWO"] and len(endpoint.asked) == 3


def test_what_is_read_out_of_a_kept_response_follows_an_edit_of_the_code(
    endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(["one"], at(endpoint), tmp_path)
    read = chat._answer
    monkeypatch.setattr(chat, "_answer", lambda *given: (read(*given)[0]._replace(text="edited"), ""))
    assert ask(["one"], at(endpoint), tmp_path) == ["edited"] and len(endpoint.asked) == 1


@pytest.mark.parametrize(
    ("address", "what"),
    [
        ("http://me:secret@host/v1", "user name or password"),
        ("https://host/v1?api-key=secret", "query"),
        ("https://host/v1/?", "query"),
        ("https://host/v1#secret", "fragment"),
        ("https://host/v1;key=secret", "parameter"),
        ("https://host/v1 secret", "white space"),
        ("host/secret", "begins with"),
        ("https://[secret/v1", "not an address"),
    ],
)
def test_an_address_that_may_hold_a_key_is_refused_and_not_shown(
    address: str, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ValueError, match="base_url") as named:
        ChatSettings(model="m", base_url=address)
    monkeypatch.setenv("OPENAI_BASE_URL", address)
    with pytest.raises(ValueError, match="OPENAI_BASE_URL") as found:
        ChatSettings(model="m")
    for refused in (named, found):
        assert what in str(refused.value) and "secret" not in str(refused.value)


# No word of a message or a path.
ODD = "zqK3y9LmW2xP7vTnB4dR8sHj"


@pytest.mark.parametrize("quoted", [ODD, ODD[:8] + "***", "..." + ODD[-4:], ODD[3:16], f"{ODD[:4]}****{ODD[-5:]}"])
@pytest.mark.parametrize("status", [400, 403])
def test_no_part_of_the_key_that_an_endpoint_quotes_is_said(
    endpoint: Endpoint, tmp_path: Path, quoted: str, status: int, caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("OPENAI_API_KEY", ODD)
    endpoint.status = status
    endpoint.shape = lambda completion: {"error": {"message": f"the key {quoted} may not do it"}}
    with caplog.at_level("DEBUG", logger="reprlab"), pytest.raises(ReprlabError, match="may not do it") as refused:
        ask(["one"], at(endpoint), tmp_path)
    said = str(refused.value) + caplog.text + "".join(traceback.format_exception(refused.value))
    parts = [ODD, ODD[:4], ODD[-4:], *(ODD[start : start + 8] for start in range(len(ODD) - 7))]
    assert [part for part in parts if part in said] == []


def test_a_response_that_quotes_the_key_is_kept_without_it(endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.shape = lambda completion: {**completion, "debug": KEY}
    ask(["one"], at(endpoint), tmp_path)
    (place,) = tmp_path.glob("*.json")
    assert KEY not in place.read_text()


@pytest.mark.parametrize(
    ("reason", "text", "said"),
    [
        ("content_filter", None, "withheld by the endpoint's filter"),
        ("stop", None, "without a text"),
        ("stop", "", "without a text"),
        ("length", " \n", "without a text"),
    ],
)
def test_an_answer_that_says_nothing_is_used_and_said_but_not_kept(
    endpoint: Endpoint, tmp_path: Path, caplog: pytest.LogCaptureFixture, reason: str, text: str | None, said: str
) -> None:
    endpoint.shape = choice(finish_reason=reason, message={"role": "assistant", "content": text})
    with caplog.at_level("WARNING", logger="reprlab"):
        assert ask(["one", "two"], at(endpoint), tmp_path) == [text or ""] * 2
    assert f"2 of 2 answers {said}" in caplog.text.replace("are ", "") and not list(tmp_path.iterdir())
    endpoint.shape = None
    assert ask(["one", "two"], at(endpoint), tmp_path) == ["ONE", "TWO"] and len(endpoint.asked) == 4


def test_an_answer_that_was_cut_off_is_kept_as_such(
    endpoint: Endpoint, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Asked again it would be paid again and cut off again; with another longest answer it is another request."""
    endpoint.shape = choice(finish_reason="length", message={"role": "assistant", "content": "ON"})
    for _ in range(2):
        caplog.clear()
        with caplog.at_level("WARNING", logger="reprlab"):
            (answer,) = converse([[{"role": "user", "content": "one"}]], at(endpoint), tmp_path)
        assert answer.text == "ON" and answer.cut and "1 of 1 answers are cut off at max_tokens=16" in caplog.text
    assert len(endpoint.asked) == 1
    endpoint.shape = None
    assert ask(["one"], at(endpoint, max_tokens=17), tmp_path) == ["ONE"] and len(endpoint.asked) == 2


def test_the_longest_answer_has_the_name_that_the_endpoint_takes(endpoint: Endpoint, tmp_path: Path) -> None:
    ask(["one"], at(endpoint), tmp_path)
    ask(["one"], at(endpoint, length_name="max_completion_tokens", temperature=None), tmp_path)
    first, second = endpoint.asked
    assert first["max_tokens"] == 16 and first["temperature"] == 0 and "max_completion_tokens" not in first
    assert second["max_completion_tokens"] == 16 and not {"max_tokens", "temperature"} & set(second)


def test_an_answer_that_does_not_come_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes that trickle in are no answer either: each of them would begin a time-out of the client's own anew."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr(chat, "_RETRIES", 0)
    with trickling(0.1) as address, pytest.raises(ReprlabError, match=r"chat model m: .*timed out"):
        ask(["one"], ChatSettings(model="m", base_url=address, timeout=0.4), tmp_path)
    assert not list(tmp_path.iterdir())


def test_the_first_token_is_whole_where_it_alone_is_asked_for(endpoint: Endpoint, tmp_path: Path) -> None:
    top = {
        "token": "9",
        "logprob": -0.5,
        "bytes": None,
        "top_logprobs": [{"token": "9", "logprob": -0.5, "bytes": None}],
    }
    endpoint.shape = choice(finish_reason="length", logprobs={"content": [top]})
    asked = [[{"role": "user", "content": "one"}]]
    for _ in range(2):
        (answer,) = converse(asked, at(endpoint, max_tokens=1), tmp_path, likeliest=3)
        assert answer.first == {"9": -0.5}
    assert len(endpoint.asked) == 1
    endpoint.shape = None
    with pytest.raises(ReprlabError, match="no log-probabilities"):
        converse(asked, at(endpoint), tmp_path, likeliest=3)


@pytest.mark.parametrize(
    "shape",
    [
        lambda completion: {**completion, "choices": []},
        lambda completion: {**completion, "choices": None},
        lambda completion: {},
        lambda completion: [],
        lambda completion: {**completion, "choices": [{"finish_reason": "stop"}]},
        choice(message={"role": "assistant", "content": {"text": "ONE"}}),
        lambda completion: "<html>a gateway</html>",
    ],
)
def test_a_broken_answer_is_one_line(endpoint: Endpoint, tmp_path: Path, shape: Callable[[Any], Any]) -> None:
    endpoint.shape = shape
    with pytest.raises(ReprlabError, match=r"chat model m: .* is not a chat completion") as broken:
        ask(["one"], at(endpoint), tmp_path)
    assert endpoint.address in str(broken.value) and len(str(broken.value)) < 400 and not list(tmp_path.iterdir())


@pytest.mark.parametrize("status", [200, 400])
def test_a_flood_is_not_read_to_its_end(
    endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setattr(chat, "LARGEST_ANSWER", 1000)
    endpoint.status = status
    endpoint.shape = lambda completion: {**completion, "flood": "x" * 2_000_000}
    with pytest.raises(ReprlabError, match="larger than 1,000 bytes"):
        ask(["one"], at(endpoint), tmp_path)
    assert not list(tmp_path.iterdir()) and len(endpoint.asked) == 1
