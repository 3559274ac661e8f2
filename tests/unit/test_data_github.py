"""Files of repositories over http: whole or refused, whatever the server does."""

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from data_fixtures import entry_for
from reprlab.data.downloads import obtain
from reprlab.data.origins import github
from reprlab.registry.dataset_entries import ArchiveFile
from reprlab.runtime.errors import ReprlabError

CONTENT = bytes(range(256)) * 40
ORIGIN = f"github:o/n@{'0' * 40}"


@contextmanager
def server(
    monkeypatch: pytest.MonkeyPatch, headers: dict[str, str], sent: bytes, endless: bool = False
) -> Iterator[list]:
    """A server that answers with these headers and bytes, and with the rest where that is asked for."""
    asked: list[str | None] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            wanted = self.headers.get("Range")
            asked.append(wanted)
            self.send_response(206 if wanted else 200)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(CONTENT[int(wanted[6:-1]) :] if wanted else sent)
            try:
                while endless:
                    self.wfile.write(sent)
            except OSError:
                asked.append("left")

        def log_message(self, *_: object) -> None:
            pass

    running = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    monkeypatch.delenv("REPRLAB_MIRROR", raising=False)
    monkeypatch.setattr(github, "ADDRESS", f"http://127.0.0.1:{running.server_port}/" + "{path}")
    yield asked
    running.shutdown()


def test_a_download_is_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file.txt").write_bytes(CONTENT)
    entry = entry_for(tmp_path / "file.txt", [], [ORIGIN])
    with server(monkeypatch, {}, CONTENT[:3000]) as asked:
        with pytest.raises(ReprlabError, match="ended after 3000 of 10240 bytes"):
            obtain(entry, entry.files[0], tmp_path / "cache")
        assert obtain(entry, entry.files[0], tmp_path / "cache").path.read_bytes() == CONTENT
        assert asked == [None, "bytes=3000-"]


@pytest.mark.parametrize(
    ("headers", "sent", "endless", "naming"),
    [
        ({"Content-Length": "10240"}, CONTENT[:5000], False, r"ended after 5000 of 10240 bytes"),
        ({}, CONTENT[:5000], False, "does not say how long it is"),
        ({}, CONTENT, True, "does not say how long it is"),
        ({"Transfer-Encoding": "chunked"}, b"5\r\nhello\r\n", False, "does not say how long it is"),
        ({"Content-Length": "10240", "Content-Encoding": "gzip"}, CONTENT, False, "in the encoding gzip"),
    ],
)
def test_without_a_digest_a_file_is_whole_or_refused(tmp_path, monkeypatch, headers, sent, endless, naming) -> None:
    (tmp_path / "file.txt").write_bytes(CONTENT)
    entry = entry_for(tmp_path / "file.txt", [], [ORIGIN])
    file = ArchiveFile(file="file.txt", revision="0" * 40)
    with server(monkeypatch, headers, sent, endless), pytest.raises(ReprlabError, match=naming):
        obtain(entry, file, tmp_path / "cache")
    assert not (tmp_path / "cache" / file.digest / "file.txt").exists()


def test_a_whole_file_without_a_digest_is_taken_and_held(tmp_path, monkeypatch) -> None:
    (tmp_path / "file.txt").write_bytes(CONTENT)
    entry = entry_for(tmp_path / "file.txt", [], [ORIGIN])
    file = ArchiveFile(file="file.txt", revision="0" * 40)
    with server(monkeypatch, {"Content-Length": "10240"}, CONTENT):
        assert obtain(entry, file, tmp_path / "cache").content.bytes == 10240
    (tmp_path / "cache" / file.digest / "file.txt").unlink()
    with (
        server(monkeypatch, {"Content-Length": "3"}, b"new"),
        pytest.raises(ReprlabError, match="3 bytes instead of 10240"),
    ):
        obtain(entry, file, tmp_path / "cache")


def test_a_body_without_end_ends_at_the_expected_size(tmp_path, monkeypatch) -> None:
    (tmp_path / "file.txt").write_bytes(CONTENT)
    entry = entry_for(tmp_path / "file.txt", [], [ORIGIN])
    with (
        server(monkeypatch, {}, b"another text", endless=True),
        pytest.raises(ReprlabError, match=r"sha256 is .* refused"),
    ):
        obtain(entry, entry.files[0], tmp_path / "cache")
    with server(monkeypatch, {}, CONTENT, endless=True):
        assert obtain(entry, entry.files[0], tmp_path / "cache").path.read_bytes() == CONTENT


def test_a_file_of_another_length_is_not_even_read(tmp_path, monkeypatch) -> None:
    (tmp_path / "file.txt").write_bytes(CONTENT)
    entry = entry_for(tmp_path / "file.txt", [], [ORIGIN])
    with (
        server(monkeypatch, {"Content-Length": "99"}, CONTENT),
        pytest.raises(ReprlabError, match="99 bytes instead of 10240"),
    ):
        obtain(entry, entry.files[0], tmp_path / "cache")
