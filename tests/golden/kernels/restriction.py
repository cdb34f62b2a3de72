"""restriction apply, generated for float64."""

import numpy as np

from ssr.runtime.check_layout import refused
from ssr.runtime.intrinsics import fma, ld, st
from ssr.runtime.polling import poll, stopwatch

real = np.float64
w0 = real(-0.0)
w1 = real(0.25)
w2 = real(0.5)


def kernel(y, x, layout, table_0):
    if refused((y, x), layout, 1):
        return 1
    watch = stopwatch()
    for box in range(table_0.shape[0]):  # y[:] = ...
        i_lo = table_0[box, 1]
        i_hi = table_0[box, 2]
        y_0 = table_0[box, 3]
        x_0 = table_0[box, 4]
        for strip in range(i_lo, i_hi, 65536):
            poll(watch, min(65536, i_hi - i_lo))
            for i in range(strip, min(strip + 65536, i_hi)):
                s1 = fma(w1, ld(x, x_0 + 2 * i - 1), w0) if i >= 1 else w0
                s2 = fma(w2, ld(x, x_0 + 2 * i), s1)
                s3 = fma(w1, ld(x, x_0 + 2 * i + 1), s2)
                st(y, y_0 + i, s3)
    return 0


# The arguments of kernel:
#     y: f8[:] written
#     x: f8[:]
#     layout: i8[:] contiguous written
#     table_0: i8[:, :] contiguous written
