"""stencil apply, generated for float64."""

import numpy as np
from numba.types import Array, f4, f8, i8

from ssr.runtime.intrinsics import address, fits, fma, independent, interleaved, ld, maximum, meet, minimum, prefetch, sign, st, uneven
from ssr.runtime.lanes import accumulate, extreme, found, total
from ssr.runtime.polling import poll, stopwatch

META = {'fields': ['y', 'x'], 'temporaries': {}, 'written': ['y'], 'buffers': [('c0', 0, 1, 1, None, 8), ('g1', 0, 4, 1, None, 8)], 'scalars': [], 'sizes': ['nx', 'ny', 'nz'], 'nests': [{'target': 'y', 'order': 'any', 'earlier': (), 'whole_lines': False, 'fused': False}], 'loops': 7, 'reductions': 0, 'results': 0, 'stored': (), 'debug': False, 'functions': []}

real = np.float64
w0 = real(0.0)
w1 = real(27.0)


def kernel(y, x, c0, g1, layout, table_0):
    if not fits(y, layout, 3):
        return 1
    if not fits(x, layout, 10):
        return 1
    if meet((address(y), address(x)), (layout[2], layout[9]), 1):
        return 2
    watch = stopwatch()
    one = layout[0]
    for box in range(table_0.shape[0]):  # y[:] = ...
        nx = table_0[box, 0]
        ny = table_0[box, 1]
        nz = table_0[box, 2]
        k_lo = table_0[box, 3]
        k_hi = table_0[box, 4]
        j_lo = table_0[box, 5]
        j_hi = table_0[box, 6]
        i_lo = table_0[box, 7]
        i_hi = table_0[box, 8]
        y_0 = table_0[box, 9]
        y_s0 = table_0[box, 10]
        y_s1 = table_0[box, 11]
        x_0 = table_0[box, 12]
        x_s0 = table_0[box, 13]
        x_s1 = table_0[box, 14]
        c0_n = (i_hi - i_lo + 7) // 8 + 1
        c0_w = (c0_n + 1 - min(c0_n % 16, 1)) * 8
        c0_0 = 8 - i_lo
        for clear in range(1 * c0_w + 8):
            st(c0, clear, w0)
        g1_n = (i_hi - i_lo + 7) // 8 + 1
        g1_w = (g1_n + 1 - min(g1_n % 16, 1)) * 8
        g1_0 = 8 - i_lo
        for clear in range(4 * g1_w + 8):
            st(g1, clear, w0)
        c0_m1 = c0_0 - one
        c0_p1 = c0_0 + one
        for k in range(k_lo, k_hi):
            for j in range(j_lo - 2, j_hi):
                poll(watch, i_hi - i_lo)
                if (((nz >= (k + 2)) and (k >= 1)) and (ny >= (j + 2))) and (j >= -1):
                    g1_r1 = g1_0 + ((j + 1) & 3) * g1_w
                    x_r2 = x_0 + (k - 1) * x_s0 + (j + 1) * x_s1
                    x_r3 = x_0 + k * x_s0 + (j + 1) * x_s1
                    x_r4 = x_0 + (k + 1) * x_s0 + (j + 1) * x_s1
                    for i in range(max(0, (i_lo - 1)), min((nx - 1), i_hi) + 1):
                        s5 = ld(x, x_r2 + i)
                        s6 = s5 + ld(x, x_r3 + i)
                        s7 = s6 + ld(x, x_r4 + i)
                        st(g1, g1_r1 + i, s7)
                else:
                    if ((((k_hi >= 2) and (nz == k_hi)) and ((k + 1) == k_hi)) and (ny >= (j + 2))) and (j >= -1):
                        g1_r8 = g1_0 + ((j + 1) & 3) * g1_w
                        x_r9 = x_0 + (k - 1) * x_s0 + (j + 1) * x_s1
                        x_r10 = x_0 + k * x_s0 + (j + 1) * x_s1
                        for i in range(max(0, (i_lo - 1)), min((nx - 1), i_hi) + 1):
                            s11 = ld(x, x_r9 + i)
                            s12 = s11 + ld(x, x_r10 + i)
                            st(g1, g1_r8 + i, s12)
                    if ((((k_lo == 0) and (nz >= 2)) and (k == 0)) and (ny >= (j + 2))) and (j >= -1):
                        g1_r13 = g1_0 + ((j + 1) & 3) * g1_w
                        x_r14 = x_0 + k * x_s0 + (j + 1) * x_s1
                        x_r15 = x_0 + (k + 1) * x_s0 + (j + 1) * x_s1
                        for i in range(max(0, (i_lo - 1)), min((nx - 1), i_hi) + 1):
                            s16 = ld(x, x_r14 + i)
                            s17 = s16 + ld(x, x_r15 + i)
                            st(g1, g1_r13 + i, s17)
                    if (((((k_hi == 1) and (k_lo == 0)) and (nz == 1)) and (k == 0)) and (ny >= (j + 2))) and (j >= -1):
                        g1_r18 = g1_0 + ((j + 1) & 3) * g1_w
                        x_r19 = x_0 + k * x_s0 + (j + 1) * x_s1
                        for i in range(max(0, (i_lo - 1)), min((nx - 1), i_hi) + 1):
                            st(g1, g1_r18 + i, ld(x, x_r19 + i))
                    if ((ny == j_hi) and ((j + 1) == j_hi)) or ((j_lo == 0) and (j == -2)):
                        g1_r20 = g1_0 + ((j + 1) & 3) * g1_w
                        for i in range(max(0, (i_lo - 1)), min((nx - 1), i_hi) + 1):
                            st(g1, g1_r20 + i, w0)
                if j >= j_lo:
                    g1_r21 = g1_0 + ((j - 1) & 3) * g1_w
                    g1_r22 = g1_0 + ((j) & 3) * g1_w
                    g1_r23 = g1_0 + ((j + 1) & 3) * g1_w
                    y_r24 = y_0 + k * y_s0 + j * y_s1
                    x_r25 = x_0 + k * x_s0 + j * x_s1
                    for i in range(max(0, (i_lo - 1)), min((nx - 1), i_hi) + 1):
                        s26 = ld(g1, g1_r21 + i)
                        s27 = s26 + ld(g1, g1_r22 + i)
                        s28 = s27 + ld(g1, g1_r23 + i)
                        st(c0, c0_0 + i, s28)
                    for i in range(i_lo, i_hi):
                        s29 = w1 * ld(x, x_r25 + i)
                        s30 = s29 - ld(c0, c0_m1 + i)
                        s31 = s30 - ld(c0, c0_0 + i)
                        s32 = s31 - ld(c0, c0_p1 + i)
                        st(y, y_r24 + i, s32)
    return 0


SIGNATURE = i8(
    f8[:, :, :],
    Array(f8, 3, 'A', readonly=True),
    f8[::1],
    f8[::1],
    i8[::1],
    i8[:, ::1],
)
