"""The place an error names: the user's file, line and expression."""

import copy
import doctest
import linecache
import pickle
import subprocess
import sys
import textwrap
import traceback
from collections.abc import Callable

import numpy as np
import pytest

import ssr
from ssr import errors
from ssr.errors import Error
from tests.ssr.errors.mistakes import T, U, line, n


def located(function: Callable[[], object]) -> list[str]:
    """Return the lines that show a place."""
    with pytest.raises(Error) as caught:
        function()
    assert caught.value.span is not None
    return caught.value.span.render().splitlines()[1:]


def compiled(text: str, file: str) -> Callable[[], None]:
    """Return a function that runs a text as if it stood in a file, as notebooks do."""
    text = textwrap.dedent(text).lstrip("\n")
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    code = compile(text, file, "exec")
    return lambda: exec(code, {"T": T, "ssr": ssr, "line": line, "__name__": "__main__"})


def test_a_call_over_several_lines() -> None:
    run = compiled("y = 1 + T.bind(\n    m=3\n  )\n", "<cell 2>")
    assert located(run) == [
        "    1 | y = 1 + T.bind(",
        "      |         ^^^^^^^",
        "    2 |     m=3",
        "      |     ^^^",
        "    3 |   )",
        "      |   ^",
    ]


def test_a_long_call_is_cut() -> None:
    run = compiled("T.bind(\n    a=1,\n    b=2,\n    c=3,\n    d=4,\n)\n", "<cell 3>")
    assert located(run) == [
        "    1 | T.bind(",
        "      | ^^^^^^^",
        "    2 |     a=1,",
        "      |     ^^^^",
        "    ...",
        "    6 | )",
        "      | ^",
    ]


def test_tabs_stay_tabs() -> None:
    run = compiled("if True:\n\tx\t=\tT @\t[1]\n", "<cell 4>")
    assert located(run) == ["    2 | x\t=\tT @\t[1]", "      |  \t \t^^^^^^^"]


def test_wide_and_combining_characters() -> None:
    run = compiled("é, 漢字 = 'e\u0301', '日本'; T @ ['語']\n", "<cell 5>")
    text, marks = located(run)
    assert text == "    1 | é, 漢字 = 'e\u0301', '日本'; T @ ['語']"
    assert marks == "      | " + " " * 23 + "^" * 10


def test_a_cell_of_a_notebook() -> None:
    run = compiled("def f():\n    return 1 + (T @ [1])\n\nf()\n", "<ipython-input-7-c0ffee>")
    assert located(run) == ["    2 | return 1 + (T @ [1])", "      |             ^^^^^^^"]


def test_equal_code_in_two_files() -> None:
    for file in ("<cell 6>", "<cell 7>"):
        with pytest.raises(Error) as caught:
            compiled("T @ [1]\n", file)()
        assert caught.value.span is not None
        assert caught.value.span.file == file


def test_code_without_source() -> None:
    with pytest.raises(Error) as caught:
        exec("T @ [1]", {"T": T})
    assert str(caught.value).splitlines()[:2] == [
        "stencil @ list: the operand is a NumPy array or a field.",
        '  File "<string>", line 1, in <module>',
    ]


PROGRAM = "import ssr\nT = ssr.identity(ssr.Space(3))\nT @ [1]\n"


@pytest.mark.parametrize(("arguments", "file"), [(["-c", PROGRAM], "<string>"), (["-"], "<stdin>")])
def test_command_line(arguments: list[str], file: str) -> None:
    run = subprocess.run(
        [sys.executable, *arguments], input=PROGRAM, capture_output=True, text=True, check=False
    )
    assert run.returncode == 1
    assert f'  File "{file}", line 3, in <module>' in run.stderr.splitlines()[-3:]


def test_doctest() -> None:
    """The lines of an example are shown, and count from its first one."""
    text = ">>> import ssr\n>>> T = ssr.identity(ssr.Space(3))\n>>> T @ [1]\n"
    test = doctest.DocTestParser().get_doctest(text, {}, "example", None, 0)
    report: list[str] = []
    doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    assert '      File "<doctest example[2]>", line 1, in <module>' in "".join(report).splitlines()
    assert "        1 | T @ [1]\n          | ^^^^^^^\n" in "".join(report)


def test_a_library_in_between() -> None:
    """The user's line is shown, not that of SciPy."""
    operator = U.bind(n=3, u=np.ones(3, np.float32), dt=1.0).aslinearoperator()
    text, marks = located(lambda: operator @ np.ones(3))
    assert text.endswith("| text, marks = located(lambda: operator @ np.ones(3))")
    assert marks.endswith(" ^^^^^^^^^^^^^^^^^^^^^")


@pytest.mark.parametrize("send", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy])
def test_errors_can_be_sent_to_another_process(send: Callable[[Error], Error]) -> None:
    with pytest.raises(Error) as caught:
        T.tril(3)
    error = send(caught.value)
    assert type(error) is type(caught.value)
    assert (str(error), error.span, error.hint) == (
        str(caught.value),
        caught.value.span,
        caught.value.hint,
    )


class UsersError(Exception):
    pass


def test_errors_of_a_generator_pass_through() -> None:
    mine = UsersError("mine")

    def helper():
        raise mine

    with pytest.raises(UsersError) as caught:

        @ssr.matrix(rows=line, cols=line)
        def A(i):
            yield i, 1.0
            helper()

    assert caught.value is mine
    assert mine.__cause__ is None
    assert [f.name for f in traceback.extract_tb(mine.__traceback__)][-2:] == ["A", "helper"]


def test_errors_of_a_program_pass_through() -> None:
    with pytest.raises(KeyError, match="mine"):

        @ssr.program(x=line)
        def p(x):
            raise KeyError("mine")


def test_a_generator_that_fails_leaves_no_trace() -> None:
    """Conditions outside a generator are errors again, and errors are at their own place."""
    with pytest.raises(UsersError):

        @ssr.matrix(rows=line, cols=line)
        def A(i):
            if i > 0:
                raise UsersError

            yield i, 1.0

    with pytest.raises(errors.RuntimeConditionError):
        bool(n < 3)
