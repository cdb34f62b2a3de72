"""red_black apply, generated for float64."""

import numpy as np
from numba.types import Array, f4, f8, i8

from ssr.runtime.intrinsics import address, fits, fma, interleaved, ld, maximum, meet, minimum, prefetch, sign, st, uneven
from ssr.runtime.lanes import accumulate, extreme, found, total
from ssr.runtime.polling import poll, stopwatch

META = {'fields': ['y', 'x'], 'temporaries': {}, 'written': ['y'], 'buffers': [], 'scalars': [], 'sizes': ['nx', 'ny'], 'nests': [{'target': 'y', 'order': 'any', 'earlier': (), 'whole_lines': False, 'fused': False}], 'loops': 4, 'reductions': 0, 'results': 0, 'stored': (), 'debug': False, 'functions': []}

real = np.float64
w0 = real(4.0)


def kernel(y, x, layout, table_0):
    if not fits(y, layout, 3):
        return 1
    if not fits(x, layout, 8):
        return 1
    if meet((address(y), address(x)), (layout[2], layout[7]), 1):
        return 2
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
            if (((nx >= 2) and (i_lo == 0)) and (ny >= (j + 2))) and (((j + 1) % 2) == 0):
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
                        if (((j + i) + 1) % 2) == 0:
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
                    if (((nx >= 2) and (i_hi == nx)) and (j >= 1)) and (((nx + j) % 2) == 0):
                        x_r36 = x_0 + j * x_s0
                        s37 = -ld(x, x_0 + (j - 1) * x_s0 + nx - 1)
                        s38 = s37 - ld(x, x_r36 + nx - 2)
                        s39 = fma(w0, ld(x, x_r36 + nx - 1), s38)
                        s40 = s39 - ld(x, x_0 + (j + 1) * x_s0 + nx - 1)
                        st(y, y_0 + j * y_s0 + nx - 1, s40)
                if (((nx == 1) and (i_hi == 1)) and (i_lo == 0)) and (((j + 1) % 2) == 0):
                    s41 = -ld(x, x_0 + (j - 1) * x_s0)
                    s42 = fma(w0, ld(x, x_0 + j * x_s0), s41)
                    s43 = s42 - ld(x, x_0 + (j + 1) * x_s0)
                    st(y, y_0 + j * y_s0, s43)
                else:
                    if (((i_hi == nx) and (j_lo == 0)) and (j == 0)) and ((nx % 2) == 0):
                        x_r44 = x_0 + j * x_s0
                        s45 = -ld(x, x_r44 + nx - 2)
                        s46 = fma(w0, ld(x, x_r44 + nx - 1), s45)
                        s47 = s46 - ld(x, x_0 + (j + 1) * x_s0 + nx - 1)
                        st(y, y_0 + j * y_s0 + nx - 1, s47)
            else:
                if ((nx >= 2) and (i_lo == 0)) and ((ny % 2) == 0):
                    x_r48 = x_0 + j * x_s0
                    s49 = -ld(x, x_0 + (j - 1) * x_s0)
                    s50 = fma(w0, ld(x, x_r48), s49)
                    s51 = s50 - ld(x, x_r48 + 1)
                    st(y, y_0 + j * y_s0, s51)
                if (ny >= 2) and ((((ny + i_lo) + 1) % 2) == 0):
                    s52 = w0 * ld(x, x_0 + j * x_s0 + i_lo)
                    st(y, y_0 + j * y_s0 + i_lo, s52)
                else:
                    if ((i_hi >= 2) and (i_lo == 0)) and ((ny % 2) == 0):
                        s53 = w0 * ld(x, x_0 + j * x_s0 + 1)
                        st(y, y_0 + j * y_s0 + 1, s53)
                if ny >= 2:
                    y_r54 = y_0 + j * y_s0
                    x_r55 = x_0 + (j - 1) * x_s0
                    x_r56 = x_0 + j * x_s0
                    for i in range(max(((-(ny % 2)) + 2), (((ny + i_lo) % 2) + i_lo)), i_hi - 1, 2):
                        if ((ny + i) % 2) == 0:
                            s57 = -ld(x, x_r55 + i)
                            s58 = s57 - ld(x, x_r56 + i - 1)
                            s59 = fma(w0, ld(x, x_r56 + i), s58)
                            s60 = s59 - ld(x, x_r56 + i + 1)
                            st(y, y_r54 + i, s60)
                            s61 = w0 * ld(x, x_r56 + i + 1)
                            st(y, y_r54 + i + 1, s61)
                    if ((i_hi >= 2) and (nx >= (i_hi + 1))) and ((((ny + i_hi) + 1) % 2) == 0):
                        s62 = -ld(x, x_r55 + i_hi - 1)
                        s63 = s62 - ld(x, x_r56 + i_hi - 2)
                        s64 = fma(w0, ld(x, x_r56 + i_hi - 1), s63)
                        s65 = s64 - ld(x, x_r56 + i_hi)
                        st(y, y_r54 + i_hi - 1, s65)
                if (ny == 1) and (j_lo == 0):
                    y_r66 = y_0 + j * y_s0
                    x_r67 = x_0 + j * x_s0
                    if (i_lo % 2) == 0:
                        s68 = w0 * ld(x, x_r67 + i_lo)
                        st(y, y_r66 + i_lo, s68)
                    for i_2 in range((((-(i_lo % 2)) + i_lo) + 1) // 2, (i_hi - 1) // 2):
                        s69 = -ld(x, x_r67 + 2*i_2)
                        s70 = fma(w0, ld(x, x_r67 + 2*i_2 + 1), s69)
                        s71 = s70 - ld(x, x_r67 + 2*i_2 + 2)
                        st(y, y_r66 + 2*i_2 + 1, s71)
                        s72 = w0 * ld(x, x_r67 + 2*i_2 + 2)
                        st(y, y_r66 + 2*i_2 + 2, s72)
                    if (nx >= (i_hi + 1)) and ((i_hi % 2) == 0):
                        s73 = -ld(x, x_r67 + i_hi - 2)
                        s74 = fma(w0, ld(x, x_r67 + i_hi - 1), s73)
                        s75 = s74 - ld(x, x_r67 + i_hi)
                        st(y, y_r66 + i_hi - 1, s75)
                if (((nx >= 2) and (ny >= 2)) and (i_hi == nx)) and ((((nx + ny) + 1) % 2) == 0):
                    x_r76 = x_0 + j * x_s0
                    s77 = -ld(x, x_0 + (j - 1) * x_s0 + nx - 1)
                    s78 = s77 - ld(x, x_r76 + nx - 2)
                    s79 = fma(w0, ld(x, x_r76 + nx - 1), s78)
                    st(y, y_0 + j * y_s0 + nx - 1, s79)
                else:
                    if (((ny == 1) and (i_hi == nx)) and (j_lo == 0)) and ((nx % 2) == 0):
                        x_r80 = x_0 + j * x_s0
                        s81 = -ld(x, x_r80 + nx - 2)
                        s82 = fma(w0, ld(x, x_r80 + nx - 1), s81)
                        st(y, y_0 + j * y_s0 + nx - 1, s82)
                    else:
                        if (((nx == 1) and (i_hi == 1)) and (i_lo == 0)) and ((ny % 2) == 0):
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
