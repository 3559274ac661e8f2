"""Answers of a chat model behind an OpenAI-compatible endpoint; each whole answer is kept and never asked for again."""

from __future__ import annotations

import hashlib
import json
import math
import os
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Protocol
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError, field_validator

from reprlab.artifacts.json_files import read_json, write_json
from reprlab.runtime.errors import ReprlabError, first_line
from reprlab.runtime.log import get_logger

if TYPE_CHECKING:
    from openai import OpenAI

KEY_VARIABLE = "OPENAI_API_KEY"
ADDRESS_VARIABLE = "OPENAI_BASE_URL"
DEFAULT_ADDRESS = "https://api.openai.com/v1"
LARGEST_ANSWER = 8 * 2**20
"""Bytes of the largest response that is read."""
_AT_ONCE = 8
# Each waits twice as long as the one before, up to eight seconds, or as long as the endpoint asks.
_RETRIES = 5
_CUT_OFF = "length"


class ChatSettings(BaseModel):
    """A chat model and how it answers."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    model: str
    """Its name at the endpoint."""
    base_url: str | None = Field(default=None, validate_default=True)
    """Address of the endpoint; null: what OPENAI_BASE_URL names, else OpenAI's own."""
    temperature: float | None = Field(default=0.0, ge=0)
    """Temperature of sampling; null sends none, for models that take no other than their own."""
    max_tokens: int = Field(default=16, ge=1)
    """Longest answer in tokens."""
    length_name: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """What the endpoint calls the longest answer; newer models of OpenAI refuse max_tokens."""
    timeout: float = Field(default=300.0, gt=0)
    """Seconds that an answer may take, from the question to its last byte."""

    @field_validator("base_url")
    @classmethod
    def _the_one_that_is_meant(cls, base_url: str | None) -> str:
        # What the environment names is a setting from here on: it is in the key of a kept answer and of a planned job.
        address = (base_url or os.environ.get(ADDRESS_VARIABLE) or DEFAULT_ADDRESS).rstrip("/")
        if "@" in urlsplit(address).netloc:
            raise ValueError(
                f"base_url (or {ADDRESS_VARIABLE}): it is recorded, so no user name or password stands in it"
            )
        return address


class Answer(NamedTuple):
    """What a chat model says."""

    text: str
    first: dict[str, float]
    """Log-probability of each of the likeliest first tokens; empty where they were not asked for."""
    tokens: tuple[int, int] = (0, 0)
    """Tokens that were sent and answered, as the endpoint counts them."""
    cut: bool = False
    """Whether it ends because it is as long as an answer may be."""


class Purse(Protocol):
    """What pays for requests; both are called from several threads."""

    def reserve(self, request: Mapping[str, Any]) -> None:
        """Set aside what a request costs at most.

        Raises:
            ReprlabError: it is not there; the request is not sent.
        """
        ...

    def settle(self, request: Mapping[str, Any], tokens: tuple[int, int] | None) -> None:
        """Pay for a request with its tokens of prompt and answer; None: it failed, and nobody says what it cost."""
        ...


class Endpoint(NamedTuple):
    """Where a model answers for now, which is not among what its answers are kept by."""

    address: str
    key: str


class _Kept(BaseModel):
    """An answer as it lies in the cache."""

    request: dict[str, Any]
    base_url: str
    answer: str
    first: dict[str, FiniteFloat] = {}
    tokens: tuple[int, int] = (0, 0)
    cut: bool = False


class _Token(BaseModel):
    token: str
    logprob: FiniteFloat


class _Likeliest(BaseModel):
    top_logprobs: list[_Token]


class _Logprobs(BaseModel):
    content: list[_Likeliest] | None = None


class _Message(BaseModel):
    content: str | None = None


class _Choice(BaseModel):
    finish_reason: str | None = None
    message: _Message
    logprobs: _Logprobs | None = None


class _Usage(BaseModel):
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Completion(BaseModel):
    """What is read of a response; endpoints differ in the rest."""

    choices: Annotated[list[_Choice], Field(min_length=1)]
    usage: _Usage | None = None


def ask(prompts: Sequence[str], settings: ChatSettings, cache: Path) -> list[str]:
    """The answer to each prompt, in order; see `converse`."""
    conversations = [[{"role": "user", "content": prompt}] for prompt in prompts]
    return [answer.text for answer in converse(conversations, settings, cache)]


