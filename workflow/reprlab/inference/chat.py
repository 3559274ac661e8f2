"""Answers of a chat model behind an OpenAI-compatible endpoint; each request is sent once and its answer kept."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from reprlab.artifacts.json_files import read_json, write_json
from reprlab.runtime.errors import ReprlabError, first_line

if TYPE_CHECKING:
    from openai import OpenAI

KEY_VARIABLE = "OPENAI_API_KEY"
_AT_ONCE = 8


class ChatSettings(BaseModel):
    """A chat model and how it answers."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str
    """Its name at the endpoint."""
    base_url: str | None = None
    """Address of the endpoint; null: what OPENAI_BASE_URL names, else that of the client."""
    temperature: float = Field(default=0.0, ge=0)
    """Temperature of sampling."""
    max_tokens: int = Field(default=16, ge=1)
    """Longest answer in tokens."""


class Answer(NamedTuple):
    """What a chat model says."""

    text: str
    first: dict[str, float]
    """Log-probability of each of the likeliest first tokens; empty where they were not asked for."""


def ask(prompts: Sequence[str], settings: ChatSettings, cache: Path) -> list[str]:
    """The answer to each prompt, in order; see `converse`."""
    conversations = [[{"role": "user", "content": prompt}] for prompt in prompts]
    return [answer.text for answer in converse(conversations, settings, cache)]


def converse(
    conversations: Sequence[Sequence[Mapping[str, str]]], settings: ChatSettings, cache: Path, likeliest: int = 0
) -> list[Answer]:
    """The answer to each conversation (messages of a `role` and a `content`), in order.

    Answers lie in `cache` by the digest of their request: nothing is asked twice, also not after a failure. The client
    reads the key from OPENAI_API_KEY; it is in no request that is kept and in no message.

    Args:
        likeliest: so many first tokens are asked for with their log-probabilities.

    Raises:
        ReprlabError: there is no key, or the endpoint refuses, cannot be reached, or gives no log-probabilities.
    """
    requests = [_request(messages, settings, likeliest) for messages in conversations]
    places = [cache / f"{_digest({**request, 'base_url': settings.base_url})}.json" for request in requests]
    missing = {place: request for place, request in zip(places, requests, strict=True) if not place.exists()}
    if missing:
        _ask_all(missing, settings)
    found = {place: read_json(place) for place in set(places)}
    kept = {place: Answer(str(one["answer"]), dict(one.get("first", {}))) for place, one in found.items()}
    return [kept[place] for place in places]


def _request(messages: Sequence[Mapping[str, str]], settings: ChatSettings, likeliest: int) -> dict[str, Any]:
    return {
        "messages": [dict(message) for message in messages],
        **settings.model_dump(include={"model", "temperature", "max_tokens"}),
        **({"logprobs": True, "top_logprobs": likeliest} if likeliest else {}),
    }


def _digest(request: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()


def _ask_all(missing: dict[Path, dict[str, Any]], settings: ChatSettings) -> None:
    import openai

    try:
        client = openai.OpenAI(base_url=settings.base_url)
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            for _ in pool.map(lambda item: _keep(client, *item), missing.items()):
                pass
    except openai.AuthenticationError:
        # What the endpoint says of it may quote a part of the key.
        raise ReprlabError(f"chat model {settings.model}: the endpoint refuses the key in {KEY_VARIABLE}") from None
    except openai.OpenAIError as error:
        said = first_line(error).replace(os.environ.get(KEY_VARIABLE) or "\0", "***")
        raise ReprlabError(
            f"chat model {settings.model}: {said}; check {KEY_VARIABLE}, base_url and model, and run the "
            "same command again: what was answered is kept"
        ) from None


def _keep(client: OpenAI, place: Path, request: dict[str, Any]) -> None:
    choice = client.chat.completions.create(**request).choices[0]
    kept: dict[str, Any] = {"request": request, "answer": choice.message.content or ""}
    if "logprobs" in request:
        if choice.logprobs is None or not choice.logprobs.content:
            raise ReprlabError(f"chat model {request['model']}: its endpoint gives no log-probabilities; name another")
        kept["first"] = {one.token: one.logprob for one in choice.logprobs.content[0].top_logprobs}
    place.parent.mkdir(parents=True, exist_ok=True)
    write_json(place, kept)
