"""Checkpoints: whole or not there, with the same bits on any number of ranks."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import boundary as bc
import ssr
from ssr import errors
from ssr.output import checkpoint

ROOT = Path(__file__).parents[3]
plane = ssr.Space(5, 7)
grid = bc.Grid(6 * [(4, 4)], links=bc.cubed_sphere())
mixed = bc.Grid([(3, 4), (5, 4)])


def fields(ranks: Any = None) -> dict[str, Any]:
    """Return fields of several spaces with values that differ from point to point."""
    on, cube, other = (bc.distribute(cells, ranks) for cells in (plane, grid, mixed))
    made = {
        "u": on.zeros(plane),
        "v": on.zeros(plane.faces(0), "float32"),
        "ghosts": on.zeros(plane.grow(1)),
        "velocity": on.zeros(plane.vector(2)),
        "panels": cube.zeros(grid.cells),
        "low": other.zeros(mixed.kinds[0]),
        "high": other.zeros(mixed.kinds[1]),
    }
    for number, field in enumerate(made.values()):
        field.set(values_of(field.shape, field.dtype, number))
    return made


def values_of(shape: tuple[int, ...], dtype: Any, seed: int) -> Any:
    """Return values of all kinds, NaN and both zeros among them."""
    made = np.random.default_rng(seed).normal(size=shape).astype(dtype)
    made.flat[:4] = np.nan, -0.0, 1e-310, np.inf
    return made


WORLDS = {
    "alone": lambda: None,
    "simulated": lambda: bc.simulated_ranks(3),
    "threads": lambda: bc.threads(2),
    "many": lambda: bc.simulated_ranks(40),
}


@pytest.mark.parametrize("world", WORLDS)
def test_any_ranks_write_and_read_the_same_bytes(
    world: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ssr.output.pieces.PIECE", 100)  # several pieces
    path, arrays = tmp_path / "deep" / "there", {k: np.asarray(f) for k, f in fields().items()}
    ssr.output.save(path, arrays, {"time": 0.1})
    before, there = path.read_bytes(), fields(WORLDS[world]())
    ssr.output.save(path, there, {"time": 0.1})
    assert path.read_bytes() == before
    assert ssr.output.digest(there) == ssr.output.digest(arrays)
    for field in there.values():
        field.set(0.0)
    found = ssr.output.load(path, on=there["u"])
    found.restore(there)
    for name, field in there.items():
        assert np.asarray(field).tobytes() == arrays[name].tobytes()
    assert list(path.parent.iterdir()) == [path]


def job(path: Path, comm: Any) -> None:
    """Write on ranks what one process has written, and go on with its fields."""
    made = fields(comm)
    found = ssr.output.load(path / "one", on=made["u"].distribution)
    assert ssr.output.digest(made) == found.data["digest"]
    ssr.output.save(path / "several", made, found.data)
    for field in made.values():
        field.set(0.0)
    found.restore(made)
    assert ssr.output.digest(made) == found.data["digest"]
    (path / "folder").mkdir(exist_ok=True)
    with pytest.raises(errors.OutputError, match="cannot be written"):
        ssr.output.save(path / "folder", made)
    with pytest.raises(errors.CheckpointError, match=r"nowhere cannot be read"):
        ssr.output.load(path / "nowhere", on=made["u"])
    with pytest.raises(errors.CheckpointError, match="not a whole checkpoint"):
        ssr.output.load(path / "damaged", on=made["u"])


def one_process(path: Path) -> bytes:
    """Write a checkpoint for `job`, and return the bytes of that which it is to write."""
    made = fields()
    ssr.output.save(path / "one", made, {"digest": ssr.output.digest(made)})
    content = (path / "one").read_bytes()
    damaged = bytearray(content)
    damaged[-100] ^= 1
    (path / "damaged").write_bytes(damaged)
    return content


def test_values_and_data_of_all_types(tmp_path: Path) -> None:
    arrays: dict[str, Any] = {
        name: np.arange(6).reshape(2, 3).astype(name)
        for name in ("int8", "uint16", "int64", "bool", "float16", "float32", "complex128", ">f8")
    }
    arrays["strided"] = np.arange(20.0).reshape(4, 5)[::2, ::-2]
    arrays["one"], arrays["none"], arrays["scalar"] = np.ones((1, 1)), np.ones((0, 3)), np.ones(())
    data = {
        "floats": [0.1, 1e-310, -0.0, np.inf, float(np.float32(0.1))],
        "ints": [2**70, np.int64(3), True, None],
        "nested": {"text": "Ö\n", "tuple": (1, 2)},
        "single": np.float32(0.1),
    }
    ssr.output.save(tmp_path / "a", arrays, data)
    found = ssr.output.load(tmp_path / "a")
    assert found.data["floats"] == data["floats"]
    assert str(found.data["floats"][2]) == "-0.0"
    assert found.data["ints"] == [2**70, 3, True, None]
    assert found.data["nested"] == {"text": "Ö\n", "tuple": [1, 2]}
    assert found.data["single"] == float(np.float32(0.1))
    for name, array in arrays.items():
        assert found.fields[name].dtype == array.dtype.newbyteorder("<")
        assert (found.fields[name] == array).all()
        assert not found.fields[name].flags.writeable
    targets = {name: np.zeros_like(array) for name, array in arrays.items()}
    targets["strided"] = np.zeros((2, 6))[:, ::2]
    found.restore(targets)
    assert all((targets[name] == array).all() for name, array in arrays.items())
    assert repr(found).startswith(f"<Checkpoint {tmp_path / 'a'} of int8, uint16,")
    ssr.output.save(tmp_path / "b", {})
    assert not ssr.output.load(tmp_path / "b").fields


def test_fields_that_do_not_fit_are_refused_and_unchanged(tmp_path: Path) -> None:
    ssr.output.save(tmp_path / "a", {"u": np.ones(3), "v": np.ones(3)})
    found, u = ssr.output.load(tmp_path / "a"), np.zeros(3)
    fixed = np.zeros(3)
    fixed.flags.writeable = False
    for other, error, message in (
        ({"w": np.zeros(3)}, errors.ArgumentError, "a has no field w"),
        ({"v": np.zeros(4)}, errors.ShapeError, r"v has shape \(3,\) in .*a, not \(4,\)"),
        ({"v": np.zeros(3, "f4")}, errors.DtypeError, "v has dtype float64 in .*, not float32"),
        ({"v": fixed}, errors.ReadOnlyError, "The array v is read-only"),
        ({"v": [0.0, 0.0, 0.0]}, errors.ArgumentError, "expected an array or a field"),
        ({"v": None}, errors.ArgumentError, "v is None"),
    ):
        with pytest.raises(error, match=message):
            found.restore({"u": u, **other})
        assert not u.any()
    found.restore({"u": u})
    assert u.all()


def test_arguments_that_make_no_sense(tmp_path: Path) -> None:
    u, path = np.ones(3), tmp_path / "a"
    vector = bc.distribute(plane).zeros(plane.vector(2))
    for error, call in (
        (errors.ArgumentError, lambda: ssr.output.save(3, {"u": u})),  # type: ignore[arg-type]
        (errors.ArgumentError, lambda: ssr.output.save("", {"u": u})),
        (errors.ArgumentError, lambda: ssr.output.save(path, [u])),  # type: ignore[arg-type]
        (errors.ArgumentError, lambda: ssr.output.save(path, {3: u})),  # type: ignore[dict-item]
        (errors.DtypeError, lambda: ssr.output.save(path, {"u": np.array(["x"])})),
        (errors.DtypeError, lambda: ssr.output.save(path, {"u": np.array([None])})),
        (errors.ArgumentError, lambda: ssr.output.save(path, {"u": None})),
        (errors.ArgumentError, lambda: ssr.output.save(path, {}, 3)),  # type: ignore[arg-type]
        (errors.ArgumentError, lambda: ssr.output.save(path, {}, {"x": u})),
        (errors.ArgumentError, lambda: ssr.output.save(path, {}, {"x": {1: 2}})),
        (errors.ArgumentError, lambda: ssr.output.save(path, {}, {"x": path})),
        (errors.ArgumentError, lambda: ssr.output.load(path, on=u)),
        (errors.OutputError, lambda: ssr.output.save(tmp_path, {"u": u})),
    ):
        with pytest.raises(error):
            call()
    assert not list(tmp_path.iterdir())
    assert ssr.output.digest({"v": vector}) == ssr.output.digest({"v": np.asarray(vector)})


# -- damage --------------------------------------------------------------------------------------


def refused(path: Path, content: bytes) -> str:
    """Return the message about a checkpoint with this content."""
    path.write_bytes(content)
    with pytest.raises(errors.CheckpointError) as e:
        ssr.output.load(path)
    assert e.value.hint == "Start from another checkpoint, or from the beginning."
    return e.value.message


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "there"
    ssr.output.save(path, {"u": np.arange(100.0)}, {"time": 1.0})
    content = path.read_bytes()
    start = len(content) - 832
    for size in *range(0, len(content), 80), len(content) - 1:
        assert refused(path, content[:size]) == f"{path} is not a whole checkpoint."
    chosen = np.random.default_rng(0).integers(8 * start, 8 * len(content), 50)
    for bit in *range(0, 8 * start, 17), *chosen:
        changed = bytearray(content)
        changed[bit // 8] ^= 1 << bit % 8
        refused(path, bytes(changed))
    half = len(content) // 2
    for changed in content + b"\0", content[half:], content[half:] + content[:half], 2 * content:
        refused(path, bytes(changed))


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "there"
    for content in b"not a checkpoint", b"\0" * 1000, b"\n":
        assert refused(path, content) == f"{path} is not a checkpoint."
    other = checkpoint.FORMAT.replace(b"1", b"2")
    assert refused(path, other) == f"{path} is not a checkpoint."
    for place, message in (tmp_path / "no", "No such file"), (tmp_path, "Is a directory"):
        with pytest.raises(errors.CheckpointError, match=f"cannot be read: {message}"):
            ssr.output.load(place)


# -- places --------------------------------------------------------------------------------------

KILLED = """
import sys, numpy as np, ssr
step, u = 0, np.zeros(40000)
while True:
    step += 1
    u[:] = step
    ssr.output.save(sys.argv[1], {"u": u}, {"step": step})
    print(step, flush=True)
