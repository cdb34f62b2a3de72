"""Files of records: the same content on any ranks, whole records, continued files, CF."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import boundary as bc
import ssr
from ssr import errors
from ssr.output import Computed, Writer, netcdf, netcdf_format

from . import test_mpi as mpi
from . import test_output_checkpoint

ROOT = Path(__file__).parents[3]
SUFFIXES = ".nc", ".zarr"
plane = ssr.Space(5, 7)
grid = bc.Grid(6 * [(4, 4)], links=bc.cubed_sphere())


@pytest.fixture
def xarray() -> Any:
    pytest.importorskip("zarr")
    return pytest.importorskip("xarray")


def longitude(j: Any, i: Any) -> Any:
    return 10.0 * j + i


COORDINATES: dict[str, Any] = {
    "x": ("x", np.arange(7.0), {"units": "m", "axis": "X", "bounds": "x_bounds"}),
    "x_bounds": (("x", "corner"), np.arange(7.0)[:, None] + [-0.5, 0.5]),
    "y": ("y", np.arange(5), {"units": "m", "axis": "Y"}),
    "lon": (
        ("y", "x"),
        Computed(longitude, shape=(5, 7)),
        {"units": "degrees_east", "standard_name": "longitude"},
    ),
    "lat": (
        ("y", "x"),
        Computed(lambda j, i: 10.0 * j, shape=(5, 7)),
        {"units": "degrees_north", "standard_name": "latitude"},
    ),
    "cell_area": (("y", "x"), np.ones((5, 7)), {"standard_name": "cell_area", "units": "m2"}),
}

ATTRIBUTES: dict[str, Any] = {"u": {"units": "m s-1", "long_name": "wind", "valid_min": -500.0}}


def recorded(path: Path, ranks: Any, steps: int = 3, **more: Any) -> Writer:
    """Write records of fields of several kinds."""
    on, cube = bc.distribute(plane, ranks), bc.distribute(grid, ranks)
    u, v, w = on.zeros(plane), on.zeros(plane.faces(0), "float32"), on.zeros(plane.vector(2))
    panels, step = cube.zeros(grid.cells), 0
    fields = {
        "u": u,
        "v": v,
        ("east", "north"): w,
        ("sum", "difference"): Computed(lambda u, w, j, i: (u + w[0], u - w[1] + i), u, w),
        "panels": panels,
        "step": lambda: step,
    }
    writer = Writer(
        path,
        fields,
        coordinates=COORDINATES,
        constants={"depth": np.ones((5, 7))},
        dims={"panels": ("panel", "beta", "alpha")},
        attributes=ATTRIBUTES,
        about={"title": "a test", "numbers": [1, 2, 3]},
        chunks={"x": 3, "panel": 1},
        **more,
    )
    for step in range(steps):
        u.fill(lambda j, i, n=step: np.where((j == 1) & (i == n), np.nan, 100 * n + j + 10 * i))
        v.fill(lambda j, i, n=step: n + j + 0.1 * i)
        w.fill(lambda j, i, n=step: np.stack([j + 0 * i, n + i + 0 * j]))
        panels.fill(lambda p, j, i, n=step: 1000 * n + 100 * p + 10 * j + i)
        writer.write(60.0 * step)
    return writer


def check(xarray: Any, path: Path) -> Any:
    """Compare a file with the values that it should have; return its dataset."""
    with xarray.open_dataset(path, decode_times=False) as file:
        found = file.load()
    n, j, i = np.ogrid[:3, :5, :7]
    u = 100.0 * n + j + 10 * i
    u[np.arange(3), 1, np.arange(3)] = np.nan
    np.testing.assert_array_equal(found.u, u)
    np.testing.assert_array_equal(found["sum"], u + j)
    np.testing.assert_array_equal(found.difference, u - n)
    n, j, i = np.ogrid[:3, :6, :7]
    np.testing.assert_array_equal(found.v, (n + j + 0.1 * i).astype("f4"))
    assert found.v.dims == ("time", "y_face", "x")
    assert found.v.dtype == np.float32
    np.testing.assert_array_equal(found.lon, longitude(*np.ogrid[:5, :7]))
    assert found.panels.dims == ("time", "panel", "beta", "alpha")
    assert found.panels[2, 4, 1, 3] == 2413
    assert found.step.values.tolist() == [0, 1, 2]
    assert found.time.values.tolist() == [0.0, 60.0, 120.0]
    assert {"lon", "lat", "x", "y"} <= set(found.coords)
    assert found.u.attrs["cell_measures"] == "area: cell_area"
    assert found.u.attrs["units"] == "m s-1"
    assert found.v.attrs["long_name"] == "v"
    assert "long_name" not in found.x_bounds.attrs
    assert found.attrs["Conventions"] == "CF-1.11"
    assert found.attrs["title"] == "a test"
    return found


WORLDS = {
    "alone": lambda: None,
    "simulated": lambda: bc.simulated_ranks(3),
    "threads": lambda: bc.threads(2),
    "many": lambda: bc.simulated_ranks(50),
}


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("world", WORLDS)
def test_xarray_reads_the_same_from_any_ranks(
    xarray: Any, world: str, suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if world == "simulated":
        monkeypatch.setattr("ssr.output.pieces.PIECE", 100)  # several pieces
    path = tmp_path / "deep" / f"run{suffix}"
    writer = recorded(path, WORLDS[world]())
    check(xarray, path)
    assert repr(writer) == f"<Writer {path}, 3 records>"
    assert list(path.parent.iterdir()) == [path]


def job(folder: Path, comm: Any) -> None:
    """Write on the ranks of a job, and find the errors of one rank on all."""
    test_output_checkpoint.job(folder, comm)
    for suffix in SUFFIXES:
        recorded(folder / f"run{suffix}", comm)
        with pytest.raises(errors.OutputError, match="exists already"):
            recorded(folder / f"run{suffix}", comm, mode="x")
        with pytest.raises(errors.OutputError, match="begins at 0"):
            recorded(folder / f"run{suffix}", comm, mode="a")
        (folder / f"there{suffix}").mkdir(exist_ok=True)
    with pytest.raises(errors.OutputError, match="is a directory"):
        recorded(folder / "there.nc", comm)


@mpi.needs_mpi
def test_ranks_of_a_job_write_the_same(xarray: Any, tmp_path: Path) -> None:
    made = test_output_checkpoint.one_process(tmp_path)
    found = mpi.start(3, "files", str(tmp_path))
    assert found.returncode == 0, found.stderr
    assert (tmp_path / "several").read_bytes() == made
    for suffix in SUFFIXES:
        check(xarray, tmp_path / f"run{suffix}")


def test_netcdf_and_zarr_are_one_dataset(xarray: Any, tmp_path: Path) -> None:
    found = []
    for suffix in SUFFIXES:
        recorded(tmp_path / f"run{suffix}", None)
        found.append(check(xarray, tmp_path / f"run{suffix}"))
        del found[-1].attrs["history"]
    xarray.testing.assert_identical(*found)
    import zarr

    assert zarr.open_group(tmp_path / "run.zarr", mode="r")["u"].shape == (3, 5, 7)


@pytest.mark.skipif(shutil.which("compliance-checker") is None, reason="needs compliance-checker")
def test_files_follow_the_conventions(tmp_path: Path) -> None:
    recorded(tmp_path / "run.nc", None)
    command = ["compliance-checker", "--test=cf:1.11", str(tmp_path / "run.nc")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert "Errors" not in done.stdout
    assert done.returncode == 0, done.stdout


# -- continued files -----------------------------------------------------------------------------


def small(path: Path, u: Any, **more: Any) -> Writer:
    given: dict[str, Any] = {"coordinates": {"x": ("x", [1.0, 2.0, 4.0])}, **more}
    return Writer(path, {"u": u}, **given)


def times(xarray: Any, path: Path) -> tuple[list[float], list[float]]:
    with xarray.open_dataset(path, decode_times=False) as file:
        return file.time.values.tolist(), file.u.values[:, 0].tolist()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_restarted_run_continues_its_file(xarray: Any, suffix: str, tmp_path: Path) -> None:
    path, u = tmp_path / f"run{suffix}", np.zeros(3)
    assert not path.exists()
    writer = small(path, u, mode="a")
    for n in range(4):
        u[:] = n
        writer(SimpleNamespace(time=0.1 * n))
    u[:] = 10
    again = small(path, u, mode="a")
    again.write(0.2)  # from a checkpoint of 0.1: the records at 0.2 and 0.3 are made again
    assert times(xarray, path) == ([0.0, 0.1, 0.2], [0.0, 1.0, 10.0])
    again.write(0.5)
    assert times(xarray, path) == ([0.0, 0.1, 0.2, 0.5], [0.0, 1.0, 10.0, 10.0])
    with pytest.raises(errors.OutputError, match=r"at 0\.5 is not after the last one .* at 0\.5"):
        again.write(0.5)
    with pytest.raises(errors.OutputError, match=r"begins at 0, and the new record is at 0\."):
        small(path, u, mode="a").write(0.0)
    with pytest.raises(errors.OutputError, match="exists already"):
        small(path, u, mode="x")
    with pytest.raises(
        errors.OutputError, match=r"has records from 0 to 0\.5, .* from 7 on"
    ) as told:
        small(path, u).write(7.0)
    assert 'mode="a" to continue' in str(told.value)
    assert 'mode="w" to replace' in str(told.value)
    assert times(xarray, path)[0] == [0.0, 0.1, 0.2, 0.5]
    small(path, u, mode="w").write(7.0)
    assert times(xarray, path)[0] == [7.0]
    small(path, u).write(7.0)  # a new run, which begins as the one before
    small(path, u).write(0.0)
    assert times(xarray, path)[0] == [0.0]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_continued_run_does_not_replace_its_file(
    xarray: Any, suffix: str, tmp_path: Path
) -> None:
    """A run that continues from a checkpoint refuses before its first step; new runs replace."""
    path, kept = tmp_path / f"run{suffix}", tmp_path / "run.ckpt"

    def made(stop: float, **mode: Any) -> ssr.simulation.Simulation:
        u = np.zeros(3)
        step = ssr.simulation.FunctionStepper(lambda t, dt: np.add(u, dt, u), {"u": u}, dt=0.25)
        run = ssr.simulation.Simulation(step, stop_time=stop)
        run.add(small(path, u, **mode), time=0.5)
        run.add(ssr.simulation.Checkpointer(kept))
        return run

    for _ in range(2):
        made(1.0).run()
        assert times(xarray, path)[0] == [0.0, 0.5, 1.0]
    run = made(2.0)
    with pytest.raises(errors.OutputError, match="which a new file from 1 on would replace"):
        run.restore(kept)
    assert (run.time, run.stepper.fields()["u"].tolist()) == (0.0, [0.0, 0.0, 0.0])
    late = ssr.simulation.Simulation(
        ssr.simulation.FunctionStepper(lambda t, dt: None, {"u": np.zeros(3)}, dt=0.25), 2.0
    )
    late.restore(kept)
    late.add(small(path, np.zeros(3)), time=0.5)
    with pytest.raises(errors.OutputError, match=r"which a new file from 1\.5 on would replace"):
        late.run()
    assert times(xarray, path)[0] == [0.0, 0.5, 1.0]
    run = made(2.0, mode="a")
    run.restore(kept)
    run.run()
    assert times(xarray, path)[0] == [0.0, 0.5, 1.0, 1.5, 2.0]
    run = made(3.0, mode="w")
    run.restore(kept)
    run.run()
    assert times(xarray, path)[0] == [2.5, 3.0]
    path.rename(path.with_stem("before"))
    run = made(4.0)
    run.restore(kept)
    run.run()
    assert times(xarray, path)[0] == [3.5, 4.0]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_another_file_is_not_continued(xarray: Any, suffix: str, tmp_path: Path) -> None:
    path, u = tmp_path / f"run{suffix}", np.zeros(3)
    small(path, u, constants={"b": 2.0}, attributes={"u": {"units": "m"}}).write(0.0)
    usual: dict[str, Any] = {"constants": {"b": 2.0}, "attributes": {"u": {"units": "m"}}}
    for change, message in (
        ({"coordinates": {"x": ("x", [1.0, 2.0, 5.0])}}, "other values of"),
        ({"constants": {"b": 3.0}}, "other values of"),
        ({"constants": {}}, "has a variable b"),
        ({"constants": {"b": 2.0, "c": 1.0}}, "has no variable c"),
        ({"attributes": {"u": {"units": "km"}}}, "has u with units 'm', not 'km'"),
        ({"dtype": "float32"}, "has u of dtype"),
        ({"time_units": "days since 1970-01-01"}, "has time with units"),
        ({"coordinates": {"y": ("y", [1.0, 2.0, 4.0])}, "dims": ("y",)}, "variable|points along"),
    ):
        with pytest.raises(errors.OutputError, match=message):
            small(path, u, mode="a", **{**usual, **change}).write(1.0)
    longer = {"coordinates": {"x": ("x", [1.0, 2.0, 4.0, 5.0])}}
    with pytest.raises(errors.OutputError, match="has 3 points along x, not 4"):
        small(path, np.zeros(4), mode="a", **{**usual, **longer}).write(1.0)
    assert times(xarray, path)[0] == [0.0]
    small(path, u, mode="a", **usual).write(1.0)
    other = tmp_path / f"other{suffix}"
    if suffix == ".nc":
        other.write_bytes(b"CDF\2\0\0")
    else:
        other.mkdir()
    with pytest.raises(errors.OutputError, match="is not a"):
        small(other, u, mode="a").write(1.0)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_two_writers_do_not_write_one_file(xarray: Any, suffix: str, tmp_path: Path) -> None:
    path, u = tmp_path / f"run{suffix}", np.zeros(3)
    one, other = small(path, u), small(path, u)
    one.write(0.0)
    one.write(1.0)
    other.write(0.0)
    with pytest.raises(errors.OutputError, match="no longer the file"):
        one.write(2.0)
    other.write(5.0)
    assert times(xarray, path)[0] == [0.0, 5.0]
    assert list(tmp_path.iterdir()) == [path]


# -- failures ------------------------------------------------------------------------------------

GROWING = """
import sys, numpy as np, ssr
u, n = np.zeros(20000), 0
writers = [ssr.output.Writer(path, {"u": u}) for path in sys.argv[1:]]
try:
    while True:
        u[:] = n
        for writer in writers:
            writer.write(n)
        print(n, flush=True)
        n += 1
