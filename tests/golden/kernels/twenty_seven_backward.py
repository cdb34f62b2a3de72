"""gauss_seidel, generated for float64."""

import numpy as np

from ssr.runtime.check_layout import refused
from ssr.runtime.intrinsics import fma, ld, st
from ssr.runtime.polling import poll, stopwatch

real = np.float64
w0 = real(-0.0)
w1 = real(0.0)
w2 = real(0.038461538461538464)
w3 = real(0.0014792899408284025)
w4 = real(5.689576695493856e-05)
w5 = real(2.1882987290360987e-06)
w6 = real(4.7886513275010046e-12)


def kernel(x, b, c0, g1, t2, u3, layout, table_0):
    if refused((x, b), layout, 1):
        return 1
    watch = stopwatch()
    for box in range(table_0.shape[0]):  # x[:] = ...
        nx = table_0[box, 0]
        ny = table_0[box, 1]
        nz = table_0[box, 2]
        k_lo = table_0[box, 3]
        k_hi = table_0[box, 4]
        j_lo = table_0[box, 5]
        j_hi = table_0[box, 6]
        i_lo = table_0[box, 7]
        i_hi = table_0[box, 8]
        x_0 = table_0[box, 9]
        x_s0 = table_0[box, 10]
        x_s1 = table_0[box, 11]
        b_0 = table_0[box, 12]
        b_s0 = table_0[box, 13]
        b_s1 = table_0[box, 14]
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
        t2_n = (i_hi - i_lo + 7) // 8 + 4
        t2_w = (t2_n + 1 - min(t2_n % 16, 1)) * 8
        t2_0 = 16 - i_lo
        for clear in range(1 * t2_w + 16):
            st(t2, clear, w1)
        u3_n = (i_hi - i_lo + 7) // 8 + 4
        u3_w = (u3_n + 1 - min(u3_n % 16, 1)) * 8
        u3_0 = 16 - i_lo
        for clear in range(1 * u3_w + 16):
            st(u3, clear, w1)
        for k in range(k_hi - 1, k_lo - 1, -1):
            line1 = k - 1 if k - 1 >= 0 else k
            line2 = k + 1 if -k + nz - 2 >= 0 else k
            test3 = k - 1 >= 0
            test4 = -k + nz - 2 >= 0
            for j in range(j_hi + 1, j_lo - 1, -1):
                poll(watch, i_hi - i_lo)
                if ((nz >= k + 2 and k >= 1) and j >= 1) and ny >= j:
                    g1_r5 = g1_0 + (j - 1 & 3) * g1_w
                    x_r6 = x_0 + (k - 1) * x_s0 + (j - 1) * x_s1
                    x_r7 = x_0 + (k + 1) * x_s0 + (j - 1) * x_s1
                    for i in range(max(0, i_lo - 1), min(nx - 1, i_hi) + 1):
                        s8 = ld(x, x_r6 + i)
                        s9 = s8 + ld(x, x_r7 + i)
                        st(g1, g1_r5 + i, s9)
                elif (nz >= 2 and j >= 1) and ny >= j:
                    g1_r10 = g1_0 + (j - 1 & 3) * g1_w
                    x_r11 = x_0 + line1 * x_s0 + (j - 1) * x_s1
                    x_r12 = x_0 + line2 * x_s0 + (j - 1) * x_s1
                    for i in range(max(0, i_lo - 1), min(nx - 1, i_hi) + 1):
                        s13 = w0 + ld(x, x_r11 + i) if test3 else w0
                        s14 = s13 + ld(x, x_r12 + i) if test4 else s13
                        st(g1, g1_r10 + i, s14)
                elif ((ny == j_hi and nz >= 2) and j == j_hi + 1 or (j_lo == 0 and nz >= 2) and j == 0) or ((k_hi == 1 and k_lo == 0) and nz == 1) and k == 0:
                    g1_r15 = g1_0 + (j - 1 & 3) * g1_w
                    for i in range(max(0, i_lo - 1), min(nx - 1, i_hi) + 1):
                        st(g1, g1_r15 + i, w1)
                if (ny >= j + 2 and j >= 1) and j_hi >= j + 1:
                    g1_r16 = g1_0 + (j - 1 & 3) * g1_w
                    g1_r17 = g1_0 + (j & 3) * g1_w
                    g1_r18 = g1_0 + (j + 1 & 3) * g1_w
                    x_r19 = x_0 + k * x_s0 + (j - 1) * x_s1
                    x_r20 = x_0 + k * x_s0 + (j + 1) * x_s1
                    for i in range(max(0, i_lo - 1), min(nx - 1, i_hi) + 1):
                        s21 = ld(g1, g1_r16 + i)
                        s22 = s21 + ld(g1, g1_r17 + i)
                        s23 = s22 + ld(g1, g1_r18 + i)
                        s24 = s23 + ld(x, x_r19 + i)
                        s25 = s24 + ld(x, x_r20 + i)
                        st(c0, c0_0 + i, s25)
                elif j_lo == 0 and j == 0 or ny == j_hi and j + 1 == j_hi:
                    line26 = j - 1 if j - 1 >= 0 else j
                    line27 = j + 1 if -j + ny - 2 >= 0 else j
                    test28 = j - 1 >= 0
                    test29 = -j + ny - 2 >= 0
                    g1_r30 = g1_0 + (j - 1 & 3) * g1_w
                    g1_r31 = g1_0 + (j & 3) * g1_w
                    g1_r32 = g1_0 + (j + 1 & 3) * g1_w
                    x_r33 = x_0 + k * x_s0 + line26 * x_s1
                    x_r34 = x_0 + k * x_s0 + line27 * x_s1
                    for i in range(max(0, i_lo - 1), min(nx - 1, i_hi) + 1):
                        s35 = ld(g1, g1_r30 + i)
                        s36 = s35 + ld(g1, g1_r31 + i)
                        s37 = s36 + ld(g1, g1_r32 + i)
                        s38 = s37 + ld(x, x_r33 + i) if test28 else s37
                        s39 = s38 + ld(x, x_r34 + i) if test29 else s38
                        st(c0, c0_0 + i, s39)
                if j_hi >= j + 1:
                    b_r40 = b_0 + k * b_s0 + j * b_s1
                    x_r41 = x_0 + k * x_s0 + j * x_s1
                    for i in range(i_lo, i_hi):
                        s42 = ld(b, b_r40 + i)
                        s43 = s42 + ld(x, x_r41 + i - 1) if i >= 1 else s42
                        s44 = s43 + ld(c0, c0_0 + i - 1)
                        s45 = s44 + ld(c0, c0_0 + i)
                        s46 = s45 + ld(c0, c0_0 + i + 1)
                        st(t2, t2_0 + i, s46 * w2)
                    for i in range(i_lo, i_hi):
                        s47 = ld(t2, t2_0 + i)
                        s48 = fma(w2, ld(t2, t2_0 + i + 1), s47)
                        s49 = fma(w3, ld(t2, t2_0 + i + 2), s48)
                        s50 = fma(w4, ld(t2, t2_0 + i + 3), s49)
                        st(u3, u3_0 + i, s50)
                    for i in range(i_lo, i_hi):
                        s51 = ld(u3, u3_0 + i)
                        s52 = fma(w5, ld(u3, u3_0 + i + 4), s51)
                        s53 = fma(w6, ld(u3, u3_0 + i + 8), s52)
                        st(x, x_r41 + i, s53)
    return 0


# The arguments of kernel:
#     x: f8[:, :, :] written
#     b: f8[:, :, :]
#     c0: f8[:] contiguous written
#     g1: f8[:] contiguous written
#     t2: f8[:] contiguous written
#     u3: f8[:] contiguous written
#     layout: i8[:] contiguous written
#     table_0: i8[:, :] contiguous written
