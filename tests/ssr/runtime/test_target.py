"""Processors that kernels are compiled for: their names, what they have, and what they lack."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from llvmlite import binding

from ssr.errors import ArgumentError
from ssr.kernel import vector_target
from ssr.runtime import processor_names, target

ON_X86 = pytest.mark.skipif(
    not target.host().triple.startswith("x86_64"), reason="The host is of another kind."
)


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in target.VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("cpu", "found"),
    [
        ("x86-64", vector_target.GENERIC),
        ("x86-64-v2", vector_target.GENERIC),
        ("x86-64-v3", vector_target.AVX2),
        ("x86-64-v4", vector_target.AVX512),
        ("znver5", vector_target.AVX512),
        ("haswell", vector_target.AVX2),
        ("apple-m1", vector_target.NEON),
        ("neoverse-n1", vector_target.NEON),
    ],
)
def test_vectors_of_targets(cpu: str, found: vector_target.Target) -> None:
    with target.compiling_for(target.named(cpu)):
        assert target.current() == found
    assert target.processor() == target.default() == target.host()


def test_a_name_has_its_own_instructions_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CPU_NAME", "x86-64-v3")
    assert target.default() == target.named("x86-64-v3")
    assert target.current() == vector_target.AVX2
    monkeypatch.setenv("NUMBA_CPU_FEATURES", "-avx")
    assert target.current() == vector_target.GENERIC
    monkeypatch.setenv("SSR_CPU", "x86-64-v4")
    assert target.default() == target.named("x86-64-v4")
    with target.compiling_for(target.named("x86-64-v2")):
        assert target.processor().name == "x86-64-v2"


def test_each_processor_has_its_own_key() -> None:
    made = [
        *map(target.named, ("x86-64-v3", "x86-64-v4", "apple-m1", "neoverse-n1")),
        target.Processor(target.host().triple, "x86-64-v3", "-avx"),
        target.Processor(target.host().triple, "x86-64-v3", "-fma"),
        target.host(),
    ]
    assert len({processor.key for processor in made}) == len(made)


@pytest.mark.parametrize("cpu", ["x86-64-v9", "help", "+cpuhelp", "a b", 'a"', "ä", "a\n", "\0"])
def test_names_that_no_processor_has(cpu: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        target.named(cpu)
    assert caught.value.message == f"cpu is {cpu!r}, which is not a name of a processor in LLVM."


@ON_X86
def test_names_that_are_meant() -> None:
    with pytest.raises(ArgumentError) as caught:
        target.named("x86-64-v33")
    assert "'x86-64-v3'" in str(caught.value.hint)


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    assert not processor_names.is_name("x86-64-v10", target.host().triple)
    processor_names.near("x86-64-v10", target.host().triple)
    assert capfd.readouterr() == ("", "")


def test_other_output_is_kept(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Target:
        def create_target_machine(self, **options: str) -> None:
            os.write(2, b"of a thread\n'v' is not a recognized processor for this target\n")

    monkeypatch.setattr(binding.Target, "from_triple", lambda triple: Target())
    assert not processor_names.is_name("v", "printing")
    assert capfd.readouterr() == ("", "of a thread\n")


@ON_X86
def test_instructions_that_the_host_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    target._lacking.cache_clear()
    found = {**target.reported(), "avx512f": False, "avx512vl": False, "clwb": False}
    monkeypatch.setattr(target, "reported", lambda: found)
    with target.compiling_for(target.named("x86-64-v3")):
        target.check_runs()
    for cpu in ("x86-64-v4", "icelake-server"):
        with target.compiling_for(target.named(cpu)), pytest.raises(ArgumentError) as caught:
            target.check_runs()
        assert caught.value.message.startswith(f"Kernels for {cpu} do not run on this processor")
        lacking = str(caught.value.note)
        assert "avx512f" in lacking
        assert "avx512vl" in lacking
        assert "clwb" not in lacking
    target._lacking.cache_clear()


def test_another_kind_of_processor_does_not_run() -> None:
    other = "neoverse-n1" if target.host().triple.startswith("x86_64") else "x86-64-v3"
    with (
        target.compiling_for(target.named(other)),
        pytest.raises(ArgumentError, match="of another kind"),
    ):
        target.check_runs()


def test_the_host_runs_its_kernels() -> None:
    target.check_runs()


def test_caches_are_as_the_system_tells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = [
        ("1", "Data", "32K", "0,8"),
        ("1", "Instruction", "64K", "0,8"),
        ("2", "Unified", "1024K", "0,8"),
        ("3", "Unified", "32768K", "0-7,8-15"),
    ]
    for number, texts in enumerate(told):
        (tmp_path / f"index{number}").mkdir()
        for name, text in zip(("level", "type", "size", "shared_cpu_list"), texts, strict=True):
            (tmp_path / f"index{number}" / name).write_text(f"{text}\n")
    monkeypatch.setattr(target, "CACHES", tmp_path)
    target.cache_of.cache_clear()
    assert target.cache_of(1) == target.Cache(2**15, 2)
    assert target.cache_of(2) == target.Cache(2**20, 2)
    assert target.cache_of(3) == target.Cache(2**25, 16)
    assert target.cache_of(4) is None
    assert target.third_level_is_near()
    (tmp_path / "index3" / "size").write_text("much")
    target.cache_of.cache_clear()
    assert not target.third_level_is_near()
    target.cache_of.cache_clear()
