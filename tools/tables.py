"""Write the tables of measured times into the pages, from the files of docs/data.

``python tools/tables.py`` replaces the text between ``<!-- table NAME -->`` and ``<!-- end -->``
by the rows of ``docs/data/NAME.json``, their machine, date and command; between
``<!-- summary NAME -->`` and the end by a sentence with means and extremes; between
``<!-- overview NAME -->`` and the end by rows of several files; between
``<!-- processors NAME -->`` and the end by a row for each processor; between
``<!-- program NAME -->`` and the end by ``docs/comparison/NAME.py``. A test verifies that the pages
are current.

``python tools/tables.py --take KIND NAME FILE...`` makes a file of docs/data from the output of
benchmarks: ``peers`` and ``fortran`` from two, of code for AVX2 and for AVX-512. ``--machine``
and ``--command`` describe the measurement. Other files are written by their benchmarks, such as
`benchmarks.comparison` and `benchmarks.scaling`.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import statistics
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "docs" / "data"
PROGRAMS = ROOT / "docs" / "comparison"
PAGES = (
    ROOT / "README.md",
    *(ROOT / "docs" / f"{name}.md" for name in ("speed", "comparison", "scaling")),
)
CODES = "AVX2", "AVX-512"
DTYPES = "float64", "float32"
TOOLS = {"numba": "Numba", "devito": "Devito", "jax": "JAX"}
PEER_STEPS = 4
"""Steps of a call in `benchmarks.peers.problems`."""

Row: TypeAlias = dict[str, Any]


def number(value: float | str | None) -> str:
    """Return a number with two or three digits; text as it is.

    Examples
    --------
    >>> [number(x) for x in (0.0531, 0.844, 10.63, 133.2, "1.9", None)]
    ['0.053', '0.84', '10.6', '133', '1.9', '']
    """
    if value is None or isinstance(value, str):
        return value or ""
    decimals = next((d for limit, d in ((100, 0), (10, 1), (0.1, 2)) if value >= limit), 3)
    return f"{value:.{decimals}f}"


def data(name: str) -> dict[str, Any]:
    """Return a file of docs/data."""
    found: dict[str, Any] = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    return found


def table(name: str) -> str:
    """Return a table with its caption."""
    found = data(name)
    columns: Mapping[str, str] = found["columns"]
    rows = [[number(row.get(key)) for key in columns] for row in found["rows"]]
    lines = [[*columns.values()], ["---"] * len(columns), *rows]
    caption = f"*{found['machine']}, {found['date']}; `{found['command']}`.*"
    return "\n".join([caption, "", *("| " + " | ".join(line) + " |" for line in lines)])


def bests(name: str, code: str) -> dict[str, float]:
    """Return the ratios to the fastest other tool in tables of peers, by program and precision."""
    return {
        f"{row['program']}, {dtype}": max(row[f"{code} / {tool}"] for tool in TOOLS.values())
        for dtype in DTYPES
        for row in data(f"{name}-{dtype}")["rows"]
        if f"{code} ns" in row
    }


def summary(name: str) -> str:
    """Return the geometric mean of the ratios to the fastest other tool, and the largest one."""
    sentences = []
    for code in CODES:
        ratios = bests(name, code)
        worst = max(ratios, key=lambda program: ratios[program])
        above = sum(ratio > 1 for ratio in ratios.values())
        sentences.append(
            f"{code}: geometric mean {statistics.geometric_mean(ratios.values()):.2f}, largest "
            f"{ratios[worst]:.2f} ({worst}), {above} of {len(ratios)} above 1."
        )
    return "Time relative to the fastest of Numba, Devito and JAX. " + " ".join(sentences)


PROCESSORS = "", "-zen4", "-xeon-amx", "-cascade-lake"
"""The ends of the names of tables of peers, by processor, the newest first."""


def processors(name: str) -> str:
    """Return the mean and the largest ratio to the fastest other tool on each processor."""
    made = [
        "| processor | date | code | geometric mean | largest | above 1 |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for processor in PROCESSORS:
        found = data(f"{name}{processor}-{DTYPES[0]}")
        for code in CODES:
            if ratios := bests(name + processor, code).values():
                mean, worst = statistics.geometric_mean(ratios), max(ratios)
                above = f"{sum(ratio > 1 for ratio in ratios)} of {len(ratios)}"
                cells = [found["machine"], found["date"], code, number(mean), number(worst), above]
                made.append(f"| {' | '.join(cells)} |")
    return "\n".join(made)


OVERVIEW = (
    ("heat, 7 points", "peers-float64", "heat, 7 points, in place, 192^3", "Numba"),
    ("wave, 25 points", "peers-float64", "wave, 25 points, ghosts, 192^3", "Devito"),
    ("product, 27 points", "ssr", "27-point SpMV, constant coefficients, 128^3", "Fortran, tuned"),
    ("product, 27 points", "ssr", "27-point SpMV, constant coefficients, 128^3", "a stored matrix"),
    (
        "symmetric Gauss-Seidel, 27 points",
        "ssr",
        "27-point symmetric Gauss-Seidel, exact lexicographic order, 104^3",
        "Fortran, tuned",
    ),
    (
        "step of the Euler equations",
        "programs",
        "a step of the Euler equations, MUSCL-Hancock, HLL, 512^2",
        "Fortran, tuned",
    ),
    ("step of NPB BT, class A", "npb", "a step of BT, class A, 64^3", "Fortran, tuned"),
)
"""Rows of the overview: title, file, row, and the other."""


def overview(name: str) -> str:
    """Return the summary of peers, and some rows of several files, of one machine."""
    machine, date = (data(OVERVIEW[0][1])[key] for key in ("machine", "date"))
    made = ["| work | compared with | AVX2 | AVX-512 |", "| --- | --- | --- | --- |"]
    for title, file, row_name, other in OVERVIEW:
        found = data(file)
        assert found["machine"] == machine
        row = next(row for row in found["rows"] if row_name in row.values())
        ratios = [number(row[f"{code} / {other}"]) for code in CODES]
        made.append(f"| {title} | {other} | {' | '.join(ratios)} |")
    head = f"{summary(name)} *{machine}, {date}.*"
    return "\n".join([head, "", *made])


def program(name: str) -> str:
    """Return a program of the comparison, without its docstring."""
    text = (PROGRAMS / f"{name}.py").read_text(encoding="utf-8")
    code = text.partition('"""\n\n')[2].rstrip()
    return f"```py\n{code}\n```"


