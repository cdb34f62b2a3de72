"""stencil apply, generated for float32."""

import numpy as np
from numba.types import Array, f4, f8, i8

from ssr.runtime.intrinsics import address, fits, fma, independent, interleaved, ld, maximum, meet, minimum, prefetch, sign, st, uneven
from ssr.runtime.lanes import accumulate, extreme, found, total
from ssr.runtime.polling import poll, stopwatch

META = {'fields': ['y', 'x'], 'temporaries': {}, 'written': ['y'], 'buffers': [], 'scalars': [], 'sizes': ['nx', 'ny'], 'nests': [{'target': 'y', 'order': 'any', 'earlier': (), 'whole_lines': False, 'fused': False}], 'loops': 2, 'reductions': 0, 'results': 0, 'stored': (), 'debug': False, 'functions': []}

real = np.float32
w0 = real(4.0)
w1 = real(-0.0)


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
            if (((i_hi >= 2) and (nx >= (i_lo + 2))) and (ny >= (j + 2))) and (j >= 1):
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
                line18 = (j - 1 if j - 1 >= 0 else j)
                line19 = (j + 1 if -j + ny - 2 >= 0 else j)
                test20 = (j - 1 >= 0)
                test21 = (-j + ny - 2 >= 0)
                y_r22 = y_0 + j * y_s0
                x_r23 = x_0 + line18 * x_s0
                x_r24 = x_0 + j * x_s0
                x_r25 = x_0 + line19 * x_s0
                for i in range(i_lo, i_hi):
                    s26 = (w1 - ld(x, x_r23 + i)) if test20 else w1
                    s27 = (s26 - ld(x, x_r24 + i - 1)) if (i >= 1) else s26
                    s28 = fma(w0, ld(x, x_r24 + i), s27)
                    s29 = (s28 - ld(x, x_r24 + i + 1)) if (i <= nx - 2) else s28
                    s30 = (s29 - ld(x, x_r25 + i)) if test21 else s29
                    st(y, y_r22 + i, s30)
    return 0


SIGNATURE = i8(
    f4[:, :],
    Array(f4, 2, 'A', readonly=True),
    i8[::1],
    i8[:, ::1],
)
