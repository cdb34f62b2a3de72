"""symmetric, generated for float64."""

import numpy as np

from ssr.runtime.check_layout import refused
from ssr.runtime.intrinsics import fma, independent, ld, st
from ssr.runtime.polling import poll, stopwatch

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
                x_r30 = x_0 + (j - 2) * x_s0
                x_r31 = x_0 + j * x_s0
                for i in range(nx):
                    s32 = ld(x, x_r30 + i)
                    s33 = s32 + ld(x, x_r31 + i)
                    st(c0_1, c0_1_0 + i, s33)
            elif j_hi >= 2 and j >= 1:
                line34 = j - 2 if j - 2 >= 0 else j - 1
                line35 = j if -j + ny - 1 >= 0 else j - 1
                test36 = j - 2 >= 0
                test37 = -j + ny - 1 >= 0
                x_r38 = x_0 + line34 * x_s0
                x_r39 = x_0 + line35 * x_s0
                for i in range(nx):
                    s40 = w0 + ld(x, x_r38 + i) if test36 else w0
                    s41 = s40 + ld(x, x_r39 + i) if test37 else s40
                    st(c0_1, c0_1_0 + i, s41)
            if j >= 1:
                b_r42 = b_0 + (j - 1) * b_s0
                x_r43 = x_0 + (j - 1) * x_s0
                for i in range(nx):
                    s44 = ld(b, b_r42 + i)
                    s45 = s44 + ld(x, x_r43 + i - 1) if i >= 1 else s44
                    s46 = s45 + ld(c0_1, c0_1_0 + i - 1)
                    s47 = s46 + ld(c0_1, c0_1_0 + i)
                    s48 = s47 + ld(c0_1, c0_1_0 + i + 1)
                    st(t1_1, t1_1_0 + i, s48 * w1)
                for i in range(nx):
                    s49 = ld(t1_1, t1_1_0 + i)
                    s50 = fma(w1, ld(t1_1, t1_1_0 + i + 1), s49)
                    s51 = fma(w2, ld(t1_1, t1_1_0 + i + 2), s50)
                    s52 = fma(w3, ld(t1_1, t1_1_0 + i + 3), s51)
                    st(u2_1, u2_1_0 + i, s52)
                for i in range(nx):
                    s53 = ld(u2_1, u2_1_0 + i)
                    s54 = fma(w4, ld(u2_1, u2_1_0 + i + 4), s53)
                    s55 = fma(w5, ld(u2_1, u2_1_0 + i + 8), s54)
                    s56 = fma(w6, ld(u2_1, u2_1_0 + i + 12), s55)
                    st(t1_1, t1_1_0 + i, s56)
            if j_hi >= j + 2 and j >= 1:
                x_r57 = x_0 + (j - 1) * x_s0
                x_r58 = x_0 + j * x_s0
                x_r59 = x_0 + (j + 1) * x_s0
                for i in independent(nx):
                    s60 = ld(t1_1, t1_1_0 + i)
                    s61 = fma(w7, ld(t1_1, t1_1_0 + i + 16), s60)
                    st(x, x_r57 + i, s61)
                    s62 = s61
                    s63 = s62 + ld(x, x_r58 + i)
                    s64 = s63 + ld(x, x_r59 + i)
                    st(c3_1, c3_1_0 + i, s64)
            else:
                if j >= 1 and j + 1 >= j_hi:
                    x_r65 = x_0 + (j - 1) * x_s0
                    for i in range(nx):
                        s66 = ld(t1_1, t1_1_0 + i)
                        s67 = fma(w7, ld(t1_1, t1_1_0 + i + 16), s66)
                        st(x, x_r65 + i, s67)
                if j_hi >= j + 1:
                    line68 = j - 1 if j - 1 >= 0 else j
                    line69 = j + 1 if -j + ny - 2 >= 0 else j
                    test70 = j - 1 >= 0
                    test71 = -j + ny - 2 >= 0
                    x_r72 = x_0 + line68 * x_s0
                    x_r73 = x_0 + j * x_s0
                    x_r74 = x_0 + line69 * x_s0
                    for i in range(nx):
                        s75 = w0 + ld(x, x_r72 + i) if test70 else w0
                        s76 = s75 + ld(x, x_r73 + i)
                        s77 = s76 + ld(x, x_r74 + i) if test71 else s76
                        st(c3_1, c3_1_0 + i, s77)
            if j_hi >= j + 1:
                r_r78 = r_0 + j * r_s0
                b_r79 = b_0 + j * b_s0
                x_r80 = x_0 + j * x_s0
                for i in range(nx):
                    s81 = ld(b, b_r79 + i)
                    s82 = fma(w8, ld(x, x_r80 + i), s81)
                    s83 = s82 + ld(c3_1, c3_1_0 + i - 1)
                    s84 = s83 + ld(c3_1, c3_1_0 + i)
                    s85 = s84 + ld(c3_1, c3_1_0 + i + 1)
                    st(r, r_r78 + i, s85)
    return 0


# The arguments of kernel:
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
