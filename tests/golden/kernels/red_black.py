"""red_black apply, generated for float64."""

import numpy as np
from numba.types import Array, f4, f8, i8

from ssr.runtime.intrinsics import address, fma, independent, interleaved, ld, maximum, minimum, prefetch, sign, st, uneven
from ssr.runtime.lanes import accumulate, extreme, found, total
from ssr.runtime.polling import poll, stopwatch
from ssr.runtime.refusals import refused

META = {'fields': ['y', 'x'], 'temporaries': {}, 'written': ['y'], 'buffers': [], 'scalars': [], 'sizes': ['nx', 'ny'], 'nests': [{'target': 'y', 'order': 'any', 'earlier': (), 'whole_lines': False, 'fused': False}], 'loops': 4, 'reductions': 0, 'results': 0, 'stored': (), 'debug': False, 'functions': []}

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
            if nx >= ((j % 2) + 1):
                if ((i_lo == 0) and (ny >= (j + 2))) and (((j + 1) % 2) == 0):
                    x_r1 = x_0 + j * x_s0
                    s2 = -ld(x, x_0 + (j - 1) * x_s0)
                    s3 = fma(w0, ld(x, x_r1), s2)
                    s4 = s3 - ld(x, x_r1 + 1)
                    s5 = s4 - ld(x, x_0 + (j + 1) * x_s0)
                    st(y, y_0 + j * y_s0, s5)
                if ny >= (j + 2):
                    if (j >= 1) and (((i_lo + j) % 2) == 0):
                        s6 = w0 * ld(x, x_0 + j * x_s0 + i_lo)
                        st(y, y_0 + j * y_s0 + i_lo, s6)
                    else:
                        if ((i_hi >= 2) and (i_lo == 0)) and (((j + 1) % 2) == 0):
                            s7 = w0 * ld(x, x_0 + j * x_s0 + 1)
                            st(y, y_0 + j * y_s0 + 1, s7)
                    if j >= 1:
                        y_r8 = y_0 + j * y_s0
                        x_r9 = x_0 + (j - 1) * x_s0
                        x_r10 = x_0 + j * x_s0
                        x_r11 = x_0 + (j + 1) * x_s0
                        for i in range(max((((-((i_lo + j) % 2)) + i_lo) + 1), ((j % 2) + 1)), i_hi - 1, 2):
                            s12 = -ld(x, x_r9 + i)
                            s13 = s12 - ld(x, x_r10 + i - 1)
                            s14 = fma(w0, ld(x, x_r10 + i), s13)
                            s15 = s14 - ld(x, x_r10 + i + 1)
                            s16 = s15 - ld(x, x_r11 + i)
                            st(y, y_r8 + i, s16)
                            s17 = w0 * ld(x, x_r10 + i + 1)
                            st(y, y_r8 + i + 1, s17)
                        if ((i_hi >= 2) and (nx >= (i_hi + 1))) and (((i_hi + j) % 2) == 0):
                            s18 = -ld(x, x_r9 + i_hi - 1)
                            s19 = s18 - ld(x, x_r10 + i_hi - 2)
                            s20 = fma(w0, ld(x, x_r10 + i_hi - 1), s19)
                            s21 = s20 - ld(x, x_r10 + i_hi)
                            s22 = s21 - ld(x, x_r11 + i_hi - 1)
                            st(y, y_r8 + i_hi - 1, s22)
                    if (j_lo == 0) and (j == 0):
                        y_r23 = y_0 + j * y_s0
                        x_r24 = x_0 + j * x_s0
                        x_r25 = x_0 + (j + 1) * x_s0
                        if (i_lo % 2) == 0:
                            s26 = w0 * ld(x, x_r24 + i_lo)
                            st(y, y_r23 + i_lo, s26)
                        for i_2 in range((((-(i_lo % 2)) + i_lo) + 1) // 2, (i_hi - 1) // 2):
                            s27 = -ld(x, x_r24 + 2*i_2)
                            s28 = fma(w0, ld(x, x_r24 + 2*i_2 + 1), s27)
                            s29 = s28 - ld(x, x_r24 + 2*i_2 + 2)
                            s30 = s29 - ld(x, x_r25 + 2*i_2 + 1)
                            st(y, y_r23 + 2*i_2 + 1, s30)
                            s31 = w0 * ld(x, x_r24 + 2*i_2 + 2)
                            st(y, y_r23 + 2*i_2 + 2, s31)
                        if (nx >= (i_hi + 1)) and ((i_hi % 2) == 0):
                            s32 = -ld(x, x_r24 + i_hi - 2)
                            s33 = fma(w0, ld(x, x_r24 + i_hi - 1), s32)
                            s34 = s33 - ld(x, x_r24 + i_hi)
                            s35 = s34 - ld(x, x_r25 + i_hi - 1)
                            st(y, y_r23 + i_hi - 1, s35)
                    else:
                        if ((i_hi == nx) and (j >= 1)) and (((nx + j) % 2) == 0):
                            x_r36 = x_0 + j * x_s0
                            s37 = -ld(x, x_0 + (j - 1) * x_s0 + nx - 1)
                            s38 = s37 - ld(x, x_r36 + nx - 2)
                            s39 = fma(w0, ld(x, x_r36 + nx - 1), s38)
                            s40 = s39 - ld(x, x_0 + (j + 1) * x_s0 + nx - 1)
                            st(y, y_0 + j * y_s0 + nx - 1, s40)
                    if (((j_lo == 0) and (i_hi == nx)) and (j == 0)) and ((nx % 2) == 0):
                        x_r41 = x_0 + j * x_s0
                        s42 = -ld(x, x_r41 + nx - 2)
                        s43 = fma(w0, ld(x, x_r41 + nx - 1), s42)
                        s44 = s43 - ld(x, x_0 + (j + 1) * x_s0 + nx - 1)
                        st(y, y_0 + j * y_s0 + nx - 1, s44)
                else:
                    if (i_lo == 0) and ((ny % 2) == 0):
                        x_r45 = x_0 + j * x_s0
                        s46 = -ld(x, x_0 + (j - 1) * x_s0)
                        s47 = fma(w0, ld(x, x_r45), s46)
                        s48 = s47 - ld(x, x_r45 + 1)
                        st(y, y_0 + j * y_s0, s48)
                    if (ny >= 2) and ((((ny + i_lo) + 1) % 2) == 0):
                        s49 = w0 * ld(x, x_0 + j * x_s0 + i_lo)
                        st(y, y_0 + j * y_s0 + i_lo, s49)
                    else:
                        if ((i_hi >= 2) and (i_lo == 0)) and ((ny % 2) == 0):
                            s50 = w0 * ld(x, x_0 + j * x_s0 + 1)
                            st(y, y_0 + j * y_s0 + 1, s50)
                    if ny >= 2:
                        y_r51 = y_0 + j * y_s0
                        x_r52 = x_0 + (j - 1) * x_s0
                        x_r53 = x_0 + j * x_s0
                        for i in range(max(((-(ny % 2)) + 2), (((ny + i_lo) % 2) + i_lo)), i_hi - 1, 2):
                            s54 = -ld(x, x_r52 + i)
                            s55 = s54 - ld(x, x_r53 + i - 1)
                            s56 = fma(w0, ld(x, x_r53 + i), s55)
                            s57 = s56 - ld(x, x_r53 + i + 1)
                            st(y, y_r51 + i, s57)
                            s58 = w0 * ld(x, x_r53 + i + 1)
                            st(y, y_r51 + i + 1, s58)
                        if ((i_hi >= 2) and (nx >= (i_hi + 1))) and ((((ny + i_hi) + 1) % 2) == 0):
                            s59 = -ld(x, x_r52 + i_hi - 1)
                            s60 = s59 - ld(x, x_r53 + i_hi - 2)
                            s61 = fma(w0, ld(x, x_r53 + i_hi - 1), s60)
                            s62 = s61 - ld(x, x_r53 + i_hi)
                            st(y, y_r51 + i_hi - 1, s62)
                    if (ny == 1) and (j_lo == 0):
                        y_r63 = y_0 + j * y_s0
                        x_r64 = x_0 + j * x_s0
                        if (i_lo % 2) == 0:
                            s65 = w0 * ld(x, x_r64 + i_lo)
                            st(y, y_r63 + i_lo, s65)
                        for i_2 in range((((-(i_lo % 2)) + i_lo) + 1) // 2, (i_hi - 1) // 2):
                            s66 = -ld(x, x_r64 + 2*i_2)
                            s67 = fma(w0, ld(x, x_r64 + 2*i_2 + 1), s66)
                            s68 = s67 - ld(x, x_r64 + 2*i_2 + 2)
                            st(y, y_r63 + 2*i_2 + 1, s68)
                            s69 = w0 * ld(x, x_r64 + 2*i_2 + 2)
                            st(y, y_r63 + 2*i_2 + 2, s69)
                        if (nx >= (i_hi + 1)) and ((i_hi % 2) == 0):
                            s70 = -ld(x, x_r64 + i_hi - 2)
                            s71 = fma(w0, ld(x, x_r64 + i_hi - 1), s70)
                            s72 = s71 - ld(x, x_r64 + i_hi)
                            st(y, y_r63 + i_hi - 1, s72)
                    else:
                        if (i_hi == nx) and ((((nx + ny) + 1) % 2) == 0):
                            x_r73 = x_0 + j * x_s0
                            s74 = -ld(x, x_0 + (j - 1) * x_s0 + nx - 1)
                            s75 = s74 - ld(x, x_r73 + nx - 2)
                            s76 = fma(w0, ld(x, x_r73 + nx - 1), s75)
                            st(y, y_0 + j * y_s0 + nx - 1, s76)
                    if (((ny == 1) and (j_lo == 0)) and (i_hi == nx)) and ((nx % 2) == 0):
                        x_r77 = x_0 + j * x_s0
                        s78 = -ld(x, x_r77 + nx - 2)
                        s79 = fma(w0, ld(x, x_r77 + nx - 1), s78)
                        st(y, y_0 + j * y_s0 + nx - 1, s79)
            else:
                if ((nx == 1) and (ny >= (j + 2))) and (((j + 1) % 2) == 0):
                    s80 = -ld(x, x_0 + (j - 1) * x_s0)
                    s81 = fma(w0, ld(x, x_0 + j * x_s0), s80)
                    s82 = s81 - ld(x, x_0 + (j + 1) * x_s0)
                    st(y, y_0 + j * y_s0, s82)
                if (((nx == 1) and (ny == j_hi)) and ((j + 1) == j_hi)) and ((j_hi % 2) == 0):
                    s83 = -ld(x, x_0 + (j - 1) * x_s0)
                    s84 = fma(w0, ld(x, x_0 + j * x_s0), s83)
                    st(y, y_0 + j * y_s0, s84)
    return 0


SIGNATURE = i8(
    f8[:, :],
    Array(f8, 2, 'A', readonly=True),
    i8[::1],
    i8[:, ::1],
)
