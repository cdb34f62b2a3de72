"""Arrays in memory of any layout, and cuts of a space into boxes."""

from itertools import product
from typing import Any

import numpy as np
from hypothesis import strategies as st

from ssr.spaces.space import Box

Array = np.ndarray[Any, Any]

# -- arrays --------------------------------------------------------------------------------------

dtypes = st.sampled_from(["float64", "float64", "float32"])
layouts = st.sampled_from(["C", "padded", "strided", "swapped"])
seeds = st.integers(0, 2**32 - 1)


def array(
    rng: np.random.Generator,
    shape: tuple[int, ...],
    dtype: str,
    layout: str = "C",
    *,
    low: float = -1.0,
    high: float = 1.0,
) -> Array:
    """Return random numbers in memory laid out in some way; NaN around them."""
    made = room(shape, dtype, layout)
    made[...] = rng.uniform(low, high, shape)
    return made


def room(shape: tuple[int, ...], dtype: str, layout: str) -> Array:
    """Return an array of NaN: contiguous, or a view into a larger array."""
    if layout == "padded":
        whole = np.full([n + 3 for n in shape], np.nan, dtype)
        return whole[tuple(slice(1, 1 + n) for n in shape)]
    if layout == "strided":
        whole = np.full([2 * n + 1 for n in shape[:-1]] + [shape[-1]], np.nan, dtype)
        return whole[tuple(slice(1, None, 2) for _ in shape[:-1])]
    if layout == "swapped" and len(shape) > 2:
        whole = np.full((shape[1], shape[0], *shape[2:]), np.nan, dtype)
        return whole.swapaxes(0, 1)
    return np.full(shape, np.nan, dtype)


def untouched(view: Array) -> bool:
    """Whether all memory around a view is as `room` left it."""
    if view.base is None:
        return True
    whole = view.base.copy()
    address = view.__array_interface__["data"][0] - view.base.__array_interface__["data"][0]
    np.ndarray(view.shape, view.dtype, whole, address, view.strides)[...] = np.nan
    return bool(np.isnan(whole).all())


# -- boxes ---------------------------------------------------------------------------------------


@st.composite
def cuts(draw: st.DrawFn, whole: Box, count: int = 4) -> tuple[Box, ...]:
    """Draw a cover of a box by boxes: cut again and again, then shuffled.

    Sometimes every line is a box first: then even a line can be cut in spite of dependences.
    """
    boxes = [whole]
    if draw(st.booleans()):
        outer = [[(n, n + 1) for n in range(low, high)] for low, high in whole[:-1]]
        boxes = list(product(*outer, [whole[-1]]))
    for _ in range(draw(st.integers(1, count))):
        wide = [(n, a) for n, b in enumerate(boxes) for a, (x, y) in enumerate(b) if y - x > 1]
        if not wide:
            break
        n, axis = draw(st.sampled_from(wide))
        box = boxes.pop(n)
        low, high = box[axis]
        at = draw(st.integers(low + 1, high - 1))
        boxes += [(*box[:axis], part, *box[axis + 1 :]) for part in ((low, at), (at, high))]
    return tuple(draw(st.permutations(boxes)))


def legal(boxes: tuple[Box, ...], before: set[tuple[int, ...]]) -> bool:
    """Whether boxes can run one after the other if rows come after those at some offsets."""
    home = {row: n for n, b in enumerate(boxes) for row in product(*(range(*r) for r in b))}
    waits: dict[int, set[int]] = {n: set() for n in range(len(boxes))}
    for row, n in home.items():
        for offset in before:
            other = home.get(tuple(r + o for r, o in zip(row, offset, strict=True)), n)
            waits[n] |= {other} - {n}
    while waits:
        ready = {n for n, earlier in waits.items() if not earlier & set(waits)}
        if not ready:
            return False
        waits = {n: earlier for n, earlier in waits.items() if n not in ready}
    return True


def earlier(stencil: dict[tuple[int, ...], float], direction: str) -> set[tuple[int, ...]]:
    """Return the offsets from a row of a sweep to rows that come before it.

    A row comes after rows whose new value it reads, and after rows that read its old value.
    """
    zero = (0,) * len(next(iter(stencil)))
    new = {o for o in stencil if (o < zero if direction == "forward" else o > zero)}
    return new | {negative(o) for o in stencil if o not in new and o != zero}


def negative(offset: tuple[int, ...]) -> tuple[int, ...]:
    """Return the opposite offset."""
    return tuple(-o for o in offset)