def converse(
    conversations: Sequence[Sequence[Mapping[str, Any]]],
    settings: ChatSettings,
    cache: Path,
    likeliest: int = 0,
    endpoint: Endpoint | None = None,
    purse: Purse | None = None,
) -> list[Answer]:
    """The answer to each conversation (messages of a `role` and a `content`), in order.

    Answers lie in `cache` by the digest of their request and endpoint: nothing is asked twice, also not after a
    failure. One that was cut off is kept as such (asked again it would be cut off again); one that was withheld or left
    empty is used as it is and not kept; both with a warning. The client reads the key from OPENAI_API_KEY; it is in no
    request that is kept and in no message.

    Args:
        likeliest: so many first tokens are asked for with their log-probabilities.
        endpoint: that of a model which is served here; without one, that of the settings and the environment.
        purse: what pays for each request that is sent; kept answers cost nothing.

    Raises:
        ReprlabError: there is no key; the endpoint refuses, cannot be reached, gives no log-probabilities, or answers
            with what is not a chat completion or larger than `LARGEST_ANSWER`; or a kept answer is damaged.
    """
    requests = [_request(messages, settings, likeliest) for messages in conversations]
    places = [place_of(request, settings, cache) for request in requests]
    asked = dict(zip(places, requests, strict=True))
    found = {place: _read(place, request, settings) for place, request in asked.items() if place.exists()}
    missing = {place: request for place, request in asked.items() if place not in found}
    if missing:
        found |= _ask_all(missing, settings, endpoint, purse)
    if cut := sum(found[place].cut for place in asked):
        get_logger().warning(
            "chat model %s: %d of %d answers are cut off at %s=%d; used as they are", settings.model, cut, len(asked),
            settings.length_name, settings.max_tokens,
        )  # fmt: skip
    return [found[place] for place in places]


def unanswered(
    conversations: Sequence[Sequence[Mapping[str, Any]]], settings: ChatSettings, cache: Path
) -> list[Sequence[Mapping[str, Any]]]:
    """The conversations to which no answer is kept: what asking for all would send."""
    return [one for one in conversations if not place_of(_request(one, settings, 0), settings, cache).exists()]


def place_of(request: Mapping[str, Any], settings: ChatSettings, cache: Path) -> Path:
    """Where the answer to a request lies."""
    return cache / f"{_digest({**request, 'base_url': settings.base_url})}.json"


def _request(messages: Sequence[Mapping[str, Any]], settings: ChatSettings, likeliest: int) -> dict[str, Any]:
    return {
        "messages": [dict(message) for message in messages],
        **settings.model_dump(include={"model", "temperature"}, exclude_none=True),
        settings.length_name: settings.max_tokens,
        **({"logprobs": True, "top_logprobs": likeliest} if likeliest else {}),
    }


