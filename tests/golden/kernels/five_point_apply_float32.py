"""stencil apply, generated for float32."""

import numpy as np
from numba.types import Array, f4, f8, i8

from ssr.intrinsics import address, fits, fma, ld, maximum, meet, minimum, prefetch, sign, st
from ssr.lanes import accumulate, extreme, found, total

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
            if (((nx >= 2) and (i_lo == 0)) and (ny >= (j + 2))) and (j >= 1):
                s1 = -ld(x, x_0 + (j - 1) * x_s0)
                s2 = fma(w0, ld(x, x_0 + j * x_s0), s1)
                s3 = s2 - ld(x, x_0 + j * x_s0 + 1)
                s4 = s3 - ld(x, x_0 + (j + 1) * x_s0)
                st(y, y_0 + j * y_s0, s4)
            else:
                if ((((nx >= 2) and (ny >= 2)) and (i_lo == 0)) and (j_lo == 0)) and (j == 0):
                    s5 = w0 * ld(x, x_0 + j * x_s0)
                    s6 = s5 - ld(x, x_0 + j * x_s0 + 1)
                    s7 = s6 - ld(x, x_0 + (j + 1) * x_s0)
                    st(y, y_0 + j * y_s0, s7)
                if ((ny >= 2) and (j_lo == 0)) and (j == 0):
                    y_r8 = y_0 + j * y_s0
                    x_r9 = x_0 + j * x_s0
                    x_r10 = x_0 + (j + 1) * x_s0
                    for i in range(max(1, i_lo), min((nx - 1), i_hi)):
                        s11 = -ld(x, x_r9 + i - 1)
                        s12 = fma(w0, ld(x, x_r9 + i), s11)
                        s13 = s12 - ld(x, x_r9 + i + 1)
                        s14 = s13 - ld(x, x_r10 + i)
                        st(y, y_r8 + i, s14)
                else:
                    if ((((nx == 1) and (i_hi == 1)) and (i_lo == 0)) and (ny >= (j + 2))) and (j >= 1):
                        s15 = -ld(x, x_0 + (j - 1) * x_s0)
                        s16 = fma(w0, ld(x, x_0 + j * x_s0), s15)
                        s17 = s16 - ld(x, x_0 + (j + 1) * x_s0)
                        st(y, y_0 + j * y_s0, s17)
            if (ny >= (j + 2)) and (j >= 1):
                y_r18 = y_0 + j * y_s0
                x_r19 = x_0 + (j - 1) * x_s0
                x_r20 = x_0 + j * x_s0
                x_r21 = x_0 + (j + 1) * x_s0
                for i in range(max(1, i_lo), min((nx - 1), i_hi)):
                    s22 = -ld(x, x_r19 + i)
                    s23 = s22 - ld(x, x_r20 + i - 1)
                    s24 = fma(w0, ld(x, x_r20 + i), s23)
                    s25 = s24 - ld(x, x_r20 + i + 1)
                    s26 = s25 - ld(x, x_r21 + i)
                    st(y, y_r18 + i, s26)
                if (nx >= 2) and (i_hi == nx):
                    s27 = -ld(x, x_0 + (j - 1) * x_s0 + nx - 1)
                    s28 = s27 - ld(x, x_0 + j * x_s0 + nx - 2)
                    s29 = fma(w0, ld(x, x_0 + j * x_s0 + nx - 1), s28)
                    s30 = s29 - ld(x, x_0 + (j + 1) * x_s0 + nx - 1)
                    st(y, y_0 + j * y_s0 + nx - 1, s30)
            else:
                if ((((nx >= 2) and (ny >= 2)) and (i_lo == 0)) and (j_hi == ny)) and ((j + 1) == ny):
                    s31 = -ld(x, x_0 + (j - 1) * x_s0)
                    s32 = fma(w0, ld(x, x_0 + j * x_s0), s31)
                    s33 = s32 - ld(x, x_0 + j * x_s0 + 1)
                    st(y, y_0 + j * y_s0, s33)
                if ((ny >= 2) and (j_hi == ny)) and ((j + 1) == ny):
                    y_r34 = y_0 + j * y_s0
                    x_r35 = x_0 + (j - 1) * x_s0
                    x_r36 = x_0 + j * x_s0
                    for i in range(max(1, i_lo), min((nx - 1), i_hi)):
                        s37 = -ld(x, x_r35 + i)
                        s38 = s37 - ld(x, x_r36 + i - 1)
                        s39 = fma(w0, ld(x, x_r36 + i), s38)
                        s40 = s39 - ld(x, x_r36 + i + 1)
                        st(y, y_r34 + i, s40)
                    if (nx >= 2) and (i_hi == nx):
                        s41 = -ld(x, x_0 + (j - 1) * x_s0 + nx - 1)
                        s42 = s41 - ld(x, x_0 + j * x_s0 + nx - 2)
                        s43 = fma(w0, ld(x, x_0 + j * x_s0 + nx - 1), s42)
                        st(y, y_0 + j * y_s0 + nx - 1, s43)
                    if ((nx == 1) and (i_hi == 1)) and (i_lo == 0):
                        s44 = -ld(x, x_0 + (j - 1) * x_s0)
                        s45 = fma(w0, ld(x, x_0 + j * x_s0), s44)
                        st(y, y_0 + j * y_s0, s45)
                else:
                    if ((nx >= 2) and (ny >= 2)) and (i_hi == nx):
                        s46 = -ld(x, x_0 + j * x_s0 + nx - 2)
                        s47 = fma(w0, ld(x, x_0 + j * x_s0 + nx - 1), s46)
                        s48 = s47 - ld(x, x_0 + (j + 1) * x_s0 + nx - 1)
                        st(y, y_0 + j * y_s0 + nx - 1, s48)
                    if (((nx >= 2) and (ny == 1)) and (i_lo == 0)) and (j_hi == 1):
                        s49 = w0 * ld(x, x_0 + j * x_s0)
                        s50 = s49 - ld(x, x_0 + j * x_s0 + 1)
                        st(y, y_0 + j * y_s0, s50)
                    if (ny == 1) and (j_hi == 1):
                        y_r51 = y_0 + j * y_s0
                        x_r52 = x_0 + j * x_s0
                        for i in range(max(1, i_lo), min((nx - 1), i_hi)):
                            s53 = -ld(x, x_r52 + i - 1)
                            s54 = fma(w0, ld(x, x_r52 + i), s53)
                            s55 = s54 - ld(x, x_r52 + i + 1)
                            st(y, y_r51 + i, s55)
                        if (nx >= 2) and (i_hi == nx):
                            s56 = -ld(x, x_0 + j * x_s0 + nx - 2)
                            s57 = fma(w0, ld(x, x_0 + j * x_s0 + nx - 1), s56)
                            st(y, y_0 + j * y_s0 + nx - 1, s57)
                    else:
                        if ((nx == 1) and (i_hi == 1)) and (i_lo == 0):
                            s58 = w0 * ld(x, x_0 + j * x_s0)
                            s59 = s58 - ld(x, x_0 + (j + 1) * x_s0)
                            st(y, y_0 + j * y_s0, s59)
                    if ((((nx == 1) and (ny == 1)) and (i_hi == 1)) and (i_lo == 0)) and (j_hi == 1):
                        s60 = w0 * ld(x, x_0 + j * x_s0)
                        st(y, y_0 + j * y_s0, s60)
    return 0


SIGNATURE = i8(
    f4[:, :],
    Array(f4, 2, 'A', readonly=True),
    i8[::1],
    i8[:, ::1],
)
