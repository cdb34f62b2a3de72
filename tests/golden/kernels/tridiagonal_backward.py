"""gauss_seidel, generated for float64."""

import numpy as np

from ssr.runtime.check_layout import refused
from ssr.runtime.intrinsics import fma, ld, st
from ssr.runtime.polling import poll, stopwatch

real = np.float64
w0 = real(0.5)


def kernel(x, b, t0, layout, table_0):
    if refused((x, b), layout, 1):
        return 1
    watch = stopwatch()
    for box in range(table_0.shape[0]):  # x[:] = ...
        n = table_0[box, 0]
        i_lo = table_0[box, 1]
        i_hi = table_0[box, 2]
        x_0 = table_0[box, 3]
        b_0 = table_0[box, 4]
        t0_0 = 0 - i_lo
        for strip in range(i_lo, i_hi, 65536):
            poll(watch, min(65536, i_hi - i_lo))
            for i in range(strip, min(strip + 65536, i_hi)):
                s1 = ld(b, b_0 + i)
                s2 = s1 + ld(x, x_0 + i - 1) if i >= 1 else s1
                st(t0, t0_0 + i, s2 * w0)
        if i_hi == n:
            st(x, x_0 + n - 1, ld(t0, t0_0 + n - 1))
        for strip in range(min(n - 1, i_hi) - 1, i_lo - 1, -65536):
            poll(watch, min(65536, i_hi - i_lo))
            for i in range(strip, max(strip - 65536, i_lo - 1), -1):
                s3 = ld(t0, t0_0 + i)
                s4 = fma(w0, ld(x, x_0 + i + 1), s3)
                st(x, x_0 + i, s4)
    return 0


# The arguments of kernel:
#     x: f8[:] written
#     b: f8[:]
#     t0: f8[:] contiguous written
#     layout: i8[:] contiguous written
#     table_0: i8[:, :] contiguous written
