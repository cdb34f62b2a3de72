"""Which rank owns which points: a box for each, in a grid of ranks that is chosen as HPCG does."""

import math
from collections.abc import Sequence
from itertools import product

Shape = tuple[int, ...]
Grid = tuple[int, int, int]
"""Numbers along z, y and x."""


def process_grid(ranks: int) -> Grid:
    """Return the number of ranks along each axis, in the order of array axes.

    >>> [process_grid(n)[::-1] for n in (2, 4, 6, 8, 12, 16)]
    [(2, 1, 1), (2, 2, 1), (2, 3, 1), (2, 2, 2), (2, 3, 2), (4, 2, 2)]
    """
    factors = _factors(ranks)
    primes = sorted(set(factors))
    if len(primes) <= 1:  # a power of a prime
        prime, (third, rest) = math.prod(primes), divmod(len(factors), 3)
        z, y, x = (prime ** (third + (rest > axis)) for axis in (2, 1, 0))
        return z, y, x
    if len(primes) == 2 and len(factors) <= 3:
        x, y = primes
        return ranks // (x * y), y, x
    return min(_triples(ranks), key=lambda n: n[0] * n[1] + n[1] * n[2] + n[0] * n[2])


def _factors(number: int) -> list[int]:
    """Return the prime factors of a number."""
    for divisor in range(2, math.isqrt(number) + 1):
        if number % divisor == 0:
            return [divisor, *_factors(number // divisor)]
    return [number] if number > 1 else []


def _triples(ranks: int) -> list[Grid]:
    """Return the ways to write a number as a product of three.

    Of two with equal sides the benchmark takes the one that has the lower powers of the largest
    prime along x, then along y.
    """
    primes = sorted(set(_factors(ranks)), reverse=True)
    numbers = [n for n in range(2, ranks + 1) if ranks % n == 0]
    numbers.sort(key=lambda n: [_factors(n).count(prime) for prime in primes])
    pairs = product(numbers, numbers)
    return [(ranks // (x * y), y, x) for x, y in pairs if ranks % (x * y) == 0]


def boxes(grid: Grid, shape: Sequence[int]) -> list[tuple[int, int, list[tuple[int, int]]]]:
    """Return the box of points of each rank, as `boundary.distribute` takes them.

    Parameters
    ----------
    grid
        Ranks along each axis; they are numbered along x first.
    shape
        Points of each rank along each axis.
    """
    return [
        (rank, 0, [(p * n, (p + 1) * n) for p, n in zip(place, shape, strict=True)])
        for rank, place in enumerate(product(*map(range, grid)))
    ]