"""


def test_a_killed_process_leaves_a_whole_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "there"
    for pause in 0.0, 0.003, 0.007:
        command = [sys.executable, "-c", KILLED, str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(pause)
            process.kill()
        found = ssr.output.load(path)
        assert (found.fields["u"] == found.data["step"]).all()
    ssr.output.save(path, {})
    assert list(tmp_path.iterdir()) == [path]


def limited(size: int) -> Callable[[], None]:
    """Return a function that lets no file become larger, as if the disk were full."""
    import resource

    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


FULL = """
import sys, numpy as np, ssr, boundary as bc
cells = ssr.Space(10**5)
try:
    ssr.output.save(sys.argv[1], {"u": bc.distribute(cells, bc.simulated_ranks(2)).zeros(cells)})
except ssr.errors.OutputError as error:
    print(error.message)
"""


def test_a_full_disk_leaves_the_old_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "there"
    ssr.output.save(path, {"u": np.ones(3)})
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(path)],
        cwd=ROOT, capture_output=True, text=True, preexec_fn=limited(100_000),
    )  # fmt: skip
    assert done.stdout == f"{path} cannot be written: File too large.\n", done.stderr
    assert ssr.output.load(path).fields["u"].all()
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_while_writing_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "there"
    path.write_bytes(b"old")

    def fail(file: object) -> None:
        raise RuntimeError("broken")

    def full(file: object) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(RuntimeError, match="broken"):
        ssr.output.publish(path, fail)
    with pytest.raises(errors.OutputError, match="there cannot be written: No space left"):
        ssr.output.publish(path, full)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_and_leads_to_the_new_file(tmp_path: Path) -> None:
    link, there = tmp_path / "link", tmp_path / "there"
    link.symlink_to(there)
    ssr.output.publish(link, lambda file: file.write(b"new"))
    assert link.is_symlink()
    assert there.read_bytes() == b"new"


def test_a_pipe_is_written_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE) as reader:
        ssr.output.publish(pipe, lambda file: file.write(b"numbers"))
        assert reader.communicate()[0] == b"numbers"
    assert pipe.is_fifo()
    ssr.output.check_place(pipe)


def test_places_that_cannot_be_written_are_refused_early(tmp_path: Path) -> None:
    file, folder = tmp_path / "file", tmp_path / "folder"
    file.touch()
    folder.mkdir()
    for good in tmp_path / "a" / "b" / "c", file:
        ssr.output.check_place(good)
    ssr.output.check_place(folder, folder=True)
    assert sorted(tmp_path.iterdir()) == [file, folder]
    for place, message in ((folder, "is a directory"), (file / "x", "Not a directory")):
        with pytest.raises(errors.OutputError, match=message):
            ssr.output.check_place(place)
    with pytest.raises(errors.OutputError, match="is not a directory"):
        ssr.output.check_place(file, folder=True)


def gone() -> int:
    """Return the number of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


