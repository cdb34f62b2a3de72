"""solve, generated for float64."""

import numpy as np

from ssr.runtime.bundles import gather, put, scatter, take
from ssr.runtime.check_layout import refused
from ssr.runtime.intrinsics import address, fma
from ssr.runtime.polling import poll, stopwatch

real = np.float64
w0 = real(-0.3333333333333333)
w1 = real(0.3333333333333333)
w2 = real(0.0)
w3 = real(3.0)
w4 = real(1.0)
w5 = real(-1.0)
w6 = real(0.125)


def kernel(x, b, lines, layout, table_0):
    if refused((x, b), layout, 1):
        return 1
    watch = stopwatch()
    for box in range(table_0.shape[0]):  # x[:] = ...
        n = table_0[box, 0]
        i_lo = table_0[box, 1]
        i_hi = table_0[box, 2]
        x_0 = table_0[box, 3]
        b_0 = table_0[box, 4]
        lines_0 = -(address(lines) // 8) % 8
        poll(watch, (i_hi - i_lo) * 8)
        f1 = 0
        gather(lines, lines_0 + (f1 - i_lo) * 56, 56, b, b_0 + f1, 1, 0, i_hi - f1, 1)
        if i_hi >= 2:
            at = lines_0 + (0 - i_lo) * 56
            put(lines, at + 8, w0)
            v2 = take(lines, at) * w1
            put(lines, at + 16, v2)
            put(lines, at + 24, w2)
            put(lines, at + 32, w0)
        for i in range(1, i_hi - 1):
            at = lines_0 + (i - i_lo) * 56
            s3 = w3
            s4 = s3 + take(lines, at - 48)
            v5 = w4 / s4
            v6 = w5 * v5
            put(lines, at + 8, v6)
            s7 = take(lines, at)
            s8 = s7 + take(lines, at - 40)
            v9 = s8 * v5
            put(lines, at + 16, v9)
            v10 = take(lines, at - 32)
            v11 = v10 * v5
            put(lines, at + 24, v11)
            v12 = take(lines, at - 24)
            v13 = v12 * v5
            put(lines, at + 32, v13)
        if i_hi >= 2:
            at = lines_0 + (i_hi - 1 - i_lo) * 56
            s14 = w3
            s15 = s14 + take(lines, at - 48)
            v16 = w4 / s15
            s17 = w3
            s18 = s17 + abs(take(lines, at - 48))
            v19 = real(n) * abs(s18)
            v20 = v19 + s15 * w6 - v19
            v21 = v16 + w2 / v20
            put(lines, at + 8, w2)
            s22 = take(lines, at)
            s23 = s22 + take(lines, at - 40)
            v24 = s23 * v21
            put(lines, at + 16, v24)
            s25 = w5
            s26 = s25 + take(lines, at - 32)
            v27 = s26 * v21
            put(lines, at + 24, v27)
            v28 = take(lines, at - 24)
            v29 = v28 * v21
            put(lines, at + 32, v29)
        else:
            at = lines_0 + (0 - i_lo) * 56
            put(lines, at + 8, w2)
            v30 = take(lines, at) * w1
            put(lines, at + 16, v30)
            put(lines, at + 24, w0)
            put(lines, at + 32, w0)
        for i in range(i_hi - 1 - 1, 1 - 1, -1):
            at = lines_0 + (i - i_lo) * 56
            s31 = take(lines, at + 16)
            v32 = -take(lines, at + 8)
            s33 = fma(v32, take(lines, at + 72), s31)
            put(lines, at + 16, s33)
            s34 = take(lines, at + 24)
            s35 = fma(v32, take(lines, at + 80), s34)
            put(lines, at + 24, s35)
            s36 = take(lines, at + 32)
            s37 = fma(v32, take(lines, at + 88), s36)
            put(lines, at + 32, s37)
        if i_hi >= 2:
            at = lines_0 + (0 - i_lo) * 56
            s38 = take(lines, at + 16)
            v39 = -take(lines, at + 8)
            s40 = fma(v39, take(lines, at + 72), s38)
            put(lines, at + 16, s40)
            s41 = take(lines, at + 24)
            s42 = fma(v39, take(lines, at + 80), s41)
            put(lines, at + 24, s42)
            s43 = take(lines, at + 32)
            s44 = fma(v39, take(lines, at + 88), s43)
            put(lines, at + 32, s44)
        at = lines_0 + (0 - i_lo) * 56
        v45 = w4 + take(lines, at + 24)
        v46 = w4 / v45
        v47 = real(n) * abs(w4 + abs(take(lines, at + 24)))
        v48 = v47 + v45 * w6 - v47
        v49 = v46 + w2 / v48
        v50 = take(lines, lines_0 + (n - 1 - i_lo) * 56 + 24) * v49
        s51 = w4 + take(lines, lines_0 + (n - 1 - i_lo) * 56 + 32)
        v52 = -v50
        s53 = fma(v52, take(lines, at + 32), s51)
        v54 = w4 / s53
        s55 = abs(w4 + abs(take(lines, lines_0 + (n - 1 - i_lo) * 56 + 32)))
        s56 = fma(abs(v50), abs(take(lines, at + 32)), s55)
        v57 = real(n) * s56
        v58 = v57 + s53 * w6 - v57
        v59 = v54 + w2 / v58
        s60 = take(lines, lines_0 + (n - 1 - i_lo) * 56 + 16)
        s61 = fma(v52, take(lines, at + 16), s60)
        v62 = s61 * v59
        s63 = take(lines, at + 16)
        s64 = fma(-take(lines, at + 32), v62, s63)
        v65 = s64 * v49
        put(lines, at + 40, v65)
        put(lines, at + 48, v62)
        s66 = take(lines, at + 16)
        s67 = fma(-take(lines, at + 24), v65, s66)
        s68 = fma(-take(lines, at + 32), v62, s67)
        put(lines, at + 16, s68)
        for i in range(1, i_hi):
            at = lines_0 + (i - i_lo) * 56
            s69 = take(lines, at + 16)
            s70 = fma(-take(lines, at + 24), take(lines, lines_0 + (0 - i_lo) * 56 + 40), s69)
            s71 = fma(-take(lines, at + 32), take(lines, lines_0 + (0 - i_lo) * 56 + 48), s70)
            put(lines, at + 16, s71)
        f72 = 0
        scatter(lines, lines_0 + (f72 - i_lo) * 56 + 16, 56, x, x_0 + f72, 1, 0, i_hi - f72, 1)
    return 0


# The arguments of kernel:
#     x: f8[:] written
#     b: f8[:]
#     lines: f8[:] contiguous written
#     layout: i8[:] contiguous written
#     table_0: i8[:, :] contiguous written
