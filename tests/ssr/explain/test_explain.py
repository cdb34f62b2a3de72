"""Every stage prints; the drawing of a matrix is well-formed; SSR_DUMP writes what explain says."""

from __future__ import annotations

import xml.etree.ElementTree as xml
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

import ssr
from ssr.errors import ArgumentError
from ssr.explain.stages import dump
from tests.ssr import sample_programs as programs

n, ny, nx = ssr.sizes("n ny nx")
points = ssr.Space(n)


@ssr.matrix(rows=points, cols=points, a=points, c=ssr.scalar)
def bidiagonal(i: Any, *, a: Any, c: Any) -> Any:
    if i > 0:
        yield i - 1, -c
    yield i, a[i]


HERE = f"{__file__}:"


def lines(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines()]


# -- matrices ------------------------------------------------------------------------------------


def test_trace_shows_paths_and_the_users_lines() -> None:
    text = bidiagonal.explain("trace")
    found = lines(text)
    assert found[0] == "bidiagonal: 2 paths through the generator"
    first = bidiagonal.definition.paths[0].entries[0].span
    assert first is not None
    assert found[1:4] == [
        "0 < i < n",
        f"(i - 1) (-c) {HERE}{first.line}",
        f"(i) a[i] {HERE}{first.line + 1}",
    ]
    assert found[5] == f"(i) a[i] {HERE}{first.line + 1}"


def test_trace_of_a_stencil_names_no_line_of_ours() -> None:
    assert "matrix.py" not in programs.five.explain("trace")


def test_only_a_declared_matrix_has_a_trace() -> None:
    with pytest.raises(ArgumentError, match="no stage 'trace'") as error:
        programs.five.tril().explain("trace")
    stages = "sets, footprint, program, passes, nests, loops, source, vectors, assembly"
    assert error.value.hint is not None
    assert error.value.hint.startswith(f"The stages are {stages}, and")


def test_sets() -> None:
    assert bidiagonal.explain("sets").splitlines() == [
        "<Matrix bidiagonal: Space(n) -> Space(n), 2 families, a=Space(n), c=ssr.scalar>",
        "  row (i)  column (i - 1)  (-c)  where 0 < i < n",
        "  row (i)  column (i)      a[i]  where 0 <= i < n",
    ]


def test_footprint_gives_offsets_halo_and_data() -> None:
    assert bidiagonal.explain("footprint").splitlines() == [
        "bidiagonal: columns read by a row",
        "  (i - 1)  offset (-1)",
        "  (i)      offset (0)",
        "  halo along i: 1 below, 0 above",
        "  field a is read at (i)",
    ]


def test_footprint_that_is_not_constant() -> None:
    found = lines(programs.restriction.explain("footprint"))
    assert found[1] == "(2*i - 1) offset varies"
    assert found[-1] == "halo along i: varies"


def test_footprint_between_dimensions_and_of_nothing() -> None:
    plane = ssr.Space(ny, nx)

    @ssr.matrix(rows=points, cols=plane)
    def diagonal(i: Any) -> Any:
        if (i, i) in plane:
            yield (i, i), 1.0

    assert "(i, i) offset varies" in lines(diagonal.explain("footprint"))
    empty = programs.five - programs.five
    assert empty.explain("footprint").count("\n") == 0


def test_a_matrix_shows_all_stages_in_order() -> None:
    text = bidiagonal.explain()
    order = [line.split()[1] for line in text.splitlines() if line.startswith("== ")]
    assert order == ["trace", "sets", "footprint", "program", "passes", "nests", "loops", "source"]


def test_data_without_a_value_become_parameters_of_the_program() -> None:
    found = lines(bidiagonal.explain("program"))
    assert found[:3] == [
        "program bidiagonal apply",
        "fields y[0:n], x[0:n], a[0:n]",
        "scalars c",
    ]
    bound = bidiagonal.bind(a=np.ones(3), c=2.0)
    assert lines(bound.explain("program"))[:3] == found[:3]


