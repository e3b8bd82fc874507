"""A way to the database that can be cut, also in the moment that matters most: when a commit was sent and nobody knows
yet what became of it."""

import random
import socket
import threading
import time

COMMIT = b"COMMIT"


class Proxy:
    """Hands bytes to and fro between a server's connections and PostgreSQL."""

    def __init__(self, port: int, seed: int) -> None:
        self.target = ("127.0.0.1", port)
        self.random = random.Random(seed)
        self.lock = threading.Lock()
        self.pairs: set[tuple[socket.socket, socket.socket]] = set()
        # What befalls the next commits: its answer is lost, or the commit itself comes late, after its sender gave up.
        self.lost_answers = 0
        self.late_commits = 0
        self.flowing = threading.Event()
        self.flowing.set()
        self.figures = {"answers lost": 0, "commits late": 0, "connections cut": 0}
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(self.target, timeout=5)
            except OSError:
                client.close()
                continue
            server.settimeout(None)
            pair = (client, server)
            with self.lock:
                self.pairs.add(pair)
            threading.Thread(target=self.send, args=pair, daemon=True).start()
            threading.Thread(target=self.answer, args=pair, daemon=True).start()

    def send(self, client: socket.socket, server: socket.socket) -> None:
        # The word may be cut in two by the network: its beginning is remembered.
        tail = b""
        try:
            while data := client.recv(65_536):
                self.flowing.wait()
                has_commit = COMMIT in tail + data
                tail = b"" if has_commit else data[-len(COMMIT) + 1 :]
                if has_commit and self.take("late_commits"):
                    self.figures["commits late"] += 1
                    self.shut(client)
                    time.sleep(self.random.uniform(0.05, 2))
                    server.sendall(data)
                    # The server reads what has come before it notices that nobody listens.
                    server.shutdown(socket.SHUT_WR)
                    time.sleep(0.5)
                    break
                if has_commit and self.take("lost_answers"):
                    self.figures["answers lost"] += 1
                    self.shut(client)
                    server.sendall(data)
                    server.shutdown(socket.SHUT_WR)
                    time.sleep(0.5)
                    break
                server.sendall(data)
        except OSError:
            pass
        self.end(client, server)

    def answer(self, client: socket.socket, server: socket.socket) -> None:
        try:
            while data := server.recv(65_536):
                self.flowing.wait()
                client.sendall(data)
        except OSError:
            pass
        self.shut(client)

    def take(self, counter: str) -> bool:
        with self.lock:
            if not getattr(self, counter):
                return False
            setattr(self, counter, getattr(self, counter) - 1)
            return True

    def cut(self) -> None:
        """Ends every connection at once, whatever is under way."""
        with self.lock:
            pairs = list(self.pairs)
        self.figures["connections cut"] += len(pairs)
        for client, server in pairs:
            self.shut(client)
            self.shut(server)

    def heal(self) -> None:
        with self.lock:
            self.lost_answers = self.late_commits = 0
        self.flowing.set()

    def end(self, client: socket.socket, server: socket.socket) -> None:
        for end in (client, server):
            self.shut(end)
            end.close()
        with self.lock:
            self.pairs.discard((client, server))

    @staticmethod
    def shut(end: socket.socket) -> None:
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def close(self) -> None:
        self.heal()
        self.listener.close()
        self.cut()
