"""stencil apply, generated for float32."""

import numpy as np

from ssr.runtime.check_layout import refused
from ssr.runtime.intrinsics import fma, ld, st
from ssr.runtime.polling import poll, stopwatch

real = np.float32
w0 = real(4.0)
w1 = real(-0.0)


def kernel(y, x, layout, table_0):
    if refused((y, x), layout, 1):
        return 1
    watch = stopwatch()
    for box in range(table_0.shape[0]):  # y[:] = ...
        nx = table_0[box, 0]
        ny = table_0[box, 1]
        j_lo = table_0[box, 2]
        j_hi = table_0[box, 3]
        i_lo = table_0[box, 4]
        i_hi = table_0[box, 5]
        y_0 = table_0[box, 6]
        y_s0 = table_0[box, 7]
        x_0 = table_0[box, 8]
        x_s0 = table_0[box, 9]
        for j in range(j_lo, j_hi):
            poll(watch, i_hi - i_lo)
            if ((i_hi >= 2 and nx >= i_lo + 2) and ny >= j + 2) and j >= 1:
                y_r1 = y_0 + j * y_s0
                x_r2 = x_0 + (j - 1) * x_s0
                x_r3 = x_0 + j * x_s0
                x_r4 = x_0 + (j + 1) * x_s0
                for i in range(i_lo, i_hi):
                    s5 = -ld(x, x_r2 + i)
                    s6 = s5 - ld(x, x_r3 + i - 1) if i >= 1 else s5
                    s7 = fma(w0, ld(x, x_r3 + i), s6)
                    s8 = s7 - ld(x, x_r3 + i + 1) if i <= nx - 2 else s7
                    s9 = s8 - ld(x, x_r4 + i)
                    st(y, y_r1 + i, s9)
            else:
                line10 = j - 1 if j - 1 >= 0 else j
                line11 = j + 1 if -j + ny - 2 >= 0 else j
                test12 = j - 1 >= 0
                test13 = -j + ny - 2 >= 0
                y_r14 = y_0 + j * y_s0
                x_r15 = x_0 + line10 * x_s0
                x_r16 = x_0 + j * x_s0
                x_r17 = x_0 + line11 * x_s0
                for i in range(i_lo, i_hi):
                    s18 = w1 - ld(x, x_r15 + i) if test12 else w1
                    s19 = s18 - ld(x, x_r16 + i - 1) if i >= 1 else s18
                    s20 = fma(w0, ld(x, x_r16 + i), s19)
                    s21 = s20 - ld(x, x_r16 + i + 1) if i <= nx - 2 else s20
                    s22 = s21 - ld(x, x_r17 + i) if test13 else s21
                    st(y, y_r14 + i, s22)
    return 0


# The arguments of kernel:
#     y: f4[:, :] written
#     x: f4[:, :]
#     layout: i8[:] contiguous written
#     table_0: i8[:, :] contiguous written
