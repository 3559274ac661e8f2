"""A packaged language model behind an OpenAI-compatible endpoint on this machine, for as long as a context lasts."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from reprlab.inference.chat import Endpoint
from reprlab.inference.stop_texts import stop_options
from reprlab.runtime.code_digest import digest_of_modules, imported_modules
from reprlab.runtime.seals import content_digest
from reprlab.text.encoding import Control, part_ids

_PATH = "/v1/chat/completions"
_TURN, _END = Control("<|im_start|>"), Control("<|im_end|>")


class ServedModel:
    """Greedy answers of a model whose turns are those of ChatML (SmolLM2-Instruct's).

    What a message says is text: the name of a control token in it is spelled out.
    """

    def __init__(self, folder: Path) -> None:
        from reprlab.models.build import load_model
        from reprlab.text.tokenizer_folder import open_tokenizer

        self.tokenizer = open_tokenizer(folder)
        self.model: Any = load_model(folder).float().eval()
        known = self.tokenizer.get_added_vocab()
        # A tokenizer without the token would never write it: its first piece would end an answer anywhere.
        ends = [known[_END], self.tokenizer.eos_token_id] if _END in known else []
        stop = {"eos_token_id": ends, "pad_token_id": ends[0]} if ends else stop_options(self.tokenizer, _END)
        self._stop: dict[str, Any] = stop
        self._lock = threading.Lock()

    def prompt(self, messages: Sequence[dict[str, Any]]) -> list[int]:
        """Ids of the messages and of the opening of the answer."""
        turns = [part for one in messages for part in (_TURN, f"{one['role']}\n{one['content']}", _END, "\n")]
        return part_ids(self.tokenizer, [[*turns, _TURN, "assistant\n"]])[0]

    def answer(self, messages: Sequence[dict[str, Any]], max_tokens: int) -> tuple[str, int, int, bool]:
        """The greedy answer, the tokens of prompt and answer, and whether it was cut off."""
        import torch

        prompt = self.prompt(messages)
        # One at a time: requests come from several threads, and a batch of one gives the same bytes whoever else asks.
        with self._lock, torch.inference_mode():
            ids = torch.tensor([prompt])
            written = self.model.generate(
                input_ids=ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=max_tokens,
                **self._stop,
            )[0, len(prompt) :].tolist()  # fmt: skip
        text, ended, _ = self.tokenizer.decode(written, skip_special_tokens=True).partition(_END)
        is_cut = not ended and len(written) == max_tokens and written[-1] not in (self._stop["eos_token_id"] or ())
        return text, len(prompt), len(written), is_cut


@contextmanager
def serving(folder: Path) -> Iterator[Endpoint]:
    """The endpoint of a model in a folder, on a free port of this machine alone; it ends with the context.

    It is called by its folder and a digest of its files and of this code: what answers is named by it.
    """
    code = digest_of_modules(imported_modules(__name__))
    made = hashlib.sha256(f"{content_digest(folder)} {code}".encode())
    server = _Server(ServedModel(folder))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield Endpoint(
            f"http://127.0.0.1:{server.server_port}/v1", "served-here", f"{folder.name} {made.hexdigest()[:12]}"
        )
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    def __init__(self, model: ServedModel) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.model = model


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        status, content = 200, {}
        try:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            if self.path != _PATH:
                raise ValueError(f"there is nothing at {self.path}")
            content = self._completion(asked)
        except (ValueError, KeyError, TypeError) as error:
            status, content = 400, {"error": {"message": str(error)}}
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _completion(self, asked: dict[str, Any]) -> dict[str, Any]:
        most = asked.get("max_completion_tokens") or asked.get("max_tokens") or 128
        text, prompt, answer, is_cut = self.server.model.answer(asked["messages"], int(most))
        return {
            "id": "0", "object": "chat.completion", "created": 0, "model": asked["model"],
            "choices": [
                {"index": 0, "finish_reason": "length" if is_cut else "stop",
                 "message": {"role": "assistant", "content": text}}
            ],
            "usage": {"prompt_tokens": prompt, "completion_tokens": answer, "total_tokens": prompt + answer},
        }  # fmt: skip

    def log_message(self, *arguments: object) -> None:
        """Nothing on the terminal."""
