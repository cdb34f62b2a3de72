"""Check the import layers: ``apps -> boundary -> ssr``, and the layers inside both packages.

``python tools/layers.py [root]`` prints each violation as ``file:line: sentence`` and exits with 1
if there is any. The rules are the tables below; the files are parsed, never imported. Inside a
package, an import is from a lower layer or from the same one, and there are no circular imports.
Imports inside functions and under ``TYPE_CHECKING`` count like all others.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

MAY_IMPORT = {
    "ssr": set[str](),
    "boundary": {"ssr"},
    "apps": {"ssr", "boundary"},
    "benchmarks": {"ssr", "boundary", "apps"},
    "tests": {"ssr", "boundary", "apps", "benchmarks", "tools"},
    "tools": {"ssr", "boundary"},
}
"""Our packages a package may import, besides itself; private names of another, never."""

LAYERS = {
    "ssr": (
        "errors", "elementary", "version", "public", "command", "forking", "compiling", "options",
        "kernel", "points", "symbols", "spaces", "ir", "runtime", "trace", "algebra", "distributed",
        "lower", "emit", "native", "numba_backend", "compiler", "explain", "run", "provenance",
        "programs", "matrices", "recurrences", "blocks", "coordinates", "solvers", "integrate",
        "output", "simulation", "extension", "__init__", "__main__",
    ),
    "ssr/lower": (
        "__init__", "nests", "step_nest", "accesses", "tiling", "steps", "passes",
        "loop_schedule", "lines", "loop_deletion", "fusing", "verify", "pass_manager",
        "declaration_passes",
    ),
    "boundary": (
        "errors", "grid", "drawing", "rules", "closure", "tables", "fills", "synchronization",
        "parallel", "off_grid", "topologies", "__init__", "__main__",
    ),
    "boundary/parallel": (
        "__init__", "partition", "schedules", "compiled", "worlds", "ranks", "verify", "programs",
    ),
}  # fmt: skip
"""The folders and modules of a folder from the bottom up: each imports from those before it."""

MOST_MODULES = 16
"""The modules that a folder of a package may have, besides ``__init__``."""

FORBIDDEN = {"ssr": {"mpi4py"}}
"""Third-party packages that a package never imports."""

SOLE_IMPORTERS = {
    "islpy": (
        "ssr/points/sets.py",
        "ssr/points/inverse.py",
        "ssr/points/scanning.py",
        "ssr/points/effort.py",
        "ssr/points/graph.py",
        "ssr/points/last_writes.py",
    )
}
"""The files that alone import a package (tests may compare with it)."""

LAZY = {"ssr": {"islpy", "matplotlib", "scipy", "sympy", "xarray"}}
"""Slow imports: inside functions only, except by their sole importers."""

PUBLIC = {
    "ssr", "ssr.coordinates", "ssr.integrate", "ssr.output", "ssr.simulation", "ssr.solvers",
    "boundary", "boundary.topologies",
}  # fmt: skip
"""The modules users import; their names are in ``__all__``."""

FACES = {
    "boundary": {"ssr", "ssr.errors", "ssr.extension", "ssr.provenance"},
    "benchmarks": PUBLIC,
}
"""The modules of our other packages that a package may import; unlisted packages import any."""

AS_USERS_DO = {"ssr": "import ssr", "boundary": "import boundary as bc"}
"""The only forms in which apps import our packages."""


Edge = tuple[str, str]
"""Two files of one package, of which the first imports the second."""


@dataclass(frozen=True)
class Import:
    """One imported name: ``import module as alias``, or ``from module import name``."""

    line: int
    module: str
    name: str | None = None
    alias: str | None = None
    lazy: bool = False

    @property
    def top(self) -> str:
        """The package imported from."""
        return self.module.partition(".")[0]


IMPORTERS = "import_module", "__import__"
"""Functions that import the module that they are given."""


class _Reader(ast.NodeVisitor):
    """Collect the imports of a module of a package, relative ones made absolute.

    Expressions are read only where some of them may be ``calls`` that import.
    """

    def __init__(self, package: list[str], *, calls: bool) -> None:
        self.package = package
        self.calls = calls
        self.lazy = False
        self.imports: list[Import] = []

    def visit_Import(self, node: ast.Import) -> None:
        for item in node.names:
            self._add(node, item.name, alias=item.asname)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        parents = self.package[: len(self.package) - node.level + 1] if node.level else []
        module = ".".join(parents + ([node.module] if node.module else []))
        for item in node.names:
            self._add(node, module, item.name, item.asname)

    def visit_Call(self, node: ast.Call) -> None:
        function = getattr(node.func, "attr", getattr(node.func, "id", None))
        if function in IMPORTERS and node.args:
            target = node.args[0]
            if isinstance(target, ast.Constant) and isinstance(target.value, str):
                self._add(node, target.value)
        self.generic_visit(node)

    def generic_visit(self, node: ast.AST) -> None:
        if self.calls or not isinstance(node, ast.expr):
            super().generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        if ast.unparse(node.test) not in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            self.generic_visit(node)
            return
        self._visit_lazy(node.body)
        for child in node.orelse:
            self.visit(child)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._visit_lazy(node.body)

    visit_AsyncFunctionDef = visit_FunctionDef

    def _visit_lazy(self, body: list[ast.stmt]) -> None:
        outer, self.lazy = self.lazy, True
        for child in body:
            self.visit(child)
        self.lazy = outer

    def _add(
        self, node: ast.AST, module: str, name: str | None = None, alias: str | None = None
    ) -> None:
        line = getattr(node, "lineno", 0)
        self.imports.append(Import(line, module, name, alias, self.lazy))


def violations(root: Path) -> Iterator[str]:
    """Yield a line for each import below ``root`` that breaks a rule."""
    for package in MAY_IMPORT:
        edges: dict[Edge, int] = {}
        for path in sorted((root / package).rglob("*.py")):
            file = path.relative_to(root).as_posix()
            if file.startswith("tests/golden/"):
                continue
            source = path.read_bytes()
            try:
                tree = ast.parse(source, file)
            except SyntaxError as error:
                yield f"{file}:{error.lineno}: Cannot be parsed: {error.msg}."
                continue
            calls = any(name.encode() in source for name in IMPORTERS)
            reader = _Reader(list(path.relative_to(root).parent.parts), calls=calls)
            reader.visit(tree)
            for item in reader.imports:
                for sentence in _check(file, package, item):
                    yield f"{file}:{item.line}: {sentence}"
                target = _file_of(root, item) if item.top == package else None
                if target is not None and package in LAYERS:
                    edges.setdefault((file, target), item.line)
            for folder, layers in LAYERS.items():
                if (layer := _layer(file, folder)) is not None and layer not in layers:
                    yield f"{file}:1: {layer} is not a layer of {folder}."
            if package in ("apps", *FACES):
                for line, name in _unlisted(root, tree, reader.imports):
                    yield f"{file}:{line}: {package} uses {name}, which is not a public name."
        yield from _climbing(edges)
        yield from _circles(edges)
        yield from _crowded(root, package)


def _check(file: str, package: str, item: Import) -> Iterator[str]:
    """Yield the violations of one import, as sentences."""
    top, path = item.top, item.module.split(".") + ([item.name] if item.name else [])
    ours = top in MAY_IMPORT and top != package
    sole = SOLE_IMPORTERS.get(top, ())
    if ours and top not in MAY_IMPORT[package]:
        yield f"{package} imports {top}, a layer above or beside it."
    elif ours and any(map(_private, path)):
        yield f"{package} imports the private {'.'.join(path)}."
    elif package == "apps" and top in AS_USERS_DO and _written(item) != AS_USERS_DO[top]:
        yield f"apps imports {top} otherwise than users do: {AS_USERS_DO[top]}."
    elif ours and top in AS_USERS_DO and item.module not in FACES.get(package, {item.module}):
        allowed = ", ".join(sorted(FACES[package]))
        yield f"{package} imports {item.module}, which is not one of {allowed}."
    if top in FORBIDDEN.get(package, ()):
        yield f"{package} imports {top}."
    if sole and file not in sole and package != "tests":
        yield f"Only {' and '.join(sole)} import {top}."
    elif top in LAZY.get(package, ()) and file not in sole and not item.lazy:
        yield f"{package} imports {top} at module level; import it in the function that needs it."


def _file_of(root: Path, item: Import) -> str | None:
    """Return the file that an import of a package's own reads, the one it names or its folder's."""
    module = root.joinpath(*item.module.split("."))
    stems = [module / item.name, module] if item.name else [module]
    for path in (p for stem in stems for p in (stem.with_suffix(".py"), stem / "__init__.py")):
        if path.exists():
            return path.relative_to(root).as_posix()
    return None


def _layer(file: str, folder: str) -> str | None:
    """Return the folder or module of a folder that a file belongs to, or None outside it."""
    if not file.startswith(f"{folder}/"):
        return None
    return file.removeprefix(f"{folder}/").split("/")[0].removesuffix(".py")


def _climbing(edges: Mapping[Edge, int]) -> Iterator[str]:
    """Yield the imports of one package that lead to a higher layer."""
    for folder, layers in LAYERS.items():
        levels = {layer: level for level, layer in enumerate(layers)}
        for (file, target), line in edges.items():
            here, there = _layer(file, folder), _layer(target, folder)
            if here in levels and levels.get(there or "", 0) > levels[here]:
                yield f"{file}:{line}: {here} imports {there}, a layer above it."


def _crowded(root: Path, package: str) -> Iterator[str]:
    """Yield the folders of a package that have too many modules."""
    if package in LAYERS:
        for folder in sorted({path.parent for path in (root / package).rglob("*.py")}):
            count = sum(1 for path in folder.glob("*.py") if path.stem != "__init__")
            if count > MOST_MODULES:
                place = folder.relative_to(root).as_posix()
                yield f"{place}: {count} modules; a folder has at most {MOST_MODULES}."


def _circles(edges: Mapping[Edge, int]) -> Iterator[str]:
    """Yield the imports between files that, in some number of steps, import each other."""
    reached: dict[str, set[str]] = {}
    for file, target in edges:
        reached.setdefault(file, set()).add(target)
    grown = True
    while grown:
        grown = False
        for found in reached.values():
            more = set().union(*(reached.get(target, ()) for target in found)) - found
            found |= more
            grown = grown or bool(more)
    for (file, target), line in edges.items():
        if file in reached.get(target, ()):
            yield f"{file}:{line}: {file} and {target} import each other in a circle."


def _written(item: Import) -> str:
    """Return an import as it stands in the source."""
    text = f"from {item.module} import {item.name}" if item.name else f"import {item.module}"
    return f"{text} as {item.alias}" if item.alias else text


def _private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


def _unlisted(root: Path, tree: ast.Module, imports: list[Import]) -> Iterator[tuple[int, str]]:
    """Yield the names used from our packages that their ``__all__`` does not list."""
    modules = {}
    used: list[tuple[int, str, str]] = []
    for item in imports:
        if item.top not in AS_USERS_DO or item.name == "*":
            continue
        if item.name is None:
            modules[item.alias or item.top] = item.module if item.alias else item.top
        elif item.module in {*PUBLIC, *FACES["boundary"]} and not _private(item.name):
            used.append((item.line, item.module, item.name))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = modules.get(node.value.id)
            if module is not None:
                used.append((node.lineno, module, node.attr))
    for line, module, name in sorted(used):
        listed = _listed(root, module)
        hidden = _private(name) if listed is None else name not in listed
        if hidden and not name.startswith("__") and f"{module}.{name}" not in PUBLIC:
            yield line, f"{module}.{name}"


def _listed(root: Path, module: str) -> set[str] | None:
    """Return the ``__all__`` of a module, or None where it is not a plain list of names."""
    stem = root.joinpath(*module.split("."))
    for path in (stem / "__init__.py", stem.with_suffix(".py")):
        if path.exists():
            for node in ast.parse(path.read_bytes()).body:
                if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                    try:
                        return set(ast.literal_eval(node.value))
                    except ValueError:
                        return None
    return None


def main(root: Path) -> int:
    """Print all violations; return the exit status."""
    found = list(violations(root))
    print("\n".join(found) or "layers: apps -> boundary -> ssr holds, and so do the layers inside")
    return 1 if found else 0


if __name__ == "__main__":
    default = Path(__file__).resolve().parent.parent
    raise SystemExit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else default))
