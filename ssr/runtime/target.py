"""Compilation targets: processors, and the properties on which the compiler's choices depend.

The properties (`ssr.kernel.vector_target`) are determined from the code that LLVM generates for
small functions, so a new processor, or one that a program names, needs no entry.

Kernels are compiled for the processor that `ssr.Options` names, else for that of ``SSR_CPU`` in the
environment, else for ``NUMBA_CPU_NAME``, and otherwise for the host processor. A named processor
has the instruction set of its name, with the features of ``NUMBA_CPU_FEATURES`` in the case of
``NUMBA_CPU_NAME``. The host has the instruction set that it reports.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from ..errors import ArgumentError
from ..kernel.vector_target import AVX2, AVX512, GENERIC, NEON, Target
from .processor_names import is_name, near

if TYPE_CHECKING:
    from llvmlite import binding


_PROBE = """
declare <{0} x double> @llvm.fma.v{0}f64(<{0} x double>, <{0} x double>, <{0} x double>)
define <{0} x double> @probe(<{0} x double> %a, <{0} x double> %b, <{0} x double> %c) {{
  %total = call <{0} x double> @llvm.fma.v{0}f64(<{0} x double> %a, <{0} x double> %b, <{0} x double> %c)
  %mask = fcmp olt <{0} x double> %a, %b
  %chosen = select <{0} x i1> %mask, <{0} x double> %total, <{0} x double> %b
  ret <{0} x double> %chosen
}}
"""  # noqa: E501
"""LLVM IR with a fused multiply-add and a select on vectors of doubles."""


def current() -> Target:
    """Return the target that kernels are compiled for."""
    return _of(processor())


@dataclass(frozen=True, slots=True)
class Processor:
    """A processor as described by LLVM.

    Attributes
    ----------
    triple
        Its architecture and operating system.
    name
        Its name, such as ``znver4`` or ``x86-64-v3``.
    features
        Its features, such as ``+avx2,-avx512f``, in addition to the features of its name.
    """

    triple: str
    name: str
    features: str = ""

    @property
    def key(self) -> str:
        """A text that no other processor has, which names of functions may contain."""
        if not self.features and self.triple == _triple():
            return self.name
        return f"{self.name}_{sha256(f'{self.triple} {self.features}'.encode()).hexdigest()[:8]}"

    def machine(self, **options: object) -> binding.TargetMachine:
        """Return a compiler of LLVM for this processor; it takes the options of llvmlite's."""
        options = {"opt": 3, **options, "cpu": self.name, "features": self.features}
        made: binding.TargetMachine = (
            _llvm().Target.from_triple(self.triple).create_target_machine(**options)
        )
        return made


_chosen: ContextVar[Processor | None] = ContextVar("processor", default=None)


def processor() -> Processor:
    """Return the processor that kernels are compiled for."""
    return _chosen.get() or default()


@contextmanager
def compiling_for(processor: Processor) -> Iterator[None]:
    """Compile kernels in the block for a processor."""
    token = _chosen.set(processor)
    try:
        yield
    finally:
        _chosen.reset(token)


VARIABLES = "SSR_CPU", "NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES"
"""Environment variables that name the processor; the first one that is set counts."""


def chosen(cpu: str | None) -> Processor:
    """Return the processor with a name, or the default processor without one."""
    return named(cpu) if cpu else default()


def default() -> Processor:
    """Return the processor for programs that do not name one."""
    if cpu := os.environ.get("SSR_CPU"):
        return named(cpu, "SSR_CPU")
    features = os.environ.get("NUMBA_CPU_FEATURES")
    if cpu := os.environ.get("NUMBA_CPU_NAME"):
        return Processor(named(cpu, "NUMBA_CPU_NAME").triple, cpu, features or "")
    return host() if features is None else Processor(_triple(), host().name, features)


FOREIGN = "aarch64-unknown-linux-gnu", "x86_64-unknown-linux-gnu"
"""Target triples for cross-compilation; such kernels run on their own architecture only."""


def named(cpu: str, given_by: str = "cpu") -> Processor:
    """Return the processor of a name that something has given.

    Examples
    --------
    >>> named("x86-64-v9")
    Traceback (most recent call last):
        ...
    ssr.errors.ArgumentError: cpu is 'x86-64-v9', which is not a name of a processor in LLVM.
    ...
    """
    for triple in (_triple(), *FOREIGN):
        if is_name(cpu, triple):
            return Processor(triple, cpu)
    similar = near(cpu, _triple())
    raise ArgumentError(
        f"{given_by} is {cpu!r}, which is not a name of a processor in LLVM.",
        hint=f"Did you mean {' or '.join(map(repr, similar))}?" if similar else None,
    )


@cache
def host() -> Processor:
    """Return the processor at hand."""
    features = ",".join(f"{'+' if has else '-'}{name}" for name, has in sorted(reported().items()))
    return Processor(_triple(), str(_llvm().get_host_cpu_name()), features)


@cache
def reported() -> Mapping[str, bool]:
    """Return the instructions that LLVM looks for here, and whether they are there."""
    try:
        return dict(_llvm().get_host_cpu_features())
    except RuntimeError:  # not available on all platforms
        return {}


