"""Mailboxes: messages arrive in order and whole, whoever is ahead."""

from __future__ import annotations

import threading
from collections import deque

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundary.parallel.worlds.channels import ask, begin
from boundary.parallel.worlds.mailboxes import Mailbox, Rows


@given(st.integers(0, 300), st.lists(st.sampled_from(["send", "receive"]), max_size=60))
def test_messages_arrive_whole_and_in_order(count: int, turns: list[str]) -> None:
    """A rank sends up to two messages ahead, and waits before a third one."""
    there, here = np.zeros(count), np.zeros(count)
    box = Mailbox(there.nbytes)
    sends, receives = Rows([box.sends(there)], [box]), Rows([box.receives(here)], [box])
    under_way: deque[int] = deque()
    number, open_send, open_receive = 0, False, False
    for turn in turns:
        if turn == "send":
            if not open_send:
                number += 1
                there[:] = number + 0.5 * np.arange(count)
                assert begin(sends.functions[0]) == 0
            put = ask(sends.functions[1]) == (True, 0)
            assert put == (len(under_way) < 2)
            open_send = not put
            if put:
                under_way.append(number)
            assert bool(sends.pending()) == open_send
        else:
            if not open_receive:
                assert begin(receives.functions[0]) == 0
            taken = ask(receives.functions[1]) == (True, 0)
            assert taken == bool(under_way)
            open_receive = not taken
            if taken:
                assert np.array_equal(here, under_way.popleft() + 0.5 * np.arange(count))


def test_rows_that_have_not_begun_wait_for_nothing() -> None:
    values = np.zeros(3)
    box = Mailbox(values.nbytes)
    assert Rows([box.sends(values), box.receives(values)], [box]).pending() == []


@pytest.mark.parametrize("count", [1, 1000, 100_000])
def test_two_threads_send_to_each_other(count: int) -> None:
    """Each sends what it has received, and adds one."""
    a, b = Mailbox(8 * count), Mailbox(8 * count)
    last: list[float] = []

    def play(out: Mailbox, back: Mailbox, first: bool) -> None:
        values = np.zeros(count)
        sends, receives = Rows([out.sends(values)], [out]), Rows([back.receives(values)], [back])
        for turn in range(200):
            for rows in (sends, receives) if first else (receives, sends):
                begin(rows.functions[0])
                while not ask(rows.functions[1])[0]:
                    pass
                if rows is receives:
                    assert (values == values[0]).all()
                    values += 1.0
            assert turn >= 0
        last.append(values[0])

    players = [
        threading.Thread(target=play, args=(a, b, True)),
        threading.Thread(target=play, args=(b, a, False)),
    ]
    for player in players:
        player.start()
    for player in players:
        player.join()
    assert sorted(last) == [399.0, 400.0]
