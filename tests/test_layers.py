"""The import layers hold, and the check that says so finds what it should."""

import subprocess
import sys
from pathlib import Path

import pytest

from tools import layers

ROOT = Path(__file__).parent.parent
SSR, BOUNDARY = "ssr/points/a.py", "boundary/grid/a.py"


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_real_tree() -> None:
    assert list(layers.violations(ROOT)) == []


ALLOWED = {
    "ssr/__init__.py": (
        '__all__ = ["matrix"]\n__version__ = "1"\nfrom .points.sets import Set as matrix\n'
    ),
    "ssr/ir/__init__.py": "from ..points import sets\n",
    "ssr/points/sets.py": "import islpy as isl\nimport numpy as np\nfrom . import _private\n",
    "ssr/algebra/oracle.py": (
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    import scipy\n"
        "def f():\n    import scipy.sparse\n    from sympy import Symbol\n"
    ),
    "ssr/lower/passes/fuse.py": (
        "from ... import ir\nfrom ...points.sets import Set\nfrom ssr.ir import Sum\n"
    ),
    "boundary/fills/fill.py": "import scipy\nimport mpi4py\nfrom ssr.extension import Set\n",
    "apps/swe.py": "import ssr\nimport boundary as bc\nfrom . import _mesh\nssr.matrix, bc.fill\n",
    "benchmarks/run.py": (
        "import ssr.solvers\nfrom ssr import matrix, __version__\nfrom apps import swe\n"
        "ssr.matrix, ssr.solvers.cg\n"
    ),
    "tests/test_sets.py": "import islpy\nfrom ssr.passes import fuse\nimport benchmarks.run\n",
    "tests/golden/kernel.py": "not Python",
}


def test_allowed(tmp_path: Path) -> None:
    write(tmp_path, ALLOWED)
    assert list(layers.violations(tmp_path)) == []


@pytest.mark.parametrize(
    ("file", "source", "expected"),
    [
        (
            SSR,
            "import boundary",
            "1: ssr imports boundary, a layer above or beside it.",
        ),
        (SSR, "\nfrom apps.swe import step", "2: ssr imports apps, a layer"),
        (SSR, "def f():\n  import benchmarks", "2: ssr imports benchmarks, a layer"),
        (SSR, "def f():\n  from mpi4py import MPI", "2: ssr imports mpi4py."),
        (
            SSR,
            "import islpy",
            "1: Only ssr/points/sets.py and",
        ),
        (
            BOUNDARY,
            "from islpy import Set",
            "1: Only ssr/points/sets.py and",
        ),
        (
            SSR,
            "__import__('islpy')",
            "1: Only ssr/points/sets.py and",
        ),
        (SSR, "import scipy.sparse", "1: ssr imports scipy at module level;"),
        (SSR, "class C:\n  import sympy", "2: ssr imports sympy at module level;"),
        (
            SSR,
            "try:\n  import matplotlib\nexcept E: pass",
            "2: ssr imports matplotlib at",
        ),
        ("ssr/points/sets.py", "import scipy", "1: ssr imports scipy at module level;"),
        (
            SSR,
            "if x:\n  pass\nelse:\n  import scipy",
            "4: ssr imports scipy at module",
        ),
        (BOUNDARY, "import apps", "1: boundary imports apps, a layer"),
        (
            BOUNDARY,
            "from ssr.ir import Sum",
            "1: boundary imports ssr.ir, which is not one",
        ),
        (
            BOUNDARY,
            "from ssr import ir",
            "1: boundary uses ssr.ir, which is not a public",
        ),
        (
            BOUNDARY,
            "import ssr\nssr.ir",
            "2: boundary uses ssr.ir, which is not a public",
        ),
        (BOUNDARY, "import ssr._sets", "1: boundary imports the private ssr._sets."),
        (
            "boundary/grid/b/a.py",
            "from ....ssr import _f",
            "1: boundary imports the private ssr._f.",
        ),
        (
            "apps/a.py",
            "from ssr import matrix",
            "1: apps imports ssr otherwise than users do: import ssr.",
        ),
        ("apps/a.py", "import boundary", "1: apps imports boundary otherwise than users do:"),
        (
            "apps/a.py",
            "import ssr.solvers",
            "1: apps imports ssr otherwise than users do: import ssr.",
        ),
        ("apps/a.py", "import ssr\nssr._f()", "2: apps uses ssr._f, which is not a public name."),
        ("apps/a.py", "import ssr\nssr.emit", "2: apps uses ssr.emit, which is not a public name."),
        ("apps/a.py", "import boundary as bc\nbc._f", "2: apps uses boundary._f, which is not"),
        ("apps/a.py", "import benchmarks", "1: apps imports benchmarks, a layer above or beside"),
        ("benchmarks/a.py", "import ssr.emit", "1: benchmarks imports ssr.emit, which is not one"),
        ("benchmarks/a.py", "from ssr import emit", "1: benchmarks uses ssr.emit, which is not a"),
        ("benchmarks/a.py", "from apps import _f", "1: benchmarks imports the private apps._f."),
        ("tests/a.py", "from ssr.sets import _f", "1: tests imports the private ssr.sets._f."),
        (SSR, "x = 1 +", "1: Cannot be parsed: invalid syntax."),
    ],
)
def test_violation(tmp_path: Path, file: str, source: str, expected: str) -> None:
    write(tmp_path, ALLOWED | {file: source})
    (found,) = layers.violations(tmp_path)
    assert found.startswith(f"{file}:{expected}")


