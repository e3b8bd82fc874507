"""Records that outlive whoever writes them: a line of JSON each, on disk before anything follows from it."""

import json
import os
import threading
from pathlib import Path


class Record:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.lock = threading.Lock()
        self.file = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND)

    def add(self, line: dict) -> None:
        data = json.dumps(line, separators=(",", ":")).encode() + b"\n"
        with self.lock:
            os.write(self.file, data)
            os.fdatasync(self.file)

    def lines(self) -> list[dict]:
        with open(self.path, "rb") as file:
            return [json.loads(line) for line in file]

    def close(self) -> None:
        os.close(self.file)