def check_runs() -> None:
    """Check that the processor at hand can run the kernels that are compiled now."""
    wanted, here = processor(), host()
    if wanted == here:
        return
    other = wanted.triple != here.triple
    lacking = () if other else _lacking(wanted)
    if other or lacking:
        raise ArgumentError(
            f"Kernels for {wanted.name} do not run on this processor ({here.name}).",
            note="It is of another kind." if other else f"It lacks {', '.join(lacking)}.",
            hint='The stage "assembly" of explain shows them.',
        )


ON_REQUEST = frozenset(
    """
    adx aes amx-avx512 amx-bf16 amx-complex amx-fp16 amx-fp8 amx-int8 amx-movrs amx-tf32 amx-tile
    cldemote clflushopt clwb clzero cmpccxadd crc32 enqcmd fsgsbase hreset invpcid kl lwp movdir64b
    movdiri mwaitx pclmul pconfig pku prefetchi ptwrite raoint rdpid rdpru rdrnd rdseed rtm
    serialize sgx sha sha512 shstk sm3 sm4 tsxldtrk uintr usermsr vaes vpclmulqdq waitpkg wbnoinvd
    widekl xsave xsavec xsaveopt xsaves
    """.split()  # noqa: SIM905
)
"""Features that LLVM uses only on explicit request; virtual machines hide some of them."""


@cache
def _lacking(wanted: Processor) -> tuple[str, ...]:
    """Return the instructions of another processor that this one has not.

    LLVM does not inline a function into one that may use fewer instructions. So a processor has an
    instruction if a function for it is not inlined into one for the same processor without it.
    """
    binding = _llvm()
    absent = [name for name, has in reported().items() if not has and name not in ON_REQUEST]
    functions = [_WITHOUT.format(number) for number, _ in enumerate(absent)]
    attributes = [
        f'attributes #{number} = {{ "target-cpu"="{wanted.name}" "target-features"="{features}" }}'
        for number, features in enumerate(
            [*(f"{wanted.features},-{name}".strip(",") for name in absent), wanted.features]
        )
    ]
    text = "\n".join([*functions, *attributes, _WITH.format(len(absent))])
    module = binding.parse_assembly(text, binding.create_context())
    module.triple = wanted.triple
    tuning = binding.create_pipeline_tuning_options(speed_level=2)
    builder = binding.create_pass_builder(wanted.machine(), tuning)
    builder.getModulePassManager().run(module, builder)
    calls = {function.name for function in module.functions if " call " in str(function)}
    return tuple(name for number, name in enumerate(absent) if f"without{number}" in calls)


_WITH = """
define internal double @with(double %x) #{} {{
  %y = fadd double %x, 1.0
  ret double %y
}}
"""

_WITHOUT = """
define double @without{0}(double %x) #{0} {{
  %y = call double @with(double %x)
  ret double %y
}}
"""


@cache
def _of(processor: Processor) -> Target:
    binding = _llvm()
    machine = processor.machine()

    def code(lanes: int) -> str:
        return str(machine.emit_assembly(binding.parse_assembly(_PROBE.format(lanes))))

    if "zmm" in (wide := code(8)) and "{%k" in wide:
        return AVX512
    if "ymm" in (half := code(4)) and "vfmadd" in half:
        return AVX2
    return NEON if "fmla" in code(2) else GENERIC


@cache
def _triple() -> str:
    """Return the kind of the processor at hand, and the system."""
    return str(_llvm().get_process_triple())


@cache
def _llvm() -> ModuleType:
    """Return LLVM's functions, with all kinds of processors that it was built for."""
    from llvmlite import binding

    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    return binding


# -- caches of the host processor ----------------------------------------------------------------

NEAR_CACHE = 32 * 2**20
"""Largest size in bytes of a third-level cache that is near all its cores. Larger caches, and those
with a small share for each core, consist of slices that are connected by an on-chip network, with
a bandwidth of some 10 GB/s for a core."""

NEAR_SHARE = 2 * 2**20
"""Least share in bytes of a near third-level cache for each hardware thread."""


CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
"""The directory in which Linux describes the caches of a core."""


@dataclass(frozen=True, slots=True)
class Cache:
    """A cache of a core: its size in bytes, and the number of hardware threads that share it."""

    size: int
    sharing: int


@cache
def cache_of(level: int) -> Cache | None:
    """Return the data cache of a core at a level; None if there is none or it is unknown."""
    for told in sorted(CACHES.glob("index*")):
        try:
            found, kind, size, shared = (
                (told / name).read_text().strip()
                for name in ("level", "type", "size", "shared_cpu_list")
            )
            if int(found) == level and kind != "Instruction":
                return Cache(1024 * int(size.removesuffix("K")), _count(shared))
        except (OSError, ValueError):  # another interface, or no permission
            continue
    return None


def _count(ranges: str) -> int:
    """Return the number of integers in ranges.

    >>> _count("0-7,16-23"), _count("3")
    (16, 1)
    """
    ends = [part.split("-") for part in ranges.split(",")]
    return sum(int(end[-1]) - int(end[0]) + 1 for end in ends)


def third_level_is_near() -> bool:
    """Whether the third-level cache is as fast for a core as it can be."""
    found = cache_of(3)
    return found is not None and (
        found.size <= NEAR_CACHE and found.size >= NEAR_SHARE * found.sharing
    )
