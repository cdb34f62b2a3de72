"""The verifier of nests, based on isl; ``SSR_VERIFY=1`` checks every nest after every pass.

A violated rule is a defect of the compiler and raises an `AssertionError`, which names the pass,
the statement and the rows. The rules, in the order in which they are checked:

- The loops run every row of every statement: its lines, shifted by ``ahead`` and ``planes``, lie
  within the box and the ``lead`` planes and lines before it.
- Statements that write the target write every row of the box once.
- Loads and stores lie within their arrays and buffers.
- A buffer element that is read was written before on the same line (in a rotation: before, and
  not yet overwritten), or it was cleared and no statement ever writes it.
- A read of the target follows the write of that row if the row comes before the reading row in
  sweep order, and precedes the write otherwise; loads marked ``new`` are of the first kind. The
  reading row is the one whose value is computed: a statement that fills a buffer reads on behalf
  of the lines that use the buffer.
- A joint nest runs all statements at each row. Of the arrays that it writes, it reads the values
  that it has computed at earlier rows or by an earlier statement at the same row, and old values
  otherwise. Its parallel statements come first on each line.
- Functions of other packages update elements of the arrays passed to them, each element once.
- Products with stored matrices read the target through a part on the correct side of the row, in
  the statement that writes it or on an earlier line. Nests of several steps read only arrays that
  they do not write.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ... import ir
from ...algebra.analyse import reads
from ...algebra.own_box import is_local
from ...distributed.row_bounds import regions
from ...points.affine import Affine
from ...points.sets import Domain
from ...spaces.space import row_domain
from ..nests import box, boxes

Row = tuple[Affine, ...]


def verify(nest: ir.Nest, fields: Mapping[str, ir.Field], after: str = "nest") -> None:
    """Check a nest."""
    checker = Checker(nest, fields, after)
    checker.target()
    for place, statement in enumerate(nest.statements):
        rows = statement.domain & checker.context
        checker.lines(statement, rows)
        checker.store(statement, rows)
        for domain, load in reads(statement.value, rows):
            checker.inside(statement, domain, load)
            if load.array in checker.buffers:
                checker.buffer(place, domain, load)
            elif nest.joint:
                checker.joint(place, domain, load)
            elif load.array == nest.target and not nest.fused:
                checker.order(place, domain, load)
        for gather in ir.gathers(statement.value):
            checker.gather(place, gather)


def verify_call(call: ir.Call, fields: Mapping[str, ir.Field], wide: Sequence[str] = ()) -> None:
    """Check that a call updates arrays with the right points, each array once.

    The arrays of ``wide`` fields have more points: those of all temporaries that they replace.
    """
    assert len(set(call.fields)) == len(call.fields), f"{call.name} updates one array twice"
    for name, (given, whole) in zip(call.fields, call.external.fields, strict=True):
        points = whole.data.lower, whole.data.shape
        right = fields[name].points == points or name in wide
        assert right, f"{call.name} updates {whole!r}, not {name!r}"
        beyond = row_domain(given) - row_domain(whole)
        assert beyond.empty, f"{call.name} is given points outside of {whole!r}"


class Checker:
    """The rules over one nest; every method checks one of them."""

    def __init__(self, nest: ir.Nest, fields: Mapping[str, ir.Field], after: str) -> None:
        self.nest = nest
        self.fields = fields
        self.after = after
        self.buffers = {b.name: b for b in nest.buffers}
        self.row = tuple(Affine.name(a) for a in nest.axes)
        self.context = nest.context & boxes(nest.axes, nest.rows, nest.least)
        self.backward = nest.order == "backward"
        self.known: dict[int, set[int]] = {}

    def hold(self, broken: Domain, statement: str, rule: str) -> None:
        """Fail unless no row breaks a rule."""
        if broken.empty:
            return
        where = broken.simplified().notation()
        raise AssertionError(
            f"after {self.after}, nest {self.nest.target!r}, statement {statement!r}: "
            f"{rule}, for {where}"
        )

    # -- rows and stores -------------------------------------------------------------------------

    def target(self) -> None:
        """Check that every row of the box is written once."""
        if self.nest.folds or self.nest.fused:
            return
        written: Domain | None = None
        for s in self.nest.statements:
            if s.array != self.nest.target:
                continue
            assert s.index == self.row, f"{s.name!r} writes the target at {s.index}"
            rows = s.domain & self.context
            if written is not None:
                self.hold(written & rows, s.name, "rows are written twice")
            written = rows if written is None else written | rows
        assert written is not None, f"after {self.after}: no statement writes {self.nest.target!r}"
        rows = box(self.nest.axes) & self.context
        self.hold(rows - written, self.nest.target, "rows are never written")
        self.hold(written - rows, self.nest.target, "rows outside the box are written")

    def lines(self, statement: ir.Statement, rows: Domain) -> None:
        """Check that the loops reach every line that a statement needs."""
        axes = self.nest.axes
        if len(axes) == 1:
            early = any((statement.ahead, *statement.lead))
            assert not early, f"{statement.name!r} runs early, but there is one line only"
            return
        leads = (max(s.lead[n] for s in self.nest.statements) for n in (0, 1))
        grown = [(0, early) if self.backward else (early, 0) for early in leads]
        grown = ([(0, 0)] * len(axes) + grown)[1 - len(axes) :]
        line = statement.runs(self.row, self.nest.order, -1)
        loops = box(axes[:-1], tuple(grown)).preimage(line[:-1], axes)
        self.hold(rows - loops, statement.name, "the loops do not reach lines")

    def store(self, statement: ir.Statement, rows: Domain) -> None:
        """Check that a store is within its array, at an index the other rules understand."""
        buffer = self.buffers.get(statement.array)
        stored = (self.nest.fused or self.nest.joint) and statement.array in self.fields
        known = statement.array == self.nest.target or stored or buffer is not None
        assert known, f"after {self.after}: {statement.name!r} writes {statement.array!r}"
        if buffer is not None:
            expected = buffer.place(self.row)
            assert statement.index == expected, (
                f"after {self.after}: {statement.name!r} writes {statement.array} "
                f"at ({', '.join(map(str, statement.index))})"
            )
            masked = buffer.lines is None and buffer.rows & (buffer.rows - 1)
            assert not masked, f"{buffer.name} rotates {buffer.rows} rows"
        self.inside(statement, rows, ir.Load(statement.array, statement.index))

    def inside(self, statement: ir.Statement, rows: Domain, load: ir.Load) -> None:
        """Check that an access lies within its array or buffer."""
        axes = self.nest.axes
        if load.array in self.buffers:
            buffer = self.buffers[load.array]
            lines = () if buffer.lines is None else ((buffer.lines,) * 2,)
            grown = (*lines, (buffer.pad, buffer.pad))
            space = box(axes[-len(grown) :], grown)
            index = load.index[-len(grown) :]
        else:
            space = space_of(self.fields[load.array])
            index = load.index
        outside = rows - space.preimage(index, axes)
        self.hold(outside, statement.name, f"{_shown(load)} lies outside {load.array}")

    # -- order -----------------------------------------------------------------------------------

    def time(self, place: int, row: Row) -> Row:
        """Return when a statement runs a row, lexicographically: line, statement, row.

        Rows of a parallel statement on one line have equal times.
        """
        statement = self.nest.statements[place]
        sign = -1 if self.backward else 1
        line = [a * sign for a in statement.runs(row, self.nest.order, -1)[:-1]]
        last = Affine.of(0) if statement.parallel else row[-1] * sign
        return (*line, Affine.of(place), last)

    def writers(self, array: str) -> list[int]:
        """Return the places of the statements that write an array."""
        return [n for n, s in enumerate(self.nest.statements) if s.array == array]

    def buffer(self, place: int, rows: Domain, load: ir.Load) -> None:
        """Check that an element of a buffer was written before it is read, and not replaced."""
        nest, axes = self.nest, self.nest.axes
        reader = nest.statements[place]
        buffer = self.buffers[load.array]
        several = buffer.rows > 1 or buffer.lines is not None
        left = rows
        for writer in self.writers(load.array):
            source = self._source(reader, nest.statements[writer], load, several)
            made = rows & nest.statements[writer].domain.preimage(source, axes)
            before = made.before(self.time(writer, source), self.time(place, self.row))
            left = left - before
            if writer == place:
                both = made - made.equal(source, self.row)
                self.hold(
                    both if reader.parallel else both - before,
                    reader.name,
                    f"{_shown(load)} is read while it is written",
                )
            if several:
                self._kept(place, writer, before, source, load)
        if buffer.cleared and self.writers(load.array):
            left = left - self._never_written(left, load)
        self.hold(left, reader.name, f"{_shown(load)} is read and was not written")

    def _source(
        self, reader: ir.Statement, writer: ir.Statement, load: ir.Load, several: bool
    ) -> Row:
        """Return the row at which a writer computes the element that a reader reads."""
        if several:
            return (*self.row[: -len(load.index)], *load.index)
        line = reader.runs(self.row, self.nest.order, -1)
        return (*writer.runs(line, self.nest.order)[:-1], load.index[-1])

    def _kept(self, place: int, writer: int, rows: Domain, source: Row, load: ir.Load) -> None:
        """Check that a row of a rotation is read before another takes its place."""
        count = self.buffers[load.array].rows * (-1 if self.backward else 1)
        turning = len(source) - len(load.index)
        later = (*source[:turning], source[turning] + count, *source[turning + 1 :])
        early = rows.before(self.time(place, self.row), self.time(writer, later))
        reader = self.nest.statements[place].name
        self.hold(rows - early, reader, f"{_shown(load)} is read after it was replaced")

    def _never_written(self, rows: Domain, load: ir.Load) -> Domain:
        """Return the rows that read an element which keeps the zero it was cleared to."""
        axes = self.nest.axes
        kept = rows
        for writer in self.writers(load.array):
            statement = self.nest.statements[writer]
            shadow = (statement.domain & self.context).project(axes[-1:])
            kept = kept - shadow.preimage(load.index[-1:], axes)
        return kept

    def order(self, place: int, rows: Domain, load: ir.Load) -> None:
        """Check that a read of the target is on the right side of the write, within the box."""
        reader, target = self.nest.statements[place], self.nest.target
        if self.fields[target].points != self.nest.rows.points:
            rows = rows & space_of(self.nest.rows).preimage(load.index, self.nest.axes)
        elif is_local(self.nest.context):
            rows = rows & regions(self.nest.rows, self.nest)[-1].within(load.index, self.nest.axes)
        for shift in sorted(self.served(place)):
            done = self._wanted_new(rows, load, shift)
            if shift:
                own = rows.equal(load.index[:-1], self._line(shift))
                self.hold(own, reader.name, f"{_shown(load)} is on the line of the row it is for")
            if load.new:
                self.hold(rows - done, reader.name, f"{_shown(load)} is not made yet")
            else:
                self.hold(done, reader.name, f"the old {_shown(load)} lies before the row")
            for writer in self.writers(target):
                self._sides(place, writer, rows, done, load)

    def joint(self, place: int, rows: Domain, load: ir.Load) -> None:
        """Check that a joint nest reads new values of its targets after, old ones before."""
        writers = self.writers(load.array)
        if not writers:
            return
        reader, own = self.nest.statements[place], rows.equal(load.index, self.row)
        pair = (self.row, load.index) if self.backward else (load.index, self.row)
        done = rows.before(*pair)
        if reader.parallel:  # it precedes the joint rows of its line
            done, own = rows.before(*(part[:-1] for part in pair)), rows - rows
        if load.new:
            late = rows - done
            if max(writers) < place:
                late = late - own
            self.hold(late, reader.name, f"{_shown(load)} is not made yet")
            return
        region = space_of(self.nest.rows).preimage(load.index, self.nest.axes)
        lost = done & region
        if min(writers) < place:
            lost = lost | own
        self.hold(lost, reader.name, f"the old {_shown(load)} is read after it was overwritten")

    def gather(self, place: int, gather: ir.Gather) -> None:
        """Check that a product with a stored matrix reads defined values only."""
        reader, nest = self.nest.statements[place], self.nest
        where = f"after {self.after}: {reader.name!r}"
        assert gather.array in self.fields, f"{where} reads {gather.array!r} at any point"
        writers = self.writers(gather.array)
        if not writers:
            return
        alone = not nest.fused or writers == [place]
        assert alone, f"{where} reads {gather.array!r} where it is written"
        assert gather.row == self.row, f"{where} multiplies another row of {gather.matrix}"
        first, last = gather.part
        before, beyond = last <= 1, first >= 2
        if gather.new:
            done = beyond if self.backward else before
            assert done, f"{where} reads new values that are not made"
            assert reader.array == gather.array, f"{where} reads new values before the line"
            assert not reader.parallel, f"{where} promises that rows are independent"
            return
        kept = last <= 2 if self.backward else first >= 1
        assert kept, f"{where} reads old values that are overwritten"
        if reader.array != gather.array:
            assert self.served(place) == {0}, f"{where} reads old values for another line"
        assert not reader.parallel or gather.part == (1, 2) or reader.array != gather.array, (
            f"{where} promises that rows are independent"
        )
        assert place <= min(writers), f"{where} reads old values too late"

    def served(self, place: int) -> set[int]:
        """Return where the lines that use a statement's results lie, from its own line.

        A statement that writes the target serves its own line, one that fills a buffer the lines
        of all that read it.
        """
        array = self.nest.statements[place].array
        if array == self.nest.target:
            return {0}
        if place in self.known:
            return self.known[place]
        sign, several = -1 if self.backward else 1, self.buffers[array].rows > 1
        found = self.known[place] = set()
        for n, reader in enumerate(self.nest.statements):
            for load in ir.loads(reader.value):
                if load.array == array and (n > place or (several and n != place)):
                    step = sign * (self.nest.statements[place].ahead - reader.ahead)
                    step = (load.index[0] - self.row[-2]).constant if several else step
                    found |= {shift - step for shift in self.served(n)}
        return found

    def _line(self, shift: int) -> Row:
        """Return the line some lines after the row's."""
        line = [*self.row[:-1]]
        if line:
            line[-1] = line[-1] + shift
        return tuple(line)

    def _wanted_new(self, rows: Domain, load: ir.Load, shift: int) -> Domain:
        """Return the rows that must read a new value, for a row ``shift`` lines further on.

        Between lines, the order of lines decides; on the line itself, the order along it.
        """
        index, line = load.index, self._line(shift)
        pairs = (index[:-1], line), (index, self.row)
        if self.backward:
            pairs = (line, index[:-1]), (self.row, index)
        own = rows.equal(index[:-1], line)
        return rows.before(*pairs[0]) | own.before(*pairs[1])

    def _sides(self, place: int, writer: int, rows: Domain, done: Domain, load: ir.Load) -> None:
        """Check that new values are read after a statement wrote them, and old ones before."""
        name, index = self.nest.statements[place].name, load.index
        read, written = self.time(place, self.row), self.time(writer, index)
        made = self.nest.statements[writer].domain.preimage(index, self.nest.axes)
        new, old = done & made, (rows - done) & made
        if writer == place:
            old = old - old.equal(index, self.row)
        shown = _shown(load)
        late = new - new.before(written, read)
        self.hold(late, name, f"{shown} is read before it is written")
        early = old - old.before(read, written)
        self.hold(early, name, f"the old {shown} is read after it was overwritten")


def space_of(field: ir.Field) -> Domain:
    """Return all points of a field."""
    names = tuple(f"d{n}" for n in range(len(field.shape)))
    lower, upper = zip(*field.edges, strict=True)
    return Domain.box(names, lower, upper)


def _shown(load: ir.Load) -> str:
    return f"{load.array}{'′' if load.new else ''}[{_list(load.index)}]"


def _list(index: Sequence[Affine]) -> str:
    return ", ".join(map(str, index))