def test_data_may_have_the_names_of_operands() -> None:
    @ssr.matrix(rows=points, cols=points, x=points, y=ssr.scalar)
    def named(i: Any, *, x: Any, y: Any) -> Any:
        yield i, x[i] * y

    found = named.explain("program")
    assert "y_1[i] = (x[i] * y) * x_1[i]" in found


# -- programs ------------------------------------------------------------------------------------


def test_program_shows_the_equation_and_how_it_runs() -> None:
    text = programs.sweep(programs.tridiagonal, "forward").explain("program")
    assert text.splitlines() == [
        "program gauss_seidel",
        "  fields  x[0:n], b[0:n]",
        "  sizes   n",
        "",
        "  for 0 <= i < n, forward:",
        "    x[i] = s1 / 2.0",
        "        s1 = b[i]",
        "           + x[i + 1]   where i <= -2 + n",
        "           + x′[i - 1]  where i > 0",
        "  x[:] runs in place: in forward order all old values lie at or after the row.",
    ]


def test_a_value_that_is_used_again_is_written_once() -> None:
    @ssr.program(x=points, u=points, s=ssr.scalar)
    def doubled(x: Any, u: Any, s: Any) -> Any:
        for _ in range(60):
            u, s = u * u, s + s
        x[:] = u
        return s

    chain = [f"s{n} = s{n - 1} * s{n - 1}" for n in range(59, 1, -1)]
    found = lines(doubled.explain("loops"))
    assert found[-60:] == ["row_0: x[i] = s59 * s59", *chain, "s1 = u[i] * u[i]"]
    found = lines(doubled.explain())
    assert {"return (s59 + s59)", "s59 = s58 + s58", *chain} <= set(found)


def test_program_says_why_there_is_a_temporary() -> None:
    text = programs.jacobi().explain("program")
    assert "x[:] runs through the temporary x_new: in backward order, row (j, i) reads" in text


def test_passes_show_each_nest_and_what_changed() -> None:
    program = programs.sweep(programs.five, "forward")
    assert "x[j, i] = s1 / 4.0" in program.explain("step nest")
    assert "x[j, i] = s1 * 0.25" in program.explain("reciprocal")
    assert program.explain("partial sums").endswith("\nIt changes nothing here.")
    text = program.explain("recurrence")
    assert "buffer %t0: one row" in text
    assert "x[j, i], order forward, after rows: (-1, 0), (0, -1)" in text
    exact = programs.sweep(programs.five, "forward", exact=True)
    assert exact.explain("reciprocal").endswith("\nIt is off with these options.")


def test_passes_show_lines_run_ahead() -> None:
    text = programs.twenty_seven.explain("nests")
    assert "rows in rotation" in text
    assert "1 lines ahead, from 2 before the box" in text


def test_loops_show_the_tree_and_its_pieces() -> None:
    text = programs.sweep(programs.tridiagonal, "backward", exact=True).explain("loops")
    found = text.splitlines()
    assert found[0] == "-- nest 0: x --"
    assert any(line.startswith("for i in range(") and line.endswith("-1):") for line in found)
    assert any(line.strip().startswith("row_0: x[i] = ") for line in found)


def test_source_is_what_the_kernel_holds() -> None:
    program = programs.sweep(programs.tridiagonal, "forward")
    assert program.explain("source") == program.kernel("float64").source
    assert "real = np.float32" in program.explain("source", "float32")


def test_an_unknown_stage_is_the_users_error() -> None:
    with pytest.raises(TypeError, match="There is no stage 'halo' here") as error:
        programs.jacobi().explain("halo")
    assert "program, passes, nests, loops, source" in str(error.value)


@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_everything_prints(name: str) -> None:
    text = programs.PROGRAMS[name]().explain()
    assert "== source ==" in text


# -- the drawing ---------------------------------------------------------------------------------


def drawing(matrix: ssr.Matrix) -> xml.Element | None:
    """Return the parsed drawing of a matrix."""
    whole = xml.fromstring(f"<div>{matrix._repr_html_()}</div>")
    return whole.find("{http://www.w3.org/2000/svg}svg")


