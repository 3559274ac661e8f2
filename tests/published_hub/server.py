"""A hub on this machine: the part of the protocol that the hub's own clients need to fetch files at a revision, and
what the client of chat models needs."""

import hashlib
import json
import re
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote

from tests.published_hub.chat import completion

BRANCHES = ("main", "refs/convert/parquet")
_REVISION = r"(refs/convert/parquet|[^/]+)"
_API = re.compile(rf"/api/(models|datasets)/([^/]+/[^/]+)(?:/(revision|tree|paths-info)/{_REVISION}(?:/.*)?)?")
_FILE = re.compile(rf"/(datasets/)?([^/]+/[^/]+)/resolve/{_REVISION}/(.+)")

CHAT = "/v1/chat/completions"
Content = bytes | Path
"""A file's bytes, or where they lie."""


def size_of(content: Content) -> int:
    """Bytes of a file."""
    return content.stat().st_size if isinstance(content, Path) else len(content)


def bytes_of(content: Content) -> bytes:
    """What a file holds."""
    return content.read_bytes() if isinstance(content, Path) else content


class Hub:
    """Serves `root/<owner>/<name>/<file>`; a repository has one branch, whose commit is a digest of its files."""

    def __init__(self, root: Path, port: int = 0) -> None:
        self.root = root
        self.gated: set[str] = set()
        """Repositories whose licence must be accepted."""
        self.busy: dict[str, int] = {}
        """Repositories that answer "too many requests" with these seconds to wait."""
        self.breaks: dict[str, int] = {}
        """Files whose transfer breaks off half-way, so many times."""
        self.claimed: dict[str, int] = {}
        """Files that are said to have so many bytes."""
        self.seen: list[tuple[str, str]] = []
        """Range and path of each request for bytes."""
        self._versions: dict[tuple[str, str], dict[str, bytes]] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", port), type("OneHub", (_Handler,), {"hub": self}))
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> "Hub":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def has(self, kind: str, repository: str) -> bool:
        """Whether there is a repository of the kind, "models" or "datasets"."""
        return (self.root / repository).is_dir()

    def refuses(self, repository: str, token: str) -> bool:
        """Whether a repository is kept from this login; an empty token is none."""
        return repository in self.gated

    def commit(self, repository: str) -> str:
        """The commit of a repository as its files are now; it can be asked for from then on."""
        folder = self.root / repository
        files = {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }
        digest = hashlib.sha1(repr((repository, files)).encode(), usedforsecurity=False).hexdigest()
        self._versions[repository, digest] = files
        return digest

    def version(self, kind: str, repository: str, revision: str) -> tuple[str, Mapping[str, Content]] | None:
        """The commit of a revision and its files; None where there is no such."""
        latest = self.commit(repository)
        commit = latest if revision in BRANCHES else revision
        files = self._versions.get((repository, commit))
        return None if files is None else (commit, files)


class _Handler(BaseHTTPRequestHandler):
    hub: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_POST(self) -> None:
        self.asked = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        if self.path == CHAT:
            return self._send_json(completion(json.loads(self.asked)))
        return self.do_GET()

    def do_GET(self) -> None:
        path = unquote(self.path.partition("?")[0])
        about, wanted = _API.fullmatch(path), _FILE.fullmatch(path)
        if about:
            kind, repository, what, revision = about.groups()
        elif wanted:
            kind, repository, what, revision = "datasets" if wanted[1] else "models", wanted[2], "file", wanted[3]
        else:
            return self._refuse(404, "RepoNotFound")
        if not self.hub.has(kind, repository):
            return self._refuse(404, "RepoNotFound")
        token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        if self.hub.refuses(repository, token):
            return self._refuse(403 if token else 401, "GatedRepo")
        if repository in self.hub.busy:
            return self._refuse(429, "RateLimited", {"Retry-After": str(self.hub.busy[repository])})
        version = self.hub.version(kind, repository, revision or "main")
        if version is None:
            return self._refuse(404, "RevisionNotFound")
        commit, files = version
        if wanted:
            return self._send_file(wanted[4], files.get(wanted[4]), commit)
        if what in ("tree", "paths-info"):
            wanted_names = self._paths() if what == "paths-info" else list(files)
            return self._send_json([
                {"type": "file", "path": name, "size": size_of(files[name]), "oid": "0" * 40}
                for name in wanted_names if name in files
            ])  # fmt: skip
        # As on the hub, sizes are told to those who ask for them.
        sized = "blobs=" in self.path
        sizes = {name: self.hub.claimed.get(name) or size_of(files[name]) for name in files} if sized else {}
        siblings = [{"rfilename": name, **({"size": sizes[name]} if sized else {})} for name in files]
        return self._send_json({
            "id": repository, "sha": commit, "private": False, "gated": False, "tags": [], "siblings": siblings,
        })  # fmt: skip

    def _paths(self) -> list[str]:
        """The paths that a request for their sizes names, as JSON or as a form."""
        if self.asked.startswith("{"):
            return list(json.loads(self.asked)["paths"])
        return parse_qs(self.asked).get("paths", [])

    def _refuse(self, status: int, code: str, headers: dict[str, str] | None = None) -> None:
        self._send(status, b"{}", {"X-Error-Code": code, **(headers or {})})

    def _send_json(self, value: object) -> None:
        self._send(200, json.dumps(value).encode(), {"Content-Type": "application/json"})

    def _send_file(self, name: str, content: Content | None, commit: str) -> None:
        if content is None:
            return self._send(404, b"", {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": commit})
        data = bytes_of(content)
        headers = {"X-Repo-Commit": commit, "ETag": f'"{hashlib.sha256(data).hexdigest()}"', "Accept-Ranges": "bytes"}
        if name in self.hub.claimed:
            headers["X-Linked-Size"] = str(self.hub.claimed[name])
        asked = self.headers.get("Range") or ""
        if self.command == "GET":
            self.hub.seen.append((asked, self.path))
        if part := re.match(r"bytes=(\d+)-", asked):
            start = int(part[1])
            rest = {"Content-Range": f"bytes {start}-{len(data) - 1}/{len(data)}"}
            return self._send(206, data[start:], {**headers, **rest})
        if self.command == "GET" and self.hub.breaks.get(name, 0):
            self.hub.breaks[name] -= 1
            self.send_response(200)
            for header, value in {**headers, "Content-Length": str(len(data))}.items():
                self.send_header(header, value)
            self.end_headers()
            self.wfile.write(data[: len(data) * 3 // 4])
            self.wfile.flush()
            self.close_connection = True
            self.connection.close()
            return None
        return self._send(200, data, headers)

    def _send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
