"""solve, generated for float64."""

import numpy as np

from ssr.runtime.bundles import gather, put, scatter, take
from ssr.runtime.check_layout import refused
from ssr.runtime.intrinsics import address, fma
from ssr.runtime.polling import poll, stopwatch

real = np.float64
w0 = real(-2.0)
w1 = real(1.0)
w2 = real(0.125)
w3 = real(0.0)


def kernel(x, b, lines, tau, layout, table_0):
    if refused((x, b), layout, 1):
        return 1
    watch = stopwatch()
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
        lines_0 = -(address(lines) // 8) % 8
        number = -tau
        u__number_1__ = -(tau * w0)
        for i in range(max(0, i_lo), min(nx, i_hi), 8):
            many = min(8, min(nx, i_hi) - i)
            poll(watch, (j_hi - j_lo) * 8)
            f1 = 0
            gather(lines, lines_0 + (f1 - j_lo) * 24, 24, b, b_0 + f1 * b_s0 + i, b_s0, 1, ny - f1, many)
            if ny >= 2:
                at = lines_0 + (0 - j_lo) * 24
                s2 = u__number_1__
                s3 = s2 + w1
                v4 = w1 / s3
                v5 = number * v4
                put(lines, at + 8, v5)
                v6 = take(lines, at) * v4
                put(lines, at + 16, v6)
            for j in range(1, ny - 1):
                at = lines_0 + (j - j_lo) * 24
                s7 = u__number_1__
                s8 = s7 + w1
                s9 = s8
                v10 = -number
                s11 = fma(v10, take(lines, at - 16), s9)
                v12 = w1 / s11
                v13 = number * v12
                put(lines, at + 8, v13)
                s14 = take(lines, at)
                s15 = fma(v10, take(lines, at - 8), s14)
                v16 = s15 * v12
                put(lines, at + 16, v16)
            if ny >= 2:
                at = lines_0 + (ny - 1 - j_lo) * 24
                s17 = u__number_1__
                s18 = s17 + w1
                s19 = s18
                v20 = -number
                s21 = fma(v20, take(lines, at - 16), s19)
                v22 = w1 / s21
                s23 = abs(s18)
                s24 = fma(abs(number), abs(take(lines, at - 16)), s23)
                v25 = real(ny) * abs(s24)
                v26 = v25 + s21 * w2 - v25
                v27 = v22 + w3 / v26
                put(lines, at + 8, w3)
                s28 = take(lines, at)
                s29 = fma(v20, take(lines, at - 8), s28)
                v30 = s29 * v27
                put(lines, at + 16, v30)
            else:
                at = lines_0 + (0 - j_lo) * 24
                s31 = u__number_1__
                s32 = s31 + w1
                v33 = w1 / s32
                put(lines, at + 8, w3)
                v34 = take(lines, at) * v33
                put(lines, at + 16, v34)
            for j in range(ny - 1 - 1, 1 - 1, -1):
                at = lines_0 + (j - j_lo) * 24
                s35 = take(lines, at + 16)
                s36 = fma(-take(lines, at + 8), take(lines, at + 40), s35)
                put(lines, at + 16, s36)
            if ny >= 2:
                at = lines_0 + (0 - j_lo) * 24
                s37 = take(lines, at + 16)
                s38 = fma(-take(lines, at + 8), take(lines, at + 40), s37)
                put(lines, at + 16, s38)
            f39 = 0
            scatter(lines, lines_0 + (f39 - j_lo) * 24 + 16, 24, x, x_0 + f39 * x_s0 + i, x_s0, 1, ny - f39, many)
    return 0


# The arguments of kernel:
#     x: f8[:, :] written
#     b: f8[:, :]
#     lines: f8[:] contiguous written
#     tau: f8
#     layout: i8[:] contiguous written
#     table_0: i8[:, :] contiguous written
