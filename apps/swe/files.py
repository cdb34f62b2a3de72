"""Write files whole or not at all, and find out early whether a place can be written."""

import os
import platform
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import ssr


class OutputError(ssr.Error, ValueError):
    """A file cannot be written or read."""


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Name the file in errors of the operating system."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror or error}.") from None


def check_place(path: Path, *, folder: bool = False) -> None:
    """Refuse a place that cannot be written, before there is anything to write.

    Parameters
    ----------
    folder
        Whether a directory, and not a file, is to be written there.

    Raises
    ------
    OutputError
        If something else is there, or the place cannot be created or written.
    """
    with writing(path):
        if path.is_dir() != folder and path.exists():
            raise OutputError(f"{path} is {'not ' if folder else ''}a directory.")
        if not _is_device(path):
            place = next(p for p in path.resolve().parents if p.exists())
            with tempfile.TemporaryFile(dir=place):
                pass


def _is_device(path: Path) -> bool:
    return path.exists() and not path.is_file() and not path.is_dir()


@contextmanager
def aside(path: Path) -> Iterator[Path]:
    """Yield a path beside another one; what is written there is moved to that one at the end.

    A symbolic link is kept, and the file that it leads to is replaced. If something fails, nothing
    has changed. What killed processes have left beside the path is removed.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    with writing(path):
        path = path.resolve()
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_strays(path)
        beside = path.with_name(f"{_prefix(path)}{os.getpid()}")
        try:
            yield beside
            if beside.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                with beside.open("rb") as file:  # the content must be on the disk before the name
                    os.fsync(file.fileno())
            beside.replace(path)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
            beside.unlink(missing_ok=True)


def _prefix(path: Path) -> str:
    """Return what precedes the number of a process of this machine in names beside a path."""
    return f".{path.name}.{platform.node()}."


def _remove_strays(path: Path) -> None:
    """Remove what processes of this machine had begun beside a path when they were killed."""
    stray = re.compile(re.escape(_prefix(path)) + r"([1-9][0-9]{0,9})")
    with suppress(OSError):
        for other in path.parent.iterdir():
            found = stray.fullmatch(other.name)
            if found and not _is_running(int(found[1])):
                shutil.rmtree(other, ignore_errors=True)
                other.unlink(missing_ok=True)


def _is_running(process: int) -> bool:
    """Whether a process may be running; it certainly is not where the system knows of none."""
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # it belongs to another user
        pass
    return True


def publish(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file aside, make sure that it is on the disk, then move it to its place.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    if _is_device(path):
        with writing(path), path.open("wb") as file:
            write(file)
    else:
        with aside(path) as beside, beside.open("wb") as file:
            write(file)


def reserve(path: Path, size: int) -> None:
    """Append zeros to a file, or fail and leave it as it was.

    This is for libraries that do not survive a full disk.
    """
    before = path.stat().st_size if path.exists() else 0
    try:
        with path.open("ab") as file:
            file.write(bytes(size))
    except OSError:
        os.truncate(path, before)
        raise
