"""HPCG: histories of the reference code, its V-cycle, validation, the command."""

import ast
import json
import math
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

import boundary as bc
from apps.hpcg import __main__ as command
from apps.hpcg import operators
from apps.hpcg import solver as numerical
from apps.hpcg.benchmark import Counts
from apps.hpcg.layout import process_grid
from apps.hpcg.problem import Problem, ProblemError
from apps.hpcg.solver import Solver
from apps.hpcg.validation import validate

HISTORIES = {
    16: {
        1: 1.7528847365267e-01, 2: 8.3595018369475e-02, 3: 3.1171082868921e-02,
        5: 4.1734738539737e-04, 8: 4.9538717479673e-06, 10: 1.6353119008197e-07,
        12: 3.4934910439735e-09, 14: 8.7851282077207e-11, 16: 1.4205735896520e-12,
        18: 6.1761312505010e-14,
    },
    32: {
        1: 1.8327342160930e-01, 2: 9.6954621228219e-02, 3: 6.2995739495423e-02,
        5: 3.3451040946517e-02, 10: 9.4244414583786e-05, 15: 1.7616589020609e-06,
        20: 1.0310011472781e-08, 25: 1.4743668536976e-10, 30: 5.8733025457962e-13,
        32: 5.0148446208689e-14,
    },
    64: {
        1: 1.8525698275024e-01, 2: 1.0075165667082e-01, 3: 6.8515480410326e-02,
        5: 4.0374040092311e-02, 10: 1.8850729444441e-02, 20: 1.9248530144520e-05,
        30: 2.4926464405386e-07, 40: 9.2319129258019e-10, 50: 1.1358902558741e-11,
    },
}  # fmt: skip
"""Residuals of HPCG 3.1 over the first one, by iterations, at n^3 points on one process."""

FIRST = {
    16: [
        (1.02197337513803e04, 8.84840668352849e03, 1.15498011301905e00, 0.0),
        (5.36831197358909e02, 2.49159930876515e02, 2.15456472262775e00, 5.25288828866412e-02),
        (1.28375021702640e02, 5.91370676614230e01, 2.17080465398833e00, 2.39134801282446e-01),
    ],
    32: [
        (3.92020612180306e04, 3.37167025026463e04, 1.16268965551877e00, 0.0),
        (2.27265234067166e03, 9.93654324843180e02, 2.28716595283811e00, 5.79727766872211e-02),
        (6.84558907190660e02, 2.53454806566755e02, 2.70091112677463e00, 3.01215850281942e-01),
    ],
}
"""r z, p A p, alpha and beta of the first iterations."""

DOWN = {
    16: [(24.6983383208221, 1210.33678528049, 27.7386452378500),
         (2.35400990291724, 51.5054511595504, 3.36664457709227),
         (0.255700025126767, 1.90487113208251, 0.264490873765250),
         (0.0118606102679374, 0.0285779619724237, None)],
    32: [(48.3298196086664, 5170.78161377655, 55.1574615771004),
         (4.78524344593572, 259.692969228413, 7.08231482733659),
         (0.639240675731929, 13.9175297440858, 0.960226220969459),
         (0.0739143406994737, 0.548419916984866, None)],
}  # fmt: skip
"""After the first smoothing on each grid: norm and sum of x, norm of the restricted residual."""

UP = {
    16: [(33.5235365950856, 1853.31687734731), (3.48310483092850, 77.1494295228349),
         (0.322992669642341, 2.39704819031369)],
    32: [(66.0668733129874, 8279.84629892410), (7.31931669977306, 426.168871608797),
         (0.963269413079576, 21.0753277037596)],
}  # fmt: skip
"""Norm and sum of x at the end."""

SHARED = {
    (2, 16): {
        1: 1.864566379536e-01, 2: 9.693345097960e-02, 3: 5.174865908258e-02,
        4: 1.612643951607e-02, 5: 7.547208633780e-03, 8: 4.605101103560e-05,
        10: 3.861718424607e-06, 12: 4.414580887532e-07, 15: 1.276284454990e-08,
        20: 3.864909535299e-12,
    },
    (2, 32): {
        1: 1.884677108390e-01, 2: 1.018231431563e-01, 3: 6.817494393044e-02,
        5: 4.190476370118e-02, 8: 7.799154005881e-03, 10: 2.813267774669e-03,
        15: 3.339717552665e-05, 20: 1.159444579583e-06, 25: 5.043534665825e-08,
        30: 9.108441964072e-10, 40: 4.148329330062e-13,
    },
    (4, 16): {
        1: 1.945970434478e-01, 2: 1.052894097013e-01, 3: 6.939989693026e-02,
        5: 2.050848156690e-02, 8: 6.096855895099e-04, 10: 4.281252427613e-05,
        12: 7.921921023053e-06, 15: 1.813531519514e-07, 20: 6.869094727877e-10,
        25: 8.652550183149e-12, 30: 3.285413185071e-14,
    },
}  # fmt: skip
"""Residuals of HPCG 3.1 by iterations, on so many ranks with n^3 points each."""

