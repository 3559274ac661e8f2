"""Answers of a chat model behind an OpenAI-compatible endpoint; each whole answer is kept and never asked for again.

What is kept is the endpoint's own response, by request and address (`artifacts.kept`): what is read out of it is read
anew each time, so that an edit of this code reaches results, and no answer is paid for twice.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Protocol

from pydantic import BaseModel, Field, FiniteFloat, ValidationError

from reprlab.artifacts.kept import Kept
from reprlab.inference.chat_settings import ChatSettings
from reprlab.runtime.errors import ReprlabError, first_line
from reprlab.runtime.log import get_logger

if TYPE_CHECKING:
    from openai import OpenAI

KEY_VARIABLE = "OPENAI_API_KEY"
LARGEST_ANSWER = 8 * 2**20
"""Bytes of the largest response that is read."""
_AT_ONCE = 8
# Each waits twice as long as the one before, up to eight seconds, or as long as the endpoint asks.
_RETRIES = 5
_CUT_OFF = "length"
# So many characters at the beginning or the end of a key are enough to tell it by; inside, twice as many.
_QUOTED = 4


class Answer(NamedTuple):
    """What a chat model says."""

    text: str
    first: dict[str, float]
    """Log-probability of each of the likeliest first tokens; empty where they were not asked for."""
    tokens: tuple[int, int]
    """Tokens that were sent and answered, as the endpoint counts them."""
    cut: bool
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
    """Where a model answers that is served here, for as long as a context lasts."""

    address: str
    key: str
    name: str
    """What answers: the model, with a digest of its files and of the code that serves it."""


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

    Responses lie in `cache` by their request and address: nothing is asked twice, also not after a failure, unless the
    kept file is damaged or was edited. An answer that was cut off is kept as such (asked again it would be cut off
    again); one that was withheld or left empty is used as it is and not kept; both with a warning. The client reads the
    key from OPENAI_API_KEY; it is in no request that is kept and in no message. Nothing is kept of a model that is
    served here: it gives the same answers again, and no other model may.

    Args:
        likeliest: so many first tokens are asked for with their log-probabilities.
        endpoint: that of a model which is served here; without one, that of the settings and the environment.
        purse: what pays for each request that is sent; kept answers cost nothing.

    Raises:
        ReprlabError: there is no key; the endpoint refuses, cannot be reached, gives no log-probabilities, or answers
            with what is not a chat completion or larger than `LARGEST_ANSWER`.
    """
    requests = [_request(messages, settings, likeliest) for messages in conversations]
    if endpoint:
        requests = [{**request, "model": endpoint.name} for request in requests]
    texts = [json.dumps(request, sort_keys=True) for request in requests]
    asked = dict(zip(texts, requests, strict=True))
    kept = None if endpoint else answers_in(cache)
    found: dict[str, Answer] = {}
    for text, request in asked.items():
        if kept is not None and (answer := _kept_answer(kept, request, settings)) is not None:
            found[text] = answer
    missing = {text: request for text, request in asked.items() if text not in found}
    if missing:
        found |= _ask_all(missing, settings, endpoint, kept, purse)
    if cut := sum(one.cut for one in found.values()):
        get_logger().warning(
            "chat model %s: %d of %d answers are cut off at %s=%d; used as they are", settings.model, cut, len(asked),
            settings.length_name, settings.max_tokens,
        )  # fmt: skip
    return [found[text] for text in texts]


def unanswered(
    conversations: Sequence[Sequence[Mapping[str, Any]]], settings: ChatSettings, cache: Path
) -> list[Sequence[Mapping[str, Any]]]:
    """The conversations to which no answer is kept: what asking for all would send."""
    kept = answers_in(cache)
    return [one for one in conversations if _kept_answer(kept, _request(one, settings, 0), settings) is None]


def answers_in(cache: Path) -> Kept:
    """Where responses of endpoints are kept."""
    return Kept(cache, "an answer of a chat model")


def _request(messages: Sequence[Mapping[str, Any]], settings: ChatSettings, likeliest: int) -> dict[str, Any]:
    return {
        "messages": [dict(message) for message in messages],
        **settings.model_dump(include={"model", "temperature"}, exclude_none=True),
        settings.length_name: settings.max_tokens,
        **({"logprobs": True, "top_logprobs": likeliest} if likeliest else {}),
    }


def _by(request: Mapping[str, Any], settings: ChatSettings) -> dict[str, Any]:
    return {"request": request, "base_url": settings.base_url}


def _kept_answer(kept: Kept, request: dict[str, Any], settings: ChatSettings) -> Answer | None:
    body = kept.read(_by(request, settings))
    if not isinstance(body, str):
        return None
    try:
        answer, flaw = _answer(body, request, settings.base_url or "")
    except ReprlabError as error:
        # Whole when it was kept: this code reads more of it than it did then.
        get_logger().warning("%s; asked again", error)
        return None
    return None if flaw else answer


