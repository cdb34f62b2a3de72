"""Programs over fields: traced once, compiled for a dtype, and called with arrays."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ir
from ..distributed.local_entries import depends_on_boxes
from ..errors import ArgumentError, BoxError, Error, Span, UnsupportedError
from ..forking import postponed
from ..lower.declaration_passes import declared
from ..options import Options
from ..points.boxes import Box
from ..public import Immutable, counted
from ..run.bound import Bound
from ..run.check_arrays import dtype_name
from ..run.declaration import Declaration, Parameter
from ..run.launcher import Launcher
from ..run.native_program import NativeProgram
from ..runtime import target
from ..spaces.distributed import is_distributed
from ..spaces.space import Space
from ..symbols.values import Row, Value
from ..trace.functions import declared_function
from ..trace.trace import ScalarType, check_apart
from .compare import check_same, impure
from .expression import recording
from .recorder import Recorder, current
from .signature import Kind, Signature

if TYPE_CHECKING:
    from ..compiler.kernel import Kernel


class Program(Immutable):
    """Assignments over fields, compiled on the first call.

    Made by `ssr.program`. Call it with one array for each field and one number for each scalar,
    in the order of the parameters or by name; arrays that are assigned are changed in place.

    Examples
    --------
    >>> import numpy as np, ssr
    >>> cells = ssr.Space(ssr.size("n"))
    >>> @ssr.program(y=cells, x=cells, a=ssr.scalar)
    ... def axpy(y, x, a):
    ...     y[:] = y + a * x
    >>> y = np.ones(3)
    >>> axpy(y, np.array([1.0, 2.0, 4.0]), a=0.5)
    >>> y
    array([1.5, 2. , 3. ])
    """

    def __init__(
        self,
        recorder: Recorder,
        signature: Signature,
        options: Options,
        body: Callable[..., Any] | None = None,
    ) -> None:
        self.signature = signature
        self._recorder = recorder
        self._body = body
        self._launcher = Launcher(_declared(recorder, signature, options), _build)
        self._many = isinstance(recorder.results, tuple)

    @property
    def ir(self) -> ir.Program:
        """The assignments."""
        return self._launcher.declaration.program

    @property
    def options(self) -> Options:
        """Choices of the compiler."""
        return self._launcher.declaration.options

    def __repr__(self) -> str:
        kinds = ", ".join(f"{n}: {k!r}" for n, k in self.signature.kinds)
        return f"<Program {self.ir.name}({kinds}), {counted(len(self.ir.steps), 'step', 'steps')}>"

    def with_options(self, options: Options) -> Program:
        """Return the same program compiled with other options."""
        _check_options(options)
        return Program(self._recorder, self.signature, options, self._body)

    def explain(self, stage: str | None = None, dtype: Any = np.float64) -> str:
        """Return the stages of compilation as text.

        Parameters
        ----------
        stage
            One of ``program passes nests loops source vectors assembly``; all but the last two by
            default. These are for the processor in the options, also if it is not at hand:
            ``vectors`` is the source with loops over vectors of its length, ``assembly`` the
            machine code. LLVM has to be built for its kind: that of llvmlite's wheels is for x86-64
            and AArch64. Or the name of a pass, as ``passes`` lists them: the program after it.
        dtype
            The type to compile for.

        Raises
        ------
        ArgumentError
            If there is no such stage.
        """
        from ..explain.stages import explain_program

        return explain_program(explained(self), stage, dtype_name(dtype))

    def kernel(self, dtype: Any = np.float64) -> Kernel:
        """Return the kernel for a dtype, compiled if need be."""
        return self._launcher.kernel(dtype_name(dtype))

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
        KeyboardInterrupt
            At Ctrl-C. Arrays that are assigned may then hold new values in part.
        """
        last = self._launcher.last
        if (
            last is not None
            and boxes is None
            and not named
            and [*map(type, args)] == last[1]  # excludes masked arrays and integers
        ):
            results = last[0](args)
            if results is not None:
                return self._returned(results) if results or self._many else None
        own = _running((*args, *named.values()))
        if own is not None:
            if boxes is not None:
                raise BoxError(f"{self.ir.name} cannot take boxes= with distributed fields.")
            return own.__ssr_program__(self, args, named, False)
        args = self.signature.arranged(args, named)
        if any(isinstance(a, (Row, Value)) for a in args):
            return self._inline(args)
        return self._returned(self._launcher.call(args, self._arrays(args), boxes))

    def bind(self, *args: Any, **named: Any) -> Bound[Any]:
        """Return the program with its arrays, for many calls on the same ones.

        Arrays are checked here once, so a call of the result costs little more than the kernel.
        Scalars are bound too, or given at each call.

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
        own = _running((*args, *named.values()))
        if own is not None:
            made: Bound[Any] = own.__ssr_program__(self, args, named, True)
            return made
        given = self.signature.arranged(args, named, partly=True)
        return self._launcher.bind(given, self._arrays(given), self._returned)

    def native(self, *args: Any, **named: Any) -> NativeProgram[Any]:
        """Return the program as a function that compiled code calls, for arrays of one layout.

        A function that `numba.njit` compiles takes it as an argument, or reads it as a global
        variable, and calls it like the program. Arrays need the dtype, shape and strides of those
        that are given here, which are not kept; scalars are converted to double precision. The
        result is a float, a tuple of floats, or None.

        In compiled functions wrong numbers and types of arguments are errors at compilation
        (``numba.TypingError``). Arrays of another layout raise ``ValueError``; so do arrays that
        overlap in memory if one of them is assigned, interleaved views included, which a call from
        Python takes. Ctrl-C raises ``KeyboardInterrupt``.

        Several threads may call it at the same time: each call has separate scratch memory. A
        function with ``parallel=True`` that calls it needs ``nogil=True``. Keep a reference to it
        while compiled code uses it. A function that reads it as a global variable keeps it until
        the process ends, and is not cached by Numba (``cache=True``), which warns of that.

        Parameters
        ----------
        *args, **named
            Arrays as in a call; scalars are left out, or ignored.

        Raises
        ------
        ShapeError, DtypeError, ContiguityError, OverlapError, ReadOnlyError
            If an array does not fit.
        ArgumentError
            If arrays are missing, or arguments unknown.
        UnsupportedError
            If the program has the debug build, runs on several ranks, or ``numba.njit`` compiles
            kernels instead of the package's compiler.

        Examples
        --------
        >>> import numba, numpy as np, ssr
        >>> cells = ssr.Space(3)
        >>> @ssr.program(u=cells, dt=ssr.scalar)
        ... def decay(u, dt):
        ...     u[:] = u - dt * u
        ...     return ssr.max(u)
        >>> @numba.njit
        ... def run(step, u, dt):
        ...     count = 0
        ...     while step(u, dt) > 0.1:
        ...         count += 1
        ...     return count
        >>> u = np.ones(3)
        >>> run(decay.native(u), u, 0.5)
        3
        >>> u
        array([0.0625, 0.0625, 0.0625])
        """
        if _running((*args, *named.values())) is not None:
            raise UnsupportedError(
                f"{self.ir.name} cannot be called from compiled code with fields on ranks.",
                hint="Bind it, and call ssr.sequence(...) or repeat of the bound program.",
            )
        given = self.signature.arranged(args, named, partly=True)
        return self._launcher.native(self, given, self._arrays(given), many=self._many)

    def run_plain(self, *args: Any, boxes: Sequence[Box] | None = None) -> Any:
        """Run checked source as plain Python, without compiling it: slow, for tests.

        The source is lowered like the kernel. Every access is checked, and so is that each
        statement runs at its own rows only. The arguments, ``args`` and ``boxes``, are those of a
        call.
        """
        results = self._plain.call(args, self._arrays(args), boxes)
        return self._returned(results)

    @cached_property
    def _plain(self) -> Launcher:
        from ..compiler.kernel import build_plain
        from ..runtime.intrinsics import unwritten

        return Launcher(self._launcher.declaration, build_plain, unwritten, reuse=False)

    def _inline(self, args: tuple[Any, ...]) -> Any:
        """Run the body as a part of the program that calls this one."""
        if self._body is None:
            kinds = ", ".join(type(a).__name__ for a in args)
            raise ArgumentError(f"{self.ir.name} takes NumPy arrays, not {kinds}.")
        written = self._launcher.declaration.written
        return self._body(*self.signature.inlined(args, current(), written))

    def _returned(self, results: tuple[float, ...]) -> Any:
        """Return the results of a kernel in the form in which the body returns them."""
        return results if self._many else results[0] if results else None

    def _arrays(self, args: tuple[Any, ...]) -> list[Any]:
        """Return all arrays of a call, vector fields as their components."""
        given = [
            a
            for a, (_, kind) in zip(self.signature.apart(args), self.signature.flat, strict=True)
            if isinstance(kind, Space)
        ]
        captured = self._launcher.declaration.captured
        for value in captured:
            if is_distributed(value):
                raise ArgumentError(
                    f"{self.ir.name} is called with arrays, but a matrix in it has data of several "
                    "ranks.",
                    hint="Give fields of the same bc.distribute(...) to both.",
                )
        return [*given, *captured]


def _running(given: Sequence[Any]) -> Any:
    """Return the first argument whose class executes programs, or None."""
    return next((value for value in given if hasattr(type(value), "__ssr_program__")), None)


def _build(program: ir.Program, options: Options, dtype: str) -> Kernel:
    """Return a compiled kernel; the compiler is loaded when it is first needed."""
    if os.environ.get("SSR_DUMP"):
        from ..explain.stages import dump

        dump(program, options, dtype)
    with postponed():
        from ..compiler.kernel import build

        return build(program, options, dtype)


def _declared(recorder: Recorder, signature: Signature, options: Options) -> Declaration:
    """Return a program as a recorder has collected it."""
    found, places = _program_ir(recorder, options)
    parameters = (
        Parameter(name, "number")
        if isinstance(kind, ScalarType)
        else Parameter(name, "field")
        if isinstance(kind, Space)
        else Parameter(name, "vector", kind.components)
        for name, kind in signature.kinds
    )
    return Declaration(
        program=replace(found, vectors=signature.components),
        options=options.settled(),
        places=places,
        parameters=tuple(parameters),
        spaces={
            **recorder.fields, **recorder.temporaries, **recorder.reductions, **recorder.parts
        },
        captured=tuple(recorder.captured.values()),
        constants=tuple(v for v in recorder.scalars.values() if v is not None),
        stored=recorder.stored,
        sizes=recorder.sizes,
        local=any(map(depends_on_boxes, recorder.steps)),
    )  # fmt: skip


def begin(program: Program, dtype: str) -> None:
    """Start the build of a kernel that is needed soon, in part on other threads.

    A caller that needs several kernels starts all builds before it calls the first kernel.
    """
    from ..compiler.kernel import begin

    if dtype not in program._launcher.kernels:
        begin(declaration(program).program, program.options, dtype)


def explained(program: Program) -> tuple[ir.Program, ir.Program, Options]:
    """Return the IR of a program as recorded and as declared, and its options."""
    return _recorded_ir(program._recorder), program.ir, program.options


def declaration(program: Program) -> Declaration:
    """Return all that a program was declared with."""
    return program._launcher.declaration


def program(
    *, options: Options | None = None, **parameters: Kind
) -> Callable[[Callable[..., Any]], Program]:
    """Declare a program: a function of fields and scalars whose body assigns fields.

    The body runs on symbols, when the program is declared; ``x[:] = expression`` has NumPy's
    meaning: the right side first. It runs in place where this is proved right. The body is run
    twice and must record the same: it must not use random numbers or change state.

    Fields have the type of the arrays of a call, float64 or float32. Scalars, and arithmetic with
    scalars and reductions alone, are in double precision, also those that a program returns; their
    values are rounded to the type of the fields where they enter expressions of these.

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
    ImpureProgramError
        If the second run of the body records something else.

    Examples
    --------
    Gauss-Seidel: one sweep in row order, in place.

    >>> import numpy as np, ssr
    >>> n, = ssr.sizes("n")
    >>> points = ssr.Space(n)
    >>> A = ssr.stencil(points, points, {-1: -1, 0: 2, 1: -1}, outside="zero")
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
        function = declared_function("ssr.program", "a function", function)
        if inspect.isgeneratorfunction(function):
            raise ArgumentError(
                f"Program {function.__name__} yields values.",
                hint="A program assigns and returns; ssr.matrix decorates generator functions.",
            )
        return _traced(function, Signature.of(function, parameters), options or Options())

    return declare


