"""What is said about mistakes: class, message, the user's line; and nothing is written before."""

from typing import Any

import numpy as np
import pytest

import boundary as bc
import ssr
from boundary.errors import AmbiguousGhostError, HaloError, LinkError, UndefinedGhostError
from boundary.grid.link import Link, Side
from ssr.errors import (
    ArgumentError,
    DtypeError,
    Error,
    ShapeError,
    SpaceError,
    UnboundError,
)

ny, nx = ssr.sizes("ny nx")
(n,) = ssr.sizes("n")
cells = ssr.Space(ny, nx)
wide = cells.grow(1)
line = ssr.Space(5)
pair = bc.Grid(2 * [(4, 4)], links=bc.topologies.bricks(1, 2))
two = pair.cells.grow(1)
cross = ssr.stencil(cells, wide, {(0, 0): -4.0, (0, 1): 1, (1, 0): 1, (0, -1): 1, (-1, 0): 1})
corner = ssr.stencil(cells, wide, {(1, 1): 1.0})
shift = ssr.stencil(line, line.grow(1), {-1: 1.0, 1: 1.0})
shared = bc.synchronize(pair.cells.nodes())
g = bc.parameter("g")


def table(layers: int = 1, points: int = 4) -> Any:
    return bc.interpolate(np.zeros((layers, points), int), np.ones((layers, points, 1)))


def line_table(**levels: Any) -> Any:
    return bc.interpolate(np.zeros((1, 4), int), np.ones((1, 4, 1)), **levels)


def layers(*shape: int, axis: int = 0) -> Any:
    return bc.Grid(2 * [shape], links=bc.topologies.bricks(1, 2).layered(axis)).cells.grow(1)


def turn(blocks: int = 2, value: float = 1.0) -> Any:
    return bc.transform_vector(np.full((blocks, 4, 2, 2, 1, 4), value))


