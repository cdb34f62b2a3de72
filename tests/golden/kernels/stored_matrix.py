"""step, generated for float64."""

import numpy as np

from ssr.runtime.check_layout import refused
from ssr.runtime.intrinsics import fma, ld, st
from ssr.runtime.polling import poll, stopwatch

real = np.float64
w0 = real(0.0)


def kernel(y, x, layout, table_0, csr1_first, csr1_values, csr1_places_x):
    if refused((y, x), layout, 1):
        return 1
    watch = stopwatch()
    for box in range(table_0.shape[0]):  # y[:] = ...
        i_lo = table_0[box, 0]
        i_hi = table_0[box, 1]
        y_0 = table_0[box, 2]
        x_0 = table_0[box, 3]
        for strip in range(i_lo, i_hi, 65536):
            poll(watch, min(65536, i_hi - i_lo))
            for i in range(strip, min(strip + 65536, i_hi)):
                s1 = ld(x, x_0 + i)
                r2 = i
                p3 = ld(csr1_first, r2)
                p4 = ld(csr1_first, r2 + 1)
                s5 = w0
                s6 = w0
                for p in range(p3, p4 - 1, 2):
                    s5 = fma(ld(csr1_values, p), ld(x, ld(csr1_places_x, p)), s5)
                    s6 = fma(ld(csr1_values, p + 1), ld(x, ld(csr1_places_x, p + 1)), s6)
                if p4 - p3 & 1:
                    s5 = fma(ld(csr1_values, p4 - 1), ld(x, ld(csr1_places_x, p4 - 1)), s5)
                s7 = s5 + s6
                s8 = s1 - s7
                st(y, y_0 + i, s8)
    return 0


# The arguments of kernel:
#     y: f8[:] written
#     x: f8[:]
#     layout: i8[:] contiguous written
#     table_0: i8[:, :] contiguous written
#     csr1_first: i4[:] contiguous
#     csr1_values: f8[:] contiguous
#     csr1_places_x: i4[:] contiguous
