"""Names, values and attributes of coordinates; DataArrays of xarray; pictures."""

from typing import Any

import numpy as np
import pytest

import ssr
from ssr.coordinates import Axis, Coordinates, cylindrical, geographic
from ssr.errors import ArgumentError, ShapeError

CELLS = ssr.Space(3, 4)
GLOBE = Coordinates(
    CELLS,
    geographic(1.0),
    latitude=(-90.0, 90.0),
    longitude=Axis(0.0, 360.0, periodic=True, attributes={"long_name": "east"}),
)
BOX = Coordinates(
    ssr.Space(2, 3, 4), z=Axis(0.0, 2.0, units="m"), y=(0.0, 3.0), x=Axis(0.0, 4.0, units="km")
)
VALUES = np.arange(12.0).reshape(3, 4)


def test_names_of_dimensions() -> None:
    assert GLOBE.dims() == ("latitude", "longitude")
    assert GLOBE.dims(CELLS.faces(0)) == ("latitude_face", "longitude")
    assert GLOBE.dims(CELLS.nodes()) == ("latitude_face", "longitude_face")
    assert GLOBE.dims(CELLS.faces(0).grow(-1, 0)) == ("latitude_face_1_to_2", "longitude")
    assert GLOBE.dims(CELLS.grow(0, 1)) == ("latitude", "longitude_minus_1_to_4")


def test_variables() -> None:
    found = GLOBE.variables(CELLS.faces(0))
    assert list(found) == ["latitude_face", "longitude", "longitude_bounds"]
    dims, values, attributes = found["longitude"]
    assert dims == ("longitude",)
    assert values.tolist() == [45.0, 135.0, 225.0, 315.0]
    assert attributes == {
        "standard_name": "longitude",
        "units": "degrees_east",
        "axis": "X",
        "long_name": "east",
        "bounds": "longitude_bounds",
    }
    dims, bounds, _ = found["longitude_bounds"]
    assert dims == ("longitude", "bounds")
    assert bounds.tolist() == [[0.0, 90.0], [90.0, 180.0], [180.0, 270.0], [270.0, 360.0]]
    assert found["latitude_face"][1].tolist() == [-90.0, -30.0, 30.0, 90.0]


def test_a_dataset_takes_the_variables() -> None:
    xarray = pytest.importorskip("xarray")
    fields: dict[str, Any] = {"T": (GLOBE.dims(), VALUES)}
    made = xarray.Dataset(fields | GLOBE.variables())
    assert made.T.sel(latitude=0.0, longitude=135.0) == 5.0


def test_there_and_back() -> None:
    pytest.importorskip("xarray")
    for space in (*GLOBE.spaces(), CELLS.nodes(), CELLS.grow(0, 1)):
        given = np.random.default_rng(0).random(space.extent({}))
        array = GLOBE.to_xarray(given, space, name="T", units="K", long_name="temperature")
        assert array.attrs == {"units": "K", "long_name": "temperature"}
        turned = array.transpose(*array.dims[::-1])
        found = GLOBE.from_xarray(turned, space)
        np.testing.assert_array_equal(found, given)
        assert found.flags.c_contiguous
        assert found.flags.writeable
    single = GLOBE.to_xarray(VALUES.astype(np.float32))
    assert GLOBE.from_xarray(single).dtype == np.float32
    rounded = single.assign_coords(longitude=single.longitude.astype(np.float32))
    np.testing.assert_array_equal(GLOBE.from_xarray(rounded), VALUES)


def test_other_arrays_are_refused() -> None:
    pytest.importorskip("xarray")
    array = GLOBE.to_xarray(VALUES)
    wrong = [
        (array.rename(latitude="y"), ArgumentError, "has the dimensions"),
        (array[:2], ShapeError, r"shape \(2, 4\)"),
        (array[::-1], ArgumentError, "decreases"),
        (array.assign_coords(latitude=[-50.0, 0.0, 50.0]), ArgumentError, "begins with -50"),
        (array.drop_vars("latitude"), ArgumentError, "no coordinate 'latitude'"),
        (array.astype(complex), ArgumentError, "numbers"),
        (VALUES, ArgumentError, "not a DataArray"),
    ]
    for given, kind, text in wrong:
        with pytest.raises(kind, match=text):
            GLOBE.from_xarray(given)
    with pytest.raises(ShapeError, match=r"shape \(2, 2\)"):
        GLOBE.to_xarray(np.ones((2, 2)))


def test_pictures() -> None:
    pytest.importorskip("matplotlib")
    import matplotlib.pyplot as plt

    disk = Coordinates(CELLS, cylindrical, r=Axis(0.0, 1.0, units="m"), theta=(0.0, 6.0))
    names = ("east (degrees_east)", "latitude (degrees_north)")
    for grid, labels in (GLOBE, names), (disk, ("x", "y")):
        for space in grid.spaces():
            axes = grid.plot(np.ones(space.extent({})), space, label="T (K)")
            mesh = axes.collections[0]
            assert mesh.get_array().size == np.prod(space.extent({}))
            assert (axes.get_xlabel(), axes.get_ylabel()) == labels
    corners = disk.plot(VALUES).collections[0].get_coordinates()
    np.testing.assert_allclose(np.hypot(*corners[-1].T), 1.0)
    line = disk.plot(VALUES, at={"theta": 2.0}).lines[0]
    np.testing.assert_array_equal(line.get_ydata(), VALUES[:, 1])
    assert line.axes.get_xlabel() == "radius (m)"
    axes = BOX.plot(np.ones((2, 3, 4)), at={"y": 1.0}, cmap="inferno")
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("x (km)", "z (m)")
    with pytest.raises(ArgumentError, match="not 3"):
        BOX.plot(np.ones((2, 3, 4)))
    with pytest.raises(ArgumentError, match="Axes are z, y, x"):
        BOX.plot(np.ones((2, 3, 4)), at={"w": 1.0})
    plt.close("all")