WRITERS: Mapping[str, Callable[[str], str]] = {
    "table": table,
    "summary": summary,
    "overview": overview,
    "processors": processors,
    "program": program,
}


def written(page: str) -> str:
    """Return a page with its marked parts regenerated."""

    def part(found: re.Match[str]) -> str:
        return f"{found[1]}\n{WRITERS[found[2]](found[3])}\n{found[4]}"

    marked = rf"(<!-- ({'|'.join(WRITERS)}) ([\w-]+) -->)\n.*?(<!-- end -->)"
    return re.sub(marked, part, page, flags=re.DOTALL)


def shortest(case: Mapping[str, Any]) -> dict[str, float]:
    """Return the shortest times of a case by candidate, in nanoseconds for a point."""
    points = case.get("points", PEER_STEPS * _product(case["shape"]))
    return {t["name"]: 1e9 * t["minimum"] / points for t in case["timings"]["timings"]}


def _product(shape: Sequence[int]) -> int:
    total = 1
    for n in shape:
        total *= n
    return total


def _size(shape: Sequence[int]) -> str:
    return f"{shape[0]}^{len(shape)}" if len(set(shape)) == 1 else " x ".join(map(str, shape))


def take_peers(found: Sequence[Mapping[str, Any]], dtype: str) -> tuple[dict[str, str], list[Row]]:
    """Return columns and rows of one precision."""
    rows = []
    for name, case in found[0]["cases"].items():
        if not name.endswith(dtype):
            continue
        times = {code: shortest(one["cases"][name]) for code, one in zip(CODES, found, strict=True)}
        title = case["title"].replace(f", {dtype}", "")
        row: Row = {"program": f"{title}, {_size(case['shape'])}"}
        row |= {f"{code} ns": t["ours"] for code, t in times.items()}
        for key, tool in TOOLS.items():
            row |= {f"{code} / {tool}": t["ours"] / t[key] for code, t in times.items()}
        rows.append(row)
    columns = {key: key.replace(" ns", ", ns") for key in rows[0]}
    return columns, rows


def _title_and_size(case: tuple[str, Mapping[str, Any]]) -> tuple[str, int]:
    """Return the title of a case without the meaning of its axes and points, and its size."""
    _, found = case
    return re.split(", (?:axes|a point is) ", found["title"])[0], math.prod(found["shape"])


def take_fortran(found: Sequence[Mapping[str, Any]]) -> tuple[dict[str, str], list[Row]]:
    """Return columns and rows of kernels for AVX2, the first file, and AVX-512, the second."""
    groups = {"natural": "Fortran, natural", "tuned": "Fortran, tuned", "CSR": "a stored matrix"}
    rows: dict[str, Row] = {}
    for code, one in zip(CODES, found, strict=True):
        for name, case in sorted(one["cases"].items(), key=_title_and_size):
            times = shortest(case)
            operation, _ = _title_and_size((name, case))
            row = rows.setdefault(name, {"operation": f"{operation}, {_size(case['shape'])}"})
            row[f"{code} ns"] = times["ours"]
            for group, title in groups.items():
                others = [
                    ns
                    for other, ns in times.items()
                    if group in other and other.endswith(("O3", "Ofast", "scipy CSR"))
                ]
                if others:
                    row[f"{code} / {title}"] = times["ours"] / min(others)
    kinds = (" ns", *(f" / {title}" for title in groups.values()))
    used = [f"{code}{kind}" for kind in kinds for code in CODES]
    kept = [key for key in used if any(key in row for row in rows.values())]
    columns = {"operation": "operation", **{key: key.replace(" ns", ", ns") for key in kept}}
    return columns, list(rows.values())


def take(kind: str, name: str, files: Sequence[Path], machine: str, command: str) -> None:
    """Write files of docs/data from those of benchmarks."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in files]
    made = {}
    if kind == "peers":
        for dtype in DTYPES:
            made[f"{name}-{dtype}"] = take_peers(found, dtype)
    else:
        made[name] = take_fortran(found)
    date = datetime.fromtimestamp(files[0].stat().st_mtime, UTC).date().isoformat()
    for file, (columns, rows) in made.items():
        content = {"machine": machine, "date": date, "command": command}
        content |= {"columns": columns, "rows": rows}  # type: ignore[dict-item]
        text = json.dumps(content, indent=1)
        text = re.sub(r"\d+\.\d{5,}", lambda m: f"{float(m[0]):.4g}", text)
        (DATA / f"{file}.json").write_text(text + "\n", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> None:
    """Write all pages, or convert the output of benchmarks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--take", nargs="+", metavar=("KIND", "NAME"), help="and files")
    parser.add_argument("--machine", default="")
    parser.add_argument("--command", default="")
    options = parser.parse_args(arguments)
    if options.take:
        kind, name, *files = options.take
        take(kind, name, list(map(Path, files)), options.machine, options.command)
    for page in PAGES:
        page.write_text(written(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
