"""A small disk of its own for one server, that can be filled."""

import errno
import os
import subprocess
from pathlib import Path


class Disk:
    """An ext4 file system in a file, or one in memory; `kind` is None where neither can be mounted."""

    def __init__(self, folder: Path, mebibytes: int) -> None:
        self.place = folder / "disk"
        self.place.mkdir()
        self.filler = self.place / "filler"
        image = folder / "disk.img"
        self.kind: str | None = None
        if os.geteuid() != 0:
            return
        with open(image, "wb") as file:
            file.truncate(mebibytes << 20)
        make = ["mkfs.ext4", "-q", "-F", "-m", "0", str(image)]
        if self.tries(make) and self.tries(["mount", "-o", "loop", str(image), str(self.place)]):
            self.kind = f"ext4, {mebibytes} MiB"
            return
        image.unlink()
        if self.tries(["mount", "-t", "tmpfs", "-o", f"size={mebibytes}m", "tmpfs", str(self.place)]):
            self.kind = f"tmpfs, {mebibytes} MiB"

    @staticmethod
    def tries(command: list[str]) -> bool:
        try:
            return subprocess.run(command, capture_output=True).returncode == 0
        except FileNotFoundError:
            return False

    def fill(self) -> None:
        file = os.open(self.filler, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        try:
            for size in (1 << 20, 1 << 12):
                while True:
                    try:
                        os.posix_fallocate(file, os.fstat(file).st_size, size)
                    except OSError as failure:
                        if failure.errno != errno.ENOSPC:
                            raise
                        break
        finally:
            os.close(file)

    def free(self) -> None:
        self.filler.unlink(missing_ok=True)

    def close(self) -> None:
        if self.kind:
            subprocess.run(["umount", "--lazy", str(self.place)], capture_output=True)