GRIDS = {
    1: (1, 1, 1), 2: (2, 1, 1), 3: (3, 1, 1), 4: (2, 2, 1), 6: (2, 3, 1), 8: (2, 2, 2),
    10: (2, 5, 1), 12: (2, 3, 2), 16: (4, 2, 2), 18: (2, 3, 3), 20: (2, 5, 2), 24: (2, 4, 3),
    32: (4, 4, 2), 36: (4, 3, 3), 48: (4, 4, 3), 60: (4, 3, 5), 64: (4, 4, 4), 72: (4, 3, 6),
    96: (4, 4, 6), 100: (4, 5, 5), 120: (4, 6, 5), 128: (8, 4, 4), 256: (8, 8, 4), 512: (8, 8, 8),
}  # fmt: skip
"""The grids of ranks of HPCG 3.1: numbers along x, y and z."""

CORNERS = {
    16: (0.971922768184356, 0.956713748236458, 2.72567773976510e-02),
    32: (0.971915887598314, 0.956708730161671, 1.30935798294440e-03),
}
"""The first, the last and the middle value of the V-cycle."""


@cache
def cube(n: int, matrix: str = "staged") -> tuple[Problem, Solver]:
    problem = Problem(n, n, n, "csr" if matrix == "csr" else "staged")
    return problem, problem.solver()


def compare(history: list[float], known: dict[int, float]) -> None:
    for k, value in known.items():
        assert history[k - 1] == pytest.approx(value, rel=1e-9 if value > 1e-9 else 1e-5)


@pytest.mark.parametrize("n", [16, 32, 64])
@pytest.mark.parametrize("matrix", ["staged", "csr"])
def test_residuals_are_those_of_the_reference(n: int, matrix: str) -> None:
    problem, solver = cube(n, matrix)
    compare(solver.solve(problem.right_side, 50), HISTORIES[n])


@pytest.mark.parametrize(("ranks", "n"), SHARED)
def test_residuals_of_ranks_are_those_of_the_reference(ranks: int, n: int) -> None:
    problem = Problem(n, n, n, world=bc.simulated_ranks(ranks))
    compare(problem.solver().solve(problem.right_side, 50), SHARED[ranks, n])


@pytest.mark.parametrize("ranks", GRIDS)
def test_grids_of_ranks_are_those_of_the_reference(ranks: int) -> None:
    assert process_grid(ranks)[::-1] == GRIDS[ranks]


@pytest.mark.parametrize("n", [16, 32])
def test_first_coefficients(n: int) -> None:
    problem, solver = cube(n)
    old = math.inf
    for start in solver.x, solver.p:
        start.set(0.0)
    rr = solver.grids[0].residual(solver.r[0], problem.right_side, solver.x)
    assert rr == {16: 135944.0, 32: 521288.0}[n]
    for rz, pq, alpha, beta in FIRST[n]:
        found = solver.precondition()
        assert found == pytest.approx(rz, rel=1e-12)
        assert found / old == pytest.approx(beta, rel=1e-12)
        product = solver.direction(found / old)
        assert product == pytest.approx(pq, rel=1e-12)
        assert found / product == pytest.approx(alpha, rel=1e-12)
        solver.advance(found / product)
        old = found


