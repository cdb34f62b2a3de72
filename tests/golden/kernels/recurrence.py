"""LU compute, generated for float64."""

import numpy as np

from ssr.runtime.check_layout import refused
from ssr.runtime.intrinsics import apart, component, ld, st
from ssr.runtime.parts import rows
from ssr.runtime.polling import poll, stopwatch

real = np.float64
w0 = real(4.0)
w1 = real(-1.0)


def kernel(v__LU__0, layout, table_0):
    if refused((v__LU__0,), layout, 1):
        return 1
    watch = stopwatch()
    for box in range(table_0.shape[0]):  # LU[0][:] = ...
        i_lo = table_0[box, 1]
        i_hi = table_0[box, 2]
        v__LU__0_0 = table_0[box, 3]
        if i_lo == 0:
            st(v__LU__0, v__LU__0_0, w0)
        for strip in range(max(1, i_lo), i_hi, 65536):
            poll(watch, min(65536, i_hi - i_lo))
            for i in range(strip, min(strip + 65536, i_hi)):
                s1 = w0 - w1 / ld(v__LU__0, v__LU__0_0 + i - 1) * w1
                st(v__LU__0, v__LU__0_0 + i, s1)
    return 0


def call(v__LU, layout, tables):
    if not apart(v__LU, 1):
        return 1
    return kernel(component(v__LU, 0), layout, rows(tables, tables[0], tables[1], tables[2]))


# The arguments of call:
#     v__LU: f8[:, :] written
#     layout: i8[:] contiguous written
#     tables: i8[:] contiguous