def made_program(name: str, body: Callable[..., Any], kinds: Mapping[str, Kind]) -> Program:
    """Return a program of the package: that of a body of any parameters, of these kinds.

    A parameter that has the name of a size of the user gets another name.
    """
    spaces = (getattr(kind, "space", kind) for kind in kinds.values())
    sizes = {size for space in spaces if isinstance(space, Space) for size in space.sizes}
    taken = sizes.union(kinds)
    names = (ir.fresh(each, taken) if each in sizes else each for each in kinds)
    return _traced(body, Signature(name, tuple(zip(names, kinds.values(), strict=True))), Options())


def own_program(**kinds: Kind) -> Callable[[Callable[..., Any]], Program]:
    """Declare a program of the package, as `made_program` returns it."""
    return lambda body: made_program(body.__name__, body, kinds)


def array_program(name: str, body: Callable[..., Any], kinds: Mapping[str, Kind]) -> Program:
    """Return a program that is called with arrays only, of a body that is known to be pure."""
    signature = Signature(name, tuple(kinds.items()))
    return Program(_recorded(body, signature), signature, Options())


def _traced(function: Callable[..., Any], signature: Signature, options: Options) -> Program:
    recorder = _recorded(function, signature)
    _check_pure(function, signature, recorder)
    made = Program(recorder, signature, options, function)
    if not made.ir.steps:
        raise ArgumentError(
            f"Program {signature.name} assigns and returns nothing.",
            hint="Write x[:] = ...; `x = ...` only renames.",
        )
    return made