def test_files_that_killed_processes_left_are_removed(tmp_path: Path) -> None:
    here, dead = platform.node(), gone()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        kept = {
            f".there.{here}.{other.pid}",  # it may be writing
            f".there.{here}.1",  # it belongs to another user, or is the first one here
            f".there.elsewhere.{dead}",
            f".others.{here}.{dead}",
            f".there.{here}.{dead}x",
            f".there.{here}.0{dead}",
            ".there",
        }
        for name in *kept, f".there.{here}.{dead}":
            (tmp_path / name).touch()
        folder = tmp_path / f".there.{here}.{2**31 + 5}"
        folder.mkdir()
        (folder / "array").touch()
        ssr.output.publish(tmp_path / "there", lambda file: file.write(b"new"))
        assert {path.name for path in tmp_path.iterdir()} == {"there", *kept}
        other.communicate(b"\n")
    ssr.output.publish(tmp_path / "there", lambda file: file.write(b"newer"))
    assert not (tmp_path / f".there.{here}.{other.pid}").exists()


def test_a_stray_link_is_removed_and_its_target_kept(tmp_path: Path) -> None:
    place, folder = tmp_path / "there", tmp_path / "folder"
    folder.mkdir()
    (folder / "precious").touch()
    stray = tmp_path / f".there.{platform.node()}.{gone()}"
    stray.symlink_to(folder)
    ssr.output.publish(place, lambda file: file.write(b"new"))
    assert not stray.is_symlink()
    assert (folder / "precious").exists()
