"""A static web server for folders, one for each host name, on one port of loopback."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

TYPES = {
    ".html": "text/html",
    ".txt": "text/plain; charset=utf-8",
    ".css": "text/css",
    ".png": "image/png",
    ".svg": "image/svg+xml",
}


class Sites:
    """Serves while it is entered. Robots are told what `robots` says of a host, if anything."""

    def __init__(self, folders: dict[str, Path], robots: dict[str, str] | None = None):
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.folders = {name: folder.resolve() for name, folder in folders.items()}
        self.server.robots = robots or {}
        self.port = self.server.server_address[1]

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def url(self, host: str, path: str = "/") -> str:
        return f"http://{host}:{self.port}{path}"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        host = self.headers.get("Host", "").split(":")[0].lower()
        path = unquote(urlsplit(self.path).path)
        folder = self.server.folders.get(host)
        if folder is None:
            return self.answer(404)
        if path == "/robots.txt":
            robots = self.server.robots.get(host)
            return self.answer(200, "text/plain", robots.encode()) if robots else self.answer(404)
        file = (folder / path.lstrip("/")).resolve()
        if folder != file and folder not in file.parents:
            return self.answer(404)
        if file.is_dir():
            if not path.endswith("/"):
                return self.answer(301, location=quote(path + "/"))
            file = file / "index.html"
        if path.endswith("/") and file.name != "index.html" or not file.is_file():
            return self.answer(404)
        return self.answer(200, TYPES.get(file.suffix, "application/octet-stream"), file.read_bytes())

    do_HEAD = do_GET

    def answer(self, status, content_type="text/plain", body=b"", location=None):
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        if location:
            self.send_header("Location", location)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, *_):
        pass
