"""gauss_seidel, generated for float64."""

import numpy as np
from numba.types import Array, f4, f8, i8

from ssr.runtime.intrinsics import address, fits, fma, interleaved, ld, maximum, meet, minimum, prefetch, sign, st, uneven
from ssr.runtime.lanes import accumulate, extreme, found, total
from ssr.runtime.polling import poll, stopwatch

META = {'fields': ['x', 'b'], 'temporaries': {}, 'written': ['x'], 'buffers': [('t0', 0, 1, 0, None)], 'scalars': [], 'sizes': ['nx', 'ny'], 'nests': [{'target': 'x', 'order': 'backward', 'earlier': ((0, 1), (1, 0)), 'whole_lines': False, 'fused': False}], 'loops': 4, 'reductions': 0, 'results': 0, 'stored': (), 'debug': False, 'functions': []}

real = np.float64
w0 = real(0.25)


def kernel(x, b, t0, layout, table_0):
    if not fits(x, layout, 3):
        return 1
    if not fits(b, layout, 8):
        return 1
    if meet((address(x), address(b)), (layout[2], layout[7]), 1):
        return 2
    watch = stopwatch()
    one = layout[0]
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
        t0_0 = 0 - i_lo
        t0_m1 = t0_0 - one
        for j in range(j_hi - 1, j_lo - 1, -1):
            poll(watch, i_hi - i_lo)
            x_r1 = x_0 + j * x_s0
            if ((i_lo == 0) and (ny >= (j + 2))) and (j >= 1):
                s2 = ld(b, b_0 + j * b_s0)
                s3 = s2 + ld(x, x_0 + (j - 1) * x_s0)
                s4 = s3 + ld(x, x_0 + (j + 1) * x_s0)
                st(t0, t0_0, (s4 * w0))
            if (ny >= (j + 2)) and (j >= 1):
                b_r5 = b_0 + j * b_s0
                x_r6 = x_0 + (j - 1) * x_s0
                x_r7 = x_0 + (j + 1) * x_s0
                for i in range(max(1, i_lo), i_hi):
                    s8 = ld(b, b_r5 + i)
                    s9 = s8 + ld(x, x_r6 + i)
                    s10 = s9 + ld(x, x_r1 + i - 1)
                    s11 = s10 + ld(x, x_r7 + i)
                    st(t0, t0_0 + i, (s11 * w0))
            else:
                if (((ny >= 2) and (i_lo == 0)) and (j_lo == 0)) and (j == 0):
                    s12 = ld(b, b_0 + j * b_s0)
                    s13 = s12 + ld(x, x_0 + (j + 1) * x_s0)
                    st(t0, t0_0, (s13 * w0))
                if ((ny >= 2) and (j_lo == 0)) and (j == 0):
                    b_r14 = b_0 + j * b_s0
                    x_r15 = x_0 + (j + 1) * x_s0
                    for i in range(max(1, i_lo), i_hi):
                        s16 = ld(b, b_r14 + i)
                        s17 = s16 + ld(x, x_r1 + i - 1)
                        s18 = s17 + ld(x, x_r15 + i)
                        st(t0, t0_0 + i, (s18 * w0))
                else:
                    if (ny >= 2) and (i_lo == 0):
                        s19 = ld(b, b_0 + j * b_s0)
                        s20 = s19 + ld(x, x_0 + (j - 1) * x_s0)
                        st(t0, t0_0, (s20 * w0))
                    if ny >= 2:
                        b_r21 = b_0 + j * b_s0
                        x_r22 = x_0 + (j - 1) * x_s0
                        for i in range(max(1, i_lo), i_hi):
                            s23 = ld(b, b_r21 + i)
                            s24 = s23 + ld(x, x_r22 + i)
                            s25 = s24 + ld(x, x_r1 + i - 1)
                            st(t0, t0_0 + i, (s25 * w0))
                    else:
                        b_r26 = b_0 + j * b_s0
                        if i_lo == 0:
                            st(t0, t0_0, (ld(b, b_r26) * w0))
                        for i in range(max(1, i_lo), i_hi):
                            s27 = ld(b, b_r26 + i)
                            s28 = s27 + ld(x, x_r1 + i - 1)
                            st(t0, t0_0 + i, (s28 * w0))
            if i_hi == nx:
                st(x, x_r1 + nx - 1, ld(t0, t0_m1 + nx))
            for i in range((min((nx - 1), i_hi)) - 1, (i_lo) - 1, -1):
                s29 = ld(t0, t0_0 + i)
                s30 = fma(w0, ld(x, x_r1 + i + 1), s29)
                st(x, x_r1 + i, s30)
    return 0


SIGNATURE = i8(
    f8[:, :],
    Array(f8, 2, 'A', readonly=True),
    f8[::1],
    i8[::1],
    i8[:, ::1],
)
