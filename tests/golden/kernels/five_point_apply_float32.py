"""stencil apply, generated for float32."""

import numpy as np
from numba.types import Array, f4, f8, i8

from ssr.runtime.intrinsics import address, fits, fma, interleaved, ld, maximum, meet, minimum, prefetch, sign, st, uneven
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
            if (((nx >= 2) and (i_lo == 0)) and (ny >= (j + 2))) and (j >= 1):
                x_r1 = x_0 + j * x_s0
                s2 = -ld(x, x_0 + (j - 1) * x_s0)
                s3 = fma(w0, ld(x, x_r1), s2)
                s4 = s3 - ld(x, x_r1 + 1)
                s5 = s4 - ld(x, x_0 + (j + 1) * x_s0)
                st(y, y_0 + j * y_s0, s5)
            else:
                if ((((nx >= 2) and (ny >= 2)) and (i_lo == 0)) and (j_lo == 0)) and (j == 0):
                    x_r6 = x_0 + j * x_s0
                    s7 = w0 * ld(x, x_r6)
                    s8 = s7 - ld(x, x_r6 + 1)
                    s9 = s8 - ld(x, x_0 + (j + 1) * x_s0)
                    st(y, y_0 + j * y_s0, s9)
                if ((ny >= 2) and (j_lo == 0)) and (j == 0):
                    y_r10 = y_0 + j * y_s0
                    x_r11 = x_0 + j * x_s0
                    x_r12 = x_0 + (j + 1) * x_s0
                    for i in range(max(1, i_lo), min((nx - 1), i_hi)):
                        s13 = -ld(x, x_r11 + i - 1)
                        s14 = fma(w0, ld(x, x_r11 + i), s13)
                        s15 = s14 - ld(x, x_r11 + i + 1)
                        s16 = s15 - ld(x, x_r12 + i)
                        st(y, y_r10 + i, s16)
                else:
                    if ((((nx == 1) and (i_hi == 1)) and (i_lo == 0)) and (ny >= (j + 2))) and (j >= 1):
                        s17 = -ld(x, x_0 + (j - 1) * x_s0)
                        s18 = fma(w0, ld(x, x_0 + j * x_s0), s17)
                        s19 = s18 - ld(x, x_0 + (j + 1) * x_s0)
                        st(y, y_0 + j * y_s0, s19)
            if (ny >= (j + 2)) and (j >= 1):
                y_r20 = y_0 + j * y_s0
                x_r21 = x_0 + (j - 1) * x_s0
                x_r22 = x_0 + j * x_s0
                x_r23 = x_0 + (j + 1) * x_s0
                for i in range(max(1, i_lo), min((nx - 1), i_hi)):
                    s24 = -ld(x, x_r21 + i)
                    s25 = s24 - ld(x, x_r22 + i - 1)
                    s26 = fma(w0, ld(x, x_r22 + i), s25)
                    s27 = s26 - ld(x, x_r22 + i + 1)
                    s28 = s27 - ld(x, x_r23 + i)
                    st(y, y_r20 + i, s28)
                if (nx >= 2) and (i_hi == nx):
                    s29 = -ld(x, x_r21 + nx - 1)
                    s30 = s29 - ld(x, x_r22 + nx - 2)
                    s31 = fma(w0, ld(x, x_r22 + nx - 1), s30)
                    s32 = s31 - ld(x, x_r23 + nx - 1)
                    st(y, y_r20 + nx - 1, s32)
            else:
                if ((((nx >= 2) and (ny >= 2)) and (i_lo == 0)) and (j_hi == ny)) and ((j + 1) == ny):
                    x_r33 = x_0 + j * x_s0
                    s34 = -ld(x, x_0 + (j - 1) * x_s0)
                    s35 = fma(w0, ld(x, x_r33), s34)
                    s36 = s35 - ld(x, x_r33 + 1)
                    st(y, y_0 + j * y_s0, s36)
                if ((ny >= 2) and (j_hi == ny)) and ((j + 1) == ny):
                    y_r37 = y_0 + j * y_s0
                    x_r38 = x_0 + (j - 1) * x_s0
                    x_r39 = x_0 + j * x_s0
                    for i in range(max(1, i_lo), min((nx - 1), i_hi)):
                        s40 = -ld(x, x_r38 + i)
                        s41 = s40 - ld(x, x_r39 + i - 1)
                        s42 = fma(w0, ld(x, x_r39 + i), s41)
                        s43 = s42 - ld(x, x_r39 + i + 1)
                        st(y, y_r37 + i, s43)
                    if (nx >= 2) and (i_hi == nx):
                        s44 = -ld(x, x_r38 + nx - 1)
                        s45 = s44 - ld(x, x_r39 + nx - 2)
                        s46 = fma(w0, ld(x, x_r39 + nx - 1), s45)
                        st(y, y_r37 + nx - 1, s46)
                    if ((nx == 1) and (i_hi == 1)) and (i_lo == 0):
                        s47 = -ld(x, x_r38)
                        s48 = fma(w0, ld(x, x_r39), s47)
                        st(y, y_r37, s48)
                else:
                    if ((nx >= 2) and (ny >= 2)) and (i_hi == nx):
                        x_r49 = x_0 + j * x_s0
                        s50 = -ld(x, x_r49 + nx - 2)
                        s51 = fma(w0, ld(x, x_r49 + nx - 1), s50)
                        s52 = s51 - ld(x, x_0 + (j + 1) * x_s0 + nx - 1)
                        st(y, y_0 + j * y_s0 + nx - 1, s52)
                    if (((nx >= 2) and (ny == 1)) and (i_lo == 0)) and (j_hi == 1):
                        x_r53 = x_0 + j * x_s0
                        s54 = w0 * ld(x, x_r53)
                        s55 = s54 - ld(x, x_r53 + 1)
                        st(y, y_0 + j * y_s0, s55)
                    if (ny == 1) and (j_hi == 1):
                        y_r56 = y_0 + j * y_s0
                        x_r57 = x_0 + j * x_s0
                        for i in range(max(1, i_lo), min((nx - 1), i_hi)):
                            s58 = -ld(x, x_r57 + i - 1)
                            s59 = fma(w0, ld(x, x_r57 + i), s58)
                            s60 = s59 - ld(x, x_r57 + i + 1)
                            st(y, y_r56 + i, s60)
                        if (nx >= 2) and (i_hi == nx):
                            s61 = -ld(x, x_r57 + nx - 2)
                            s62 = fma(w0, ld(x, x_r57 + nx - 1), s61)
                            st(y, y_r56 + nx - 1, s62)
                    else:
                        if ((nx == 1) and (i_hi == 1)) and (i_lo == 0):
                            s63 = w0 * ld(x, x_0 + j * x_s0)
                            s64 = s63 - ld(x, x_0 + (j + 1) * x_s0)
                            st(y, y_0 + j * y_s0, s64)
                    if ((((nx == 1) and (ny == 1)) and (i_hi == 1)) and (i_lo == 0)) and (j_hi == 1):
                        s65 = w0 * ld(x, x_0 + j * x_s0)
                        st(y, y_0 + j * y_s0, s65)
    return 0


SIGNATURE = i8(
    f4[:, :],
    Array(f4, 2, 'A', readonly=True),
    i8[::1],
    i8[:, ::1],
)
