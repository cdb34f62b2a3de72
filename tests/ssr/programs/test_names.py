"""Names of users in programs that the packages make."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import boundary as bc
import ssr


def second(space: ssr.Space) -> ssr.Matrix:
    return ssr.stencil(space, space, {-1: -1.0, 0: 4.0, 1: -1.0}, outside="zero")


def ends(space: ssr.Space) -> bc.Fill:
    return bc.fill(space.grow(1), bc.dirichlet(0.0))


def stored(space: ssr.Space) -> Any:
    return ssr.from_scipy(scipy.sparse.eye_array(4).tocsr(), rows=space, cols=space)


CALLS: list[tuple[str, Callable[[ssr.Space, Any], Any]]] = [
    ("x", lambda space, x: stored(space) @ x),
    ("b", lambda space, x: stored(space).tril().solve(x)),
    ("r", lambda space, x: ssr.solvers.cg(second(space), x).x),
    ("z", lambda space, x: ssr.solvers.gmres(second(space), x, M=ssr.solvers.Jacobi()).x),
    ("u", lambda space, x: ends(space) @ x),
    ("w", lambda space, x: ends(space).ghosts(x)),
    ("y", lambda space, x: (second(space.grow(1)) @ ends(space)) @ x),
]


@pytest.mark.parametrize(("name", "call"), CALLS, ids=[name for name, _ in CALLS])
def test_a_size_may_have_the_name_of_a_field(
    name: str, call: Callable[[ssr.Space, Any], Any]
) -> None:
    x = np.arange(1.0, 5.0)
    found = call(ssr.Space(ssr.size(name)), x)
    np.testing.assert_array_equal(found, call(ssr.Space(ssr.size("n")), np.arange(1.0, 5.0)))


def test_fields_of_users_keep_their_names() -> None:
    with pytest.raises(ssr.errors.ArgumentError, match="x is both a size and a field"):

        @ssr.program(x=ssr.Space(ssr.size("x")))
        def own(x: Any) -> None:
            x[:] = 2.0 * x
