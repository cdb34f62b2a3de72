"""red_black apply, generated for float64."""

import numpy as np

from ssr.runtime.check_layout import refused
from ssr.runtime.intrinsics import fma, ld, st
from ssr.runtime.polling import poll, stopwatch

real = np.float64
w0 = real(4.0)


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
            if nx >= j % 2 + 1:
                if (i_lo == 0 and ny >= j + 2) and (j + 1) % 2 == 0:
                    x_r1 = x_0 + j * x_s0
                    s2 = -ld(x, x_0 + (j - 1) * x_s0)
                    s3 = fma(w0, ld(x, x_r1), s2)
                    s4 = s3 - ld(x, x_r1 + 1)
                    s5 = s4 - ld(x, x_0 + (j + 1) * x_s0)
                    st(y, y_0 + j * y_s0, s5)
                if ((j_hi == ny and i_lo == 0) and j + 1 == ny) and ny % 2 == 0:
                    x_r6 = x_0 + j * x_s0
                    s7 = -ld(x, x_0 + (j - 1) * x_s0)
                    s8 = fma(w0, ld(x, x_r6), s7)
                    s9 = s8 - ld(x, x_r6 + 1)
                    st(y, y_0 + j * y_s0, s9)
                if ny >= j + 2:
                    if j >= 1 and (i_lo + j) % 2 == 0:
                        s10 = w0 * ld(x, x_0 + j * x_s0 + i_lo)
                        st(y, y_0 + j * y_s0 + i_lo, s10)
                    elif (i_hi >= 2 and i_lo == 0) and (j + 1) % 2 == 0:
                        s11 = w0 * ld(x, x_0 + j * x_s0 + 1)
                        st(y, y_0 + j * y_s0 + 1, s11)
                    if j >= 1:
                        y_r12 = y_0 + j * y_s0
                        x_r13 = x_0 + (j - 1) * x_s0
                        x_r14 = x_0 + j * x_s0
                        x_r15 = x_0 + (j + 1) * x_s0
                        for i in range(max(-((i_lo + j) % 2) + i_lo + 1, j % 2 + 1), i_hi - 1, 2):
                            s16 = -ld(x, x_r13 + i)
                            s17 = s16 - ld(x, x_r14 + i - 1)
                            s18 = fma(w0, ld(x, x_r14 + i), s17)
                            s19 = s18 - ld(x, x_r14 + i + 1)
                            s20 = s19 - ld(x, x_r15 + i)
                            st(y, y_r12 + i, s20)
                            s21 = w0 * ld(x, x_r14 + i + 1)
                            st(y, y_r12 + i + 1, s21)
                        if (i_hi >= 2 and nx >= i_hi + 1) and (i_hi + j) % 2 == 0:
                            s22 = -ld(x, x_r13 + i_hi - 1)
                            s23 = s22 - ld(x, x_r14 + i_hi - 2)
                            s24 = fma(w0, ld(x, x_r14 + i_hi - 1), s23)
                            s25 = s24 - ld(x, x_r14 + i_hi)
                            s26 = s25 - ld(x, x_r15 + i_hi - 1)
                            st(y, y_r12 + i_hi - 1, s26)
                    if j_lo == 0 and j == 0:
                        y_r27 = y_0 + j * y_s0
                        x_r28 = x_0 + j * x_s0
                        x_r29 = x_0 + (j + 1) * x_s0
                        if i_lo % 2 == 0:
                            s30 = w0 * ld(x, x_r28 + i_lo)
                            st(y, y_r27 + i_lo, s30)
                        for i in range(-(i_lo % 2) + i_lo + 1, i_hi - 1, 2):
                            s31 = -ld(x, x_r28 + i - 1)
                            s32 = fma(w0, ld(x, x_r28 + i), s31)
                            s33 = s32 - ld(x, x_r28 + i + 1)
                            s34 = s33 - ld(x, x_r29 + i)
                            st(y, y_r27 + i, s34)
                            s35 = w0 * ld(x, x_r28 + i + 1)
                            st(y, y_r27 + i + 1, s35)
                        if nx >= i_hi + 1 and i_hi % 2 == 0:
                            s36 = -ld(x, x_r28 + i_hi - 2)
                            s37 = fma(w0, ld(x, x_r28 + i_hi - 1), s36)
                            s38 = s37 - ld(x, x_r28 + i_hi)
                            s39 = s38 - ld(x, x_r29 + i_hi - 1)
                            st(y, y_r27 + i_hi - 1, s39)
                else:
                    if ny >= 2 and (ny + i_lo + 1) % 2 == 0:
                        s40 = w0 * ld(x, x_0 + j * x_s0 + i_lo)
                        st(y, y_0 + j * y_s0 + i_lo, s40)
                    elif (i_hi >= 2 and i_lo == 0) and ny % 2 == 0:
                        s41 = w0 * ld(x, x_0 + j * x_s0 + 1)
                        st(y, y_0 + j * y_s0 + 1, s41)
                    if ny >= 2:
                        y_r42 = y_0 + j * y_s0
                        x_r43 = x_0 + (j - 1) * x_s0
                        x_r44 = x_0 + j * x_s0
                        for i in range(max(-(ny % 2) + 2, (ny + i_lo) % 2 + i_lo), i_hi - 1, 2):
                            s45 = -ld(x, x_r43 + i)
                            s46 = s45 - ld(x, x_r44 + i - 1)
                            s47 = fma(w0, ld(x, x_r44 + i), s46)
                            s48 = s47 - ld(x, x_r44 + i + 1)
                            st(y, y_r42 + i, s48)
                            s49 = w0 * ld(x, x_r44 + i + 1)
                            st(y, y_r42 + i + 1, s49)
                        if (i_hi >= 2 and nx >= i_hi + 1) and (ny + i_hi + 1) % 2 == 0:
                            s50 = -ld(x, x_r43 + i_hi - 1)
                            s51 = s50 - ld(x, x_r44 + i_hi - 2)
                            s52 = fma(w0, ld(x, x_r44 + i_hi - 1), s51)
                            s53 = s52 - ld(x, x_r44 + i_hi)
                            st(y, y_r42 + i_hi - 1, s53)
                    if ny == 1 and j_lo == 0:
                        y_r54 = y_0 + j * y_s0
                        x_r55 = x_0 + j * x_s0
                        if i_lo % 2 == 0:
                            s56 = w0 * ld(x, x_r55 + i_lo)
                            st(y, y_r54 + i_lo, s56)
                        for i in range(-(i_lo % 2) + i_lo + 1, i_hi - 1, 2):
                            s57 = -ld(x, x_r55 + i - 1)
                            s58 = fma(w0, ld(x, x_r55 + i), s57)
                            s59 = s58 - ld(x, x_r55 + i + 1)
                            st(y, y_r54 + i, s59)
                            s60 = w0 * ld(x, x_r55 + i + 1)
                            st(y, y_r54 + i + 1, s60)
                        if nx >= i_hi + 1 and i_hi % 2 == 0:
                            s61 = -ld(x, x_r55 + i_hi - 2)
                            s62 = fma(w0, ld(x, x_r55 + i_hi - 1), s61)
                            s63 = s62 - ld(x, x_r55 + i_hi)
                            st(y, y_r54 + i_hi - 1, s63)
                if ((i_hi == nx and ny >= j + 2) and j >= 1) and (nx + j) % 2 == 0:
                    x_r64 = x_0 + j * x_s0
                    s65 = -ld(x, x_0 + (j - 1) * x_s0 + nx - 1)
                    s66 = s65 - ld(x, x_r64 + nx - 2)
                    s67 = fma(w0, ld(x, x_r64 + nx - 1), s66)
                    s68 = s67 - ld(x, x_0 + (j + 1) * x_s0 + nx - 1)
                    st(y, y_0 + j * y_s0 + nx - 1, s68)
                if (((ny >= 2 and j_hi == ny) and i_hi == nx) and j + 1 == ny) and (nx + ny + 1) % 2 == 0:
                    x_r69 = x_0 + j * x_s0
                    s70 = -ld(x, x_0 + (j - 1) * x_s0 + nx - 1)
                    s71 = s70 - ld(x, x_r69 + nx - 2)
                    s72 = fma(w0, ld(x, x_r69 + nx - 1), s71)
                    st(y, y_0 + j * y_s0 + nx - 1, s72)
                if (((ny >= 2 and j_lo == 0) and i_hi == nx) and j == 0) and nx % 2 == 0:
                    x_r73 = x_0 + j * x_s0
                    s74 = -ld(x, x_r73 + nx - 2)
                    s75 = fma(w0, ld(x, x_r73 + nx - 1), s74)
                    s76 = s75 - ld(x, x_0 + (j + 1) * x_s0 + nx - 1)
                    st(y, y_0 + j * y_s0 + nx - 1, s76)
                if ((((ny == 1 and j_hi == 1) and j_lo == 0) and i_hi == nx) and j == 0) and nx % 2 == 0:
                    x_r77 = x_0 + j * x_s0
                    s78 = -ld(x, x_r77 + nx - 2)
                    s79 = fma(w0, ld(x, x_r77 + nx - 1), s78)
                    st(y, y_0 + j * y_s0 + nx - 1, s79)
            else:
                if (nx == 1 and ny >= j + 2) and (j + 1) % 2 == 0:
                    s80 = -ld(x, x_0 + (j - 1) * x_s0)
                    s81 = fma(w0, ld(x, x_0 + j * x_s0), s80)
                    s82 = s81 - ld(x, x_0 + (j + 1) * x_s0)
                    st(y, y_0 + j * y_s0, s82)
                if ((nx == 1 and ny == j_hi) and j + 1 == j_hi) and j_hi % 2 == 0:
                    s83 = -ld(x, x_0 + (j - 1) * x_s0)
                    s84 = fma(w0, ld(x, x_0 + j * x_s0), s83)
                    st(y, y_0 + j * y_s0, s84)
    return 0


# The arguments of kernel:
#     y: f8[:, :] written
#     x: f8[:, :]
#     layout: i8[:] contiguous written
#     table_0: i8[:, :] contiguous written
