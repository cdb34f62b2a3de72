"""Allocate temporaries with disjoint lifetimes to one array. Bit-exact.

    before:  t = ...;  x = f(t);  s = ...;  y = g(s)         two arrays
    after:   t = ...;  x = f(t);  t = ...;  y = g(t)         one

The lifetime of a temporary extends from the first nest that writes it to the last one that reads
it. Temporaries share an array if they have the same points and their lifetimes lie in different
nests; a solve along lines may also write its solution to the array that it reads. A temporary
whose values a call reuses from run to run has a separate array.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ... import ir
from ..lines.line_nest import moved


def share_temporaries(
    program: ir.Program, nests: Sequence[ir.Made]
) -> tuple[ir.Program, tuple[ir.Made, ...]]:
    """Return a program with as few temporaries as the live ranges in its nests permit."""
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for number, made in enumerate(nests):
        for name in _arrays(made):
            first.setdefault(name, number)
            last[name] = number
    alone = {name for made in nests if isinstance(made, ir.Call) for name in made.alone}
    held: dict[ir.Field, int] = {}
    place = {name: name for name in alone}
    shared = [f for f in program.temporaries if f.name not in alone]
    for field in sorted(shared, key=lambda f: first[f.name]):
        here = first[field.name]
        beside = isinstance(nests[here], ir.LineNest)  # lines are read before they are written
        free = (
            f for f, until in held.items() if f.points == field.points and until < here + beside
        )
        home = next(free, field)
        held[home] = last[field.name]
        place[field.name] = home.name
    kept = tuple(f for f in program.temporaries if place[f.name] == f.name)
    return replace(program, temporaries=kept), tuple(moved_arrays(made, place) for made in nests)


def _arrays(nest: ir.Made) -> set[str]:
    """Return the names of all arrays and buffers of a nest."""
    return set(nest.fields) if isinstance(nest, ir.Call) else {*nest.made, *nest.read}


def moved_arrays(nest: ir.Made, place: Mapping[str, str]) -> ir.Made:
    """Return a nest that keeps temporaries in other arrays."""
    if isinstance(nest, ir.Call):
        return replace(nest, fields=tuple(place.get(name, name) for name in nest.fields))
    if isinstance(nest, ir.LineNest):
        return moved(nest, place)
    if all(place.get(name, name) == name for name in _arrays(nest)):
        return nest
    statements = tuple(
        replace(
            s,
            array=place.get(s.array, s.array),
            local=place.get(s.local, s.local),
            makes=s.makes or (s.array if s.array in place else ""),
            value=ir.renamed(s.value, place),
        )
        for s in nest.statements
    )
    return replace(nest, target=place.get(nest.target, nest.target), statements=statements)
