"""Arguments of methods, classes and solvers that do not fit are named before anything runs."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import boundary as bc
import ssr
from ssr import solvers
from ssr.algebra.assemble import by_entries

from .mistakes import T, U, cells, line, n, ones, sweep

b = ones(3)
sim = bc.simulated_ranks(2)
wide = cells.grow(1)
fill = bc.fill(wide, bc.symmetric())


@ssr.program(x=line, y=line)
def copied(x: Any, y: Any) -> Any:
    y[:] = x
    return ssr.sum(x)


def spread(**more: Any) -> bc.Distribution:
    return bc.distribute(cells, sim, **{"ny": 6, "nx": 8, **more})


def counts_down(i: Any) -> Any:
    while i > 0:
        i = i - 1
    yield i, 1.0


def declared(body: Callable[..., Any], **data: Any) -> Any:
    return ssr.matrix(rows=line, cols=line, **data)(body)


def by_name_only(*, x: Any) -> None:
    x[:] = 1.0


def result_in_a_program(x: Any) -> None:
    x[:] = T.solve(x, x)


def sum_of_field(i: Any, *, k: Any) -> Any:
    yield i, sum(k)


def length_of_field(i: Any, *, k: Any) -> Any:
    yield i, 1.0 / len(k)


def shape_of_field(i: Any, *, k: Any) -> Any:
    yield i, k.shape[0]


def product_of_fields(i: Any, *, k: Any) -> Any:
    yield i, k @ k


CASES: list[tuple[Callable[[], object], str]] = [
    # spaces
    (lambda: ssr.Space(-n), "no points along axis 0: its extent is -n"),
    (lambda: ssr.Space(4 - ssr.size("m", at_least=4)), "no points along axis 0"),
    (lambda: ssr.Space(10**30), "The space has 1000000000000000000000000000000 points"),
    (lambda: ssr.Space(shape=(3, 4)), "(?s)Space has no argument 'shape'.*It takes \\*shape"),
    (lambda: ssr.matrix(rows=cells, u=cells), "missing a required argument: 'cols'"),
    (lambda: cells.grow(wdth=1), "grow has no argument 'wdth'"),
    (lambda: cells.faces(), "missing a required argument: 'axis'"),
    (lambda: cells.faces(dim=1), "faces has no argument 'dim'"),
    (lambda: cells.nodes(1), "too many positional arguments"),
    (lambda: cells.split(2, 2, size={}), "split has no argument 'size'"),
    (lambda: cells.slab(5, 0, 2), "There is no axis 5 of a space with 2 axes"),
    (lambda: cells.slab("x", 0, 2), "no axis 'x' of a space"),
    (lambda: cells.slab(0, 0.5, 2), "bounds that are not integers"),
    (lambda: cells.slab(0, 2, 0), "no points along axis 0"),
    (lambda: cells.times(3), "expects a Space, got 3"),
    (lambda: cells.extent(3), "sizes must be a dictionary"),
    # matrices
    (lambda: T.bind({"n": 3}), "bind: too many positional arguments"),
    (lambda: T.solve(), "missing a required argument: 'b'"),
    (lambda: T.diagonal(1), "too many positional arguments"),
    (lambda: T.apply(b, output=b), "apply has no argument 'output'"),
    (lambda: T.to_scipy(n=4), "to_scipy has no argument 'n'"),
    (lambda: T.bind(n=10**20).to_scipy(), "100000000000000000000 points along axis 0"),
    (lambda: T.equals(np.eye(3)), "with ndarray, not a matrix"),
    (lambda: T.equals(None), "with NoneType, not a matrix"),
    (lambda: T.toarray(), r"(?s)has no 'toarray'.*to_scipy\(\)"),
    (lambda: T.nnz, r"(?s)has no 'nnz'.*to_scipy\(\)"),
    (lambda: T.dot(b), r"(?s)has no 'dot'.*A @ x"),
    (lambda: T.transpose(), r"(?s)has no 'transpose'.*A\.T"),
    (lambda: T.sovle(b), "has no 'sovle'"),
    (lambda: np.asarray(T), "Cannot convert"),
    (lambda: np.linalg.solve(T, b), "Cannot convert"),
    (lambda: np.dot(T, b), "Cannot convert"),
    (lambda: ssr.Matrix(np.eye(3)), "A Matrix is not made of ndarray"),
    (lambda: ssr.sqrt("4"), "sqrt of str is not defined"),
    (lambda: ssr.sqrt(None), "sqrt of NoneType is not defined"),
    (lambda: ssr.jacobian(3), "differentiates a function, not 3"),
    # generators
    (lambda: declared(counts_down), "512 conditions that both hold and fail"),
    (lambda: declared(sum_of_field, k=line), "'k' is used as a sequence"),
    (lambda: declared(length_of_field, k=line), "'k' has no length"),
    (lambda: declared(shape_of_field, k=line), "'k' has no 'shape'"),
    (lambda: declared(product_of_fields, k=line), "'k' is used as a number"),
    # programs
    (lambda: ssr.program(x=line)(3), "decorates a function, not 3"),
    (lambda: ssr.program(x=line)(by_name_only), "takes parameters by keyword only"),
    (lambda: ssr.program(x=line)(result_in_a_program), "solve takes no out= in a program"),
    (lambda: sweep.with_options(), "missing a required argument: 'options'"),
    (lambda: sweep.with_options(exact=True), "with_options has no argument 'exact'"),
    # solvers
    (lambda: solvers.cg(T, b, rtol="1e-5"), "The tolerance rtol is '1e-5'"),
    (lambda: solvers.cg(T, b, rtol=None), "The tolerance rtol is None"),
    (lambda: solvers.cg(T, b, atol=float("nan")), "The tolerance atol is nan"),
    (lambda: solvers.cg(T, b, maxiter=-1), "maxiter is -1"),
    (lambda: solvers.cg(T, b, maxiter=1.5), "maxiter is 1.5"),
    (lambda: solvers.cg(T, b, maxiter="10"), "maxiter is '10'"),
    (lambda: solvers.cg(T, b, callback=3), "callback is 3"),
    (lambda: solvers.cg(T, b, M=lambda r: r), "does not take two arrays"),
    (lambda: solvers.cg(T, b, M=copied), "does not assign its first parameter"),
    (lambda: solvers.CG(), "CG: missing|Solver: missing"),
    (lambda: solvers.CG(T)(), "missing a required argument: 'b'"),
    (lambda: solvers.CG(T)(b, tol=1.0), r"(?s)has no argument 'tol'.*'rtol'"),
    (lambda: solvers.CG(T, T, T), "too many positional arguments"),
    (lambda: solvers.gmres(T, b, restart=2.5), "restart is 2.5"),
    (lambda: solvers.chebyshev(T, b, bounds=4.0), "bounds of the eigenvalues are 4.0"),
    (lambda: solvers.chebyshev(T, b, bounds=(1, 2, 3)), r"are \(1, 2, 3\)"),
    (lambda: solvers.chebyshev(T, b, bounds=("a", "b")), r"are \('a', 'b'\)"),
    (lambda: solvers.Chebyshev(T), "missing a required argument: 'bounds'"),
    (lambda: solvers.Jacobi(damping=0), "damping is 0, not"),
    (lambda: solvers.Jacobi("a"), "damping is 'a', not"),
    (lambda: solvers.Jacobi(omega=0.5), "Jacobi has no argument 'omega'"),
    (lambda: solvers.GaussSeidel(rank_local="yes"), "local is 'yes'"),
    (lambda: solvers.ILU(fill=2), "ILU has no argument 'fill'"),
    (lambda: solvers.IC(T), "local is .*, not True or False"),
    (lambda: solvers.ILU(rank_local="yes"), "local is 'yes'"),
    (lambda: solvers.interpolation(7, 3), "fine must be a Space, not 7"),
    (lambda: solvers.interpolation(line, 3), "coarse must be a Space, not 3"),
    (lambda: solvers.Multigrid(T), "missing a required argument: 'prolongations'"),
    (lambda: solvers.Multigrid(T, T), "leads from .* to the same space"),
    (lambda: solvers.Multigrid(3, 4), "The matrices are not matrices of ssr"),
    (lambda: solvers.Multigrid(T, T, smother=None), r"(?s)no argument 'smother'.*'smoother'"),
    (lambda: solvers.Multigrid(T, T, smoother=solvers.Jacobi), "The smoother is Jacobi"),
    (lambda: solvers.Multigrid(T, T, sweeps=1), "sweeps is 1, not two"),
    (lambda: solvers.Multigrid(T, T, sweeps=(1.5, 1)), r"sweeps is \(1.5, 1\)"),
    (lambda: solvers.Multigrid(T, T, coarsest="x"), "coarsest is 'x'"),
    (lambda: solvers.Multigrid.galerkin(T, 0), "number of levels, not .* and 0"),
    (lambda: solvers.Multigrid.galerkin(T, 2.0), "number of levels, not .* and 2.0"),
    (lambda: solvers.Multigrid.galerkin(b, 2), "need a matrix .*, not array"),
    (lambda: solvers.Multigrid.galerkin(T, level=2), "galerkin has no argument 'level'"),
    # boundaries and ranks
    (lambda: fill.bind(3), "too many positional arguments"),
    (lambda: fill.bind(ny=0), "The size ny is 0, not a positive integer"),
    (lambda: fill.explain("all"), "too many positional arguments"),
    (
        lambda: bc.fill(wide, bc.ghost_value(bc.parameter("a"))).bind(a="b"),
        "a is 'b', not a number",
    ),
    (lambda: bc.Grid([(3, 4)], link=[]), r"(?s)Grid has no argument 'link'.*'links'"),
    (lambda: bc.Side(0, 1), "missing a required argument: 'end'"),
    (lambda: bc.Link(bc.Side(0, 0, "low"), bc.Side(1, 0, "low"), flip=()), "no argument 'flip'"),
    (lambda: bc.Connectivity(2), "missing a required argument: 'count'"),
    (lambda: spread(nz=4), "There is no size nz"),
    (lambda: spread(boxes=-1), "boxes is -1"),
    (lambda: spread().zeros(), "missing a required argument: 'kind'"),
    (lambda: spread().zeros(cells).fill(3.0), "a function of the indices, not 3.0"),
    (lambda: spread().zeros(cells).fill(lambda j: j), "does not take 2 arguments"),
    (lambda: bc.alternating(), "needs at least one program"),
    (lambda: bc.alternating(sweep, T), "takes programs, not <Matrix"),
    (lambda: bc.traced_rank(4), "missing a required argument: 'rank'"),
    (lambda: bc.traced_rank(4, 4), "not an integer from 0 to 3"),
]


@pytest.mark.parametrize(("call", "message"), CASES)
def test_message(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ssr.Error) as caught:
        call()
    told = caught.value.message, caught.value.note, caught.value.hint
    assert re.search(message, "\n".join(filter(None, told)))  # without the line of this file
    assert caught.value.span is not None
    assert caught.value.span.file == __file__


def test_hints_of_attributes_leave_questions_for_them_alone() -> None:
    """Copies, pickles and SciPy ask matrices what they have."""
    assert not hasattr(T, "toarray")
    assert not hasattr(T, "_no_such_name")
    assert scipy.sparse.linalg.aslinearoperator(T.bind(n=3)).shape == (3, 3)
    assert U.unbound == ("u", "dt")


@pytest.fixture(autouse=True)
def plain_assembly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Assemble as users do: the comparison of all tests would stand between them and an error."""
    monkeypatch.setattr("ssr.matrices.matrix.by_entries", by_entries)
