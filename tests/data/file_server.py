"""A real server on this machine that can also misbehave in the ways that real ones do."""

from __future__ import annotations

import hashlib
import io
import socket
import struct
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def archive_bytes(fill: int = 0) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("xlsa17/data/CUB/att_splits.mat", bytes([fill]) * 1000)
        archive.writestr("xlsa17/data/CUB/res101.mat", bytes(range(256)) * 800)
    return buffer.getvalue()


CONTENT = archive_bytes()
SUM = hashlib.sha256(CONTENT).hexdigest()


class Server(ThreadingHTTPServer):
    """Serves one file in the way that its attributes say, and remembers what it was asked."""

    content = CONTENT
    tag = '"first"'
    content_type = "application/zip"
    status = 200
    declared_length: int | None = None
    knows_ranges = True
    heeds_if_range = True
    break_after: list[int] | None = None  # bytes sent in each of the next connections
    reset = False  # break with a reset instead of an end
    range_shift = 0

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.ranges: list[str | None] = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}/xlsa17.zip"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        server, wanted = self.server, self.headers.get("Range")
        server.ranges.append(wanted)
        start, status = 0, server.status
        same = self.headers.get("If-Range") == server.tag or not server.heeds_if_range
        if wanted and server.knows_ranges and same:
            start = int(wanted.removeprefix("bytes=").removesuffix("-")) + server.range_shift
            status = 206 if start < len(server.content) else 416
        body = server.content[start:]
        self.send_response(status)
        self.send_header("Content-Type", server.content_type)
        if server.tag:
            self.send_header("ETag", server.tag)
        if status == 206:
            last, size = len(server.content) - 1, len(server.content)
            self.send_header("Content-Range", f"bytes {start}-{last}/{size}")
        if status == 416:
            self.send_header("Content-Range", f"bytes */{len(server.content)}")
        self.send_header("Content-Length", str(server.declared_length or len(body)))
        self.end_headers()
        if server.break_after:
            body = body[: server.break_after.pop(0)]
            if server.reset:
                no_farewell = struct.pack("ii", 1, 0)
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, no_farewell)
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""
