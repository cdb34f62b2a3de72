"""solve, generated for float64."""

import numpy as np

from ssr.runtime.check_layout import refused
from ssr.runtime.intrinsics import fma, ld, st
from ssr.runtime.polling import poll, stopwatch

real = np.float64


def kernel(x, r, a, b, c, q0, t0, layout, table_0):
    if refused((x, r, a, b, c), layout, 1):
        return 1
    watch = stopwatch()
    for box in range(table_0.shape[0]):  # x[:] = ...
        n = table_0[box, 0]
        i_lo = table_0[box, 1]
        i_hi = table_0[box, 2]
        x_0 = table_0[box, 3]
        r_0 = table_0[box, 4]
        a_0 = table_0[box, 5]
        b_0 = table_0[box, 6]
        q0_0 = 0 - i_lo
        t0_0 = 0 - i_lo
        for strip in range(i_lo, i_hi, 65536):
            poll(watch, min(65536, i_hi - i_lo))
            for i in range(strip, min(strip + 65536, i_hi)):
                st(t0, t0_0 + i, ld(r, r_0 + i) / ld(b, b_0 + i))
        if n >= 2:
            for strip in range(max(1, i_lo), i_hi, 65536):
                poll(watch, min(65536, i_hi - i_lo))
                for i in range(strip, min(strip + 65536, i_hi)):
                    st(q0, q0_0 + i, --ld(a, a_0 + i) / ld(b, b_0 + i))
        if i_lo == 0:
            st(x, x_0, ld(t0, t0_0))
        for strip in range(max(1, i_lo), i_hi, 65536):
            poll(watch, min(65536, i_hi - i_lo))
            for i in range(strip, min(strip + 65536, i_hi)):
                s1 = ld(t0, t0_0 + i)
                s2 = fma(ld(q0, q0_0 + i), ld(x, x_0 + i - 1), s1)
                st(x, x_0 + i, s2)
    return 0


# The arguments of kernel:
#     x: f8[:] written
#     r: f8[:]
#     a: f8[:]
#     b: f8[:]
#     c: f8[:]
#     q0: f8[:] contiguous written
#     t0: f8[:] contiguous written
#     layout: i8[:] contiguous written
#     table_0: i8[:, :] contiguous written