def squares(matrix: ssr.Matrix) -> int:
    picture = drawing(matrix)
    assert picture is not None
    return len(picture) - 1


def test_html_escapes_the_one_line_form() -> None:
    text = programs.five._repr_html_()
    assert text.startswith("<code>&lt;Matrix stencil: Space(ny, nx) -&gt; Space(ny, nx), 5 famil")
    assert text.endswith("<small>nx = 4, ny = 4, 16 × 16, 64 entries</small>")


def test_html_draws_each_entry() -> None:
    assert squares(programs.five) == 16 + 2 * 24
    assert squares(programs.twenty_seven) == 7**3
    assert squares(programs.varying) == 22
    assert squares(programs.restriction) == 8 + 7 + 8


def test_html_keeps_bound_sizes_that_are_small() -> None:
    assert squares(programs.varying.bind(n=3)) == 7
    assert squares(programs.varying.bind(n=10**6)) == 22
    assert squares(programs.varying.bind(n=3, a=np.ones(3))) == 7


def test_html_inside_a_program() -> None:
    seen = []

    @ssr.program(x=points, a=points, c=ssr.scalar)
    def inspect(x: Any, a: Any, c: Any) -> None:
        bound = bidiagonal.bind(a=a, c=c)
        seen.append(squares(bound))
        seen.append(len(bound.explain("program")))
        x[:] = bound @ x

    assert seen[0] == 15


def test_html_finds_sizes_that_leave_no_space_empty() -> None:
    inner = ssr.Space(n).grow(-2)
    shift = ssr.stencil(inner, inner, {0: 1})
    assert squares(shift) == 4
    assert squares(ssr.identity(ssr.Space(n - 7))) == 1


def test_html_of_what_has_no_small_instance() -> None:
    assert drawing(ssr.identity(ssr.Space(1000, 1000))) is None
    assert drawing(ssr.identity(ssr.Space(n - 100))) is None


def test_html_never_raises() -> None:
    calls = Mock()

    @ssr.matrix(rows=points, cols=points)
    def moody(i: Any) -> Any:
        if isinstance(i, int):
            calls(i)
            raise RuntimeError("moody")
        yield i, 1.0

    assert (
        moody._repr_html_()
        == f"<code>{repr(moody).replace('<', '&lt;').replace('>', '&gt;')}</code>"
    )
    calls.assert_called_once_with(0)


# -- SSR_DUMP ------------------------------------------------------------------------------------

FILES = ["00_trace.txt", "10_program.txt", "20_nests.txt", "30_passes.txt", "40_loops.txt"]


def test_dump_writes_all_stages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSR_DUMP", str(tmp_path / "made"))
    program = programs.jacobi()
    dump(program.ir, program.options, "float64")
    folder = tmp_path / "made" / "jacobi"
    assert sorted(p.name for p in folder.iterdir()) == [*FILES, "50_kernel.py"]
    trace = (folder / "00_trace.txt").read_text()
    assert trace.startswith("float64, Options(exact=False")
    assert "x_new" not in trace
    assert "temporaries  x_new[0:ny, 0:nx]" in (folder / "10_program.txt").read_text()
    assert (folder / "50_kernel.py").read_text() == program.explain("source")


def test_dump_keeps_programs_of_one_name_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSR_DUMP", str(tmp_path))
    forward, backward = (programs.sweep(programs.tridiagonal, d) for d in ("forward", "backward"))
    for program in (forward, backward, forward):
        dump(program.ir, program.options, "float64")
    dump(forward.ir, forward.options, "float32")
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "gauss_seidel",
        "gauss_seidel_2",
        "gauss_seidel_3",
    ]
    assert "float32" in (tmp_path / "gauss_seidel_3" / "00_trace.txt").read_text()


def test_dump_does_nothing_unless_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSR_DUMP", raising=False)
    monkeypatch.chdir(tmp_path)
    program = programs.jacobi()
    dump(program.ir, program.options, "float64")
    assert list(tmp_path.iterdir()) == []
