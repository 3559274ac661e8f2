"""A local server of the interface that the openai client speaks, which keeps what it is asked."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-a-secret-of-this-test"


class Endpoint(ThreadingHTTPServer):
    """Says to a prompt what `say` makes of it; with another `status` than 200 it refuses the key.

    `shape` changes what is sent: a value to be written as JSON, or a text as it is.
    """

    def __init__(self, say: Callable[[str], str]) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.say = say
        self.asked: list[dict[str, Any]] = []
        self.lock = threading.Lock()
        self.status = 200
        self.shape: Callable[[dict[str, Any]], Any] | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    @property
    def prompts(self) -> list[str]:
        return [request["messages"][0]["content"] for request in self.asked]


class Answer(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with self.server.lock:
            self.server.asked.append({"path": self.path, "key": self.headers["authorization"], **request})
        message = {"role": "assistant", "content": self.server.say(request["messages"][0]["content"])}
        content: dict[str, Any] = {"id": "1", "object": "chat.completion", "created": 1, "model": "m"}
        content["choices"] = [{"index": 0, "finish_reason": "stop", "message": message}]
        if self.server.status != 200:
            content = {"error": {"message": f"the key {KEY} is wrong"}}
        shaped = self.server.shape(content) if self.server.shape else content
        body = (shaped if isinstance(shaped, str) else json.dumps(shaped)).encode()
        self.send_response(self.server.status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        """Nothing on the terminal."""


@contextmanager
def serving(say: Callable[[str], str]) -> Iterator[Endpoint]:
    """An endpoint that answers while the context lasts."""
    server = Endpoint(say)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Digits(Answer):
    """Answers with the likeliest first tokens, where they are asked for."""

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with self.server.lock:
            self.server.asked.append(request)
        text, likeliest = self.server.say(request["messages"])  # type: ignore[arg-type]
        choice: dict[str, Any] = {"index": 0, "finish_reason": "stop"}
        choice["message"] = {"role": "assistant", "content": text}
        if request.get("logprobs"):
            top = [{"token": token, "logprob": value, "bytes": None} for token, value in likeliest.items()]
            choice["logprobs"] = {"content": [{**top[0], "top_logprobs": top}]}
        content = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
        body = json.dumps(content).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def serving_digits(say: Callable[[Any], tuple[str, dict[str, float]]]) -> Iterator[Endpoint]:
    """An endpoint that answers a list of messages with a text and the log-probabilities of its first token."""
    server = Endpoint(say)  # type: ignore[arg-type]
    server.RequestHandlerClass = _Digits
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def trickling(pause: float) -> Iterator[str]:
    """The address of an endpoint that sends a byte after each pause and never ends."""

    class Trickle(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("content-length", "100000")
            self.end_headers()
            with suppress(OSError):
                while not closing.wait(pause):
                    self.wfile.write(b" ")
                    self.wfile.flush()

        def log_message(self, *arguments: object) -> None:
            """Nothing on the terminal."""

    closing = threading.Event()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Trickle)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        closing.set()
        server.shutdown()
        thread.join()
        server.server_close()