def _ask_all(
    missing: dict[str, dict[str, Any]],
    settings: ChatSettings,
    endpoint: Endpoint | None,
    kept: Kept | None,
    purse: Purse | None,
) -> dict[str, Answer]:
    import openai

    name = endpoint.name if endpoint else settings.model
    try:
        where = endpoint or Endpoint(settings.base_url or "", "", "")
        # A model that is served here answers one request after the other, however long that takes.
        seconds = settings.timeout if endpoint is None else None
        client = openai.OpenAI(
            base_url=where.address, api_key=where.key or None, max_retries=_RETRIES, timeout=seconds,
            http_client=_bounded_client(seconds),
        )  # fmt: skip

        def one_of_them(request: dict[str, Any]) -> tuple[Answer, str]:
            return _asked(client, request, settings, where.address, kept, purse)

        with client, ThreadPoolExecutor(_AT_ONCE) as pool:
            said = list(pool.map(one_of_them, missing.values()))
    except openai.AuthenticationError:
        # What the endpoint says of it may quote a part of the key.
        raise ReprlabError(f"chat model {name}: the endpoint refuses the key in {KEY_VARIABLE}") from None
    except openai.OpenAIError as error:
        said_of_it = without_key(first_line(error), os.environ.get(KEY_VARIABLE, ""))
        raise ReprlabError(
            f"chat model {name}: {said_of_it}; check {KEY_VARIABLE}, base_url and model, and run the "
            "same command again: what was answered is kept"
        ) from None
    for flaw, count in Counter(flaw for _, flaw in said if flaw).items():
        get_logger().warning(
            "chat model %s: %d of %d answers are %s; used as they are, not kept", name, count, len(said), flaw
        )
    return {text: answer for text, (answer, _) in zip(missing, said, strict=True)}


def without_key(text: str, key: str) -> str:
    """A message without what it quotes of a key: the whole, its beginning or end, or any longer part."""
    if not key:
        return text
    found = text.replace(key, "***")
    for size in range(len(key) - 1, _QUOTED - 1, -1):
        inner = range(len(key) - size + 1) if size >= 2 * _QUOTED else (0, len(key) - size)
        for start in inner:
            found = found.replace(key[start : start + size], "***")
    return found


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


def _asked(
    client: OpenAI, request: dict[str, Any], settings: ChatSettings, address: str, kept: Kept | None,
    purse: Purse | None,
) -> tuple[Answer, str]:  # fmt: skip
    """The answer, its response kept unless it is withheld or empty, and what it lacks then."""
    if purse is not None:
        purse.reserve(request)
    used: tuple[int, int] | None = None
    try:
        raw = client.chat.completions.with_raw_response.create(**request)
        body = raw.content.decode("utf-8", errors="replace")
        answer, flaw = _answer(body, request, address)
        used = answer.tokens
    finally:
        if purse is not None:
            purse.settle(request, used)
    if not flaw and kept:
        kept.keep(_by(request, settings), body.replace(os.environ.get(KEY_VARIABLE) or "\0", "***"))
    return answer, flaw


def _answer(body: str, request: Mapping[str, Any], address: str) -> tuple[Answer, str]:
    """What a response says, and what it lacks."""
    try:
        completion = _Completion.model_validate_json(body)
    except ValidationError as error:
        place_of_it = ".".join(map(str, error.errors()[0]["loc"])) or "body"
        raise ReprlabError(
            f"chat model {request['model']}: what {address} answers is not a chat completion "
            f"({place_of_it}: {error.errors()[0]['msg'][:100]}); check base_url"
        ) from None
    choice, used = completion.choices[0], completion.usage or _Usage()
    first: dict[str, float] = {}
    if "logprobs" in request:
        if choice.logprobs is None or not choice.logprobs.content or not choice.logprobs.content[0].top_logprobs:
            raise ReprlabError(f"chat model {request['model']}: its endpoint gives no log-probabilities; name another")
        first = {one.token: one.logprob for one in choice.logprobs.content[0].top_logprobs}
    # Where the first token alone is asked for, it is all there is.
    cut = choice.finish_reason == _CUT_OFF and not first
    answer = Answer(choice.message.content or "", first, (used.prompt_tokens, used.completion_tokens), cut)
    return answer, _flaw(choice, first_alone=bool(first))


def _flaw(choice: _Choice, *, first_alone: bool) -> str:
    """Why an answer is not worth keeping; '' where it is."""
    if choice.finish_reason == "content_filter":
        return "withheld by the endpoint's filter"
    return "" if first_alone or (choice.message.content or "").strip() else "without a text"
