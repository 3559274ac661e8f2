"""What requests to a chat model cost, within a budget that no request exceeds and that outlives a stopped run."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reprlab.data.json_lines import json_lines
from reprlab.runtime.errors import ReprlabError

# English has about four characters a token; of other scripts a character is a token or more.
_CHARACTERS = 4
# Tokens around a message, and around a conversation.
_AROUND = 8


@dataclass(frozen=True)
class Prices:
    """Dollars for a million tokens, and tokens of an image; the longest answer is part of a request."""

    prompt: float
    answer: float
    image_tokens: int = 0

    def dollars(self, prompt_tokens: int, answer_tokens: int) -> float:
        """The price of these tokens."""
        return (prompt_tokens * self.prompt + answer_tokens * self.answer) / 1e6


def prompt_tokens(messages: Sequence[Mapping[str, Any]], image_tokens: int, *, most: bool = False) -> int:
    """Tokens of a conversation, as they are to be expected: a quarter of its ASCII characters, and all others.

    Args:
        image_tokens: tokens of each image.
        most: no fewer than any tokenizer makes of it, which is one for each byte of UTF-8.
    """
    sent = 0
    for message in messages:
        content = message["content"]
        for part in [{"text": content}] if isinstance(content, str) else content:
            if "text" not in part:
                sent += image_tokens
            elif most:
                sent += len(part["text"].encode("utf-8"))
            else:
                ascii_alone = sum(map(str.isascii, part["text"]))
                sent += -(-ascii_alone // _CHARACTERS) + len(part["text"]) - ascii_alone
        sent += _AROUND if most else 0
    return sent + (_AROUND if most else 0)


class Ledger:
    """Pays for requests out of a budget, and notes each payment in a file before the next request may be sent.

    A request is sent if the budget covers what was paid, and what it and the requests at work may cost at most. One
    that fails counts as paid in full, since nobody says what it cost; so does one whose endpoint counts no tokens.

    Args:
        place: file of one payment a line, which is read when the ledger is opened; its folder is made.
        budget: dollars; null: no limit, but payments are noted all the same.
        name: what messages call the budget.
    """

    def __init__(self, place: Path, prices: Prices, budget: float | None, name: str) -> None:
        self.place, self.prices, self.budget, self.name = place, prices, budget, name
        self._lock = threading.Lock()
        self._reserved = 0.0
        self.requests = self.prompt_tokens = self.answer_tokens = 0
        self.spent = 0.0
        for _, row in json_lines(place) if place.exists() else ():
            self._add(row["prompt"], row["answer"])

    def reserve(self, request: Mapping[str, Any]) -> None:
        """See `inference.chat.Purse`."""
        cost = self.prices.dollars(*self._most(request))
        with self._lock:
            if self.budget is not None and self.spent + self._reserved + cost > self.budget:
                raise ReprlabError(
                    f"{self.name}: ${self.spent:.4f} are spent, and the next request may cost ${cost:.4f}, over the "
                    f"${self.budget:.4f}; raise it or take fewer: what was answered is kept"
                )
            self._reserved += cost

    def settle(self, request: Mapping[str, Any], tokens: tuple[int, int] | None) -> None:
        """See `inference.chat.Purse`."""
        most = self._most(request)
        paid = tokens if tokens and any(tokens) else most
        line = json.dumps({"prompt": paid[0], "answer": paid[1]}) + "\n"
        with self._lock:
            self._reserved -= self.prices.dollars(*most)
            self._add(*paid)
            self.place.parent.mkdir(parents=True, exist_ok=True)
            # One write of a few bytes at the end of the file: a kill leaves whole lines.
            with self.place.open("ab", buffering=0) as handle:
                handle.write(line.encode())
                os.fsync(handle.fileno())

    def _add(self, prompt: int, answer: int) -> None:
        self.requests, self.prompt_tokens, self.answer_tokens = (
            self.requests + 1, self.prompt_tokens + prompt, self.answer_tokens + answer
        )  # fmt: skip
        self.spent += self.prices.dollars(prompt, answer)

    def _most(self, request: Mapping[str, Any]) -> tuple[int, int]:
        longest = request.get("max_completion_tokens") or request.get("max_tokens") or 0
        return prompt_tokens(request["messages"], self.prices.image_tokens, most=True), int(longest)
