"""Programs over fields: traced once, compiled for a dtype, called with arrays."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ir
from ..errors import ArgumentError, Span, UnboundError
from ..ir.liveness import live
from ..lower.join_sums import joined
from ..lower.place_externals import settled
from ..options import Options
from ..run.bound import Bound
from ..run.call_layout import calls_of, normal, plan_boxes
from ..run.check_arrays import diagnose, dtype_name, number_of, overlap, read_first
from ..run.launch import Launch, arrangement
from ..runtime.sums import STATE
from ..spaces.binding import match_sizes
from ..spaces.space import Box, Space, VectorSpace
from ..symbols.values import Row, Value
from ..trace.trace import ScalarType
from .expression import Expression, Field
from .matrix_rows import apply_rows, solve_rows
from .recorder import Recorder
from .recording import current, recording
from .signature import Kind, Signature

if TYPE_CHECKING:
    from ..build.kernel import Kernel
    from ..matrices.applied import What
    from ..matrices.matrix import Matrix

Array = np.ndarray[Any, np.dtype[Any]]

LAUNCHES = 64
"""Layouts of arrays for which a program keeps tables and scratch memory."""


class Program:
    """Assignments over fields, compiled on the first call.

    Made by `ssr.program`. Call it with one array for each field and one number for each scalar,
    in the order of the parameters or by name; arrays that are assigned are changed in place.

    Attributes
    ----------
    ir
        The assignments.
    """

    def __init__(
        self,
        recorder: Recorder,
        signature: Signature,
        options: Options,
        body: Callable[..., Any] | None = None,
    ) -> None:
        self.signature = signature
        self.options = options.settled()
        self._recorder = recorder
        self._body = body
        self._spaces = {
            **recorder.fields, **recorder.temporaries, **recorder.reductions, **recorder.parts
        }  # fmt: skip
        self._captured = tuple(recorder.captured.items())
        self._constants = tuple((n, v) for n, v in recorder.scalars.items() if v is not None)
        self._kernels: dict[str, Kernel] = {}
        self._launches: dict[Any, Launch] = {}
        self._last: tuple[Launch, list[type]] | None = None
        found, self._places = _program_ir(recorder)
        self.ir = replace(found, vectors=signature.components)
        self._many = isinstance(recorder.results, tuple)
        self._numbers = tuple(
            n for n, (_, kind) in enumerate(signature.kinds) if isinstance(kind, ScalarType)
        )

    def __repr__(self) -> str:
        kinds = ", ".join(f"{n}: {k!r}" for n, k in self.signature.kinds)
        return f"<Program {self.ir.name}({kinds}), {len(self.ir.steps)} assignments>"

    def with_options(self, options: Options) -> Program:
        """Return the same program compiled with other options."""
        _check_options(options)
        return Program(self._recorder, self.signature, options, self._body)

    def explain(self, stage: str | None = None, dtype: Any = np.float64) -> str:
        """Return the stages of compilation as text.

        Parameters
        ----------
        stage
            One of ``program passes loops source``; all of them by default.
        dtype
            The type to compile for.
        """
        from ..matrices.explain import explain_program

        return explain_program(self, stage, dtype_name(dtype))

    def kernel(self, dtype: Any = np.float64) -> Kernel:
        """Return the kernel for a dtype, compiled if need be."""
        name = dtype_name(dtype)
        found = self._kernels.get(name)
        if found is None:
            from ..build.kernel import build

            found = self._kernels.setdefault(name, build(self.ir, self.options, name))
        return found

    def __call__(self, *args: Any, boxes: Sequence[Box] | None = None, **named: Any) -> Any:
        """Run the program on arrays and scalars.

        Parameters
        ----------
        *args, **named
            Arrays and numbers, by position or name.
        boxes
            The rows cut into boxes, run one after the other in an order the dependences allow;
            the bits do not depend on it. A box has one pair (low, high) for each axis.

        Raises
        ------
        ShapeError, DtypeError, ContiguityError, OverlapError, ReadOnlyError
            If an array does not fit.
        ArgumentError
            If arguments are missing or unknown.
        BoxError
            If the boxes do not cover the rows once, or wait for each other.
        """
        last = self._last
        if (
            last is not None
            and boxes is None
            and not named
            and [*map(type, args)] == last[1]  # no masked arrays, no integers
        ):
            try:
                results = last[0](args)
                if results is not None:
                    return self._returned(results) if results else None
            except TypeError:  # what is wrong is found out below
                pass
        args = self.signature.arranged(args, named)
        if any(isinstance(a, (Row, Value)) for a in args):
            return self._inline(args)
        return self._call(args, boxes)

    def bind(self, *args: Any, **named: Any) -> Bound:
        """Return the program with its arrays, for many calls on the same ones.

        What a call finds out about its arrays is found out here, so a call of the result costs
        little more than the kernel. Scalars are bound too, or given at each call.

        Parameters
        ----------
        *args, **named
            Arrays and numbers as in a call; scalars may be left out.

        Raises
        ------
        ShapeError, DtypeError, ContiguityError, OverlapError, ReadOnlyError
            If an array does not fit.
        ArgumentError
            If arrays are missing, or arguments unknown.

        Examples
        --------
        >>> import numpy as np, ssr
        >>> cells = ssr.Space(3)
        >>> @ssr.program(u=cells, dt=ssr.scalar)
        ... def decay(u, dt):
        ...     u[:] = u - dt * u
        >>> u = np.ones(3)
        >>> step = decay.bind(u)
        >>> for _ in range(2):
        ...     step(0.5)
        >>> u
        array([0.25, 0.25, 0.25])
        """
        given = self.signature.arranged(args, named, partly=True)
        arrays = self._arrays(given)
        launch = self._launch(arrays, None)
        dtype = diagnose(self._named(arrays), launch.dtype, self._written()).type
        overlap(self._named(arrays), self._written())
        numbers = {}
        for n in self._numbers:
            name = self.signature.kinds[n][0]
            numbers[name] = None if given[n] is None else dtype(number_of(name, given[n]))
        fields = [x for n, x in enumerate(given) if n not in self._numbers]
        return Bound(launch, fields, numbers, self._returned)

    def _inline(self, args: tuple[Any, ...]) -> Any:
        """Run the body as a part of the program that calls this one."""
        assert self._body is not None
        return self._body(*self.signature.inlined(args, current(), self._written()))

    def _returned(self, results: tuple[float, ...]) -> Any:
        """Return the results of a call in the form in which the body returns them."""
        return results if self._many else results[0] if results else None

    def _call(self, args: tuple[Any, ...], boxes: Sequence[Box] | None) -> Any:
        """Run with arguments in order; prepare what was not called like this before."""
        arrays = self._arrays(args)
        launch = self._launch(arrays, boxes)
        args = self._converted(args, launch.dtype)
        try:
            results = launch(args)
        except TypeError:
            diagnose(self._named(arrays), launch.dtype, self._written())
            raise
        if results is None:
            overlap(self._named(arrays), self._written())
            results = launch.anyway(args)
        elif boxes is None:
            types = [float if n in self._numbers else type(a) for n, a in enumerate(args)]
            self._last = launch, types
        assert results is not None
        return self._returned(results)

    def _launch(self, arrays: Sequence[Any], boxes: Sequence[Box] | None) -> Launch:
        cutting = None if boxes is None else normal(boxes)
        if not all(isinstance(a, np.ndarray) for a in arrays):
            diagnose(self._named(arrays), None, self._written())
        key = cutting, *[(type(a), a.shape, a.strides, a.dtype) for a in arrays]
        known = self._launches.get(key)
        if known is None:
            known = self._prepare(arrays, cutting)
            while len(self._launches) >= LAUNCHES:
                self._launches.pop(next(iter(self._launches)))
            self._launches[key] = known
        return known

    def _arrays(self, args: tuple[Any, ...]) -> list[Any]:
        """Return all arrays of a call, vector fields as their components."""
        given = [
            a
            for a, (_, kind) in zip(self.signature.apart(args), self.signature.flat, strict=True)
            if isinstance(kind, Space)
        ]
        return given + [a for _, a in self._captured]

    def _converted(self, args: tuple[Any, ...], dtype: Any) -> tuple[Any, ...]:
        """Return arguments with the numbers among them in a kernel's type."""
        given = list(args)
        for place in self._numbers:
            given[place] = dtype(number_of(self.signature.kinds[place][0], given[place]))
        return tuple(given)

    def _written(self) -> frozenset[str]:
        return frozenset(name for step in self.ir.steps for name in ir.made(step))

    def _named(self, arrays: Sequence[Any]) -> list[tuple[str, Space, Any]]:
        return [
            (f.name, self._spaces[f.name], a) for f, a in zip(self.ir.fields, arrays, strict=True)
        ]

    def _prepare(self, arrays: Sequence[Any], boxes: Sequence[Box] | None) -> Launch:
        """Check arrays and lay out the tables of a call."""
        named = self._named(arrays)
        dtype = diagnose(named, None, self._written())
        ordered = read_first(named, self._written())
        sizes = match_sizes([(n, s, a.shape) for n, s, a in ordered], self._recorder.sizes)
        unknown = [s for s in self.ir.sizes if s not in sizes]
        if unknown:
            raise UnboundError(
                f"The sizes {', '.join(unknown)} do not follow from the arrays.",
                hint="Bind them on the matrix: A.bind(n=...).",
            )
        kernel = self.kernel(dtype)
        plan = plan_boxes(kernel.meta, self._spaces, sizes, named, boxes)
        bound = (
            tuple(a for _, a in self._captured),
            tuple(dtype.type(v) for _, v in self._constants),
        )
        steps = {n: [s // a.itemsize for s in a.strides] for n, _, a in named}
        stored = [
            self._recorder.stored[matrix].argument(what, sizes, steps.get(array), dtype)
            for matrix, what, array, _ in kernel.meta["stored"]
        ]
        externals = {s.name: s.external for s in self.ir.steps if isinstance(s, ir.Call)}
        for name in externals.keys() - {call["name"] for call in calls_of(kernel.meta)}:
            externals[name].check(sizes)
        called = [
            externals[call["name"]].tables(sizes, layouts, dtype)
            for call, layouts in zip(calls_of(kernel.meta), plan.called, strict=True)
        ]
        calls = [array for made in called for array in (made.links, made.weights)]
        places = {name: n for n, name in enumerate(kernel.meta["temporaries"])}
        initial = tuple(
            (places[call["fields"][number]], index, values)
            for call, made in zip(calls_of(kernel.meta), called, strict=True)
            for number, index, values in made.initial
        )
        memory = (*plan.temporaries, *plan.buffers, *(made.scratch for made in called))
        scratch = tuple((shape, dtype.type) for shape in memory)
        states: list[Any] = [((n, STATE), np.int64) for n in (kernel.meta["reductions"],) if n]
        states += [((n,), np.float64) for n in (kernel.meta["results"],) if n]
        given = [not isinstance(kind, ScalarType) for _, kind in self.signature.kinds]
        return Launch(
            run=self._run(kernel),
            fields=sum(given),
            order=arrangement(given),
            bound=bound,
            rest=(plan.layout, *plan.tables, *stored, *calls),
            free=(plan.free, *plan.tables, *stored, *calls),
            scratch=(scratch, tuple(states)),
            dtype=dtype.type,
            results=kernel.meta["results"],
            initial=initial,
        )

    def _run(self, kernel: Kernel) -> Callable[..., int]:
        """Return the function of a kernel that takes what a call gives."""
        run = self._watched(kernel.run, kernel)
        return run if "whole" in kernel.meta else self._taking_parts(run)

    def _taking_parts(self, run: Callable[..., int]) -> Callable[..., int]:
        """Return a function that takes vector fields whole, of one that takes components."""
        if not self.signature.vectors:
            return run
        fields = [kind for _, kind in self.signature.kinds if not isinstance(kind, ScalarType)]

        def call(*args: Any) -> int:
            parts = [
                list(a) if isinstance(kind, VectorSpace) else [a]
                for a, kind in zip(args, fields, strict=False)
            ]
            return run(*(a for part in parts for a in part), *args[len(fields) :])

        return call

    def _watched(self, run: Callable[..., int], kernel: Kernel) -> Callable[..., int]:
        """Return a kernel's function; in the debug build one that reports what it finds."""
        if not self.options.debug:
            return run
        from ..build.debug import watched

        steps = zip(self.ir.steps, self._places, strict=True)
        places = [place for step, place in steps if not isinstance(step, ir.Call)]
        return watched(run, self.ir, kernel.meta, places)

    def run_plain(self, *args: Any, boxes: Sequence[Box] | None = None) -> Any:
        """Run the kernel's source as plain Python, with all accesses checked: slow, for tests."""
        from ..runtime.intrinsics import plain, unwritten

        arrays = self._arrays(args)
        launch = self._launch(arrays, boxes)
        args = self._converted(args, launch.dtype)
        kernel = self.kernel(launch.dtype)
        run = self._taking_parts(self._watched(plain(kernel.plain), kernel))
        launch = replace(launch, run=run, empty=unwritten, kept=[])
        results = launch(args)
        if results is None:
            overlap(self._named(arrays), self._written())
            results = launch.anyway(args)
        assert results is not None
        return self._returned(results)


def program(
    *, options: Options | None = None, **parameters: Kind
) -> Callable[[Callable[..., Any]], Program]:
    """Declare a program: a function of fields and scalars whose body assigns fields.

    The body runs once, on symbols, when the program is declared. ``x[:] = expression`` has
    NumPy's meaning: the right side first. It runs in place where this is proved right.

    Parameters
    ----------
    options
        Choices of the compiler, `ssr.Options`.
    **parameters
        For each parameter of the function its Space, `Space.vector` of one, or ``ssr.scalar``.

    Raises
    ------
    SpaceError
        If spaces or locations are mixed.
    NotTriangularError, SingularMatrixError
        If a solve is not possible.

    Examples
    --------
    Gauss-Seidel: one sweep in row order, in place.

    >>> import numpy as np, ssr
    >>> n, = ssr.sizes("n")
    >>> points = ssr.Space(n)
    >>> A = ssr.stencil(points, points, {-1: -1, 0: 2, 1: -1}, outside="drop")
    >>> @ssr.program(x=points, b=points)
    ... def gauss_seidel(x, b):
    ...     x[:] = A.tril().solve(b - A.triu(1) @ x)
    >>> x, b = np.zeros(3), np.ones(3)
    >>> gauss_seidel(x, b)
    >>> x
    array([0.5  , 0.75 , 0.875])
    """
    if options is not None:
        _check_options(options)

    def declare(function: Callable[..., Any]) -> Program:
        signature = Signature.of(function, parameters)
        recorder = Recorder(signature.name)
        symbols = signature.symbols(recorder)
        with recording(recorder):
            recorder.give(function(*symbols))
        made = Program(recorder, signature, options or Options(), function)
        if not made.ir.steps:
            raise ArgumentError(
                f"Program {signature.name} assigns and returns nothing.",
                hint="Write x[:] = ...; `x = ...` only renames.",
            )
        return made

    return declare


def matrix_program(matrix: Matrix, what: What) -> Program:
    """Return the program behind ``A @ x`` or ``A.solve(b)``: ``y[:] = A @ x``."""
    recorder = Recorder(f"{matrix.name} {what}")
    source, target = (matrix.cols, matrix.rows) if what == "apply" else (matrix.rows, matrix.cols)
    stems = ("x", "y") if what == "apply" else ("b", "x")
    given, made = (_apart(stem, matrix.sizes) for stem in stems)
    recorder.fields = {made: target, given: source}
    operand = Field(given, source, recorder)
    with recording(recorder):
        row: Expression = (
            apply_rows(matrix, operand) if what == "apply" else solve_rows(matrix, operand)
        )
        recorder.assign(made, target, row)
    signature = Signature(recorder.name, ((made, target), (given, source)))
    return Program(recorder, signature, Options())


def _apart(name: str, sizes: Collection[str]) -> str:
    """Return a name that is none of the sizes."""
    while name in sizes:
        name += "_"
    return name


def _check_options(options: object) -> None:
    if not isinstance(options, Options):
        raise ArgumentError(f"options is {options!r}, not ssr.Options.")


def _program_ir(recorder: Recorder) -> tuple[ir.Program, tuple[Span | None, ...]]:
    """Return the immutable program a recorder has collected, and the places of its steps."""

    def field(name: str, space: Space) -> ir.Field:
        return ir.Field(name, space.lower, space.data.shape)

    results = tuple(v.node for v in recorder.returned())
    found = {id(step): place for step, place in zip(recorder.steps, recorder.places, strict=True)}
    needed = live(recorder.steps, set(recorder.fields), results)
    kept = [(new, found[id(step)]) for new, step in zip(joined(needed), needed, strict=True)]
    fields = {n: field(n, s) for n, s in (*recorder.fields.items(), *recorder.temporaries.items())}
    kept = settled(kept, fields, frozenset(recorder.fields))
    steps = tuple(step for step, _ in kept)
    captured = set(recorder.captured)
    ordered = [n for n in recorder.fields if n not in captured] + list(recorder.captured)
    spaces = {**recorder.fields, **recorder.temporaries}
    known = [*spaces.values(), *recorder.reductions.values(), *recorder.parts.values()]
    sizes = frozenset(recorder.inner).union(*(s.sizes for s in known))
    clash = sizes & (set(spaces) | set(recorder.scalars))
    if clash:
        raise ArgumentError(
            f"The name {', '.join(sorted(clash))} is both a size and a field or scalar.",
            hint="Rename one of them.",
        )
    written = {name for step in steps for name in ir.made(step)}
    given = [n for n, v in recorder.scalars.items() if v is None and n not in recorder.reductions]
    bound = [n for n, v in recorder.scalars.items() if v is not None]
    made = ir.Program(
        name=recorder.name,
        fields=tuple(field(n, recorder.fields[n]) for n in ordered),
        temporaries=tuple(field(n, s) for n, s in recorder.temporaries.items() if n in written),
        scalars=(*given, *bound),
        sizes=tuple(sorted(sizes)),
        steps=steps,
        results=results,
    )
    return made, tuple(place for _, place in kept)
