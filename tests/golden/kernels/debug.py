"""gauss_seidel, generated for float64."""

import numpy as np

from ssr.runtime.check_layout import refused
from ssr.runtime.checked import ld, require, st
from ssr.runtime.intrinsics import fma
from ssr.runtime.polling import poll, stopwatch

real = np.float64
w0 = real(0.25)
piece_0 = 'ahead_t0_0 of x'
piece_1 = 'ahead_t0_tested of x'
piece_2 = 'row_1 of x'
piece_3 = 'row_0 of x'


def examine_0(state, look, value):
    if value - value != 0:
        first = state[0, 0] == 0
        same = state[0, 0] != 0
        first = first | same & (look < state[0, 1])
        same = same & (look == state[0, 1])
        if first:
            state[0, 0] = 1
            state[0, 1] = look
            state[0, 6] = 0
            if value > 0:
                state[0, 6] = 1
            if value < 0:
                state[0, 6] = -1


def examine_2(state, look, at_0, at_1, value):
    if value - value != 0:
        first = state[0, 0] == 0
        same = state[0, 0] != 0
        first = first | same & (look < state[0, 1])
        same = same & (look == state[0, 1])
        first = first | same & (at_0 < state[0, 2])
        same = same & (at_0 == state[0, 2])
        first = first | same & (at_1 < state[0, 3])
        same = same & (at_1 == state[0, 3])
        if first:
            state[0, 0] = 1
            state[0, 1] = look
            state[0, 2] = at_0
            state[0, 3] = at_1
            state[0, 6] = 0
            if value > 0:
                state[0, 6] = 1
            if value < 0:
                state[0, 6] = -1


def kernel(x, b, t0, state, layout, table_0):
    if refused((x, b), layout, 1):
        return 1
    watch = stopwatch()
    for clear in range(32):
        state[clear // 32, clear % 32] = 0
    for box in range(table_0.shape[0]):  # x[:] = ...
        nx = table_0[box, 0]
        ny = table_0[box, 1]
        j_lo = table_0[box, 2]
        j_hi = table_0[box, 3]
        i_lo = table_0[box, 4]
        i_hi = table_0[box, 5]
        x_0 = table_0[box, 6]
        x_s0 = table_0[box, 7]
        b_0 = table_0[box, 8]
        b_s0 = table_0[box, 9]
        t0_0 = 0 - i_lo
        for j in range(j_lo, j_hi):
            poll(watch, i_hi - i_lo)
            x_r1 = x_0 + j * x_s0
            if (nx >= i_lo + 2 and ny >= j + 2) and j >= 1:
                b_r2 = b_0 + j * b_s0
                x_r3 = x_0 + (j + 1) * x_s0
                x_r4 = x_0 + (j - 1) * x_s0
                for i in range(i_lo, i_hi):
                    require((((((nx >= i_lo + 2 and ny >= j + 2) and j >= 1) and j_hi >= j + 1) and j >= j_lo) and i_hi >= i + 1) and i >= i_lo, piece_0, (j, i))
                    s5 = ld(b, b_r2 + i)
                    s6 = s5 + ld(x, x_r1 + i + 1) if i <= nx - 2 else s5
                    s7 = s6 + ld(x, x_r3 + i)
                    s8 = s7 + ld(x, x_r4 + i)
                    st(t0, t0_0 + i, s8 * w0)
            else:
                line9 = j + 1 if -j + ny - 2 >= 0 else j
                line10 = j - 1 if j - 1 >= 0 else j
                test11 = -j + ny - 2 >= 0
                test12 = j - 1 >= 0
                b_r13 = b_0 + j * b_s0
                x_r14 = x_0 + line9 * x_s0
                x_r15 = x_0 + line10 * x_s0
                for i in range(i_lo, i_hi):
                    require(((((nx >= i_lo + 2 and j_lo == 0) and j == 0) and i_hi >= i + 1) and i >= i_lo or ((((ny >= 2 and nx >= i_lo + 2) and j_hi == ny) and j + 1 == ny) and i_hi >= i + 1) and i >= i_lo) or (((i_hi == nx and i_lo + 1 == nx) and j_hi >= j + 1) and j >= j_lo) and i + 1 == nx, piece_1, (j, i))
                    s16 = ld(b, b_r13 + i)
                    s17 = s16 + ld(x, x_r1 + i + 1) if i <= nx - 2 else s16
                    s18 = s17 + ld(x, x_r14 + i) if test11 else s17
                    s19 = s18 + ld(x, x_r15 + i) if test12 else s18
                    st(t0, t0_0 + i, s19 * w0)
            if i_lo == 0:
                require(((i_lo == 0 and j_hi >= j + 1) and j >= j_lo) and 0 == 0, piece_2, (j, 0))
                v20 = ld(t0, t0_0)
                examine_2(state, 0, j, 0, v20)
                st(x, x_r1, v20)
            for i in range(max(1, i_lo), i_hi):
                require((((j_hi >= j + 1 and j >= j_lo) and i >= 1) and i_hi >= i + 1) and i >= i_lo, piece_3, (j, i))
                s21 = ld(t0, t0_0 + i)
                s22 = fma(w0, ld(x, x_r1 + i - 1), s21)
                examine_2(state, 0, j, i, s22)
                st(x, x_r1 + i, s22)
    if state[0, 0] != 0:
        return 3
    return 0


# The arguments of kernel:
#     x: f8[:, :] written
#     b: f8[:, :]
#     t0: f8[:] contiguous written
#     state: i8[:, :] contiguous written
#     layout: i8[:] contiguous written
#     table_0: i8[:, :] contiguous written
