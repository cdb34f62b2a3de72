"""stencil apply, generated for float64."""

import numpy as np

from ssr.runtime.check_layout import refused
from ssr.runtime.intrinsics import ld, st
from ssr.runtime.polling import poll, stopwatch

real = np.float64
w0 = real(-0.0)
w1 = real(0.0)
w2 = real(27.0)


def kernel(y, x, c0, g1, layout, table_0):
    if refused((y, x), layout, 1):
        return 1
    watch = stopwatch()
    for box in range(table_0.shape[0]):  # y[:] = ...
        nx = table_0[box, 0]
        ny = table_0[box, 1]
        nz = table_0[box, 2]
        k_lo = table_0[box, 3]
        k_hi = table_0[box, 4]
        j_lo = table_0[box, 5]
        j_hi = table_0[box, 6]
        i_lo = table_0[box, 7]
        i_hi = table_0[box, 8]
        y_0 = table_0[box, 9]
        y_s0 = table_0[box, 10]
        y_s1 = table_0[box, 11]
        x_0 = table_0[box, 12]
        x_s0 = table_0[box, 13]
        x_s1 = table_0[box, 14]
        c0_n = (i_hi - i_lo + 7) // 8 + 1
        c0_w = (c0_n + 1 - min(c0_n % 16, 1)) * 8
        c0_0 = 8 - i_lo
        for clear in range(1 * c0_w + 8):
            st(c0, clear, w1)
        g1_n = (i_hi - i_lo + 7) // 8 + 1
        g1_w = (g1_n + 1 - min(g1_n % 16, 1)) * 8
        g1_0 = 8 - i_lo
        for clear in range(4 * g1_w + 8):
            st(g1, clear, w1)
        for k in range(k_lo, k_hi):
            line1 = k - 1 if k - 1 >= 0 else k
            line2 = k + 1 if -k + nz - 2 >= 0 else k
            test3 = k - 1 >= 0
            test4 = -k + nz - 2 >= 0
            for j in range(j_lo - 2, j_hi):
                poll(watch, i_hi - i_lo)
                if ((nz >= k + 2 and k >= 1) and ny >= j + 2) and j >= -1:
                    g1_r5 = g1_0 + (j + 1 & 3) * g1_w
                    x_r6 = x_0 + (k - 1) * x_s0 + (j + 1) * x_s1
                    x_r7 = x_0 + k * x_s0 + (j + 1) * x_s1
                    x_r8 = x_0 + (k + 1) * x_s0 + (j + 1) * x_s1
                    for i in range(max(0, i_lo - 1), min(nx - 1, i_hi) + 1):
                        s9 = ld(x, x_r6 + i)
                        s10 = s9 + ld(x, x_r7 + i)
                        s11 = s10 + ld(x, x_r8 + i)
                        st(g1, g1_r5 + i, s11)
                elif ny >= j + 2 and j >= -1:
                    g1_r12 = g1_0 + (j + 1 & 3) * g1_w
                    x_r13 = x_0 + line1 * x_s0 + (j + 1) * x_s1
                    x_r14 = x_0 + k * x_s0 + (j + 1) * x_s1
                    x_r15 = x_0 + line2 * x_s0 + (j + 1) * x_s1
                    for i in range(max(0, i_lo - 1), min(nx - 1, i_hi) + 1):
                        s16 = w0 + ld(x, x_r13 + i) if test3 else w0
                        s17 = s16 + ld(x, x_r14 + i)
                        s18 = s17 + ld(x, x_r15 + i) if test4 else s17
                        st(g1, g1_r12 + i, s18)
                elif ny == j_hi and j + 1 == j_hi or j_lo == 0 and j == -2:
                    g1_r19 = g1_0 + (j + 1 & 3) * g1_w
                    for i in range(max(0, i_lo - 1), min(nx - 1, i_hi) + 1):
                        st(g1, g1_r19 + i, w1)
                if j >= j_lo:
                    g1_r20 = g1_0 + (j - 1 & 3) * g1_w
                    g1_r21 = g1_0 + (j & 3) * g1_w
                    g1_r22 = g1_0 + (j + 1 & 3) * g1_w
                    y_r23 = y_0 + k * y_s0 + j * y_s1
                    x_r24 = x_0 + k * x_s0 + j * x_s1
                    for i in range(max(0, i_lo - 1), min(nx - 1, i_hi) + 1):
                        s25 = ld(g1, g1_r20 + i)
                        s26 = s25 + ld(g1, g1_r21 + i)
                        s27 = s26 + ld(g1, g1_r22 + i)
                        st(c0, c0_0 + i, s27)
                    for i in range(i_lo, i_hi):
                        s28 = w2 * ld(x, x_r24 + i)
                        s29 = s28 - ld(c0, c0_0 + i - 1)
                        s30 = s29 - ld(c0, c0_0 + i)
                        s31 = s30 - ld(c0, c0_0 + i + 1)
                        st(y, y_r23 + i, s31)
    return 0


# The arguments of kernel:
#     y: f8[:, :, :] written
#     x: f8[:, :, :]
#     c0: f8[:] contiguous written
#     g1: f8[:] contiguous written
#     layout: i8[:] contiguous written
#     table_0: i8[:, :] contiguous written
