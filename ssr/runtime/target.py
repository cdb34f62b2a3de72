"""The targets of the compiler: properties of processors on which its choices depend.

This is the only place that knows processors. Properties are found by asking LLVM what it makes of
small functions for the target, so a processor that is new, or that the environment names, needs no
entry here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from . import processor


@dataclass(frozen=True, slots=True)
class Target:
    """Properties of a kind of processor.

    Attributes
    ----------
    name
        The instructions that make the difference.
    vector_bytes
        Bytes of a vector register; 0 if loops are left to LLVM's own vectoriser.
    registers
        The number of vector registers.
    masks
        Whether parts of vectors are loaded and stored at the cost of whole ones.
    requests
        Whether loops over large fields are faster if they ask for memory ahead.
    together
        The most vectors of one sum that are computed at a time.
    """

    name: str
    vector_bytes: int
    registers: int
    masks: bool
    requests: bool
    together: int

    def lanes(self, bits: int) -> int:
        """Return the numbers of so many bits in a vector."""
        return self.vector_bytes * 8 // bits


AVX512 = Target("AVX-512", 64, 32, masks=True, requests=True, together=2)
AVX2 = Target("AVX2", 32, 16, masks=False, requests=False, together=4)
NEON = Target("NEON", 16, 32, masks=False, requests=False, together=4)
GENERIC = Target("generic", 0, 16, masks=False, requests=False, together=1)

_PROBE = """
declare <{0} x double> @llvm.fma.v{0}f64(<{0} x double>, <{0} x double>, <{0} x double>)
define <{0} x double> @probe(<{0} x double> %a, <{0} x double> %b, <{0} x double> %c) {{
  %total = call <{0} x double> @llvm.fma.v{0}f64(<{0} x double> %a, <{0} x double> %b, <{0} x double> %c)
  %mask = fcmp olt <{0} x double> %a, %b
  %chosen = select <{0} x i1> %mask, <{0} x double> %total, <{0} x double> %b
  ret <{0} x double> %chosen
}}
"""  # noqa: E501
"""A fused multiply-add and a choice on vectors of some doubles."""


def current() -> Target:
    """Return the target that kernels are compiled for."""
    return _of(processor.name(), processor.features())


@cache
def _of(name: str, features: str) -> Target:
    from llvmlite import binding

    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    triple = binding.Target.from_triple(binding.get_process_triple())
    machine = triple.create_target_machine(cpu=name, features=features, opt=3)

    def code(lanes: int) -> str:
        return str(machine.emit_assembly(binding.parse_assembly(_PROBE.format(lanes))))

    if "zmm" in (wide := code(8)) and "{%k" in wide:
        return AVX512
    if "ymm" in (half := code(4)) and "vfmadd" in half:
        return AVX2
    return NEON if "fmla" in code(2) else GENERIC