@pytest.mark.parametrize("n", [16, 32])
def test_values_inside_a_cycle(n: int) -> None:
    problem, solver = cube(n)
    solver.r[0].set(problem.right_side)
    for level, (norm, total, restricted) in enumerate(DOWN[n]):
        if restricted is None:
            solver.bottom()
        else:
            solver.down[level]()
            coarse = solver.r[level + 1].gather()
            assert np.linalg.norm(coarse) == pytest.approx(restricted, rel=1e-12)
        z = solver.z[level].gather()
        assert (np.linalg.norm(z), z.sum()) == pytest.approx((norm, total), rel=1e-12)
    for level in 2, 1, 0:
        solver.up[level]()
        z = solver.z[level].gather()
        assert (np.linalg.norm(z), z.sum()) == pytest.approx(UP[n][level], rel=1e-12)
    middle = z[n // 2, n // 2, n // 2]
    assert (z[0, 0, 0], z[-1, -1, -1], middle) == pytest.approx(CORNERS[n], rel=1e-12)


def test_right_side_and_solution() -> None:
    problem, solver = cube(16)
    assert problem.right_side.gather().sum() == 13256.0
    solver.solve(problem.right_side, 50)
    np.testing.assert_allclose(solver.x.gather(), 1.0, rtol=1e-14)


def test_stored_operator_is_the_staged_one() -> None:
    shape = (2, 4, 6)
    A = operators.operators("staged", shape)[0].bind(nz=1, ny=2, nx=3)
    csr = operators.csr(numerical.fine, shape).to_scipy()
    assert isinstance(csr, scipy.sparse.csr_array)
    np.testing.assert_array_equal(A.to_scipy().toarray(), csr.toarray())


@pytest.mark.parametrize("matrix", ["staged", "csr"])
def test_validation(matrix: str) -> None:
    tests = validate(*cube(16, matrix))
    assert tests.plain == (11, 11)
    assert tests.preconditioned == (1, 1)
    assert tests.spmv < 1e-4
    assert tests.mg < 1e-4
    assert tests.error == 0.0
    assert tests.converged
    assert tests.symmetric


def test_validation_on_ranks() -> None:
    problem = Problem(16, 16, 16, world=bc.simulated_ranks(2))
    tests = validate(problem, problem.solver())
    assert (tests.plain, tests.preconditioned) == ((11, 11), (2, 2))
    assert max(tests.spmv, tests.mg) < 1e-4
    assert tests.error == 0.0


def test_counts_are_those_of_the_reference() -> None:
    counts = Counts(Problem(104, 104, 104), 1, 50)
    assert counts.problem.entries == [29791000, 3652264, 438976, 50653]
    assert counts.flops == {
        "ddot": 339708928,
        "waxpby": 339708928,
        "spmv": 3038682000,
        "mg": 16951250600,
    }
    assert sum(counts.timed.values()) == sum(counts.flops.values()) == 20669350456
    assert sum(counts.flops.values()) / sum(counts.traffic) == pytest.approx(0.132, abs=5e-4)


@pytest.mark.parametrize(
    ("extents", "message"),
    [
        ((8, 16, 16), "nx is 8; the smallest extent is 16."),
        ((16, 20, 16), "ny is 20, which is not divisible by 8: the grid is halved three times."),
        ((16, 16, 136), "The box 16 x 16 x 136 is too long: .* more than 8 times its smallest."),
    ],
)
def test_boxes_that_do_not_fit(
    extents: tuple[int, int, int], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ProblemError, match=message):
        Problem(*extents)
    named = zip(("--nx", "--ny", "--nz"), map(str, extents), strict=True)
    with pytest.raises(SystemExit):
        command.main([word for pair in named for word in pair])
    assert "error: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("ranks", "matrix", "message"),
    [(11, "staged", "The grid of ranks 11 x 1 x 1 is too long"), (2, "csr", "is for one rank")],
)
def test_ranks_that_do_not_fit(ranks: int, matrix: str, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        Problem(16, 16, 16, matrix, bc.simulated_ranks(ranks))  # type: ignore[arg-type]


@pytest.mark.slow
def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "hpcg.json"
    box = ["--nx", "32", "--ny", "16", "--nz", "24"]
    command.main([*box, "--time", "0", "--json", str(file)])
    text = capsys.readouterr().out
    assert "this is not an official HPCG result" in text
    assert "Number of Equations: 12288" in text
    assert "Result: VALID" in text
    made = json.loads(file.read_text())
    assert made["valid"] is True
    assert (made["shape"], made["ranks"], made["sets"]) == ([32, 16, 24], 1, 1)
    assert len(made["residuals"]) == made["iterations"] >= 50
    kinds = {"mg", "spmv", "waxpby", "total"}
    assert made["seconds"].keys() == made["gflops"].keys() == kinds
    assert sum(made["seconds"].values()) <= 2.0 * made["seconds"]["total"]
    assert 0.0 < made["rating_gflops"] <= made["gflops"]["total"]
    assert made["ms_per_iteration"] > 0.0
    assert made["bytes_per_row"] < 80.0


def test_the_numerical_part_is_short() -> None:
    """Count lines that are neither blank nor comments nor docstrings: 588 in the reference."""
    source = Path(numerical.__file__).read_text(encoding="utf-8")
    told: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(
            node
        ):
            told |= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    lines = enumerate(source.splitlines(), 1)
    code = [s for n, s in lines if n not in told and s.strip() and not s.strip().startswith("#")]
    assert len(code) <= 100