def _recorded(function: Callable[..., Any], signature: Signature) -> Recorder:
    """Run the body of a program on symbols, and return its recorder."""
    recorder = Recorder(signature.name)
    symbols = signature.symbols(recorder)
    with recording(recorder):
        try:
            recorder.give(function(*symbols))
        except RecursionError:
            raise ArgumentError(
                f"The body of {signature.name} calls itself without end.",
                hint="A body is run once, with symbols: end recursions by numbers that are known.",
            ) from None
    return recorder


def _check_pure(function: Callable[..., Any], signature: Signature, first: Recorder) -> None:
    """Check that a body records the same when it is run again."""
    try:
        second = _recorded(function, signature)
    except Exception as error:
        place = error.span if isinstance(error, Error) else None
        message = str(error).partition("\n")[0]
        note = f"the second run ended with {type(error).__name__}: {message}"
        raise impure(signature.name, note, place) from error
    check_same(first, second)


def _check_options(options: object) -> None:
    if not isinstance(options, Options):
        raise ArgumentError(f"options is {options!r}, not ssr.Options.")
    if options.cpu:
        target.named(options.cpu)


def _program_ir(recorder: Recorder, options: Options) -> tuple[ir.Program, tuple[Span | None, ...]]:
    """Return the immutable program a recorder has collected, and the places of its steps."""
    recorded = _recorded_ir(recorder)
    short = declared(recorded, options, recorder.places)
    places = tuple(recorder.places[ir.origin(step)] for step in short.steps)
    steps = tuple(ir.with_origin(step, number) for number, step in enumerate(short.steps))
    return replace(short, steps=steps), places


