"""Bytecode programs under construction: records, weights, recipes, and scratch memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ssr.extension import Array, Layout, Tables

from .lines import Band
from .machine import Form, Op
from .mutual import Mutual
from .pieces import Index, Number


@dataclass(frozen=True, slots=True)
class Slot:
    """An offset in the part of scratch memory that holds values, after the sources."""

    place: int


@dataclass(frozen=True, slots=True)
class Recipe:
    """A recipe, by its number."""

    number: int


class Program:
    """A program for the machine, under construction: records, weights, recipes, scratch memory."""

    def __init__(
        self,
        form: Form,
        layouts: Sequence[Layout],
        dtype: np.dtype[Any],
        staged: bool,
        homes: Sequence[int] | None = None,
    ) -> None:
        self.form, self.layouts, self.dtype, self.staged = form, layouts, dtype, staged
        self._homes = homes
        self.records: list[list[Any]] = []
        self.stores: list[list[Any]] = []
        self.recipes: dict[tuple[int, ...], int] = {}
        self.weights: list[Array] = []
        self.known: dict[bytes, int] = {}
        self.count = 0
        self.weight(0.0)
        self.sources = self.values = self.used = 0
        self.cleared: object = None

    def finish(self) -> Tables:
        """Return the program."""
        records = [*self.records, *self.stores]
        size = sum(len(r) + 1 for r in records) + 1
        places = []
        for recipe in self.recipes:
            places.append(size)
            size += len(recipe)

        def number(operand: int | Slot | Recipe) -> int:
            match operand:
                case Slot(place):
                    return self.sources + place
                case Recipe(which):
                    return places[which]
            return int(operand)

        links: list[int] = []
        for op, *operands in records:
            links += [int(op), len(links) + len(operands) + 2, *map(number, operands)]
        links += [int(Op.STOP), *(n for recipe in self.recipes for n in recipe)]
        weights = np.concatenate(self.weights).astype(self.dtype)
        return Tables(np.array(links, np.int64), weights, self.sources + self.values)

    def weight(self, number: Number) -> int:
        """Return the place of weights, which are stored once."""
        array = np.ascontiguousarray(np.ravel(number), self.dtype)
        key = array.tobytes()
        if key not in self.known:
            self.known[key] = self.count
            self.weights.append(array)
            self.count += array.size
        return self.known[key]

    def emit(self, op: int, *operands: Any) -> None:
        """Add a record."""
        self.records.append([op, *operands])

    def recipe(self, lines: Band) -> Recipe:
        """Return the recipe of lines, which is stored once."""
        numbers = [len(lines.stretches)]
        for s in lines.stretches:
            weight = self.weight(s.weights)
            numbers += [s.line, s.place, s.length, weight, s.source, int(s.more)]
        return Recipe(self.recipes.setdefault(tuple(numbers), len(self.recipes)))

    def step(self, field: int, step: Sequence[int]) -> int:
        """Return a step of an index as a distance in the memory of a field."""
        return sum(n * stride for n, stride in zip(step, self.layouts[field][1:], strict=True))

    def at(self, field: int, index: Sequence[int]) -> int:
        """Return the place of an index in the memory of a field."""
        return self.layouts[field][0] + self.step(field, index)

    def range(self, field: int, start: Index, steps: Sequence[Index]) -> tuple[int, ...]:
        """Return the place of an index in the memory of a field, and steps."""
        return self.at(field, start), *(self.step(field, step) for step in steps)

    def home(self, field: int) -> int:
        """Return the machine's field that a field of the pieces is, or a part of."""
        return field if self._homes is None else self._homes[field]

    def has_lane(self, target: int, source: int) -> bool:
        """Whether there is a lane for copies from one field to another."""
        return self.form.lane(self.home(target), self.home(source)) is not None

    def has_mutual(self, lines: Mutual) -> bool:
        """Whether the machine supports mutual sums of lines of the fields."""
        return tuple(map(self.home, lines.fields)) in self.form.mutual

    def lane(self, target: int, source: int) -> int:
        """Return the lane of a copy from one field to another."""
        number = self.form.lane(self.home(target), self.home(source))
        assert number is not None, "the form is that of other parts"
        return number

    def store(self, op: int, *operands: Any) -> None:
        """Add a record that stores values, at the end if all values are computed first."""
        (self.stores if self.staged else self.records).append([op, *operands])

    def space(self, size: int) -> int:
        """Return an offset in scratch memory for values, reserved until they are stored."""
        place = self.used if self.staged else 0
        if self.staged:
            self.used += size
        self.values = max(self.values, place + size)
        return place
