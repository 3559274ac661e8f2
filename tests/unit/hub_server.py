"""A hub on this machine: the part of the protocol that the hub's own client needs to fetch files at a revision."""

import hashlib
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

_API = re.compile(r"/api/(?:models|datasets)/([^/]+/[^/]+)(?:/(revision|tree)/([^?]+))?")
BRANCHES = ("main", "refs%2Fconvert%2Fparquet", "refs/convert/parquet")
_FILE = re.compile(r"/(?:datasets/)?([^/]+/[^/]+)/resolve/([^/]+)/(.+)")


class Hub:
    """Serves `root/<owner>/<name>/<file>`; a repository has one branch, whose commit is a digest of its files."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.gated: set[str] = set()
        """Repositories whose licence must be accepted."""
        self.busy: dict[str, int] = {}
        """Repositories that answer "too many requests" with these seconds to wait."""
        self.breaks: dict[str, int] = {}
        """Files whose transfer breaks off half-way, so many times."""
        self.seen: list[tuple[str, str]] = []
        """Range and path of each request for bytes."""
        self._versions: dict[tuple[str, str], dict[str, bytes]] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("OneHub", (_Handler,), {"hub": self}))
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

    def version(self, repository: str, revision: str) -> dict[str, bytes] | None:
        """The files at a revision; None where there is no such."""
        commit = self.commit(repository)
        return self._versions.get((repository, commit if revision in BRANCHES else revision))


class _Handler(BaseHTTPRequestHandler):
    hub: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        asked, wanted = _API.fullmatch(path), _FILE.fullmatch(path)
        repository = asked[1] if asked else wanted[1] if wanted else ""
        if not repository or not (self.hub.root / repository).is_dir():
            return self._refuse(404, "RepoNotFound")
        if repository in self.hub.gated:
            return self._refuse(403 if self.headers.get("Authorization") else 401, "GatedRepo")
        if repository in self.hub.busy:
            return self._refuse(429, "RateLimited", {"Retry-After": str(self.hub.busy[repository])})
        revision = (asked[3] if asked else wanted[2] if wanted else "") or "main"
        files = self.hub.version(repository, revision)
        if files is None:
            return self._refuse(404, "RevisionNotFound")
        commit = self.hub.commit(repository) if revision in BRANCHES else revision
        if asked:
            return self._about(repository, commit, files)
        assert wanted
        return self._send_file(wanted[3], files.get(wanted[3]), commit)

    def _refuse(self, status: int, code: str, headers: dict[str, str] | None = None) -> None:
        self._send(status, b"{}", {"X-Error-Code": code, **(headers or {})})

    def _about(self, repository: str, commit: str, files: dict[str, bytes]) -> None:
        siblings = [{"rfilename": name, "size": len(data)} for name, data in files.items()]
        found = {"id": repository, "sha": commit, "private": False, "gated": False, "tags": [], "siblings": siblings}
        tree = [{"type": "file", "path": name, "size": len(data), "oid": "0" * 40} for name, data in files.items()]
        self._send(
            200, json.dumps(tree if "/tree/" in self.path else found).encode(), {"Content-Type": "application/json"}
        )

    def _send_file(self, name: str, data: bytes | None, commit: str) -> None:
        if data is None:
            return self._send(404, b"", {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": commit})
        headers = {"X-Repo-Commit": commit, "ETag": f'"{hashlib.sha256(data).hexdigest()}"', "Accept-Ranges": "bytes"}
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
