"""A program in a fresh process, with a Numba that the package does not know.

``python -m tests.ssr.unknown_numba known`` prints digests of results, ``version`` those with a
newer version of Numba, ``hidden`` those where the packages see none of the private names of Numba
and llvmlite; Numba itself sees them. With ``ranks`` after it, results on ranks are among them;
under ``mpiexec`` the ranks are processes.
"""

from __future__ import annotations

import hashlib
import linecache
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

OURS = "ssr", "boundary"


def set_version() -> None:
    """Let Numba say that it is version 0.70."""
    import numba

    numba.__version__ = "0.70.0"
    numba.version_info = numba.version_info._replace(
        major=0, minor=70, patch=0, short=(0, 70), full=(0, 70, 0), string="0.70.0"
    )


def _is_ours(depth: int = 2) -> bool:
    """Whether code of the packages has asked for an attribute, some frames above."""
    return sys._getframe(depth).f_globals.get("__name__", "").split(".")[0] in OURS


class _Module(ModuleType):
    """A module some of whose names are hidden from the packages."""

    def __init__(self, real: ModuleType, names: set[str]) -> None:
        super().__init__(real.__name__)
        object.__getattribute__(self, "__dict__")["_hidden"] = real, names

    def __getattribute__(self, name: str) -> Any:
        real, names = object.__getattribute__(self, "__dict__")["_hidden"]
        if name in names and _is_ours():
            raise AttributeError(f"{real.__name__}.{name} is hidden")
        return getattr(real, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(object.__getattribute__(self, "__dict__")["_hidden"][0], name, value)


class _Attribute:
    """An attribute of a class that is hidden from the packages."""

    def __init__(self, usual: Any) -> None:
        self._usual = usual

    def __get__(self, instance: Any, owner: Any) -> Any:
        if _is_ours():
            raise AttributeError("hidden")
        bind = getattr(type(self._usual), "__get__", None)
        return bind(self._usual, instance, owner) if bind else self._usual


def private_names() -> Iterator[tuple[str, str]]:
    """Yield each private name as a module and a name in it."""
    from ssr.runtime import internals

    for module, names in internals.NAMES.items():
        for name in names:
            yield module, name


def hide() -> None:
    """Hide all private names from the packages."""
    found: dict[str, set[str]] = {}
    for module, name in private_names():
        first, _, rest = name.partition(".")
        owner = getattr(import_module(module), first)
        if rest and isinstance(owner, type) and rest in vars(owner):
            setattr(owner, rest, _Attribute(vars(owner)[rest]))
        elif not isinstance(owner, type) or not rest:
            found.setdefault(module, set()).add(first)
    for module, names in found.items():
        hidden = _Module(sys.modules[module], names)
        sys.modules[module] = hidden
        parent, _, last = module.rpartition(".")
        setattr(sys.modules[parent], last, hidden)


def digests(ranks: bool) -> list[str]:
    """Return the digests of results on an array, and on ranks."""
    import numpy as np

    import boundary as bc
    import ssr

    cells = ssr.Space(ssr.size("n"))
    smooth = ssr.stencil(cells, cells, {0: 0.5, 1: 0.25, -1: 0.25}, outside="drop")

    @ssr.program(u=cells, r=ssr.scalar)
    def change(u: Any, r: Any) -> Any:
        u[:] = u + r * (smooth @ u)
        return ssr.norm(u)

    @ssr.program(u=cells, options=ssr.Options(debug=True))
    def inverse(u: Any) -> None:
        u[:] = 1.0 / u

    start = np.sin(np.arange(20.0))
    found = []
    world = bc.world()
    worlds = [world] if world else [None, bc.simulated(3), bc.threads(2)] if ranks else [None]
    for each in worlds:
        on = bc.spread(cells, each, n=20)
        u = on.zeros(cells)
        u.set(start)
        bound = change.bind(u)
        norms = [bound(0.2) for _ in range(3)]
        norms += ssr.sequence(change.bind(u, 0.1), change.bind(on.zeros(cells), 0.2))()
        found.append(_digest(u.gather(), norms))
    if world:
        return found
    given = start.copy() + 2.0
    inverse(given)
    try:
        inverse(np.zeros(3))
    except ssr.errors.NonFiniteError as error:
        found.append(str(error))
    return [*found, _digest(given), _digest(readme())]


def readme() -> Any:
    """Run README's first program."""
    import numpy as np

    text = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    scope: dict[str, Any] = {}
    source = text.split("```python\n")[1].split("```")[0]
    linecache.cache["<README>"] = len(source), None, source.splitlines(keepends=True), "<README>"
    exec(compile(source, "<README>", "exec"), scope)
    u = np.sin(np.arange(108.0)).reshape(12, 9)
    scope["heat"](u, 0.2)
    return u


def _digest(*values: Any) -> str:
    whole = hashlib.sha256()
    for value in values:
        whole.update(value.tobytes() if hasattr(value, "tobytes") else repr(value).encode())
    return whole.hexdigest()


def main() -> None:
    chosen = sys.argv[1]
    if chosen == "version":
        set_version()
    if chosen == "hidden":
        hide()
    print("\n".join(digests("ranks" in sys.argv)))


if __name__ == "__main__":
    main()