def test_no_import_of_any_kind_leads_to_a_higher_layer(tmp_path: Path) -> None:
    inside = "def f():\n    from ..algebra import oracle\n"
    typing = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .. import ir\n"
    write(tmp_path, ALLOWED | {SSR: inside, "ssr/points/b.py": typing})
    assert list(layers.violations(tmp_path)) == [
        "ssr/points/a.py:2: points imports algebra, a layer above it.",
        "ssr/points/b.py:3: points imports ir, a layer above it.",
    ]


def test_files_of_one_layer_import_each_other_in_no_circle(tmp_path: Path) -> None:
    files = {
        "ssr/algebra/a.py": "from .b import f\n",
        "ssr/algebra/b.py": "def f():\n    from . import c\n",
        "ssr/algebra/c.py": "from ssr.algebra.a import f\nfrom .d import g\n",
        "ssr/algebra/d.py": "",
    }
    write(tmp_path, ALLOWED | files)
    assert list(layers.violations(tmp_path)) == [
        "ssr/algebra/a.py:1: ssr/algebra/a.py and ssr/algebra/b.py import each other in a circle.",
        "ssr/algebra/b.py:2: ssr/algebra/b.py and ssr/algebra/c.py import each other in a circle.",
        "ssr/algebra/c.py:1: ssr/algebra/c.py and ssr/algebra/a.py import each other in a circle.",
    ]


def test_a_file_belongs_to_a_layer(tmp_path: Path) -> None:
    write(tmp_path, ALLOWED | {"ssr/helpers.py": "", "ssr/misc/a.py": ""})
    assert list(layers.violations(tmp_path)) == [
        "ssr/helpers.py:1: helpers is not a layer of ssr.",
        "ssr/misc/a.py:1: misc is not a layer of ssr.",
    ]


def test_command_prints_and_exits_with_one(tmp_path: Path) -> None:
    write(tmp_path, {SSR: "import apps\nimport mpi4py\n"})
    command = [sys.executable, str(ROOT / "tools/layers.py"), str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 1
    first, second = run.stdout.splitlines()
    assert first.startswith("ssr/points/a.py:1: ")
    assert second.startswith("ssr/points/a.py:2: ")


def test_a_folder_has_few_modules(tmp_path: Path) -> None:
    write(tmp_path, {f"ssr/points/m{n}.py": "" for n in range(layers.MOST_MODULES + 1)})
    assert list(layers.violations(tmp_path)) == [
        "ssr/points: 17 modules; a folder has at most 16.",
    ]


def test_folders_inside_a_layer_have_an_order(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"ssr/lower/nests.py": "from .verify import nests\n", "ssr/lower/verify/nests.py": ""},
    )
    assert list(layers.violations(tmp_path)) == [
        "ssr/lower/nests.py:1: nests imports verify, a layer above it.",
    ]
