"""Answers of a chat model behind an OpenAI-compatible endpoint; each whole answer is kept and never asked for again."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple
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
    temperature: float = Field(default=0.0, ge=0)
    """Temperature of sampling."""
    max_tokens: int = Field(default=16, ge=1)
    """Longest answer in tokens."""

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
) -> list[Answer]:
    """The answer to each conversation (messages of a `role` and a `content`), in order.

    Answers lie in `cache` by the digest of their request and endpoint: nothing is asked twice, also not after a
    failure. One that was cut off, withheld or left empty is used as it is, with a warning, but not kept. The client
    reads the key from OPENAI_API_KEY; it is in no request that is kept and in no message.

    Args:
        likeliest: so many first tokens are asked for with their log-probabilities.
        endpoint: that of a model which is served here; without one, that of the settings and the environment.

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
        found |= _ask_all(missing, settings, endpoint)
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
        **settings.model_dump(include={"model", "temperature", "max_tokens"}),
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
    return Answer(kept.answer, kept.first, kept.tokens)


def _ask_all(
    missing: dict[Path, dict[str, Any]], settings: ChatSettings, endpoint: Endpoint | None
) -> dict[Path, Answer]:
    import openai

    try:
        where = endpoint or Endpoint(settings.base_url or "", "")
        client = openai.OpenAI(
            base_url=where.address, api_key=where.key or None, max_retries=_RETRIES, http_client=_bounded_client()
        )
        with client, ThreadPoolExecutor(_AT_ONCE) as pool:
            said = list(pool.map(lambda place: _keep(client, place, missing[place], settings), missing))
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


def _bounded_client() -> Any:
    """The HTTP client of openai, for responses of at most `LARGEST_ANSWER` bytes after decompression."""
    import openai

    class Bounded(openai.DefaultHttpxClient):
        def send(self, request: Any, **more: Any) -> Any:
            response = super().send(request, **{**more, "stream": True})
            body = bytearray()
            try:
                for piece in response.iter_bytes():
                    body += piece
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


def _keep(client: OpenAI, place: Path, request: dict[str, Any], settings: ChatSettings) -> tuple[Answer, str]:
    """The answer, kept if it is whole, and what it lacks otherwise."""
    raw = client.chat.completions.with_raw_response.create(**request)
    try:
        completion = _Completion.model_validate_json(raw.content)
    except ValidationError as error:
        place_of_it = ".".join(map(str, error.errors()[0]["loc"])) or "body"
        raise ReprlabError(
            f"chat model {settings.model}: what {settings.base_url} answers is not a chat completion "
            f"({place_of_it}: {error.errors()[0]['msg'][:100]}); check base_url"
        ) from None
    choice, used = completion.choices[0], completion.usage or _Usage()
    first: dict[str, float] = {}
    if "logprobs" in request:
        if choice.logprobs is None or not choice.logprobs.content or not choice.logprobs.content[0].top_logprobs:
            raise ReprlabError(f"chat model {settings.model}: its endpoint gives no log-probabilities; name another")
        first = {one.token: one.logprob for one in choice.logprobs.content[0].top_logprobs}
    answer = Answer(choice.message.content or "", first, (used.prompt_tokens, used.completion_tokens))
    flaw = _flaw(choice, settings, first_alone=bool(first))
    if not flaw:
        place.parent.mkdir(parents=True, exist_ok=True)
        kept = {"answer": answer.text, "first": first, "tokens": list(answer.tokens)}
        write_json(place, {"request": request, "base_url": settings.base_url, **kept})
    return answer, flaw


def _flaw(choice: _Choice, settings: ChatSettings, *, first_alone: bool) -> str:
    """Why an answer is not whole; '' where it is. Where the first token alone is asked for, it is all there is."""
    if choice.finish_reason == "content_filter":
        return "withheld by the endpoint's filter"
    if first_alone:
        return ""
    if choice.finish_reason == _CUT_OFF:
        return f"cut off at max_tokens={settings.max_tokens}"
    return "without a text" if choice.message.content is None else ""
