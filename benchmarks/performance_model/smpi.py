"""Write a trace for SMPI, SimGrid's simulator of MPI, in its time-independent form.

A directory holds the actions of each rank, a platform, and a script that replays them::

    traces/rank-0.txt ...   the actions
    traces.txt              the names of these files
    platform.xml, hosts.txt a host for each rank, with a separate link; or nodes of a fat tree
    replay.sh               calls smpirun (Debian: libsimgrid-dev)

Ranks compute at 10^9 operations in a second, so that work is in nanoseconds. Messages are
eager: they leave when they are sent, and wait for their receivers.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from .loggp import LogGP
from .recorded import Recorded

EAGER = 1 << 30
"""Messages of fewer bytes are eager."""

PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="ranks" prefix="rank-" suffix="" radical="0-{last}" speed="1Gf"
           bw="{bandwidth:.6e}Bps" lat="{latency:.6e}s" sharing_policy="SPLITDUPLEX"/>
</platform>
"""

FAT_TREE = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="nodes" prefix="node-" suffix="" radical="0-{last}" speed="1Gf" core="{cores}"
           bw="{bandwidth:.6e}Bps" lat="{latency:.6e}s" sharing_policy="SPLITDUPLEX"
           loopback_bw="{bandwidth:.6e}Bps" loopback_lat="{loopback:.6e}s"
           topology="FAT_TREE" topo_parameters="2;{leaf},{leaves};1,{above};1,1"/>
</platform>
"""
LEAF = 16
"""The nodes of a leaf switch, which has half as many links to the level above."""

SCRIPT = """#!/bin/sh
# Replays the traces of this directory; the last line but one tells the simulated seconds.
cd "$(dirname "$0")" || exit 1
exec smpirun -np {ranks} -platform platform.xml -hostfile hosts.txt -replay traces.txt \\
    --cfg=network/model:CM02 --cfg=network/TCP-gamma:0 --cfg=network/crosstraffic:no \\
    --cfg=network/bandwidth-factor:1 --cfg=network/latency-factor:1 \\
    --cfg=smpi/async-small-thresh:{eager} --cfg=smpi/send-is-detached-thresh:{eager} \\
    --cfg=smpi/ois:0:{overhead:.6e}:0 --cfg=smpi/or:0:{overhead:.6e}:0 \\
    --cfg=smpi/host-speed:1e9 --cfg=smpi/init:0 --cfg=smpi/test:0 --cfg=smpi/iprobe:0 \\
    --cfg=smpi/display-timing:yes --cfg=contexts/stack-size:64 "$@"
"""


def write(
    trace: Recorded,
    directory: str | Path,
    network: LogGP,
    calls: int = 10,
    ranks_per_node: int | None = None,
) -> Path:
    """Write some calls of a trace; return the script that replays them."""
    place = Path(directory)
    (place / "traces").mkdir(parents=True, exist_ok=True)
    sends, receives = _by_rank(trace)
    names = [f"traces/rank-{rank}.txt" for rank in range(trace.ranks)]
    for rank, name in enumerate(names):
        call = [f"{rank} {line}\n" for line in _call(trace, rank, sends[rank], receives[rank])]
        text = "".join([f"{rank} init\n", *(call * calls), f"{rank} finalize\n"])
        (place / name).write_text(text, encoding="utf-8")
    hosts, platform = _platform(trace.ranks, network, ranks_per_node)
    files = {
        "traces.txt": "\n".join(names) + "\n",
        "hosts.txt": "".join(f"{host}\n" for host in hosts),
        "platform.xml": platform,
        "replay.sh": SCRIPT.format(ranks=trace.ranks, eager=EAGER, overhead=network.overhead),
    }
    for name, text in files.items():
        (place / name).write_text(text, encoding="utf-8")
    script = place / "replay.sh"
    script.chmod(0o755)
    return script


def replayed(script: Path) -> float:
    """Return the simulated seconds of all calls that a script replays."""
    done = subprocess.run([script], capture_output=True, text=True, check=True)
    line = next(line for line in done.stderr.splitlines() if "Simulated time" in line)
    return float(line.split("Simulated time:")[1].split()[0])


def _platform(ranks: int, network: LogGP, ranks_per_node: int | None) -> tuple[list[str], str]:
    """Return the host of each rank, and the platform.

    A message passes two links within a leaf switch or without switches, and four above.
    """
    bandwidth, latency = 1 / max(network.gap, 1e-15), network.latency / 2
    if ranks_per_node is None:
        hosts = [f"rank-{rank}" for rank in range(ranks)]
        return hosts, PLATFORM.format(last=ranks - 1, bandwidth=bandwidth, latency=latency)
    nodes = -(-ranks // ranks_per_node)
    leaf = min(nodes, LEAF)
    leaves = -(-nodes // leaf)
    platform = FAT_TREE.format(
        last=leaf * leaves - 1,
        cores=ranks_per_node,
        bandwidth=bandwidth,
        latency=latency,
        loopback=network.latency,
        leaf=leaf,
        leaves=leaves,
        above=max(1, leaf // 2),
    )
    return [f"node-{rank // ranks_per_node}" for rank in range(ranks)], platform


Letters = dict[int, list[tuple[int, int]]]
"""For each exchange the peers of a rank, each with the bytes of a message."""


def _by_rank(trace: Recorded) -> tuple[list[Letters], list[Letters]]:
    """Return the messages that each rank sends, and those that it receives."""
    sends: list[Letters] = [{} for _ in range(trace.ranks)]
    receives: list[Letters] = [{} for _ in range(trace.ranks)]
    for number, messages in enumerate(trace.messages):
        merged = messages.merged()
        rows = np.array([merged.sources, merged.targets, merged.bytes]).T.astype(int).tolist()
        for source, target, count in rows:
            sends[source].setdefault(number, []).append((target, count))
            receives[target].setdefault(number, []).append((source, count))
    return sends, receives


def _call(trace: Recorded, rank: int, sends: Letters, receives: Letters) -> Iterator[str]:
    """Yield the actions of a rank in a call; 6 is the number of MPI_BYTE."""
    work = trace.work[trace.shapes[rank]]
    for number, event in enumerate(trace.events):
        yield f"compute {1e9 * work[number]:.0f}"
        tag = event.number
        if event.what == "reduce":
            yield f"allreduce {event.number} 0 6"
        elif event.what == "begin":
            yield from (f"irecv {peer} {tag} {count} 6" for peer, count in receives.get(tag, ()))
            yield from (f"isend {peer} {tag} {count} 6" for peer, count in sends.get(tag, ()))
        else:
            yield from (f"wait {peer} {rank} {tag}" for peer, _ in receives.get(tag, ()))
            yield from (f"wait {rank} {peer} {tag}" for peer, _ in sends.get(tag, ()))
    yield f"compute {1e9 * work[-1]:.0f}"
