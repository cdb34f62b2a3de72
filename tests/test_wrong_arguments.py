"""Wrong arguments of all public functions: an error of ours refuses them, or they work.

Each function and method has a call that is right. One argument after the other is replaced by
values of wrong types and out of range.
"""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
import sympy

import boundary as bc
import ssr
from ssr import coordinates, integrate, output, simulation, solvers
from ssr.elementary import FUNCTIONS
from tools import names

WRONG: list[Any] = [
    None,
    "x",
    "",
    -1,
    0,
    1.5,
    float("nan"),
    10**30,
    [],
    [1.5, None],
    (0,),
    {},
    {"x": None},
    2j,
    object(),
    np.ones(2),
    np.array("x"),
    np.array(None),
]

n, m = ssr.sizes("n m")
line, five = ssr.Space(n), ssr.Space(5)
wide = five.grow(1)
T = ssr.stencil(line, line, {-1: -1.0, 0: 2.0, 1: -1.0}, outside="zero")
S = ssr.from_scipy(scipy.sparse.eye_array(5), rows=five, cols=five)
pairs = five.vector(2)
SB = ssr.from_scipy(scipy.sparse.eye_array(10), rows=pairs, cols=pairs)
B = ssr.block([[T, None], [None, T]])
x, y, z = np.ones(5), np.ones(5), np.ones((5, 2))


@ssr.matrix(rows=line, cols=line, k=line, dt=ssr.scalar)
def varying(i: Any, *, k: Any, dt: Any) -> Any:
    yield i, k[i] * dt


@ssr.recurrence(rows=line, cols=line)
def factors(i: Any, done: Any) -> Any:
    yield i, 2.0


@ssr.recurrence(rows=line.vector(2), cols=line.vector(2))
def blocks(i: Any, done: Any) -> Any:
    yield i, np.eye(2)


@ssr.program(x=line, t=ssr.scalar)
def scale(x: Any, t: Any) -> None:
    x[:] = x * t


@ssr.program(x=line)
def double(x: Any) -> None:
    x[:] = 2.0 * x


def body(x: Any) -> None:
    x[:] = x + 1.0


def entries(i: Any, **data: Any) -> Iterator[Any]:
    yield i, 1.0


def square(q: Any) -> Any:
    return tuple(a * a for a in q)


