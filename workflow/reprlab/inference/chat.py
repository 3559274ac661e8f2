"""Answers of a chat model behind an OpenAI-compatible endpoint; each whole answer is kept and never asked for again.

What is kept is the endpoint's own response, by request and address (`artifacts.kept`): what is read out of it is read
anew each time, so that an edit of this code reaches results, and no answer is paid for twice.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

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
    tokens: tuple[int, int] = (0, 0)
    """Tokens that were sent and answered, as the endpoint counts them."""


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
) -> list[Answer]:
    """The answer to each conversation (messages of a `role` and a `content`), in order.

    Responses lie in `cache` by their request and address: nothing is asked twice, also not after a failure, unless the
    kept file is damaged or was edited. An answer that was cut off, withheld or left empty is used as it is, with a
    warning, but not kept. The client reads the key from OPENAI_API_KEY; it is in no request that is kept and in no
    message. Nothing is kept of a model that is served here: it gives the same answers again, and no other model may.

    Args:
        likeliest: so many first tokens are asked for with their log-probabilities.
        endpoint: that of a model which is served here; without one, that of the settings and the environment.

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
        if kept and (answer := _kept_answer(kept, request, settings)) is not None:
            found[text] = answer
    missing = {text: request for text, request in asked.items() if text not in found}
    if missing:
        found |= _ask_all(missing, settings, endpoint, kept)
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
        **settings.model_dump(include={"model", "temperature", "max_tokens"}),
        **({"logprobs": True, "top_logprobs": likeliest} if likeliest else {}),
    }


def _by(request: Mapping[str, Any], settings: ChatSettings) -> dict[str, Any]:
    return {"request": request, "base_url": settings.base_url}


def _kept_answer(kept: Kept, request: dict[str, Any], settings: ChatSettings) -> Answer | None:
    body = kept.read(_by(request, settings))
    if not isinstance(body, str):
        return None
    try:
        answer, flaw = _answer(body, request, settings, settings.base_url or "")
    except ReprlabError as error:
        # Whole when it was kept: this code reads more of it than it did then.
        get_logger().warning("%s; asked again", error)
        return None
    return None if flaw else answer


def _ask_all(
    missing: dict[str, dict[str, Any]], settings: ChatSettings, endpoint: Endpoint | None, kept: Kept | None
) -> dict[str, Answer]:
    import openai

    name = endpoint.name if endpoint else settings.model
    try:
        where = endpoint or Endpoint(settings.base_url or "", "", "")
        client = openai.OpenAI(
            base_url=where.address, api_key=where.key or None, max_retries=_RETRIES, http_client=_bounded_client()
        )
        with client, ThreadPoolExecutor(_AT_ONCE) as pool:
            said = list(pool.map(lambda one: _asked(client, one, settings, where.address, kept), missing.values()))
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


def _asked(
    client: OpenAI, request: dict[str, Any], settings: ChatSettings, address: str, kept: Kept | None
) -> tuple[Answer, str]:
    """The answer, its response kept if it is whole, and what it lacks otherwise."""
    raw = client.chat.completions.with_raw_response.create(**request)
    body = raw.content.decode("utf-8", errors="replace")
    answer, flaw = _answer(body, request, settings, address)
    if not flaw and kept:
        kept.keep(_by(request, settings), body.replace(os.environ.get(KEY_VARIABLE) or "\0", "***"))
    return answer, flaw


def _answer(body: str, request: Mapping[str, Any], settings: ChatSettings, address: str) -> tuple[Answer, str]:
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
    answer = Answer(choice.message.content or "", first, (used.prompt_tokens, used.completion_tokens))
    return answer, _flaw(choice, settings, first_alone=bool(first))


def _flaw(choice: _Choice, settings: ChatSettings, *, first_alone: bool) -> str:
    """Why an answer is not whole; '' where it is. Where the first token alone is asked for, it is all there is."""
    if choice.finish_reason == "content_filter":
        return "withheld by the endpoint's filter"
    if first_alone:
        return ""
    if choice.finish_reason == _CUT_OFF:
        return f"cut off at max_tokens={settings.max_tokens}"
    return "without a text" if choice.message.content is None else ""
