"""stencil apply, generated for float32."""

import numpy as np
from numba.types import Array, f4, f8, i8

from ssr.runtime.intrinsics import address, fits, fma, independent, interleaved, ld, maximum, meet, minimum, prefetch, sign, st, uneven
from ssr.runtime.lanes import accumulate, extreme, found, total
from ssr.runtime.polling import poll, stopwatch

META = {'fields': ['y', 'x'], 'temporaries': {}, 'written': ['y'], 'buffers': [], 'scalars': [], 'sizes': ['nx', 'ny'], 'nests': [{'target': 'y', 'order': 'any', 'earlier': (), 'whole_lines': False, 'fused': False}], 'loops': 4, 'reductions': 0, 'results': 0, 'stored': (), 'debug': False, 'functions': []}

real = np.float32
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
            if ((nx >= 2) and (ny >= (j + 2))) and (j >= 1):
                y_r1 = y_0 + j * y_s0
                x_r2 = x_0 + (j - 1) * x_s0
                x_r3 = x_0 + j * x_s0
                x_r4 = x_0 + (j + 1) * x_s0
                if i_lo == 0:
                    s5 = -ld(x, x_r2)
                    s6 = fma(w0, ld(x, x_r3), s5)
                    s7 = s6 - ld(x, x_r3 + 1)
                    s8 = s7 - ld(x, x_r4)
                    st(y, y_r1, s8)
                for i in range(max(1, i_lo), min((nx - 1), i_hi)):
                    s9 = -ld(x, x_r2 + i)
                    s10 = s9 - ld(x, x_r3 + i - 1)
                    s11 = fma(w0, ld(x, x_r3 + i), s10)
                    s12 = s11 - ld(x, x_r3 + i + 1)
                    s13 = s12 - ld(x, x_r4 + i)
                    st(y, y_r1 + i, s13)
                if i_hi == nx:
                    s14 = -ld(x, x_r2 + nx - 1)
                    s15 = s14 - ld(x, x_r3 + nx - 2)
                    s16 = fma(w0, ld(x, x_r3 + nx - 1), s15)
                    s17 = s16 - ld(x, x_r4 + nx - 1)
                    st(y, y_r1 + nx - 1, s17)
            else:
                if (((j_hi >= 2) and (nx >= 2)) and (ny == j_hi)) and ((j + 1) == j_hi):
                    y_r18 = y_0 + j * y_s0
                    x_r19 = x_0 + (j - 1) * x_s0
                    x_r20 = x_0 + j * x_s0
                    if i_lo == 0:
                        s21 = -ld(x, x_r19)
                        s22 = fma(w0, ld(x, x_r20), s21)
                        s23 = s22 - ld(x, x_r20 + 1)
                        st(y, y_r18, s23)
                    for i in range(max(1, i_lo), min((nx - 1), i_hi)):
                        s24 = -ld(x, x_r19 + i)
                        s25 = s24 - ld(x, x_r20 + i - 1)
                        s26 = fma(w0, ld(x, x_r20 + i), s25)
                        s27 = s26 - ld(x, x_r20 + i + 1)
                        st(y, y_r18 + i, s27)
                    if i_hi == nx:
                        s28 = -ld(x, x_r19 + nx - 1)
                        s29 = s28 - ld(x, x_r20 + nx - 2)
                        s30 = fma(w0, ld(x, x_r20 + nx - 1), s29)
                        st(y, y_r18 + nx - 1, s30)
                if ((nx == 1) and (ny >= (j + 2))) and (j >= 1):
                    s31 = -ld(x, x_0 + (j - 1) * x_s0)
                    s32 = fma(w0, ld(x, x_0 + j * x_s0), s31)
                    s33 = s32 - ld(x, x_0 + (j + 1) * x_s0)
                    st(y, y_0 + j * y_s0, s33)
                if (((j_hi >= 2) and (nx == 1)) and (ny == j_hi)) and ((j + 1) == j_hi):
                    s34 = -ld(x, x_0 + (j - 1) * x_s0)
                    s35 = fma(w0, ld(x, x_0 + j * x_s0), s34)
                    st(y, y_0 + j * y_s0, s35)
                if (((j_lo == 0) and (nx >= 2)) and (ny >= 2)) and (j == 0):
                    y_r36 = y_0 + j * y_s0
                    x_r37 = x_0 + j * x_s0
                    x_r38 = x_0 + (j + 1) * x_s0
                    if i_lo == 0:
                        s39 = w0 * ld(x, x_r37)
                        s40 = s39 - ld(x, x_r37 + 1)
                        s41 = s40 - ld(x, x_r38)
                        st(y, y_r36, s41)
                    for i in range(max(1, i_lo), min((nx - 1), i_hi)):
                        s42 = -ld(x, x_r37 + i - 1)
                        s43 = fma(w0, ld(x, x_r37 + i), s42)
                        s44 = s43 - ld(x, x_r37 + i + 1)
                        s45 = s44 - ld(x, x_r38 + i)
                        st(y, y_r36 + i, s45)
                    if i_hi == nx:
                        s46 = -ld(x, x_r37 + nx - 2)
                        s47 = fma(w0, ld(x, x_r37 + nx - 1), s46)
                        s48 = s47 - ld(x, x_r38 + nx - 1)
                        st(y, y_r36 + nx - 1, s48)
                if ((((j_hi == 1) and (j_lo == 0)) and (nx >= 2)) and (ny == 1)) and (j == 0):
                    y_r49 = y_0 + j * y_s0
                    x_r50 = x_0 + j * x_s0
                    if i_lo == 0:
                        s51 = w0 * ld(x, x_r50)
                        s52 = s51 - ld(x, x_r50 + 1)
                        st(y, y_r49, s52)
                    for i in range(max(1, i_lo), min((nx - 1), i_hi)):
                        s53 = -ld(x, x_r50 + i - 1)
                        s54 = fma(w0, ld(x, x_r50 + i), s53)
                        s55 = s54 - ld(x, x_r50 + i + 1)
                        st(y, y_r49 + i, s55)
                    if i_hi == nx:
                        s56 = -ld(x, x_r50 + nx - 2)
                        s57 = fma(w0, ld(x, x_r50 + nx - 1), s56)
                        st(y, y_r49 + nx - 1, s57)
                if (((j_lo == 0) and (nx == 1)) and (ny >= 2)) and (j == 0):
                    s58 = w0 * ld(x, x_0 + j * x_s0)
                    s59 = s58 - ld(x, x_0 + (j + 1) * x_s0)
                    st(y, y_0 + j * y_s0, s59)
                if ((((j_hi == 1) and (j_lo == 0)) and (nx == 1)) and (ny == 1)) and (j == 0):
                    s60 = w0 * ld(x, x_0 + j * x_s0)
                    st(y, y_0 + j * y_s0, s60)
    return 0


SIGNATURE = i8(
    f4[:, :],
    Array(f4, 2, 'A', readonly=True),
    i8[::1],
    i8[:, ::1],
)
