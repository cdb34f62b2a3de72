"""gauss_seidel, generated for float64."""

import numpy as np

from ssr.runtime.check_layout import refused
from ssr.runtime.intrinsics import ld, st
from ssr.runtime.polling import poll, stopwatch

real = np.float64
w0 = real(4.0)


def kernel(x, b, t0, layout, table_0):
    if refused((x, b), layout, 1):
        return 1
    watch = stopwatch()
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
                    s5 = ld(b, b_r2 + i)
                    s6 = s5 + ld(x, x_r1 + i + 1) if i <= nx - 2 else s5
                    s7 = s6 + ld(x, x_r3 + i)
                    s8 = s7 + ld(x, x_r4 + i)
                    st(t0, t0_0 + i, s8)
            else:
                line9 = j + 1 if -j + ny - 2 >= 0 else j
                line10 = j - 1 if j - 1 >= 0 else j
                test11 = -j + ny - 2 >= 0
                test12 = j - 1 >= 0
                b_r13 = b_0 + j * b_s0
                x_r14 = x_0 + line9 * x_s0
                x_r15 = x_0 + line10 * x_s0
                for i in range(i_lo, i_hi):
                    s16 = ld(b, b_r13 + i)
                    s17 = s16 + ld(x, x_r1 + i + 1) if i <= nx - 2 else s16
                    s18 = s17 + ld(x, x_r14 + i) if test11 else s17
                    s19 = s18 + ld(x, x_r15 + i) if test12 else s18
                    st(t0, t0_0 + i, s19)
            if i_lo == 0:
                st(x, x_r1, ld(t0, t0_0) / w0)
            for i in range(max(1, i_lo), i_hi):
                s20 = ld(t0, t0_0 + i)
                s21 = s20 + ld(x, x_r1 + i - 1)
                st(x, x_r1 + i, s21 / w0)
    return 0


# The arguments of kernel:
#     x: f8[:, :] written
#     b: f8[:, :]
#     t0: f8[:] contiguous written
#     layout: i8[:] contiguous written
#     table_0: i8[:, :] contiguous written
