"""symmetric, generated for float64."""

import numpy as np

from ssr.runtime.intrinsics import address, fma, independent, ld, maximum, minimum, prefetch, sign, st
from ssr.runtime.polling import poll, stopwatch
from ssr.runtime.check_layout import refused
from ssr.runtime.sums import accumulate, accumulate_squares, extreme, found, root, total

real = np.float64
w0 = real(-0.0)
w1 = real(0.125)
w2 = real(0.015625)
w3 = real(0.001953125)
w4 = real(0.000244140625)
w5 = real(5.960464477539063e-08)
w6 = real(1.4551915228366852e-11)
w7 = real(3.552713678800501e-15)
w8 = real(-9.0)
w9 = real(0.0)


def kernel(x, b, r, c0_0, t1_0, u2_0, c0_1, t1_1, u2_1, c3_1, layout, table_0, table_1):
    if refused((x, r, b), layout, 2):
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
        c0_0_n = (i_hi - i_lo + 7) // 8 + 1
        c0_0_w = (c0_0_n + 1 - min(c0_0_n % 16, 1)) * 8
        c0_0_0 = 8 - i_lo
        for clear in range(1 * c0_0_w + 8):
            st(c0_0, clear, w9)
        t1_0_n = (i_hi - i_lo + 7) // 8 + 8
        t1_0_w = (t1_0_n + 1 - min(t1_0_n % 16, 1)) * 8
        t1_0_0 = 32 - i_lo
        for clear in range(1 * t1_0_w + 32):
            st(t1_0, clear, w9)
        u2_0_n = (i_hi - i_lo + 7) // 8 + 8
        u2_0_w = (u2_0_n + 1 - min(u2_0_n % 16, 1)) * 8
        u2_0_0 = 32 - i_lo
        for clear in range(1 * u2_0_w + 32):
            st(u2_0, clear, w9)
        for j in range(j_lo, j_hi):
            poll(watch, i_hi - i_lo)
            b_r1 = b_0 + j * b_s0
            x_r2 = x_0 + j * x_s0
            if ny >= j + 2 and j >= 1:
                x_r3 = x_0 + (j - 1) * x_s0
                x_r4 = x_0 + (j + 1) * x_s0
                for i in range(max(0, i_lo - 1), min(nx - 1, i_hi) + 1):
                    s5 = ld(x, x_r3 + i)
                    s6 = s5 + ld(x, x_r4 + i)
                    st(c0_0, c0_0_0 + i, s6)
            elif ny >= 2:
                line7 = j - 1 if j - 1 >= 0 else j
                line8 = j + 1 if -j + ny - 2 >= 0 else j
                test9 = j - 1 >= 0
                test10 = -j + ny - 2 >= 0
                x_r11 = x_0 + line7 * x_s0
                x_r12 = x_0 + line8 * x_s0
                for i in range(max(0, i_lo - 1), min(nx - 1, i_hi) + 1):
                    s13 = w0 + ld(x, x_r11 + i) if test9 else w0
                    s14 = s13 + ld(x, x_r12 + i) if test10 else s13
                    st(c0_0, c0_0_0 + i, s14)
            for i in range(i_lo, i_hi):
                s15 = ld(b, b_r1 + i)
                s16 = s15 + ld(x, x_r2 + i + 1) if i <= nx - 2 else s15
                s17 = s16 + ld(c0_0, c0_0_0 + i - 1)
                s18 = s17 + ld(c0_0, c0_0_0 + i)
                s19 = s18 + ld(c0_0, c0_0_0 + i + 1)
                st(t1_0, t1_0_0 + i, s19 * w1)
            for i in range(i_lo, i_hi):
                s20 = ld(t1_0, t1_0_0 + i)
                s21 = fma(w1, ld(t1_0, t1_0_0 + i - 1), s20)
                s22 = fma(w2, ld(t1_0, t1_0_0 + i - 2), s21)
                s23 = fma(w3, ld(t1_0, t1_0_0 + i - 3), s22)
                st(u2_0, u2_0_0 + i, s23)
            for i in range(i_lo, i_hi):
                s24 = ld(u2_0, u2_0_0 + i)
                s25 = fma(w4, ld(u2_0, u2_0_0 + i - 4), s24)
                s26 = fma(w5, ld(u2_0, u2_0_0 + i - 8), s25)
                s27 = fma(w6, ld(u2_0, u2_0_0 + i - 12), s26)
                st(t1_0, t1_0_0 + i, s27)
            for i in range(i_lo, i_hi):
                s28 = ld(t1_0, t1_0_0 + i)
                s29 = fma(w7, ld(t1_0, t1_0_0 + i - 16), s28)
                st(x, x_r2 + i, s29)
    for box in range(table_1.shape[0]):  # r[:] = ...
        nx = table_1[box, 0]
        ny = table_1[box, 1]
        j_lo = table_1[box, 2]
        j_hi = table_1[box, 3]
        i_lo = table_1[box, 4]
        i_hi = table_1[box, 5]
        x_0 = table_1[box, 6]
        x_s0 = table_1[box, 7]
        b_0 = table_1[box, 8]
        b_s0 = table_1[box, 9]
        r_0 = table_1[box, 10]
        r_s0 = table_1[box, 11]
        c0_1_n = (i_hi - i_lo + 7) // 8 + 1
        c0_1_w = (c0_1_n + 1 - min(c0_1_n % 16, 1)) * 8
        c0_1_0 = 8 - i_lo
        for clear in range(1 * c0_1_w + 8):
            st(c0_1, clear, w9)
        t1_1_n = (i_hi - i_lo + 7) // 8 + 8
        t1_1_w = (t1_1_n + 1 - min(t1_1_n % 16, 1)) * 8
        t1_1_0 = 32 - i_lo
        for clear in range(1 * t1_1_w + 32):
            st(t1_1, clear, w9)
        u2_1_n = (i_hi - i_lo + 7) // 8 + 8
        u2_1_w = (u2_1_n + 1 - min(u2_1_n % 16, 1)) * 8
        u2_1_0 = 32 - i_lo
        for clear in range(1 * u2_1_w + 32):
            st(u2_1, clear, w9)
        c3_1_n = (i_hi - i_lo + 7) // 8 + 1
        c3_1_w = (c3_1_n + 1 - min(c3_1_n % 16, 1)) * 8
        c3_1_0 = 8 - i_lo
        for clear in range(1 * c3_1_w + 8):
            st(c3_1, clear, w9)
        for j in range(j_hi, j_lo - 1, -1):
            poll(watch, i_hi - i_lo)
            if j >= 2 and j_hi >= j + 1:
                x_r1 = x_0 + (j - 2) * x_s0
                x_r2 = x_0 + j * x_s0
                for i in range(nx):
                    s3 = ld(x, x_r1 + i)
                    s4 = s3 + ld(x, x_r2 + i)
                    st(c0_1, c0_1_0 + i, s4)
            elif j_hi >= 2 and j >= 1:
                line5 = j - 2 if j - 2 >= 0 else j - 1
                line6 = j if -j + ny - 1 >= 0 else j - 1
                test7 = j - 2 >= 0
                test8 = -j + ny - 1 >= 0
                x_r9 = x_0 + line5 * x_s0
                x_r10 = x_0 + line6 * x_s0
                for i in range(nx):
                    s11 = w0 + ld(x, x_r9 + i) if test7 else w0
                    s12 = s11 + ld(x, x_r10 + i) if test8 else s11
                    st(c0_1, c0_1_0 + i, s12)
            if j >= 1:
                b_r13 = b_0 + (j - 1) * b_s0
                x_r14 = x_0 + (j - 1) * x_s0
                for i in range(nx):
                    s15 = ld(b, b_r13 + i)
                    s16 = s15 + ld(x, x_r14 + i - 1) if i >= 1 else s15
                    s17 = s16 + ld(c0_1, c0_1_0 + i - 1)
                    s18 = s17 + ld(c0_1, c0_1_0 + i)
                    s19 = s18 + ld(c0_1, c0_1_0 + i + 1)
                    st(t1_1, t1_1_0 + i, s19 * w1)
                for i in range(nx):
                    s20 = ld(t1_1, t1_1_0 + i)
                    s21 = fma(w1, ld(t1_1, t1_1_0 + i + 1), s20)
                    s22 = fma(w2, ld(t1_1, t1_1_0 + i + 2), s21)
                    s23 = fma(w3, ld(t1_1, t1_1_0 + i + 3), s22)
                    st(u2_1, u2_1_0 + i, s23)
                for i in range(nx):
                    s24 = ld(u2_1, u2_1_0 + i)
                    s25 = fma(w4, ld(u2_1, u2_1_0 + i + 4), s24)
                    s26 = fma(w5, ld(u2_1, u2_1_0 + i + 8), s25)
                    s27 = fma(w6, ld(u2_1, u2_1_0 + i + 12), s26)
                    st(t1_1, t1_1_0 + i, s27)
            if j_hi >= j + 2 and j >= 1:
                x_r28 = x_0 + (j - 1) * x_s0
                x_r29 = x_0 + j * x_s0
                x_r30 = x_0 + (j + 1) * x_s0
                for i in independent(nx):
                    s31 = ld(t1_1, t1_1_0 + i)
                    s32 = fma(w7, ld(t1_1, t1_1_0 + i + 16), s31)
                    st(x, x_r28 + i, s32)
                    s33 = s32
                    s34 = s33 + ld(x, x_r29 + i)
                    s35 = s34 + ld(x, x_r30 + i)
                    st(c3_1, c3_1_0 + i, s35)
            else:
                if j >= 1 and j + 1 >= j_hi:
                    x_r36 = x_0 + (j - 1) * x_s0
                    for i in range(nx):
                        s37 = ld(t1_1, t1_1_0 + i)
                        s38 = fma(w7, ld(t1_1, t1_1_0 + i + 16), s37)
                        st(x, x_r36 + i, s38)
                if j_hi >= j + 1:
                    line39 = j - 1 if j - 1 >= 0 else j
                    line40 = j + 1 if -j + ny - 2 >= 0 else j
                    test41 = j - 1 >= 0
                    test42 = -j + ny - 2 >= 0
                    x_r43 = x_0 + line39 * x_s0
                    x_r44 = x_0 + j * x_s0
                    x_r45 = x_0 + line40 * x_s0
                    for i in range(nx):
                        s46 = w0 + ld(x, x_r43 + i) if test41 else w0
                        s47 = s46 + ld(x, x_r44 + i)
                        s48 = s47 + ld(x, x_r45 + i) if test42 else s47
                        st(c3_1, c3_1_0 + i, s48)
            if j_hi >= j + 1:
                r_r49 = r_0 + j * r_s0
                b_r50 = b_0 + j * b_s0
                x_r51 = x_0 + j * x_s0
                for i in range(nx):
                    s52 = ld(b, b_r50 + i)
                    s53 = fma(w8, ld(x, x_r51 + i), s52)
                    s54 = s53 + ld(c3_1, c3_1_0 + i - 1)
                    s55 = s54 + ld(c3_1, c3_1_0 + i)
                    s56 = s55 + ld(c3_1, c3_1_0 + i + 1)
                    st(r, r_r49 + i, s56)
    return 0


# SIGNATURE of kernel:
#     x: f8[:, :] written
#     b: f8[:, :]
#     r: f8[:, :] written
#     c0_0: f8[:] contiguous written
#     t1_0: f8[:] contiguous written
#     u2_0: f8[:] contiguous written
#     c0_1: f8[:] contiguous written
#     t1_1: f8[:] contiguous written
#     u2_1: f8[:] contiguous written
#     c3_1: f8[:] contiguous written
#     layout: i8[:] contiguous written
#     table_0: i8[:, :] contiguous written
#     table_1: i8[:, :] contiguous written