def _digest(request: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()


def _read(place: Path, request: dict[str, Any], settings: ChatSettings) -> Answer:
    value, remedy = read_json(place), "delete it and run the same command again"
    try:
        kept = _Kept.model_validate(value)
    except ValidationError:
        raise ReprlabError(f"{place}: not an answer of a chat model; {remedy}") from None
    if kept.request != request or kept.base_url != settings.base_url or ("logprobs" in request) != bool(kept.first):
        raise ReprlabError(f"{place}: the answer of another request; {remedy}")
    return Answer(kept.answer, kept.first, kept.tokens, kept.cut)


def _ask_all(
    missing: dict[Path, dict[str, Any]], settings: ChatSettings, endpoint: Endpoint | None, purse: Purse | None
) -> dict[Path, Answer]:
    import openai

    try:
        where = endpoint or Endpoint(settings.base_url or "", "")
        # A model that is served here answers one request after the other, however long that takes.
        seconds = settings.timeout if endpoint is None else None
        client = openai.OpenAI(
            base_url=where.address, api_key=where.key or None, max_retries=_RETRIES, timeout=seconds,
            http_client=_bounded_client(seconds),
        )  # fmt: skip
        with client, ThreadPoolExecutor(_AT_ONCE) as pool:
            said = list(pool.map(lambda place: _keep(client, place, missing[place], settings, purse), missing))
    except openai.AuthenticationError:
        # What the endpoint says of it may quote a part of the key.
        raise ReprlabError(f"chat model {settings.model}: the endpoint refuses the key in {KEY_VARIABLE}") from None
    except openai.OpenAIError as error:
        said_of_it = first_line(error).replace(os.environ.get(KEY_VARIABLE) or "\0", "***")
        raise ReprlabError(
            f"chat model {settings.model}: {said_of_it}; check {KEY_VARIABLE}, base_url and model, and run the "
            "same command again: what was answered is kept"
        ) from None
    for flaw, count in Counter(flaw for _, flaw in said if flaw).items():
        get_logger().warning(
            "chat model %s: %d of %d answers are %s; used as they are, not kept", settings.model, count, len(said), flaw
        )
    return {place: answer for place, (answer, _) in zip(missing, said, strict=True)}


def _bounded_client(seconds: float | None) -> Any:
    """The HTTP client of openai, for responses of at most `LARGEST_ANSWER` bytes after decompression that are there
    after so many seconds: its own time-out begins anew with each byte."""
    import openai

    class Bounded(openai.DefaultHttpxClient):
        def send(self, request: Any, **more: Any) -> Any:
            end = math.inf if seconds is None else time.monotonic() + seconds
            response = super().send(request, **{**more, "stream": True})
            body = bytearray()
            try:
                for piece in response.iter_bytes():
                    body += piece
                    if time.monotonic() > end:
                        raise openai.APITimeoutError(request)
                    if len(body) > LARGEST_ANSWER:
                        raise openai.OpenAIError(
                            f"{request.url} answers with what is larger than {LARGEST_ANSWER:,} bytes"
                        )
            finally:
                response.close()
            # The body is decoded here, so that what describes its form on the way no longer holds.
            sent = {"content-encoding", "content-length", "transfer-encoding"}
            headers = [(name, value) for name, value in response.headers.multi_items() if name.lower() not in sent]
            return type(response)(response.status_code, headers=headers, content=bytes(body), request=request)

    return Bounded()


def _keep(
    client: OpenAI, place: Path, request: dict[str, Any], settings: ChatSettings, purse: Purse | None
) -> tuple[Answer, str]:
    """The answer, kept unless it is withheld or empty, and what it lacks then."""
    if purse is not None:
        purse.reserve(request)
    used: _Usage | None = None
    try:
        raw = client.chat.completions.with_raw_response.create(**request)
        completion = _completion(raw.content, settings)
        used = completion.usage or _Usage()
    finally:
        if purse is not None:
            purse.settle(request, None if used is None else (used.prompt_tokens, used.completion_tokens))
    choice = completion.choices[0]
    first: dict[str, float] = {}
    if "logprobs" in request:
        if choice.logprobs is None or not choice.logprobs.content or not choice.logprobs.content[0].top_logprobs:
            raise ReprlabError(f"chat model {settings.model}: its endpoint gives no log-probabilities; name another")
        first = {one.token: one.logprob for one in choice.logprobs.content[0].top_logprobs}
    # Where the first token alone is asked for, it is all there is.
    cut = choice.finish_reason == _CUT_OFF and not first
    text = choice.message.content or ""
    answer = Answer(text, first, (used.prompt_tokens, used.completion_tokens), cut)
    flaw = _flaw(choice, first_alone=bool(first))
    if not flaw:
        place.parent.mkdir(parents=True, exist_ok=True)
        kept = {"answer": answer.text, "first": first, "tokens": list(answer.tokens), "cut": cut}
        write_json(place, {"request": request, "base_url": settings.base_url, **kept})
    return answer, flaw


def _completion(content: bytes, settings: ChatSettings) -> _Completion:
    try:
        return _Completion.model_validate_json(content)
    except ValidationError as error:
        place_of_it = ".".join(map(str, error.errors()[0]["loc"])) or "body"
        raise ReprlabError(
            f"chat model {settings.model}: what {settings.base_url} answers is not a chat completion "
            f"({place_of_it}: {error.errors()[0]['msg'][:100]}); check base_url"
        ) from None


def _flaw(choice: _Choice, *, first_alone: bool) -> str:
    """Why an answer is not worth keeping; '' where it is."""
    if choice.finish_reason == "content_filter":
        return "withheld by the endpoint's filter"
    return "" if first_alone or (choice.message.content or "").strip() else "without a text"