def _recorded_ir(recorder: Recorder) -> ir.Program:
    """Return the program as it was recorded, whose steps have their numbers as origins."""

    def field(name: str, space: Space) -> ir.Field:
        return ir.Field(name, space.data.lower, space.data.shape)

    captured = set(recorder.captured)
    ordered = [n for n in recorder.fields if n not in captured] + list(recorder.captured)
    spaces = {**recorder.fields, **recorder.temporaries}
    known = [*spaces.values(), *recorder.reductions.values(), *recorder.parts.values()]
    sizes = frozenset(recorder.inner).union(*(s.sizes for s in known))
    check_apart(sizes, (*spaces, *recorder.scalars))
    given = [n for n, v in recorder.scalars.items() if v is None and n not in recorder.reductions]
    bound = [n for n, v in recorder.scalars.items() if v is not None]
    return ir.Program(
        name=recorder.name,
        fields=tuple(field(n, recorder.fields[n]) for n in ordered),
        temporaries=tuple(field(n, s) for n, s in recorder.temporaries.items()),
        scalars=(*given, *bound),
        sizes=tuple(sorted(sizes)),
        steps=tuple(ir.with_origin(step, n) for n, step in enumerate(recorder.steps)),
        results=tuple(v.node for v in recorder.returned()),
    )
