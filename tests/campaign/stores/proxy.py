"""A line to a server that can be cut at the worst moment."""

import contextlib
import selectors
import socket
import threading

COMMIT = b"COMMIT\0"  # both the statement and the server's answer to it


class Proxy:
    """Passes bytes on between a port of this machine and a server.

    Parameters
    ----------
    port : int
        Of the server, on this machine.

    Attributes
    ----------
    cut : {None, "before", "after"}
        Where the line breaks once, when the client next says COMMIT: before the server hears it, or after the
        server has done it and before the client hears that it did.
    cuts : int
        How often it broke.
    """

    def __init__(self, port):
        self.server_port = port
        self.cut = None
        self.cuts = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self.listener.close()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        with client, socket.create_connection(("127.0.0.1", self.server_port)) as server:
            selector = selectors.DefaultSelector()
            selector.register(client, selectors.EVENT_READ, server)
            selector.register(server, selectors.EVENT_READ, client)
            with contextlib.suppress(OSError):
                while self._pass_on(selector, client, server):
                    pass

    def _pass_on(self, selector, client, server):
        for key, _ in selector.select():
            said = key.fileobj.recv(65536)
            if not said:
                return False
            if self.cut and key.fileobj is client and COMMIT in said:
                if self.cut == "after":
                    server.sendall(said)
                    while COMMIT not in server.recv(65536):
                        pass
                self.cut, self.cuts = None, self.cuts + 1
                return False
            key.data.sendall(said)
        return True
