"""reduced, generated for float32."""

import numpy as np

from ssr.runtime.check_layout import refused
from ssr.runtime.intrinsics import fma, ld, st
from ssr.runtime.polling import poll, stopwatch
from ssr.runtime.sums import accumulate, accumulate_squares, extreme, found, root, total

real = np.float32
w0 = real(4.0)
w1 = real(-0.0)


def kernel(x, y, r0, r1, r2, r3, state, results, layout, table_0):
    if refused((x, y), layout, 0):
        return 1
    watch = stopwatch()
    for clear in range(192):
        state[clear // 32, clear % 32] = 0
    for box in range(table_0.shape[0]):  # min[:] = ...
        nx = table_0[box, 0]
        ny = table_0[box, 1]
        j_lo = table_0[box, 2]
        j_hi = table_0[box, 3]
        i_lo = table_0[box, 4]
        i_hi = table_0[box, 5]
        x_0 = table_0[box, 6]
        x_s0 = table_0[box, 7]
        y_0 = table_0[box, 8]
        y_s0 = table_0[box, 9]
        r0_0 = 0 - i_lo
        r1_0 = 0 - i_lo
        r2_0 = 0 - i_lo
        r3_0 = 0 - i_lo
        for j in range(j_lo, j_hi):
            poll(watch, i_hi - i_lo)
            if ((i_hi >= 2 and nx >= i_lo + 2) and ny >= j + 2) and j >= 1:
                x_r1 = x_0 + j * x_s0
                y_r2 = y_0 + j * y_s0
                x_r3 = x_0 + (j - 1) * x_s0
                x_r4 = x_0 + (j + 1) * x_s0
                if i_lo == 0:
                    st(r0, r0_0, ld(x, x_r1) * ld(y, y_r2))
                    s5 = -ld(x, x_r3)
                    s6 = fma(w0, ld(x, x_r1), s5)
                    s7 = s6 - ld(x, x_r1 + 1)
                    s8 = s7 - ld(x, x_r4)
                    st(r1, r1_0, s8)
                    v9 = ld(x, x_r1)
                    st(r2, r2_0, v9)
                    v10 = ld(y, y_r2)
                    st(r3, r3_0, v10)
                for i in range(max(1, i_lo), min(nx - 1, i_hi)):
                    st(r0, r0_0 + i, ld(x, x_r1 + i) * ld(y, y_r2 + i))
                    s11 = -ld(x, x_r3 + i)
                    s12 = s11 - ld(x, x_r1 + i - 1)
                    s13 = fma(w0, ld(x, x_r1 + i), s12)
                    s14 = s13 - ld(x, x_r1 + i + 1)
                    s15 = s14 - ld(x, x_r4 + i)
                    st(r1, r1_0 + i, s15)
                    v16 = ld(x, x_r1 + i)
                    st(r2, r2_0 + i, v16)
                    v17 = ld(y, y_r2 + i)
                    st(r3, r3_0 + i, v17)
                if i_hi == nx:
                    st(r0, r0_0 + nx - 1, ld(x, x_r1 + nx - 1) * ld(y, y_r2 + nx - 1))
                    s18 = -ld(x, x_r3 + nx - 1)
                    s19 = s18 - ld(x, x_r1 + nx - 2)
                    s20 = fma(w0, ld(x, x_r1 + nx - 1), s19)
                    s21 = s20 - ld(x, x_r4 + nx - 1)
                    st(r1, r1_0 + nx - 1, s21)
                    v22 = ld(x, x_r1 + nx - 1)
                    st(r2, r2_0 + nx - 1, v22)
                    v23 = ld(y, y_r2 + nx - 1)
                    st(r3, r3_0 + nx - 1, v23)
            else:
                line24 = j - 1 if j - 1 >= 0 else j
                line25 = j + 1 if -j + ny - 2 >= 0 else j
                test26 = j - 1 >= 0
                test27 = -j + ny - 2 >= 0
                x_r28 = x_0 + j * x_s0
                y_r29 = y_0 + j * y_s0
                x_r30 = x_0 + line24 * x_s0
                x_r31 = x_0 + line25 * x_s0
                for i in range(i_lo, i_hi):
                    st(r0, r0_0 + i, ld(x, x_r28 + i) * ld(y, y_r29 + i))
                    s32 = w1 - ld(x, x_r30 + i) if test26 else w1
                    s33 = s32 - ld(x, x_r28 + i - 1) if i >= 1 else s32
                    s34 = fma(w0, ld(x, x_r28 + i), s33)
                    s35 = s34 - ld(x, x_r28 + i + 1) if i <= nx - 2 else s34
                    s36 = s35 - ld(x, x_r31 + i) if test27 else s35
                    st(r1, r1_0 + i, s36)
                    v37 = ld(x, x_r28 + i)
                    st(r2, r2_0 + i, v37)
                    v38 = ld(y, y_r29 + i)
                    st(r3, r3_0 + i, v38)
            accumulate(state, 0, r0, r0_0 + i_lo, i_hi - i_lo)
            accumulate_squares(state, 1, r1, r1_0 + i_lo, i_hi - i_lo)
            extreme(state, 4, 1, r2, r2_0 + i_lo, i_hi - i_lo)
            extreme(state, 5, -1, r3, r3_0 + i_lo, i_hi - i_lo)
    u__sum = np.float64(real(total(state, 0)))
    norm = np.float64(real(root(state, 1)))
    u__max = np.float64(real(found(state, 4)))
    u__min = np.float64(real(found(state, 5)))
    st(results, 0, u__sum)
    st(results, 1, norm)
    st(results, 2, u__max)
    st(results, 3, u__min)
    return 0


# The arguments of kernel:
#     x: f4[:, :]
#     y: f4[:, :]
#     r0: f4[:] contiguous written
#     r1: f4[:] contiguous written
#     r2: f4[:] contiguous written
#     r3: f4[:] contiguous written
#     state: i8[:, :] contiguous written
#     results: f8[:] contiguous written
#     layout: i8[:] contiguous written
#     table_0: i8[:, :] contiguous written
