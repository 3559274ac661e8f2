"""What a chat model behind a paid endpoint would answer, in its protocol: texts of the wanted form that say nothing."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from tests.published_hub.texts import page

_FRAMES = re.compile(r"JSON list of (\d+) texts")
_ITEMS = re.compile(r"the heading `(.*?)` and one paragraph, then the heading `(.*?)` and a list of (\d+) items")
_CHOICE = re.compile(r"exactly one of: (.*?),")


def completion(request: Mapping[str, Any]) -> dict[str, Any]:
    """The response to a request for a chat completion."""
    asked = _text(request["messages"][-1]["content"])
    number = zlib.crc32(asked.encode())
    text = _answer(asked, number)
    choice: dict[str, Any] = {"index": 0, "finish_reason": "stop", "logprobs": None}
    choice["message"] = {"role": "assistant", "content": text}
    if request.get("logprobs"):
        first = [
            {"token": str((number + place) % 10), "logprob": -0.5 - place, "bytes": None}
            for place in range(request["top_logprobs"])
        ]
        choice["logprobs"] = {"content": [{**first[0], "top_logprobs": first}]}
    sent = sum(len(_text(message["content"]).split()) for message in request["messages"])
    usage = {"prompt_tokens": sent, "completion_tokens": len(text.split())}
    return {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1_700_000_000, "model": request["model"],
        "choices": [choice], "usage": {**usage, "total_tokens": sum(usage.values())},
    }  # fmt: skip


def _text(content: str | Sequence[Mapping[str, Any]]) -> str:
    """A message is a text, or parts of which some are images."""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def _answer(asked: str, number: int) -> str:
    lines = page()
    lines = lines[number % len(lines) :] + lines
    if found := _FRAMES.search(asked):
        return json.dumps([f"Frame {place + 1}: {lines[place]}" for place in range(int(found[1]))])
    if found := _ITEMS.search(asked):
        items = (f"{place + 1}. **Frame**: {lines[place]}" for place in range(int(found[3])))
        return "\n".join([found[1], lines[0], found[2], *items])
    found = _CHOICE.search(asked)
    return found[1] if found else lines[0]
