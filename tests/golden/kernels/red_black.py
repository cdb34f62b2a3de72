"""red_black apply, generated for float64."""

import numpy as np
from numba.types import Array, f4, f8, i8

from ssr.intrinsics import address, fits, fma, ld, maximum, meet, minimum, prefetch, sign, st
from ssr.lanes import accumulate, extreme, found, total

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
            if (((nx >= 2) and (i_lo == 0)) and (ny >= (j + 2))) and (((j + 1) % 2) == 0):
                s1 = -ld(x, x_0 + (j - 1) * x_s0)
                s2 = fma(w0, ld(x, x_0 + j * x_s0), s1)
                s3 = s2 - ld(x, x_0 + j * x_s0 + 1)
                s4 = s3 - ld(x, x_0 + (j + 1) * x_s0)
                st(y, y_0 + j * y_s0, s4)
            if ny >= (j + 2):
                if (j >= 1) and (((i_lo + j) % 2) == 0):
                    s5 = w0 * ld(x, x_0 + j * x_s0 + i_lo)
                    st(y, y_0 + j * y_s0 + i_lo, s5)
                else:
                    if ((i_hi >= 2) and (i_lo == 0)) and (((j + 1) % 2) == 0):
                        s6 = w0 * ld(x, x_0 + j * x_s0 + 1)
                        st(y, y_0 + j * y_s0 + 1, s6)
                if j >= 1:
                    y_r7 = y_0 + j * y_s0
                    x_r8 = x_0 + (j - 1) * x_s0
                    x_r9 = x_0 + j * x_s0
                    x_r10 = x_0 + (j + 1) * x_s0
                    for i in range(max((((-((i_lo + j) % 2)) + i_lo) + 1), ((j % 2) + 1)), i_hi - 1, 2):
                        if (((j + i) + 1) % 2) == 0:
                            s11 = -ld(x, x_r8 + i)
                            s12 = s11 - ld(x, x_r9 + i - 1)
                            s13 = fma(w0, ld(x, x_r9 + i), s12)
                            s14 = s13 - ld(x, x_r9 + i + 1)
                            s15 = s14 - ld(x, x_r10 + i)
                            st(y, y_r7 + i, s15)
                            s16 = w0 * ld(x, x_r9 + i + 1)
                            st(y, y_r7 + i + 1, s16)
                    if ((i_hi >= 2) and (nx >= (i_hi + 1))) and (((i_hi + j) % 2) == 0):
                        s17 = -ld(x, x_0 + (j - 1) * x_s0 + i_hi - 1)
                        s18 = s17 - ld(x, x_0 + j * x_s0 + i_hi - 2)
                        s19 = fma(w0, ld(x, x_0 + j * x_s0 + i_hi - 1), s18)
                        s20 = s19 - ld(x, x_0 + j * x_s0 + i_hi)
                        s21 = s20 - ld(x, x_0 + (j + 1) * x_s0 + i_hi - 1)
                        st(y, y_0 + j * y_s0 + i_hi - 1, s21)
                if (j_lo == 0) and (j == 0):
                    if (i_lo % 2) == 0:
                        s22 = w0 * ld(x, x_0 + j * x_s0 + i_lo)
                        st(y, y_0 + j * y_s0 + i_lo, s22)
                    y_r23 = y_0 + j * y_s0
                    x_r24 = x_0 + j * x_s0
                    x_r25 = x_0 + (j + 1) * x_s0
                    for i_2 in range((((-(i_lo % 2)) + i_lo) + 1) // 2, (i_hi - 1) // 2):
                        s26 = -ld(x, x_r24 + 2*i_2)
                        s27 = fma(w0, ld(x, x_r24 + 2*i_2 + 1), s26)
                        s28 = s27 - ld(x, x_r24 + 2*i_2 + 2)
                        s29 = s28 - ld(x, x_r25 + 2*i_2 + 1)
                        st(y, y_r23 + 2*i_2 + 1, s29)
                        s30 = w0 * ld(x, x_r24 + 2*i_2 + 2)
                        st(y, y_r23 + 2*i_2 + 2, s30)
                    if (nx >= (i_hi + 1)) and ((i_hi % 2) == 0):
                        s31 = -ld(x, x_0 + j * x_s0 + i_hi - 2)
                        s32 = fma(w0, ld(x, x_0 + j * x_s0 + i_hi - 1), s31)
                        s33 = s32 - ld(x, x_0 + j * x_s0 + i_hi)
                        s34 = s33 - ld(x, x_0 + (j + 1) * x_s0 + i_hi - 1)
                        st(y, y_0 + j * y_s0 + i_hi - 1, s34)
                else:
                    if (((nx >= 2) and (i_hi == nx)) and (j >= 1)) and (((nx + j) % 2) == 0):
                        s35 = -ld(x, x_0 + (j - 1) * x_s0 + nx - 1)
                        s36 = s35 - ld(x, x_0 + j * x_s0 + nx - 2)
                        s37 = fma(w0, ld(x, x_0 + j * x_s0 + nx - 1), s36)
                        s38 = s37 - ld(x, x_0 + (j + 1) * x_s0 + nx - 1)
                        st(y, y_0 + j * y_s0 + nx - 1, s38)
                if (((nx == 1) and (i_hi == 1)) and (i_lo == 0)) and (((j + 1) % 2) == 0):
                    s39 = -ld(x, x_0 + (j - 1) * x_s0)
                    s40 = fma(w0, ld(x, x_0 + j * x_s0), s39)
                    s41 = s40 - ld(x, x_0 + (j + 1) * x_s0)
                    st(y, y_0 + j * y_s0, s41)
                else:
                    if (((i_hi == nx) and (j_lo == 0)) and (j == 0)) and ((nx % 2) == 0):
                        s42 = -ld(x, x_0 + j * x_s0 + nx - 2)
                        s43 = fma(w0, ld(x, x_0 + j * x_s0 + nx - 1), s42)
                        s44 = s43 - ld(x, x_0 + (j + 1) * x_s0 + nx - 1)
                        st(y, y_0 + j * y_s0 + nx - 1, s44)
            else:
                if ((nx >= 2) and (i_lo == 0)) and ((ny % 2) == 0):
                    s45 = -ld(x, x_0 + (j - 1) * x_s0)
                    s46 = fma(w0, ld(x, x_0 + j * x_s0), s45)
                    s47 = s46 - ld(x, x_0 + j * x_s0 + 1)
                    st(y, y_0 + j * y_s0, s47)
                if (ny >= 2) and ((((ny + i_lo) + 1) % 2) == 0):
                    s48 = w0 * ld(x, x_0 + j * x_s0 + i_lo)
                    st(y, y_0 + j * y_s0 + i_lo, s48)
                else:
                    if ((i_hi >= 2) and (i_lo == 0)) and ((ny % 2) == 0):
                        s49 = w0 * ld(x, x_0 + j * x_s0 + 1)
                        st(y, y_0 + j * y_s0 + 1, s49)
                if ny >= 2:
                    y_r50 = y_0 + j * y_s0
                    x_r51 = x_0 + (j - 1) * x_s0
                    x_r52 = x_0 + j * x_s0
                    for i in range(max(((-(ny % 2)) + 2), (((ny + i_lo) % 2) + i_lo)), i_hi - 1, 2):
                        if ((ny + i) % 2) == 0:
                            s53 = -ld(x, x_r51 + i)
                            s54 = s53 - ld(x, x_r52 + i - 1)
                            s55 = fma(w0, ld(x, x_r52 + i), s54)
                            s56 = s55 - ld(x, x_r52 + i + 1)
                            st(y, y_r50 + i, s56)
                            s57 = w0 * ld(x, x_r52 + i + 1)
                            st(y, y_r50 + i + 1, s57)
                    if ((i_hi >= 2) and (nx >= (i_hi + 1))) and ((((ny + i_hi) + 1) % 2) == 0):
                        s58 = -ld(x, x_0 + (j - 1) * x_s0 + i_hi - 1)
                        s59 = s58 - ld(x, x_0 + j * x_s0 + i_hi - 2)
                        s60 = fma(w0, ld(x, x_0 + j * x_s0 + i_hi - 1), s59)
                        s61 = s60 - ld(x, x_0 + j * x_s0 + i_hi)
                        st(y, y_0 + j * y_s0 + i_hi - 1, s61)
                if (ny == 1) and (j_lo == 0):
                    if (i_lo % 2) == 0:
                        s62 = w0 * ld(x, x_0 + j * x_s0 + i_lo)
                        st(y, y_0 + j * y_s0 + i_lo, s62)
                    y_r63 = y_0 + j * y_s0
                    x_r64 = x_0 + j * x_s0
                    for i_2 in range((((-(i_lo % 2)) + i_lo) + 1) // 2, (i_hi - 1) // 2):
                        s65 = -ld(x, x_r64 + 2*i_2)
                        s66 = fma(w0, ld(x, x_r64 + 2*i_2 + 1), s65)
                        s67 = s66 - ld(x, x_r64 + 2*i_2 + 2)
                        st(y, y_r63 + 2*i_2 + 1, s67)
                        s68 = w0 * ld(x, x_r64 + 2*i_2 + 2)
                        st(y, y_r63 + 2*i_2 + 2, s68)
                    if (nx >= (i_hi + 1)) and ((i_hi % 2) == 0):
                        s69 = -ld(x, x_0 + j * x_s0 + i_hi - 2)
                        s70 = fma(w0, ld(x, x_0 + j * x_s0 + i_hi - 1), s69)
                        s71 = s70 - ld(x, x_0 + j * x_s0 + i_hi)
                        st(y, y_0 + j * y_s0 + i_hi - 1, s71)
                if (((nx >= 2) and (ny >= 2)) and (i_hi == nx)) and ((((nx + ny) + 1) % 2) == 0):
                    s72 = -ld(x, x_0 + (j - 1) * x_s0 + nx - 1)
                    s73 = s72 - ld(x, x_0 + j * x_s0 + nx - 2)
                    s74 = fma(w0, ld(x, x_0 + j * x_s0 + nx - 1), s73)
                    st(y, y_0 + j * y_s0 + nx - 1, s74)
                else:
                    if (((ny == 1) and (i_hi == nx)) and (j_lo == 0)) and ((nx % 2) == 0):
                        s75 = -ld(x, x_0 + j * x_s0 + nx - 2)
                        s76 = fma(w0, ld(x, x_0 + j * x_s0 + nx - 1), s75)
                        st(y, y_0 + j * y_s0 + nx - 1, s76)
                    else:
                        if (((nx == 1) and (i_hi == 1)) and (i_lo == 0)) and ((ny % 2) == 0):
                            s77 = -ld(x, x_0 + (j - 1) * x_s0)
                            s78 = fma(w0, ld(x, x_0 + j * x_s0), s77)
                            st(y, y_0 + j * y_s0, s78)
    return 0


SIGNATURE = i8(
    f8[:, :],
    Array(f8, 2, 'A', readonly=True),
    i8[::1],
    i8[:, ::1],
)
