"""The tests with the two ends of the range of versions that README names.

``nox`` runs both, ``nox -s oldest`` one of them, ``nox -s newest -- tests/ssr/test_compiled.py`` a
part of the tests.
"""

import nox

OLDEST = ("numpy==2.0.0", "scipy==1.13.0", "numba==0.61.0", "islpy==2025.1", "sympy==1.12")
"""The first versions that `pyproject.toml` allows of what the packages stand on."""


@nox.session(python="3.11")
def oldest(session: nox.Session) -> None:
    """Run the tests with the first versions of Python and of what the packages stand on."""
    session.install("--editable", ".[dev]", *OLDEST)
    session.run("pytest", "-n", "auto", *session.posargs)


@nox.session(python="3.13")
def newest(session: nox.Session) -> None:
    """Run the tests with the last versions."""
    session.install("--upgrade", "--upgrade-strategy", "eager", "--editable", ".[dev]")
    session.run("pytest", "-n", "auto", *session.posargs)