except ssr.errors.OutputError as error:
    print(error.message)
"""


def limited(size: int) -> Callable[[], None]:
    """Return a function that lets no file become larger, as if the disk were full."""
    import resource

    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def test_a_full_disk_leaves_the_records_before(xarray: Any, tmp_path: Path) -> None:
    path = tmp_path / "run.nc"
    done = subprocess.run(
        [sys.executable, "-c", GROWING, str(path)],
        cwd=ROOT, capture_output=True, text=True, preexec_fn=limited(1_000_000),
    )  # fmt: skip
    *_, last, message = done.stdout.splitlines()
    assert message == f"{path} cannot be written: File too large.", done.stderr
    assert last == "5"
    with xarray.open_dataset(path) as file:
        assert (file.u[:, 0] == np.arange(6)).all()
    assert path.stat().st_size < 965_000  # without the beginning of the seventh record


def test_a_killed_process_leaves_whole_records(xarray: Any, tmp_path: Path) -> None:
    paths = [tmp_path / f"run{suffix}" for suffix in SUFFIXES]
    command = [sys.executable, "-c", GROWING, *map(str, paths)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
    for path in paths:
        with xarray.open_dataset(path) as file:
            assert file.sizes["time"] > 0
            assert (file.u.values == np.arange(file.sizes["time"])[:, None]).all()


def test_an_interrupted_record_is_not_there(
    xarray: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, u = tmp_path / "run.nc", np.zeros(3)
    writer = small(path, u)
    writer.write(0.0)
    size, put = path.stat().st_size, netcdf._put

    def interrupted(file: Any, offset: int, data: Any) -> None:
        put(file, offset, data)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(netcdf, "_put", interrupted)
        with pytest.raises(KeyboardInterrupt):
            writer.write(1.0)
    assert times(xarray, path)[0] == [0.0]
    assert path.stat().st_size == size
    writer.write(1.0)
    assert times(xarray, path)[0] == [0.0, 1.0]


# -- arguments -----------------------------------------------------------------------------------


def test_arguments_that_make_no_sense(tmp_path: Path) -> None:
    path, u = tmp_path / "run.nc", np.zeros((5, 7))
    x, y = ("x", np.arange(7.0)), ("y", np.arange(5.0))
    cases: list[tuple[Any, str, dict[str, Any]]] = [
        (errors.OutputError, "no known format", {"path": "run.txt"}),
        (errors.ArgumentError, "path is 3", {"path": 3}),
        (errors.ArgumentError, "fields is", {"fields": [u]}),
        (errors.ArgumentError, "fields is", {"fields": {}}),
        (errors.ArgumentError, "is not a name", {"fields": {"2u": u}}),
        (errors.ArgumentError, "is not a name", {"fields": {3: u}}),
        (errors.ArgumentError, "differ in case", {"fields": {"u": u, "U": u}}),
        (errors.ArgumentError, "two variables time", {"fields": {"time": u}}),
        (errors.ArgumentError, "two variables u", {"constants": {"u": u}}),
        (errors.ShapeError, "3 names for 5 components", {"fields": {("a", "b", "c"): u}}),
        (errors.DtypeError, "has dtype", {"fields": {"u": np.array(["a"])}}),
        (errors.ArgumentError, "u is None", {"fields": {"u": None}}),
        (errors.ArgumentError, "not monotonic", {"coordinates": {"x": ("x", np.ones(7))}}),
        (errors.ArgumentError, "along the axis x", {"coordinates": {"x": (("y", "x"), u)}}),
        (errors.ArgumentError, "not .dims, values", {"coordinates": {"x": np.arange(7.0)}}),
        (errors.ArgumentError, "coordinates is 3", {"coordinates": 3}),
        (errors.ShapeError, "8 points along x|7 points", {"coordinates": {"x": ("x", range(8))}}),
        (errors.ShapeError, "has 2 axes and the dims x", {"dims": {"u": "x"}}),
        (errors.ArgumentError, "no names", {"coordinates": {"a": ("a", [1.0])}}),
        (errors.ArgumentError, "axis time", {"dims": {"u": ("time", "x")}}),
        (errors.ArgumentError, "an axis and a field", {"fields": {"x": u}}),
        (errors.ArgumentError, "attributes of v", {"attributes": {"v": {}}}),
        (errors.ArgumentError, "attributes is", {"attributes": {"u": "m"}}),
        (errors.ArgumentError, "attributes is", {"attributes": 3}),
        (errors.ArgumentError, "dims of v", {"dims": {"v": ("y", "x")}}),
        (errors.ArgumentError, "axes of u are 3", {"dims": {"u": 3}}),
        (errors.ArgumentError, "axis z", {"chunks": {"z": 3}}),
        (errors.ArgumentError, "attribute a of u", {"attributes": {"u": {"a": None}}}),
        (errors.ArgumentError, "attribute title", {"about": {"title": [[1]]}}),
        (errors.ArgumentError, "time_units", {"time_units": "seconds"}),
        (errors.ArgumentError, "calendar", {"calendar": "mayan"}),
        (errors.ArgumentError, "dtype is", {"dtype": "int32"}),
        (errors.ArgumentError, "chunks is", {"chunks": {"x": 0}}),
        (errors.ArgumentError, "chunks is", {"chunks": 3}),
        (errors.ArgumentError, "mode is", {"mode": "r"}),
        (errors.OutputError, "is a directory", {"path": tmp_path / "folder.nc"}),
    ]
    (tmp_path / "folder.nc").mkdir()
    for error, message, change in cases:
        given: dict[str, Any] = {"path": path, "fields": {"u": u}, **change}
        with pytest.raises(error, match=message):
            Writer(given.pop("path"), given.pop("fields"), **given)
    writer = Writer(path, {"u": lambda: u}, coordinates={"x": x, "y": y})
    for wrong in np.nan, np.inf, "x", None:
        with pytest.raises(errors.ArgumentError, match="not a finite number"):
            writer.write(wrong)  # type: ignore[arg-type]
    assert not path.exists()
    writer.write(0.0)
    u = np.zeros((5, 8))
    with pytest.raises(errors.ShapeError, match=r"u has shape \(5, 8\) now, and \(5, 7\) before"):
        writer.write(1.0)


def test_computed_values_are_checked() -> None:
    u = np.zeros((5, 7))
    for error, message, call in (
        (errors.ArgumentError, "not a function", lambda: Computed(3)),  # type: ignore[arg-type]
        (errors.ArgumentError, "have no shape", lambda: Computed(longitude)),
        (errors.ArgumentError, "shape is", lambda: Computed(longitude, shape=3)),  # type: ignore[arg-type]
        (errors.ShapeError, "not values at", lambda: Computed(longitude, u, u[:3])),
    ):
        with pytest.raises(error, match=message):
            call()
    wrong = Computed(lambda u, j, i: u[:2], u)
    with pytest.raises(errors.ShapeError, match="returns values of shape"):
        ssr.output.to_xarray({"u": wrong})
    with pytest.raises(errors.ShapeError, match="returns 2 values for 3 names"):
        ssr.output.to_xarray({("a", "b", "c"): Computed(lambda j, i: (j, i), shape=(2, 2))})
    assert repr(wrong) == "<Computed values of shape (5, 7)>"


def test_datasets_of_fields(xarray: Any) -> None:
    for ranks in None, bc.simulated_ranks(3):
        u = bc.distribute(plane, ranks).zeros(plane.vector(2))
        u.fill(lambda j, i: np.stack([j + 0 * i, i + 0 * j]))
        found = ssr.output.to_xarray(
            {("a", "b"): u, "one": 1.0}, coordinates=COORDINATES, attributes={"a": {"units": "m"}}
        )
        assert found.a.dims == ("y", "x")
        assert found.b.values[1].tolist() == list(range(7))
        assert {"lon", "lat", "x", "y"} <= set(found.coords)
        assert found.a.attrs == {"units": "m", "long_name": "a", "cell_measures": "area: cell_area"}


# -- the format ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dtype", "magic"), [("f4", 2), ("i1", 2), ("i2", 2), ("i4", 2), ("i8", 5), ("u2", 5)]
)
def test_headers_come_back(dtype: str, magic: int, tmp_path: Path) -> None:
    """Read by us, and by SciPy where it knows the format."""
    path, u = tmp_path / "run.nc", np.arange(15).reshape(3, 5).astype(dtype)
    writer = Writer(path, {"u": u, "w": u[:1, :1]}, dims={"w": ("a", "b")}, about={"odd": "Ö"})
    for n in range(3):
        writer.write(float(n))
    with path.open("rb") as file:
        found = netcdf_format.decoded(file)
    assert found is not None
    header, count = found
    assert count == 3
    assert header.attributes["odd"] == "Ö"
    assert path.read_bytes()[:4] == b"CDF" + bytes([magic])
    assert (
        netcdf_format.encoded(header, 3)
        == path.read_bytes()[: header.variables["u"].begin][: len(netcdf_format.encoded(header, 3))]
    )
    assert path.stat().st_size == header.size + 3 * header.record
    if magic == 2:
        scipy = pytest.importorskip("scipy.io")
        with scipy.netcdf_file(path, mmap=False) as there:
            assert (there.variables["u"][2] == u).all()
            assert there.variables["u"][:].dtype.newbyteorder("=") == np.dtype(dtype)


def test_large_variables_need_the_wide_format() -> None:
    big = netcdf_format.Stored(("time", "y", "x"), np.dtype("f8"), {})
    for n, wide in (20000, False), (30000, True):
        header = netcdf_format.laid_out({"time": 0, "y": n, "x": n}, {}, {"u": big})
        assert header.wide == wide
        assert header.record == 8 * n * n


@pytest.mark.parametrize("suffix", ["nc", "zarr"])
def test_coordinates_of_a_grid(xarray: Any, tmp_path: Path, suffix: str) -> None:
    """Arrays and fields of ranks on cells and faces have the axes of their coordinates."""
    cells = ssr.Space(*ssr.sizes("ny nx"))
    system, sizes = ssr.coordinates.geographic(1.0), {"ny": 6, "nx": 8}
    grid = ssr.coordinates.Coordinates(
        cells, system, latitude=(-90.0, 90.0), longitude=(0.0, 360.0)
    ).bind(**sizes)
    arrays = {"h": np.arange(48.0).reshape(6, 8), "v": np.arange(56.0).reshape(7, 8)}
    on = bc.distribute(cells, bc.simulated_ranks(3), **sizes)
    spaces = {"h": cells, "v": cells.faces(0)}
    fields = {name: on.scatter(spaces[name], values) for name, values in arrays.items()}
    found = []
    for name, given in ("arrays", arrays), ("ranks", fields):
        path = tmp_path / f"{name}.{suffix}"
        for mode, at in ("w", 0.0), ("a", 1.0):
            ssr.output.Writer(path, given, coordinates=grid, mode=mode).write(at)
        with xarray.open_dataset(path, decode_times=False) as file:
            found.append(file.load())
    assert found[0].v.dims == ("time", "latitude_face", "longitude")
    assert found[0].equals(found[1])
    assert np.array_equal(found[0].v[1], arrays["v"])
