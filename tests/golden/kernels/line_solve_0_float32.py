"""solve, generated for float32."""

import numpy as np

from ssr.runtime.bundles import gather, put, scatter, take
from ssr.runtime.check_layout import refused
from ssr.runtime.intrinsics import address, fma
from ssr.runtime.polling import poll, stopwatch

real = np.float32
w0 = real(1.0)
w1 = real(0.125)
w2 = real(0.0)
double0 = np.float64(-2.0)


def kernel(x, b, lines, tau, layout, table_0):
    if refused((x, b), layout, 1):
        return 1
    watch = stopwatch()
    scalar0 = tau * double0
    scalar1 = -scalar0
    scalar2 = real(scalar1)
    scalar3 = -tau
    scalar4 = real(scalar3)
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
        lines_0 = -(address(lines) // 4) % 16
        for i in range(max(0, i_lo), min(nx, i_hi), 16):
            many = min(16, min(nx, i_hi) - i)
            poll(watch, (j_hi - j_lo) * 16)
            f1 = 0
            gather(lines, lines_0 + (f1 - j_lo) * 48, 48, b, b_0 + f1 * b_s0 + i, b_s0, 1, ny - f1, many)
            if ny >= 2:
                at = lines_0 + (0 - j_lo) * 48
                s2 = scalar2
                s3 = s2 + w0
                v4 = w0 / s3
                v5 = scalar4 * v4
                put(lines, at + 16, v5)
                v6 = take(lines, at) * v4
                put(lines, at + 32, v6)
            for j in range(1, ny - 1):
                at = lines_0 + (j - j_lo) * 48
                s7 = scalar2
                s8 = s7 + w0
                s9 = s8
                v10 = -scalar4
                s11 = fma(v10, take(lines, at - 32), s9)
                v12 = w0 / s11
                v13 = scalar4 * v12
                put(lines, at + 16, v13)
                s14 = take(lines, at)
                s15 = fma(v10, take(lines, at - 16), s14)
                v16 = s15 * v12
                put(lines, at + 32, v16)
            if ny >= 2:
                at = lines_0 + (ny - 1 - j_lo) * 48
                s17 = scalar2
                s18 = s17 + w0
                s19 = s18
                v20 = -scalar4
                s21 = fma(v20, take(lines, at - 32), s19)
                v22 = w0 / s21
                s23 = abs(s18)
                s24 = fma(abs(scalar4), abs(take(lines, at - 32)), s23)
                v25 = real(ny) * abs(s24)
                v26 = v25 + s21 * w1 - v25
                v27 = v22 + w2 / v26
                put(lines, at + 16, w2)
                s28 = take(lines, at)
                s29 = fma(v20, take(lines, at - 16), s28)
                v30 = s29 * v27
                put(lines, at + 32, v30)
            else:
                at = lines_0 + (0 - j_lo) * 48
                s31 = scalar2
                s32 = s31 + w0
                v33 = w0 / s32
                put(lines, at + 16, w2)
                v34 = take(lines, at) * v33
                put(lines, at + 32, v34)
            for j in range(ny - 1 - 1, 1 - 1, -1):
                at = lines_0 + (j - j_lo) * 48
                s35 = take(lines, at + 32)
                s36 = fma(-take(lines, at + 16), take(lines, at + 80), s35)
                put(lines, at + 32, s36)
            if ny >= 2:
                at = lines_0 + (0 - j_lo) * 48
                s37 = take(lines, at + 32)
                s38 = fma(-take(lines, at + 16), take(lines, at + 80), s37)
                put(lines, at + 32, s38)
            f39 = 0
            scatter(lines, lines_0 + (f39 - j_lo) * 48 + 32, 48, x, x_0 + f39 * x_s0 + i, x_s0, 1, ny - f39, many)
    return 0


# The arguments of kernel:
#     x: f4[:, :] written
#     b: f4[:, :]
#     lines: f4[:] contiguous written
#     tau: f8
#     layout: i8[:] contiguous written
#     table_0: i8[:, :] contiguous written
