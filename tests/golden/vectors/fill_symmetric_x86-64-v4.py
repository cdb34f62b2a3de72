"""diffuse, generated for float64."""

import numpy as np

from ssr.runtime.check_layout import refused
from ssr.runtime.intrinsics import address, fma, ld, st
from ssr.runtime.polling import poll, stopwatch
from ssr.runtime.vectors import elements, line_steps, request, rows_between8, vector_load8, vector_store, vectors

real = np.float64
w0 = real(4.0)


def kernel(u, t0, r, layout, table_0):
    if refused((u,), layout, 1):
        return 1
    watch = stopwatch()
    for box in range(table_0.shape[0]):  # u[:] = ...
        nx = table_0[box, 0]
        ny = table_0[box, 1]
        j_lo = table_0[box, 2]
        j_hi = table_0[box, 3]
        i_lo = table_0[box, 4]
        i_hi = table_0[box, 5]
        u_0 = table_0[box, 6]
        u_s0 = table_0[box, 7]
        t0_w = i_hi - i_lo + 0
        t0_0 = 0 - i_lo
        for j in range(j_lo - 1, j_hi):
            poll(watch, i_hi - i_lo)
            if j_hi >= j + 2:
                if nx >= 2:
                    line1 = j if j >= 0 else -j - 1
                    line2 = j + 2 if -j + ny - 3 >= 0 else -j + 2 * ny - 3
                    t0_r3 = t0_0 + (j + 1 & 1) * t0_w
                    u_r4 = u_0 + (j + 1) * u_s0
                    u_r5 = u_0 + line1 * u_s0
                    u_r6 = u_0 + line2 * u_s0
                    s7 = ld(u, u_r4)
                    s8 = -ld(u, u_r5)
                    s9 = s8 - ld(u, u_r4)
                    s10 = fma(w0, ld(u, u_r4), s9)
                    s11 = s10 - ld(u, u_r4 + 1)
                    s12 = s11 - ld(u, u_r6)
                    s13 = fma(-r, s12, s7)
                    st(t0, t0_r3, s13)
                    i_stop_1 = nx - 1
                    early_1 = (address(u) + 8 * (u_r4 + 1) & 63) >> 3 if line_steps(u) & 63 == 0 else 0
                    first_1 = 1 - early_1 if i_stop_1 - 1 >= 48 or early_1 + (i_stop_1 - 2 & 7) < 8 else 1
                    ahead_1 = 640 if elements(u) > 524288 else 0
                    u_ahead_1 = u_r6 + 1 + (ahead_1 - 1)
                    u_ahead_2 = u_r6 + 64
                    i_1 = first_1
                    i_past_1 = i_stop_1 - 7
                    while i_1 < i_stop_1:
                        if i_1 < 1 or i_1 >= i_past_1:
                            i = i_1
                            request(u, u_ahead_1 + i, False, False)
                            request(u, u_ahead_2 + i, True, False)
                            rows_1 = rows_between8(1 - i, i_stop_1 - i)
                            s14_1 = vector_load8(u, u_r4 + i, rows_1)
                            s15_1 = -vector_load8(u, u_r5 + i, rows_1)
                            s16_1 = s15_1 - vector_load8(u, u_r4 + i - 1, rows_1)
                            s17_1 = fma(w0, vector_load8(u, u_r4 + i, rows_1), s16_1)
                            s18_1 = s17_1 - vector_load8(u, u_r4 + i + 1, rows_1)
                            s19_1 = s18_1 - vector_load8(u, u_r6 + i, rows_1)
                            s20_1 = fma(-r, s19_1, s14_1)
                            vector_store(t0, t0_r3 + i, s20_1, rows_1)
                            i_1 = i_1 + 8
                        for i in vectors(i_1, i_past_1, 8):
                            request(u, u_ahead_1 + i, False, False)
                            request(u, u_ahead_2 + i, True, False)
                            s14_2 = vector_load8(u, u_r4 + i)
                            s15_2 = -vector_load8(u, u_r5 + i)
                            s16_2 = s15_2 - vector_load8(u, u_r4 + i - 1)
                            s17_2 = fma(w0, vector_load8(u, u_r4 + i), s16_2)
                            s18_2 = s17_2 - vector_load8(u, u_r4 + i + 1)
                            s19_2 = s18_2 - vector_load8(u, u_r6 + i)
                            s20_2 = fma(-r, s19_2, s14_2)
                            vector_store(t0, t0_r3 + i, s20_2)
                            i_1 = i + 8
                    s21 = ld(u, u_r4 + nx - 1)
                    s22 = -ld(u, u_r5 + nx - 1)
                    s23 = s22 - ld(u, u_r4 + nx - 2)
                    s24 = fma(w0, ld(u, u_r4 + nx - 1), s23)
                    s25 = s24 - ld(u, u_r4 + nx - 1)
                    s26 = s25 - ld(u, u_r6 + nx - 1)
                    s27 = fma(-r, s26, s21)
                    st(t0, t0_r3 + nx - 1, s27)
                else:
                    u_r28 = u_0 + (j + 1) * u_s0
                    s29 = ld(u, u_r28)
                    s30 = -ld(u, u_0 + (j if j >= 0 else -j - 1) * u_s0)
                    s31 = s30 - ld(u, u_r28)
                    s32 = fma(w0, ld(u, u_r28), s31)
                    s33 = s32 - ld(u, u_r28 + 2 * nx - 2)
                    s34 = s33 - ld(u, u_0 + (j + 2 if -j + ny - 3 >= 0 else -j + 2 * ny - 3) * u_s0)
                    s35 = fma(-r, s34, s29)
                    st(t0, t0_0 + (j + 1 & 1) * t0_w, s35)
            if j >= 0:
                u_r36 = u_0 + j * u_s0
                t0_r37 = t0_0 + (j & 1) * t0_w
                early_2 = (address(u) + 8 * u_r36 & 63) >> 3 if line_steps(u) & 63 == 0 else 0
                first_2 = -early_2 if nx >= 48 or early_2 + (nx - 1 & 7) < 8 else 0
                ahead_2 = 640 if elements(u) > 524288 else 0
                u_ahead_3 = u_r36 + ahead_2
                u_ahead_4 = u_r36 + 64
                i_2 = first_2
                i_past_2 = nx - 7
                while i_2 < nx:
                    if i_2 < 0 or i_2 >= i_past_2:
                        i = i_2
                        request(u, u_ahead_3 + i, False, True)
                        request(u, u_ahead_4 + i, True, True)
                        rows_2 = rows_between8(-i, nx - i)
                        vector_store(u, u_r36 + i, vector_load8(t0, t0_r37 + i, rows_2), rows_2)
                        i_2 = i_2 + 8
                    for i in vectors(i_2, i_past_2, 8):
                        request(u, u_ahead_3 + i, False, True)
                        request(u, u_ahead_4 + i, True, True)
                        vector_store(u, u_r36 + i, vector_load8(t0, t0_r37 + i))
                        i_2 = i + 8
    return 0


# The arguments of kernel:
#     u: f8[:, :] written
#     t0: f8[:] contiguous written
#     r: f8
#     layout: i8[:] contiguous written
#     table_0: i8[:, :] contiguous written