CASES: dict[str, tuple[Any, type[Error], str]] = {
    "undefined": (
        lambda: cross @ bc.fill(wide, bc.periodic(1)),
        UndefinedGhostError,
        "Ghosts that are read have no value: j = -1, i in [0, nx - 1].",
    ),
    "corner": (
        lambda: corner @ bc.fill(wide, bc.dirichlet(1.0, 0), bc.dirichlet(2.0, 1)),
        AmbiguousGhostError,
        "Ghosts that are read are defined differently by two rules: j = ny, i = nx.",
    ),
    "one side": (
        lambda: cross @ bc.fill(wide, bc.periodic(), bc.zero(0, "low")),
        AmbiguousGhostError,
        "Ghosts that are read are defined differently by two rules: j = -1, i in [0, nx - 1].",
    ),
    "axis": (lambda: bc.fill(wide, bc.zero(2)), ArgumentError, "zero(axis=2): blocks have 2 axes."),
    "side": (
        lambda: bc.zero(0, "left"),  # type: ignore[arg-type]
        ArgumentError,
        'zero(axis=0, side="left"): side must be "low", "high" or "both", not \'left\'.',
    ),
    "block": (
        lambda: bc.fill(wide, bc.zero(block=1)), ArgumentError, "zero(block=1): there are 1 blocks."
    ),
    "no links": (
        lambda: bc.fill(wide, bc.linked()),
        ArgumentError,
        "linked() applies to no side: no side is linked.",
    ),
    "all linked": (
        lambda: bc.fill(
            bc.Grid([(3, 3)], links=bc.topologies.periodic_box(2)).cells.grow(1), bc.zero(0)
        ),
        ArgumentError,
        "zero(axis=0) applies to no side: such sides are linked; a rule for them names a block.",
    ),
    "table shapes": (
        lambda: bc.interpolate(np.zeros((1, 4), int), np.ones((1, 5, 1))),
        ShapeError,
        "interpolate: first has shape (1, 4), weights (1, 5, 1).",
    ),
    "table ragged": (
        lambda: bc.interpolate([[0], [0, 1]], [[[1.0]]]),
        ArgumentError,
        "interpolate: first is not an array of real numbers.",
    ),
    "table empty": (
        lambda: bc.interpolate(np.zeros((0, 4), int), np.ones((0, 4, 1))),
        ShapeError,
        "interpolate: the tables of shape (0, 4, 1) are empty.",
    ),
    "table NaN": (
        lambda: bc.interpolate(np.zeros((1, 4), int), np.full((1, 4, 1), np.nan)),
        ArgumentError,
        "interpolate: weights[0, 0, 0] is not finite.",
    ),
    "first half": (
        lambda: bc.interpolate(np.full((1, 4), 0.5), np.ones((1, 4, 1))),
        ArgumentError,
        "interpolate: first[0, 0] is not an integer.",
    ),
    "first far": (
        lambda: bc.interpolate(np.full((1, 4), 4), np.ones((1, 4, 1))),
        ArgumentError,
        "interpolate: the points of first[0, 0] are not among the 4 points of the side.",
    ),
    "few layers": (
        lambda: bc.fill(pair.cells.grow(2), table() @ bc.linked()),
        HaloError,
        "interpolate: the tables have 1 layers, the halo of block 0, axis 1 high has 2.",
    ),
    "table length": (
        lambda: bc.fill(two, table(1, 3) @ bc.linked()),
        ShapeError,
        "interpolate: the tables have 3 points, block 0, axis 1 high has 4.",
    ),
    "rotation shape": (
        lambda: bc.transform_vector(np.ones((2, 4, 2, 3, 1, 4))),
        ShapeError,
        "transform_vector: the matrices have shape (2, 4, 2, 3, 1, 4).",
    ),
    "rotation blocks": (
        lambda: bc.fill(two.vector(2), turn(3) @ bc.linked()),
        ShapeError,
        "transform_vector: the matrices are for 3 blocks; there are 2.",
    ),
    "rotation of numbers": (
        lambda: bc.fill(two, turn() @ bc.linked()),
        ShapeError,
        "transform_vector(...) @ linked() is for 2 components.",
    ),
    "rotation NaN": (
        lambda: bc.fill(two.vector(2), turn(2, np.nan) @ bc.linked()),
        ArgumentError,
        "transform_vector: a matrix of block 0, axis 1 high is not finite.",
    ),
    "levels not named": (
        lambda: bc.fill(layers(3, 4, 4), table() @ bc.linked()),
        ArgumentError,
        "interpolate: blocks have 3 dimensions, and the tables are for lines.",
    ),
    "levels of two axes": (
        lambda: bc.fill(two, line_table(levels=0) @ bc.linked()),
        ArgumentError,
        "interpolate: blocks have 2 dimensions.",
    ),
    "lines of points": (
        lambda: bc.fill(line.grow(1), table() @ bc.zero()),
        ArgumentError,
        "interpolate: blocks have 1 dimension.",
    ),
    "no levels": (
        lambda: bc.transform_vector(np.ones((2, 4, 2, 2, 1, 4)), levels=3),
        ArgumentError,
        "transform_vector: levels is 3, not one of the axes 0, 1 and 2.",
    ),
    "levels half": (
        lambda: line_table(levels=0.5),
        ArgumentError,
        "interpolate: levels is 0.5, not one of the axes 0, 1 and 2.",
    ),
    "other levels": (
        lambda: line_table(levels=0) @ line_table(levels=-1),
        ArgumentError,
        "interpolate(..., levels=0) @ interpolate(..., levels=2): the axes of levels differ.",
    ),
    "ends of levels": (
        lambda: line_table(levels=0) @ bc.zero(axis=-3),
        ArgumentError,
        "interpolate(..., levels=0) @ zero(axis=-3) applies to no side: "
        "sides normal to the axis of levels have rules of their own.",
    ),
    "table length at levels": (
        lambda: bc.fill(layers(4, 3, 5), line_table(levels=0) @ bc.linked()),
        ShapeError,
        "interpolate: the tables have 4 points, block 0, axis 2 high has 3.",
    ),
    "layered thrice": (
        lambda: bc.topologies.bricks(1, 2).layered().layered(),
        ArgumentError,
        "layered needs blocks of 1 or 2 dimensions, not of 3.",
    ),
    "layered where": (
        lambda: bc.topologies.bricks(1, 2).layered(3),
        ArgumentError,
        "3 is not an axis of blocks with 3 axes.",
    ),
    "singular": (
        lambda: bc.fill(line.grow(1), bc.robin(1.0, -0.5, 0.0)),
        ArgumentError,
        "robin(1.0, -0.5, 0.0) is singular: the condition does not determine the ghosts of layer ",
    ),
    "no condition": (
        lambda: bc.robin(0, 0, 1.0), ArgumentError, "robin(0, 0, 1.0): a and b are both zero."
    ),
    "spacing": (
        lambda: bc.neumann(1.0, spacing=0.0),
        ArgumentError,
        "neumann(1.0, spacing=0.0): the spacing is 0.0, not positive.",
    ),
    "order": (
        lambda: bc.extrapolate(0),
        ArgumentError,
        "extrapolate(0): the order is 0, not a positive integer.",
    ),
    "few points": (
        lambda: bc.fill(ssr.Space(2).grow(1), bc.extrapolate(3)),
        HaloError,
        "extrapolate(3) needs 3 points along axis 0; there are 2.",
    ),
    "few points at use": (
        lambda: bc.fill(ssr.Space(n).grow(1), bc.extrapolate(3)).bind(n=2).to_scipy(),
        HaloError,
        "extrapolate(3) needs 3 points along axis 0; there are 2.",
    ),
    "side lengths": (
        lambda: bc.Grid(
            [(3, 4)], links=[Link(Side(0, 0, "low"), Side(0, 1, "low"), (0,), (False,))]
        ),
        LinkError,
        "Linked sides have different lengths.",
    ),
    "turned faces": (
        lambda: bc.fill(
            bc.Grid(6 * [(4, 4)], links=bc.cubed_sphere()).cells.faces(0).grow(1), bc.linked()
        ),
        LinkError,
        "The points are not of one kind on both sides of the link "
        "block 1, axis 0 low -> block 5, axis 1 high; axis 1 -> axis 0 reversed.",
    ),
    "array on a side": (
        lambda: bc.fill(ssr.Space(3, 4).grow(1), bc.ghost_value(np.ones(5), 0)),
        ShapeError,
        "ghost_value(<ndarray of shape (5,)>, axis=0): an array of shape (5,) is given for axis 0 ",
    ),
    "function": (
        lambda: bc.fill(wide, bc.periodic(1), bc.neumann(lambda x: x, 0)),
        ArgumentError,
        "neumann(<lambda>, axis=0): the function <lambda> does not take 2 arguments.",
    ),
    "function of too much": (
        lambda: bc.fill(line.grow(1), bc.ghost_value(lambda y, x, *, z: x)),
        ArgumentError,
        "ghost_value(<lambda>): the function <lambda> does not take 1 argument.",
    ),
    "drawn rows": (
        lambda: bc.draw_ghosts([(3, 3)], [3]),  # type: ignore[list-item]
        ArgumentError,
        "draw_ghosts: 3 is not a row.",
    ),
    "drawn shapes": (
        lambda: bc.draw_ghosts(3, []),  # type: ignore[arg-type]
        ArgumentError,
        "draw_ghosts: shapes is 3, not a list.",
    ),
    "drawn shape": (
        lambda: bc.draw_ghosts([3], []),  # type: ignore[list-item]
        ArgumentError,
        "draw_ghosts: a shape is 3, not a list.",
    ),
    "no ghosts drawn": (
        lambda: bc.draw_ghosts([(3, 3)], []),
        ArgumentError,
        "There are no ghosts to draw.",
    ),
    "block drawn": (
        lambda: bc.fill(line.grow(1), bc.zero()).draw(block=1),
        ArgumentError,
        "There are 1 blocks, and 1 is not one of them.",
    ),
    "axes of a picture": (
        lambda: bc.draw(pair, ax=3),  # type: ignore[arg-type]
        ArgumentError,
        "ax is 3, not the axes of a picture of matplotlib.",
    ),
    "complex table": (
        lambda: bc.interpolate(np.zeros((1, 4)), np.ones((1, 4, 1), complex)),
        ArgumentError,
        "interpolate: weights is not an array of real numbers.",
    ),
    "table of None": (
        lambda: bc.transform_vector(None),
        ArgumentError,
        "transform_vector: matrices is not an array of real numbers.",
    ),
    "first huge": (
        lambda: bc.interpolate(np.full((1, 4), 1e300), np.ones((1, 4, 1))),
        ArgumentError,
        "interpolate: the points of first[0, 0] are not among the 4 points of the side.",
    ),
    "complex rows": (
        lambda: bc.from_matrix(np.ones((5, 3), complex)),
        ArgumentError,
        "from_matrix(<ndarray of shape (5, 3)>): this is not a matrix of real numbers.",
    ),
    "a word for reverse": (
        lambda: bc.join(2, Side(0, 0, "high"), Side(1, 0, "low"), reverse="no"),  # type: ignore[arg-type]
        ArgumentError,
        "join: reverse is 'no', not True or False.",
    ),
    "a number for twist": (
        lambda: bc.topologies.glued(twist=1),  # type: ignore[arg-type]
        ArgumentError,
        "glued: twist is 1, not True or False.",
    ),
    "axes for periodic": (
        lambda: bc.topologies.two_by_two(periodic=[0]),  # type: ignore[arg-type]
        ArgumentError,
        "two_by_two: periodic is [0], not True or False.",
    ),
    "a word for narrow": (
        lambda: bc.fill(wide, bc.zero(), narrow="no"),  # type: ignore[arg-type]
        ArgumentError,
        "fill: narrow is 'no', not True or False.",
    ),
    "numbers for flips": (
        lambda: bc.Connectivity(2, 2, [Link(Side(0, 0, "high"), Side(1, 0, "low"), (1,), (0,))]),  # type: ignore[arg-type]
        ArgumentError,
        "The flips of a link must be a tuple of True and False, not (0,).",
    ),
    "flat rows": (
        lambda: bc.from_matrix(np.ones(3)),
        ArgumentError,
        "from_matrix(<ndarray of shape (3,)>): this is not a matrix of real numbers.",
    ),
    "complex value": (
        lambda: bc.ghost_value(np.array(1j)),
        ArgumentError,
        "ghost_value(1j): value is array(0.+1.j), not a finite number.",
    ),
    "huge value": (
        lambda: bc.ghost_value(10**400), ArgumentError, "ghost_value(1000"
    ),
    "no sign": (
        lambda: bc.symmetric(sign=()), ArgumentError, "symmetric(sign=[]): no sign is given."
    ),
    "parameter": (
        lambda: bc.parameter(None),  # type: ignore[arg-type]
        ArgumentError,
        "The name of a parameter is a string, not None.",
    ),
    "ragged array": (
        lambda: bc.fill(wide, bc.zero()) @ [[1, 2], [3]],
        DtypeError,
        "fill(zero()) is applied to something that is not an array of numbers.",
    ),
    "complex shared points": (
        lambda: shared @ np.ones((2, 5, 5), complex),
        DtypeError,
        "synchronize(nodes) is applied to an array of dtype complex128.",
    ),
    "words at shared points": (
        lambda: shared.apply("abc"),
        DtypeError,
        "synchronize(nodes) is applied to an array of dtype <U3.",
    ),
    "points of a basis": (
        lambda: bc.synchronize(pair.cells.nodes().vector(2), basis=np.ones((2, 2, 2, 1, 5))),
        ShapeError,
        "The basis has shape (2, 2, 2, 1, 5); the blocks have (5, 5) points.",
    ),
    "blocks listed": (
        lambda: bc.Grid(3),  # type: ignore[arg-type]
        ArgumentError,
        "Grid: blocks is 3, not a list.",
    ),
    "links listed": (
        lambda: bc.Grid([(3, 3)], links=3),  # type: ignore[arg-type]
        ArgumentError,
        "Connectivity: links is 3, not a list.",
    ),
    "link": (
        lambda: bc.Grid([(3, 3)], links=[3]),  # type: ignore[list-item]
        ArgumentError,
        "3 is not a link.",
    ),
    "side of a link": (
        lambda: bc.Connectivity(2, 1, [Link(3, Side(0, 0, "low"))]),  # type: ignore[arg-type]
        ArgumentError,
        "3 is not a side.",
    ),
    "block of a side": (
        lambda: bc.join(1, Side("a", 0, "low"), Side(0, 0, "high")),  # type: ignore[arg-type]
        ArgumentError,
        "A side has integers for its block and axis: block a, axis 0 low.",
    ),
    "axis of a side": (
        lambda: bc.join(2, Side(0, 2, "low"), Side(0, 0, "high")),
        LinkError,
        "A link names a side that does not exist: block 0, axis 2 low.",
    ),
    "axes of a link": (
        lambda: bc.Connectivity(
            2, 1, [Link(Side(0, 0, "low"), Side(0, 1, "low"), 3, (True,))]  # type: ignore[arg-type]
        ),
        ArgumentError,
        "The axes of a link must be a tuple of integers, not 3.",
    ),
    "dimensions": (
        lambda: bc.topologies.periodic_box("a"),  # type: ignore[arg-type]
        ArgumentError,
        "Blocks must have 1 to 3 dimensions, not 'a'.",
    ),
    "periodic": (
        lambda: bc.topologies.bricks(2, periodic=0),  # type: ignore[arg-type]
        ArgumentError,
        "bricks: periodic is 0, not a list.",
    ),
    "labels": (
        lambda: bc.topologies.from_corners([3]),  # type: ignore[list-item]
        ArgumentError,
        "Block 0 is given as 3, not by the labels of its corners.",
    ),
    "explained": (
        lambda: bc.explain(bc.fill(wide, bc.zero())),  # type: ignore[arg-type]
        ArgumentError,
        "bc.explain takes a program, not Fill.",
    ),
    "owned blocks": (
        lambda: bc.fill(two, bc.linked(), owned=bc.Grid([(4, 4)]).cells),
        SpaceError,
        "Space(1, 4, 4) is not a part of Space(2, -1:5, -1:5): other blocks.",
    ),
    "ranks": (
        lambda: bc.distribute(ssr.Space(4), 3),
        ArgumentError,
        "ranks is 3, neither a communicator nor threads or simulated ranks.",
    ),
    "no ranks": (
        lambda: bc.simulated_ranks(0),
        ArgumentError,
        "ranks is 0, not a positive integer.",
    ),
    "sizes of a spread": (
        lambda: bc.distribute(ssr.Space(ssr.size("n"))),
        UnboundError,
        "No value is given for the size n.",
    ),
    "parts of a cut": (
        lambda: bc.distribute(ssr.Space(4), bc.simulated_ranks(2), cut=(2, 2)),
        ArgumentError,
        "cut is (2, 2): one positive number of parts is given for each of the 1 axes of a block.",
    ),
    "field of ranks as an array": (
        lambda: np.asarray(bc.distribute(ssr.Space(4)).zeros(ssr.Space(4)), np.float32, copy=False),
        ArgumentError,
        "The values of a field are not an array of this dtype without a copy.",
    ),
    "drawing": (
        lambda: bc.draw(3),  # type: ignore[arg-type]
        ArgumentError,
        "bc.draw takes a grid or its connectivity, not int.",
    ),
    "components": (
        lambda: bc.fill(wide.vector(2), bc.ghost_value([1.0, 2.0, 3.0])),
        ShapeError,
        "ghost_value([1.0, 2.0, 3.0]) is for 3 components.",
    ),
    "value": (
        lambda: bc.ghost_value("a"),  # type: ignore[arg-type]
        ArgumentError,
        "ghost_value(\"a\"): value is 'a', not a finite number.",
    ),
    "spaces": (
        lambda: cross @ bc.fill(cells.faces(0).grow(1), bc.zero()),
        SpaceError,
        "stencil @ fill(zero()): the columns of the first are not the rows of the second.",
    ),
    "owned": (
        lambda: bc.fill(wide, bc.zero(), owned=3),  # type: ignore[arg-type]
        ArgumentError,
        "owned must be a space of points, not int.",
    ),
    "no ghosts": (
        lambda: bc.fill(cells, bc.zero()),
        SpaceError,
        "Space(ny, nx) does not tell which of its points are ghosts.",
    ),
    "no rule": (
        lambda: bc.fill(wide, 3),  # type: ignore[arg-type]
        ArgumentError,
        "3 is not a boundary rule.",
    ),
    "not applied": (
        lambda: bc.fill(two, table()), ArgumentError, "interpolate(...) is not a boundary rule."
    ),
    "size unknown": (
        lambda: bc.fill(wide, bc.zero()).to_scipy(),
        UnboundError,
        "No value is given for the size nx.",
    ),
    "offset unknown": (
        lambda: bc.fill(line.grow(1), bc.ghost_value(g)).offset,
        UnboundError,
        "fill(ghost_value(parameter(\"g\"))) needs a value for 'g'.",
    ),
    "unbound": (
        lambda: bc.fill(line.grow(1), bc.ghost_value(g)) @ np.ones(5),
        UnboundError,
        "fill(ghost_value(parameter(\"g\"))) needs a value for 'g'.",
    ),
    "no parameter": (
        lambda: bc.fill(line.grow(1), bc.zero()).bind(h=1),
        ArgumentError,
        "fill(zero()) has no parameter 'h'.",
    ),
    "size": (
        lambda: bc.fill(wide, bc.zero()).bind(ny=2.5),
        ArgumentError,
        "The size ny is 2.5, not a positive integer.",
    ),
    "bound size": (
        lambda: bc.fill(wide, bc.zero()).bind(ny=2, nx=2) @ np.ones((3, 3)),
        ShapeError,
        "fill(zero()) is bound to ny = 2; the array has ny = 3.",
    ),
    "axes": (
        lambda: bc.fill(wide, bc.zero()) @ np.ones(5),
        ShapeError,
        "fill(zero()) is applied to an array of 1 axes.",
    ),
    "length": (
        lambda: bc.fill(line.grow(1), bc.zero()) @ np.ones(4),
        ShapeError,
        "Array 'u' has length 4 along axis 0 where 5 is needed.",
    ),
    "complex": (
        lambda: bc.fill(line.grow(1), bc.zero()) @ np.ones(5, complex),
        DtypeError,
        "fill(zero()) is applied to an array of dtype complex128.",
    ),
    "NaN of a function": (
        lambda: bc.fill(line.grow(1), bc.ghost_value(lambda x: np.nan * x)) @ np.ones(5),
        ArgumentError,
        "The function <lambda> of coordinates returns NaN or inf.",
    ),
    "failing function": (
        lambda: bc.fill(wide, bc.ghost_value(lambda y, x: [][0])) @ np.ones((4, 5)),
        ArgumentError,
        "The function <lambda> of coordinates fails: ",
    ),
    "grid": (
        lambda: bc.Grid([3]),  # type: ignore[list-item]
        ArgumentError,
        "Block 0 is given as 3, not by its extents.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_messages(name: str) -> None:
    act, kind, message = CASES[name]
    with pytest.raises(Error) as caught:
        act()
    assert type(caught.value) is kind
    text = str(caught.value)
    assert text.startswith(message)
    assert "test_errors.py" in text
    assert "^^" in text


WRITES: dict[str, tuple[Any, type[Error]]] = {
    "short": (lambda w: bc.fill(ssr.Space(3).grow(2), bc.zero()).ghosts(w), ShapeError),
    "points": (lambda w: bc.fill(ssr.Space(n).grow(3), bc.extrapolate(3)).ghosts(w), HaloError),
    "function": (
        lambda w: bc.fill(ssr.Space(n).grow(1), bc.zero(0, "low"), bc.ghost_value(bad, 0, "high"))
        .ghosts(w),
        ArgumentError,
    ),
    "parameter": (
        lambda w: bc.fill(ssr.Space(n).grow(1), bc.ghost_value(g)).bind(g="x").ghosts(w),
        ArgumentError,
    ),
}  # fmt: skip


def bad(x: Any) -> Any:
    return np.nan * x


@pytest.mark.parametrize("name", WRITES)
def test_nothing_is_written_before_an_error(name: str) -> None:
    act, kind = WRITES[name]
    array = np.arange(8.0)
    with pytest.raises(kind):
        act(array)
    np.testing.assert_array_equal(array, np.arange(8.0))


def test_blocks_too_small_for_what_a_program_reads() -> None:
    """Of large blocks all that is read is defined; reflections of one point go in a circle."""
    space = ssr.Space(n)
    fill = bc.fill(space.grow(1), bc.symmetric(about="point"))
    mean = ssr.stencil(space, space.grow(1), {(-1,): 0.5, (1,): 0.5})
    product = mean @ fill
    out = np.full(1, 7.0)
    with pytest.raises(UndefinedGhostError, match="their rules read each other"):
        product.apply(np.ones(1), out=out)
    assert out[0] == 7.0
    np.testing.assert_array_equal(product @ np.array([1.0, 3.0]), [3.0, 1.0])


def test_two_rules_for_one_side_are_to_be_narrowed_down() -> None:
    cells = ssr.Space(*ssr.sizes("ny nx"))
    inflow, rest = bc.dirichlet(1.0, axis=1, side="low"), bc.neumann(0.0)
    near = ssr.stencil(cells, cells.grow(1), {(0, -1): 1.0})
    with pytest.raises(AmbiguousGhostError, match="Each side needs one rule: narrow them"):
        near @ bc.fill(cells.grow(1), inflow, rest)


@pytest.mark.parametrize("several", [lambda x: (x,), lambda x: [x], lambda x: (x, x)])
@pytest.mark.parametrize(("matrix", "points"), [(shared, pair), (bc.fill(wide, bc.zero()), cells)])
def test_a_tuple_of_fields_for_one_field(matrix: Any, points: Any, several: Any) -> None:
    """A matrix between single fields takes a field, not a tuple: in programs and on ranks."""
    with pytest.raises(ArgumentError, match=r"is applied to (1 field|2 fields) in a (tuple|list)"):

        @ssr.program(y=matrix.rows, x=matrix.cols)
        def apply(y: Any, x: Any) -> None:
            y[:] = matrix @ several(x)

    on = bc.distribute(points, bc.simulated_ranks(2), **dict.fromkeys(matrix.sizes, 5))
    with pytest.raises(ArgumentError, match="Give one field, without a tuple"):
        matrix @ several(on.zeros(matrix.cols))


def test_components_in_a_tuple() -> None:
    same = bc.synchronize(pair.cells.nodes().vector(2))
    with pytest.raises(ArgumentError, match=r"Make one vector of them: ssr.vector\(a, b\)"):

        @ssr.program(x=same.rows)
        def apply(x: Any) -> None:
            x[:] = same @ (x[0], x[1])


@pytest.mark.parametrize("other", [1.0, np.ones((2, 5, 5)), None])
def test_something_else_for_one_of_several_fields(other: Any) -> None:
    faces = bc.synchronize(*(pair.cells.faces(axis) for axis in (0, 1)))
    with pytest.raises(
        ArgumentError, match=f"is applied to {type(other).__name__}, not to a field"
    ):

        @ssr.program(x=faces.rows[0])
        def apply(x: Any) -> None:
            x[:] = (faces @ (x, other))[0]