def inside(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a call of a function in a program, with a field as its first argument."""

    def called(*values: Any) -> None:
        @ssr.program(x=line)
        def step(x: Any) -> None:
            x[:] = x + function(x, *values)

    return called


P = solvers.interpolation(ssr.Space(2 * n + 1), line)
grids = solvers.Multigrid(T, P)
grid = bc.Grid(2 * [(3, 3)], links=bc.topologies.bricks(1, 2))
pairs_of_blocks = grid.cells.vector(2).grow(1)
pair = bc.topologies.bricks(2)
low, high, next_low = bc.Side(0, 0, "low"), bc.Side(0, 0, "high"), bc.Side(1, 0, "low")
link = bc.join(1, high, next_low)
fill = bc.fill(wide, bc.ghost_value(bc.parameter("g")), owned=five)
same = bc.synchronize(grid.cells.nodes())
on = bc.distribute(line, bc.simulated_ranks(1), n=5)
u = on.zeros(line)
stations = bc.points(five, [[1.0], [2.5]])
disk = coordinates.Coordinates(
    ssr.Space(2, 3), coordinates.cylindrical, r=(0.0, 1.0), theta=coordinates.Axis(0.0, 6.0)
)
radial = coordinates.Coordinates(line, coordinates.spherical, r=(0.0, 1.0))
s, t = sympy.symbols("s t")


def rule(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that makes a fill of a rule."""

    def called(*values: Any, **named: Any) -> Any:
        return bc.fill(ssr.Space(3, 4).grow(1), function(*values, **named))

    called.__wrapped__ = function  # type: ignore[attr-defined]
    return called


def fresh(given: Any) -> Any:
    """Return a copy of an array, and anything else as it is."""
    return given.copy() if isinstance(given, np.ndarray) else given


@dataclass(frozen=True)
class Call:
    """A call that is right: a function, by the name of which it is known, and its arguments."""

    name: str
    function: Callable[..., Any]
    args: tuple[Any, ...] = ()
    named: dict[str, Any] = field(default_factory=dict)

    def __call__(self) -> None:
        """Do it with arrays of its own, and go through the first of what it yields."""
        args = [fresh(a) for a in self.args]
        found = self.function(*args, **{key: fresh(a) for key, a in self.named.items()})
        if isinstance(found, Iterator):
            list(islice(found, 3))

    def wrong(self) -> Iterator["Call"]:
        """Yield the calls with one wrong argument."""
        for value in WRONG:
            for place in range(len(self.args)):
                args = (*self.args[:place], value, *self.args[place + 1 :])
                yield Call(self.name, self.function, args, self.named)
            for key in self.named:
                yield Call(self.name, self.function, self.args, {**self.named, key: value})


def call(name: str, function: Callable[..., Any], /, *args: Any, **named: Any) -> Any:
    return pytest.param(Call(name, function, args, named), id=name)


def solved(name: str, solver: Any) -> list[Any]:
    """Return the calls of a solver."""
    options = {"rtol": 1e-5, "atol": 0.0, "maxiter": 1, "callback": None}
    return [
        call(f"{name}.__call__", solver, x, y, **options),
        call(f"{name}.aslinearoperator", solver.aslinearoperator, (5,), "f8"),
        call(f"{name}.matvec", solver.matvec, x),
        call(f"{name}.solution", solver.solution, x),
    ]


def multiplied(name: str, A: Any, x: Any, *more: str) -> list[Any]:
    """Return the calls of a matrix that has most methods, and some more."""
    plain = [
        call(f"{name}.apply", A.apply, x, None),
        call(f"{name}.aslinearoperator", A.aslinearoperator, "f8"),
        call(f"{name}.equals", A.equals, A),
        call(f"{name}.matvec", A.matvec, x),
        call(f"{name}.rmatvec", A.rmatvec, x),
        call(f"{name}.tril", A.tril, 0),
        call(f"{name}.triu", A.triu, 0),
    ]
    special = {
        "solve": lambda: call(f"{name}.solve", A.tril().solve, x, None),
        "bind": lambda: call(f"{name}.bind", A.bind, n=5),
        "explain": lambda: call(f"{name}.explain", A.explain, "rows"),
        "row": lambda: call(f"{name}.row", A.row, 0),
        "to_scipy": lambda: call(f"{name}.to_scipy", A.bind(n=5).to_scipy, definition=False),
    }
    return plain + [special[key]() for key in more]


def spaces(name: str, space: Any) -> list[Any]:
    """Return the calls of a space of known extents."""
    return [
        call(f"{name}.box", space.box, {}),
        call(f"{name}.extent", space.extent, {}),
        call(f"{name}.faces", space.faces, -1),
        call(f"{name}.grow", space.grow, 1),
        call(f"{name}.grow", space.grow, (1, 2)),
        call(f"{name}.points", space.points, {}),
        call(f"{name}.side", space.side, -1, "low", 1),
        call(f"{name}.slab", space.slab, 0, 0, 1),
        call(f"{name}.split", space.split, *(space.ndim * [1]), sizes={}),
        call(f"{name}.times", space.times, ssr.Space(3)),
        call(f"{name}.vector", space.vector, 2),
    ]


@integrate.rhs(y=line)
def decay(t: Any, y: Any) -> Any:
    return -y


@integrate.rhs(y=line)
def push(t: Any, y: Any) -> Any:
    return 0.0 * y + t


def rates(t: Any, y: Any) -> Any:
    return -y


def stepping(name: str, stepper: Callable[..., Any], *args: Any, **named: Any) -> list[Any]:
    """Return the calls of an integrator."""

    def made() -> Any:
        return stepper(*map(fresh, args), **named)

    return [
        call(name, stepper, *args, **named),
        call(f"{name}.advance", lambda t: made().advance(t), 0.2),
        call(f"{name}.step", lambda dt: made().step(dt), 0.1),
    ]


def idle(t: float, dt: float) -> None:
    """Take a step that changes nothing."""


def waiting() -> simulation.Simulation:
    """Return a simulation that has not begun."""
    stepper = simulation.FunctionStepper(idle, {"x": x}, dt=0.1)
    return simulation.Simulation(stepper, stop_steps=1)


def ended(name: str) -> Callable[[Any], None]:
    """Return a function that sets an end of a simulation and runs it for a step."""

    def run(end: Any) -> None:
        made = waiting()
        made.add(lambda s: setattr(s, "stop_steps", 0), steps=1)
        setattr(made, name, end)
        made.stop_when(lambda s: True)
        made.run()

    return run


def saved(path: Any) -> None:
    """Restore a simulation from a checkpoint."""
    waiting().save("saved")
    waiting().restore(path)


def solved_by(M: Any) -> None:
    """Take a step with an approximate inverse."""
    integrate.BDF2(decay, 0.0, x.copy(), 0.1, inverse=lambda h: M).step()


euler = integrate.ButcherTableau([[]], [1])
backward = integrate.ButcherTableau([[1]], [1])
flat = integrate.FlatRightSide(decay, x)

side = {"axis": 0, "side": "both", "block": 0}
lines = {"first": np.zeros((1, 3)), "weights": np.ones((1, 3, 1))}

RUNS: list[Any] = [
    call("CFL", simulation.CFL, abs, 0.5, every=1, max_change=1.1, max_dt=1.0),
    call("Checkpointer", simulation.Checkpointer, "run", data={}),
    call("FunctionStepper", simulation.FunctionStepper, idle, {"x": x}, 0.0, 0.1),
    call("FunctionStepper.restore", simulation.FunctionStepper(idle, {"x": x}).restore, {"t": 0.0}),
    call(
        "Simulation",
        simulation.Simulation,
        simulation.FunctionStepper(idle, {"x": x}),
        1.0,
        1,
        0.1,
        wall_limit=1.0,
        progress=False,
    ),
    call("Simulation", ended("stop_time"), 1.0),
    call("Simulation", ended("stop_steps"), 1),
    call("Simulation", ended("wall_limit"), 1.0),
    call(
        "Simulation.add",
        lambda *args, **named: waiting().add(*args, **named),
        print,
        steps=1,
        name="print",
    ),
    *[
        call(
            "Simulation.stop_when",
            lambda *args, **named: waiting().stop_when(*args, **named),
            print,
            **schedule,
        )
        for schedule in ({"time": 1.0}, {"times": [1.0]}, {"wall": 1.0}, {"name": "print"})
    ],
    call("Simulation.restore", saved, "saved"),
    call("Simulation.save", lambda *args: waiting().save(*args), "saved", {}),
    call("Statistics", simulation.Statistics, "x", of=np.abs),
    call("Statistics", lambda *args: waiting().add(simulation.Statistics(*args)), "x"),
    call("SteadyState", simulation.SteadyState, 0.1, 0.0),
]

FILES: list[Any] = [
    call("Computed", output.Computed, lambda x, i: x, x, shape=(5,), dtype="f8"),
    call(
        "Writer",
        output.Writer,
        "run.nc",
        {"x": x},
        coordinates={},
        constants={"y": y},
        dims=("x",),
        attributes={},
        about={},
        time_units="seconds since 2000-01-01",
        calendar="standard",
        dtype="f4",
        mode="w",
    ),
    call("Writer", output.Writer, "run.zarr", {"x": x}, chunks={"x": 2}),
    call("Writer.write", lambda time: output.Writer("run.nc", {"x": x}).write(time), 0.0),
    call("Checkpoint.restore", lambda fields: kept().restore(fields), {"x": x}),
    call("check_place", output.check_place, "run", folder=False),
    call("digest", output.digest, {"x": x}),
    call("load", lambda path, on: (kept(), output.load(path, on)), "kept", u),
    call("publish", output.publish, "run", lambda file: file.write(b"x")),
    call("save", output.save, "run", {"x": x}, {}),
    call("to_xarray", output.to_xarray, {"x": x}, coordinates={}, dims=("x",), attributes={}),
]


def kept() -> output.Checkpoint:
    """Return a checkpoint."""
    output.save("kept", {"x": x})
    return output.load("kept")


CALLS: list[Any] = [
    *RUNS,
    *FILES,
    call(
        "AdaptiveRungeKutta.advance",
        lambda t: integrate.AdaptiveRungeKutta(decay, 0.0, x.copy(), 0.1).advance(
            None if t == 10**30 else t  # which takes so many steps
        ) if isinstance(t, int | float) else None, 0.2,
    ),
    call(
        "AdaptiveRungeKutta.step",
        lambda dt: integrate.AdaptiveRungeKutta(decay, 0.0, x.copy(), 0.1).step(dt), 0.1,
    ),
    call("rhs", lambda f, **kinds: integrate.rhs(**kinds)(f), rates, y=line),
    call("RightSide.__call__", decay, 0.0, x),
    call("solve_ivp", integrate.solve_ivp, decay, (0.0, 0.1), x, "RK45", [0.1], args=(), rtol=0.1),
    call("solve_ivp", integrate.solve_ivp, decay, (0.0, 0.1), x, "RK4", dt=0.1, atol=1.0),
    call("solve_ivp", integrate.solve_ivp, decay, (0.0, 0.1), x, max_step=1.0),
    call("step_program", integrate.step_program, decay, "Euler"),
    call("explicit", integrate.explicit, "RK4"),
    call("theta_method", integrate.theta_method, 0.5),
    call("ButcherTableau", integrate.ButcherTableau, [[], [1]], [0.5, 0.5], [0, 1], [1, 0]),
    call("ShuOsher", integrate.ShuOsher, [[1], [0.5, 0.5]], [[1], [0, 0.5]]),
    call("LowStorage", integrate.LowStorage, [0, -0.5], [0.5, 1.0]),
    call("ImexTableau", integrate.ImexTableau, euler, backward),
    *stepping("RungeKutta", integrate.RungeKutta, decay, 0.0, x, 0.1, "Euler", ()),
    *stepping("AdamsBashforth", integrate.AdamsBashforth, decay, 0.0, x, 0.1, 2, ()),
    *stepping("Leapfrog", integrate.Leapfrog, decay, 0.0, x, 0.1, 0.2, 0.5, ()),
    call(  # it may go on for ever
        "AdaptiveRungeKutta", integrate.AdaptiveRungeKutta, decay, 0.0, x, 0.1, "RK23", (),
        rtol=0.1, atol=0.1, max_step=1.0,
    ),
    *stepping(
        "ImplicitRungeKutta", integrate.ImplicitRungeKutta, decay, 0.0, x, 0.1, "BackwardEuler",
        (), rtol=0.1, inverse=lambda h: ssr.identity(line),
    ),
    *stepping(
        "ImexRungeKutta", integrate.ImexRungeKutta, push, decay, 0.0, x, 0.1, "ARS111", (),
        rtol=0.1, inverse=lambda h: ssr.identity(line),
    ),
    *stepping("BDF2", integrate.BDF2, decay, 0.0, x, 0.1, (), rtol=0.1, inverse=None),
    call("BDF2", lambda M: solved_by(M), T),
    *stepping("ADI", integrate.ADI, [decay], 0.0, x, 0.1, "Douglas", (), explicit=push, theta=0.5),
    call("FlatRightSide", integrate.FlatRightSide, decay, x),
    call("FlatRightSide.__call__", flat, 0.0, x),
    call("FlatRightSide.jac", flat.jac, 0.0, x),
    call("FlatRightSide.operator", flat.operator, 0.0, x),
    call("FlatRightSide.pack", flat.pack, x),
    call("FlatRightSide.unpack", flat.unpack, x),
    call("Space", ssr.Space, 3, n),
    call("Space", ssr.Space, (1, 3)),
    *spaces("Space", five),
    call("Space.extent", line.extent, {"n": 3}),
    call("Space.split", line.split, 2, sizes={"n": 3}),
    call("Options", ssr.Options, **dict.fromkeys(ssr.Options.__annotations__, True)),
    call("size", ssr.size, "n", at_least=2),
    call("sizes", ssr.sizes, "n m", at_least=2),
    call("stencil", ssr.stencil, line, line.grow(1), {-1: 1.0, 1: 2.0}, outside="error"),
    call("stencil", lambda w: ssr.stencil(line, line, {0: w}), 1.0),
    call("axis_stencil", ssr.axis_stencil, line, line.grow(1), 0, {-1: 1.0}, outside="error"),
    call("average", ssr.average, line, line.grow(1).faces(0), 0, order=2, outside="error"),
    call("average", ssr.average, five, five, coordinates=None, outside="error"),
    call(
        "difference", ssr.difference, line, line.grow(1), 0, derivative=1, order=2, spacing=1.0,
        outside="error",
    ),
    call("difference", ssr.difference, five, five, 0, coordinates=np.arange(5.0), outside="zero"),
    call("identity", ssr.identity, line),
    call("diagonal", ssr.diagonal, line, 1.0),
    call("diagonal", ssr.diagonal, line.vector(2), 1.0),
    call("kron", ssr.kron, T, T),
    call("kron", ssr.kron, np.eye(2), T),
    call("block", ssr.block, [[T, None], [None, T]], rows=(line, line), cols=(line, line)),
    call("block", lambda a: ssr.block([[T, a]]), T),
    call("block", lambda row: ssr.block([[T], row]), [T]),
    call("from_scipy", ssr.from_scipy, scipy.sparse.eye_array(5), rows=five, cols=five),
    call("jacobian", lambda f: ssr.jacobian(f)((1.0, 2.0)), square),
    call("jacobian", ssr.jacobian(square), (1.0, 2.0)),
    call("lambdify", ssr.lambdify, ["x"], "x"),
    call("matrix", lambda **g: ssr.matrix(**g)(entries), rows=line, cols=line, k=line),
    call("matrix", ssr.matrix(rows=line, cols=line), entries),
    call("matrix", lambda e: ssr.matrix(rows=line, cols=line)(lambda i: iter([e])), (0, 1.0)),
    call("matrix", lambda v: ssr.matrix(rows=line, cols=line)(lambda i: iter([(i, v)])), 1.0),
    call("matrix", lambda c: ssr.matrix(rows=five, cols=five)(lambda i: iter([(c, 1.0)])), 1),
    call("recurrence", lambda **g: ssr.recurrence(**g)(lambda i, done, **d: iter([(i, 1.0)])),
         rows=line, cols=line, k=line),
    call("recurrence", ssr.recurrence(rows=line, cols=line), lambda i, done: iter([(i, 1.0)])),
    call("program", lambda **g: ssr.program(**g)(lambda x, t: None), options=None, x=line, t=line),
    call("program", ssr.program(x=line), body),
    call("sequence", ssr.sequence, double.bind(x)),
    call("materialize", ssr.materialize, None),
    call("vector", ssr.vector, 1.0, 2.0),
    *[call(f, getattr(ssr, f), None) for f in ("sum", "max", "min", "norm")],
    call("dot", ssr.dot, None, None),
    call("dot", inside(ssr.dot), 1.0),
    call("where", ssr.where, True, 1.0, 2.0),
    call("where", inside(lambda x, a, b: ssr.where(x > 0, a, b)), 1.0, 2.0),
    call("maximum", inside(ssr.maximum), 1.0),
    call("arctan2", inside(ssr.arctan2), 1.0),
    call("vector", inside(lambda x, a: ssr.vector(x, a)), 1.0),
    call("materialize", inside(lambda x, a: ssr.materialize(a)), 1.0),
    call("program", inside(lambda x, a: a), 1.0),
    call("program", inside(lambda x, a: x * a), 1.0),
    call("program", inside(lambda x, a: x[a]), slice(None)),
    *[
        call(f, getattr(ssr, f), 1.0)
        for f in ("sign", *(name for name, f in FUNCTIONS.items() if len(f.operands) == 1))
    ],
    *[call(f, getattr(ssr, f), 1.0, 1.0) for f in ("arctan2", "hypot", "maximum", "minimum")],
    call("Program.__call__", scale, x, 2.0, boxes=None),
    call("Program.__call__", scale, x=x, t=2.0),
    call("Program.bind", scale.bind, x, 2.0),
    call("Program.bind", scale.bind, x=x, t=2.0),
    call("Program.native", scale.native, x, 2.0),
    call("Program.native", scale.native, x=x, t=2.0),
    call("Program.explain", scale.explain, "loops", "f8"),
    call("Program.with_options", scale.with_options, ssr.Options()),
    *multiplied("Matrix", T, x, "solve", "bind", "explain", "row", "to_scipy"),
    call("Matrix.bind", varying.bind, k=x, dt=1.0),
    *multiplied("StoredMatrix", S, x, "solve"),
    *multiplied("StoredBlockMatrix", SB, np.ones((2, 5))),
    *multiplied("BlockMatrix", B, (x, x), "solve", "bind", "explain", "to_scipy"),
    *multiplied("Recurrence", factors, x, "solve", "bind", "explain", "row", "to_scipy"),
    call("Recurrence.compute", factors.bind(n=5).compute, None, "f8"),
    *multiplied("BlockRecurrence", blocks, np.ones((2, 5)), "solve", "bind", "explain", "to_scipy"),
    call("BlockRecurrence.compute", blocks.bind(n=5).compute, None, "f8"),
    # solvers
    *[
        call(f.__name__, f, T, x, x, rtol=1e-5, atol=0.0, maxiter=1, M=None, callback=None)
        for f in (solvers.cg, solvers.bicgstab, solvers.richardson)
    ],
    call("gmres", solvers.gmres, T, x, x, rtol=1e-5, atol=0.0, restart=2, maxiter=1, M=None,
         callback=None),
    call("chebyshev", solvers.chebyshev, T, x, x, bounds=(1.0, 4.0), rtol=1e-5, maxiter=1, M=None),
    call("lobpcg", solvers.lobpcg, T, np.eye(2, 5), None, None, None, rtol=1e-5, atol=0.0,
         maxiter=1, largest=False),
    call("LOBPCG", solvers.LOBPCG, T, None, None),
    call("LOBPCG.__call__", solvers.LOBPCG(T), np.eye(2, 5), Y=None, rtol=1e-5, atol=0.0,
         maxiter=1, largest=False),
    *[
        call(f.__name__, f, T, None)
        for f in (solvers.CG, solvers.BiCGStab, solvers.Richardson)
    ],
    call("GMRES", solvers.GMRES, T, None, 2),
    call("Chebyshev", solvers.Chebyshev, T, (1.0, 4.0), None),
    *solved("Solver", solvers.CG(T)),
    call("IC", solvers.IC, False),
    call("IC.factors", solvers.IC().factors, T),
    call("ILU", solvers.ILU, False),
    call("ILU.factors", solvers.ILU().factors, T),
    call("GaussSeidel", solvers.GaussSeidel, False),
    call("Jacobi", solvers.Jacobi, 0.5),
    call("interpolation", solvers.interpolation, ssr.Space(5), ssr.Space(2), centering="vertex"),
    call("Multigrid", solvers.Multigrid, T, P, P.T, smoother=solvers.Jacobi(), sweeps=(1, 1),
         coarsest=5),
    call("Multigrid", solvers.Multigrid, [T, T], [P], [P.T]),
    call("Multigrid.galerkin", solvers.Multigrid.galerkin, ssr.identity(ssr.Space(7)), 2,
         smoother=solvers.Jacobi(), sweeps=(1, 1)),
    call("Multigrid.__call__", grids, x, y),
    call("Multigrid.aslinearoperator", grids.aslinearoperator, (5,), "f8"),
    call("Multigrid.matvec", grids.matvec, x),
    call("Multigrid.solution", grids.solution, x),
    call("Multigrid.solve", grids.solve, x, y, rtol=1e-5, atol=0.0, maxiter=1, callback=None),
    # coordinates
    call("Axis", coordinates.Axis, 0.0, 1.0, stretching=np.sqrt, periodic=False, units="m",
         attributes={}),
    call("Axis", coordinates.Axis, faces=np.arange(3.0)),
    call("Axis.at_faces", coordinates.Axis(0.0, 1.0).at_faces, 3),
    call("Coordinates", coordinates.Coordinates, line, coordinates.spherical, dtype="f8",
         r=(0.0, 1.0)),
    call("Geometry.axis", disk.axis, "r"),
    call("Geometry.bind", radial.bind, n=3),
    call("Geometry.faces", disk.faces, 0),
    call("Geometry.mesh", disk.mesh, disk.cells),
    call("Geometry.on", radial.on, on),
    call("Geometry.positions", disk.positions, 0, disk.cells),
    call("Geometry.space_of", disk.space_of, np.ones((2, 3)), disk.cells),
    call("FiniteVolumes.areas", disk.areas, 0),
    call("FiniteVolumes.average", disk.average, 0),
    call("FiniteVolumes.divergence", disk.divergence, 0),
    call("FiniteVolumes.gradient", disk.gradient, 0),
    call("FiniteVolumes.laplacian", disk.laplacian, 2.0),
    call("FiniteVolumes.laplacian", disk.laplacian, (2.0, np.ones((2, 4)))),
    call("FiniteVolumes.measure", disk.measure, disk.cells),
    call("Coordinates.dims", disk.dims, disk.cells),
    call("Coordinates.from_xarray", disk.from_xarray, disk.to_xarray(np.ones((2, 3))), disk.cells),
    call("Coordinates.inner", disk.inner, np.ones((2, 3)), np.ones((2, 3))),
    call("Coordinates.integral", disk.integral, np.ones((2, 3))),
    call("Coordinates.plot", disk.plot, np.ones((2, 3)), disk.cells, ax=None, label="u",
         at={"r": 0.5}),
    call("Coordinates.to_xarray", lambda u, space, name, units: disk.to_xarray(
        u, space, name=name, units=units), np.ones((2, 3)), disk.cells, "u", "m"),
    call("Coordinates.variables", disk.variables, disk.cells),
    call("System", coordinates.System, "of mine", {"r": "1"}, None, {}),
    call("System.factor", coordinates.spherical.factor, "r"),
    call("geographic", coordinates.geographic, 2.0),
    call("from_scale_factors", coordinates.from_scale_factors, {s: 1, t: s}, (s, t)),
    call("from_map", coordinates.from_map, [s, t], [s, t]),
    call("from_map", lambda c: coordinates.from_map([s, t], [s, c]), t),
    # rules and fills
    call("zero", rule(bc.zero), **side),
    call("linked", rule(bc.linked), **side),
    call("periodic", rule(bc.periodic), 0, block=0),
    call("symmetric", rule(bc.symmetric), **side, sign=1.0, about="face"),
    call("ghost_value", rule(bc.ghost_value), 1.0, **side),
    call("ghost_value", rule(lambda v: bc.ghost_value([v, v])), 1.0),
    call("dirichlet", rule(bc.dirichlet), 1.0, **side, order=2),
    call("neumann", rule(bc.neumann), 1.0, **side, spacing=1.0, order=2),
    call("robin", rule(bc.robin), 1.0, 1.0, 1.0, **side, spacing=1.0, order=2),
    call("extrapolate", rule(bc.extrapolate), 2, **side),
    call("from_matrix", rule(bc.from_matrix), np.zeros((30, 12)), np.zeros(30), **side),
    call("interpolate", lambda **g: bc.fill(grid.cells.grow(1), bc.interpolate(**g) @ bc.linked()),
         **lines, levels=None),
    call("transform_vector",
         lambda *g, **h: bc.fill(pairs_of_blocks, bc.transform_vector(*g, **h) @ bc.linked()),
         np.zeros((2, 4, 2, 2, 1, 3)), levels=None),
    call("parameter", bc.parameter, "g"),
    call("fill", bc.fill, wide, bc.zero(), owned=five, narrow=True, join=True, once=True),
    call("Fill.apply", fill.bind(g=1.0).apply, x, None),
    call("Fill.aslinearoperator", fill.bind(g=1.0).aslinearoperator, "f8"),
    call("Fill.bind", fill.bind, g=1.0),
    call("Fill.draw", fill.bind(g=1.0).draw, block=None, ax=None),
    call("Fill.ghosts", fill.bind(g=1.0).ghosts, np.ones(7)),
    # blocks
    call("Grid", bc.Grid, [(3,), (3,)], links=pair),
    call("Grid", lambda e: bc.Grid([(e,)]), 3),
    call("Grid", lambda k: bc.Grid([(3,), (3,)], links=[k]), link),
    *spaces("GridSpace", grid.cells),
    call("Side", bc.Side, 0, 0, "low"),
    call("Link", bc.Link, high, next_low, (), ()),
    call("Link", bc.Link, bc.Side(0, 0, "high"), bc.Side(1, 0, "low"), (1,), (True,)),
    call("join", bc.join, 1, high, next_low, False),
    call("bricks", bc.topologies.bricks, 2, 2, periodic=(0,)),
    call("channel", bc.topologies.channel, 2, 0),
    call("from_corners", bc.topologies.from_corners, ["abcd", "bedf"]),
    call("from_corners", lambda r: bc.topologies.from_corners(["abcd", r]), "bedf"),
    call("glued", bc.topologies.glued, True),
    call("o_grid", bc.topologies.o_grid, 3),
    call("periodic_box", bc.topologies.periodic_box, 2, (0,)),
    call("two_by_two", bc.topologies.two_by_two, True),
    call("Connectivity", bc.Connectivity, 1, 2, [link]),
    call("Connectivity", lambda k: bc.Connectivity(1, 2, [k]), link),
    call("Connectivity.check", pair.check, [(3,), (3,)]),
    call("Connectivity.copies", pair.copies, [(3,), (3,)], (True,)),
    call("Connectivity.equals", pair.equals, pair),
    call("Connectivity.layered", pair.layered, 0),
    call("Connectivity.link", pair.link, high),
    call("Connectivity.links_of", pair.links_of, 0),
    call("draw", bc.draw, pair, ax=None),
    call("draw_ghosts", bc.draw_ghosts, [(3,)], [(0, (-1,), "zero", [], 0.0)], links=None, ax=None),
    call("draw_ghosts", lambda r: bc.draw_ghosts([(3,)], [r]), (0, (-1,), "zero", [], 0.0)),
    call("synchronize", bc.synchronize, grid.cells.nodes(), how="owner", weights=None, basis=None),
    call("Synchronize.apply", same.apply, np.ones((2, 4, 4)), None),
    call("Synchronize.aslinearoperator", same.aslinearoperator, "f8"),
    call("Synchronize.bind", same.bind, n=5),
    call("Synchronize.in_place", same.in_place, np.ones((2, 4, 4))),
    # ranks
    call("distribute", bc.distribute, line, bc.simulated_ranks(1), cut=(1,), boxes=None, n=5),
    call("distribute", bc.distribute, line, bc.simulated_ranks(1), boxes=[(0, 0, [(0, 5)])], n=5),
    call("distribute", lambda b: bc.distribute(line, bc.simulated_ranks(1), boxes=[b], n=5),
         (0, 0, [(0, 5)])),
    call("simulated_ranks", bc.simulated_ranks, 2),
    call("traced_rank", bc.traced_rank, 2, 1),
    call("threads", bc.threads, 2),
    call("world", bc.world, 10.0),
    call("alternating", bc.alternating, double),
    call("explain", bc.explain, double, n=5),
    call("Distribution.any", on.any, True),
    call("Distribution.coarsen", on.coarsen, line, line),
    call("Distribution.empty", on.empty, line, "f8"),
    call("Distribution.agglomerate", on.agglomerate, 1, points=1),
    call("Distribution.scatter", on.scatter, line, x),
    call("Distribution.broadcast", on.broadcast, 1),
    call("Distribution.undivided", on.undivided, 0),
    call("Distribution.zeros", on.zeros, line, "f8"),
    call("Field.fill", u.fill, lambda i: i),
    call("Field.gather", u.gather, 0, ((0, 2),)),
    call("Field.redistributed", u.redistributed, on),
    call("Field.set", u.set, x),
    call("points", bc.points, on, [[1.0], [2.5]], "linear", axes=None, periodic=(), outside="nan",
         radius=4, numbers=[0, 1]),
    call("points", bc.points, line, [[1.0]], axes=[np.arange(5.0)], periodic=[0], n=5),
    call("Points.as_matrix", stations.as_matrix, five),
    call("Points.gather", stations.gather, np.ones(2), None),
    call("Points.inject", stations.inject, x, np.ones(2), five),
    call("Points.interpolate", stations.interpolate, x, five),
    call("Points.move", stations.move, [[1.0], [2.0]], np.ones(2)),
]  # fmt: skip


INTERNAL = {
    "Checkpointer": "__call__",
    "Affine": "applied bind check_values run",
    "Error": "Error",
    "FunctionStepper": "step steps",
    "Factorization": "Factorization factors solve",
    "Fill": "applied run",
    "GaussSeidel": "precondition reverse start sweep",
    "IC": "solve",
    "ILU": "solve",
    "Jacobi": "precondition reverse start sweep",
    "Leapfrog": "steps",
    "Link": "coordinates point seen source",
    "NaNChecker": "__call__",
    "Operator": "program",
    "Partition": "Partition has_cells_of of_rank owned owners_of shown",
    "Program": "kernel run_plain",
    "Recurrence": "program",
    "Rule": "named resolved sides strips",
    "Smoother": "precondition reverse start sweep",
    "Solver": "Solver",
    "Space": "condition first",
    "AdaptiveRungeKutta": "steps",
    "RungeKutta": "steps",
    "Distribution": "alternating plan product run",
    "StatefulCallback": "restore",
    "Statistics": "__call__ begin",
    "SteadyState": "__call__ begin restore",
    "Stepper": "Stepper restore steps",
    "Writer": "__call__",
    "Synchronize": "applied run",
}
"""Methods that the packages themselves call, or that are abstract, by their classes."""


@pytest.mark.filterwarnings("ignore:.*encountered:RuntimeWarning")
@pytest.mark.parametrize("right", CALLS)
def test_wrong_arguments(right: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for wrong in right.wrong():
        try:
            wrong()
        except ssr.Error:
            pass
        except Exception as error:
            raise AssertionError(f"{wrong} raises {error!r}") from error


MODULES = ssr, integrate, simulation, output, solvers, coordinates, bc


def public() -> Iterator[str]:
    """Yield the names of all functions and methods that take arguments; inherited ones once."""
    for module in MODULES:
        for name in module.__all__:
            given = getattr(module, name)
            if inspect.isclass(given):
                yield from (
                    owned(given, method)
                    for method, function in names.methods(given)
                    if list(names.parameters(function))
                )
            elif inspect.isfunction(given) and list(names.parameters(given)):
                yield name


def owned(kind: type, method: str) -> str:
    """Return a method's name after the class that defines it."""
    owners = [base.__name__ for base in kind.__mro__ if method in vars(base)]
    return f"{owners[0] if owners else kind.__name__}.{method}"


def test_all_functions_are_called() -> None:
    called = set()
    for name in {parameter.values[0].name for parameter in CALLS}:
        kind, _, method = name.rpartition(".")
        given = [vars(module).get(kind or method) for module in MODULES]
        classes = [found for found in given if inspect.isclass(found)]
        called |= {owned(found, method) for found in classes} or {name}
    internal = {f"{kind}.{name}" for kind, given in INTERNAL.items() for name in given.split()}
    assert set(public()) - called - internal == {"abort"}  # it ends the process
    assert internal <= set(public()) - called
