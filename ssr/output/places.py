"""Output paths: early checks, and atomic replacement of files."""

from __future__ import annotations

import os
import platform
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from ..errors import ArgumentError, OutputError
from ..public import flag


def as_path(path: Any) -> Path:
    """Return the path that a user gives."""
    if not isinstance(path, str | os.PathLike) or not os.fspath(path):
        raise ArgumentError(f"path is {path!r}, not the name of a file.")
    return Path(os.fsdecode(path))


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Name the file in errors of the operating system."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror or error}.") from None


def check_place(path: str | os.PathLike[str], *, folder: bool = False) -> None:
    """Check that a file can be written at a path, before there are data to write.

    Folders that do not exist yet are no error: they are made when the file is written.

    Parameters
    ----------
    path
        The file.
    folder
        Whether a directory, such as a Zarr store, is to be written there, and not a file.

    Raises
    ------
    OutputError
        If something else is there, or the file cannot be created or written.

    Examples
    --------
    >>> import ssr
    >>> ssr.output.check_place("new/folder/run.nc")
    >>> ssr.output.check_place(".")
    Traceback (most recent call last):
    ssr.errors.OutputError: . is a directory...
    """
    place = as_path(path)
    flag("check_place", "folder", folder)
    with writing(place):
        if place.is_dir() != folder and place.exists():
            raise OutputError(f"{place} is {'not ' if folder else ''}a directory.")
        if not _is_device(place):
            near = next(p for p in place.resolve().parents if p.exists())
            with tempfile.TemporaryFile(dir=near):
                pass


def publish(path: str | os.PathLike[str], write: Callable[[BinaryIO], object]) -> None:
    """Write a file atomically: to a temporary name, flushed to the disk, then renamed.

    A process that is killed leaves the previous file whole, and so does an error. A symbolic link
    is kept, and the file that it leads to is replaced. Devices and pipes are written directly.

    Parameters
    ----------
    path
        The file; its folder is made if it does not exist.
    write
        A function that writes the content to the open file that it is given.

    Raises
    ------
    OutputError
        If it cannot be written.

    Examples
    --------
    >>> import pathlib, tempfile, ssr
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ssr.output.publish(f"{folder}/a.txt", lambda file: file.write(b"whole"))
    ...     pathlib.Path(folder, "a.txt").read_text()
    'whole'
    """
    place = as_path(path)
    if not callable(write):
        raise ArgumentError(f"write is {write!r}, not a function of an open file.")
    if _is_device(place):
        with writing(place), place.open("wb") as file:
            write(file)
    else:
        with aside(place) as beside, beside.open("wb") as file:
            write(file)


@contextmanager
def aside(path: Path) -> Iterator[Path]:
    """Yield a path next to the given one, to which the file written there is moved at the end.

    After an error nothing has changed. Files that killed processes have left are removed.
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
                with beside.open("rb") as file:  # flush the content before the rename
                    os.fsync(file.fileno())
            beside.replace(path)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
            beside.unlink(missing_ok=True)


def _is_device(path: Path) -> bool:
    return path.exists() and not path.is_file() and not path.is_dir()


def _prefix(path: Path) -> str:
    """Return the first part of names next to a path, which the number of a process follows."""
    return f".{path.name}.{platform.node()}."


def _remove_strays(path: Path) -> None:
    """Remove incomplete files next to a path whose processes on this machine were killed."""
    stray = re.compile(re.escape(_prefix(path)) + r"([1-9][0-9]{0,9})")
    with suppress(OSError):
        for other in path.parent.iterdir():
            found = stray.fullmatch(other.name)
            if found and not _is_running(int(found[1])):
                shutil.rmtree(other, ignore_errors=True)
                other.unlink(missing_ok=True)


def _is_running(process: int) -> bool:
    """Whether a process may be running; it certainly is not if the system has none."""
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # the path belongs to another user
        pass
    return True
