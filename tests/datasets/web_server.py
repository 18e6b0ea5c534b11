"""A web server on this machine that serves given bytes, well or badly."""

import re
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Site:
    """What the server gives, how it misbehaves, and what it was asked.

    ``files`` maps paths to bytes. Per path, ``cuts`` lists after how many bytes of the body the next answers
    break off, and ``states`` the states that the next answers have in place of 200.
    """

    def __init__(self, files, *, ranges=True):
        self.files, self.ranges = dict(files), ranges
        self.cuts, self.states = {}, {}
        self.asked = []
        self.address = ""

    def paths(self):
        return [path for path, _ in self.asked]


@contextmanager
def serving(site):
    handler = type("Handler", (_Handler,), {"site": site})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    site.address = f"http://127.0.0.1:{server.server_port}"
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    site: Site

    def do_GET(self):
        path, wanted = self.path.lstrip("/"), self.headers.get("Range")
        self.site.asked.append((path, wanted))
        states = self.site.states.get(path)
        if states:
            self.send_error(states.pop(0))
        elif path not in self.site.files:
            self.send_error(404)
        else:
            self._answer(path, self.site.files[path], wanted if self.site.ranges else None)

    def _answer(self, path, data, wanted):
        start = int(re.match(r"bytes=(\d+)-", wanted)[1]) if wanted else 0
        if wanted and start >= len(data):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(data)}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(206 if wanted else 200)
        if wanted:
            self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        self.send_header("Content-Length", str(len(data) - start))
        self.end_headers()
        cuts = self.site.cuts.get(path)
        body = data[start:]
        self.wfile.write(body[: cuts.pop(0)] if cuts else body)

    def log_message(self, *_):
        pass
