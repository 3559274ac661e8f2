"""Answers of a chat model behind an OpenAI-compatible endpoint; each request is sent once and its answer kept."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

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


def ask(prompts: Sequence[str], settings: ChatSettings, cache: Path) -> list[str]:
    """The answer to each prompt, in order.

    Answers lie in `cache` by the digest of their request: nothing is asked twice, also not after a failure. The client
    reads the key from OPENAI_API_KEY; it is in no request that is kept and in no message.

    Raises:
        ReprlabError: there is no key, or the endpoint refuses or cannot be reached.
    """
    requests = [_request(prompt, settings) for prompt in prompts]
    places = [cache / f"{_digest({**request, 'base_url': settings.base_url})}.json" for request in requests]
    missing = {place: request for place, request in zip(places, requests, strict=True) if not place.exists()}
    if missing:
        _ask_all(missing, settings)
    kept = {place: str(read_json(place)["answer"]) for place in set(places)}
    return [kept[place] for place in places]


def _request(prompt: str, settings: ChatSettings) -> dict[str, Any]:
    return {
        "messages": [{"role": "user", "content": prompt}],
        **settings.model_dump(include={"model", "temperature", "max_tokens"}),
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
    answer = client.chat.completions.create(**request).choices[0].message.content or ""
    place.parent.mkdir(parents=True, exist_ok=True)
    write_json(place, {"request": request, "answer": answer})
