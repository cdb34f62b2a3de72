"""jacobi, generated for float64."""

import numpy as np

from ssr.runtime.check_layout import refused
from ssr.runtime.intrinsics import address, fma, ld, rolled, st
from ssr.runtime.polling import poll, stopwatch
from ssr.runtime.vectors import blend, elements, line_steps, request, rows_between4, spread4, vector_load4, vector_store, vectors

real = np.float64
w0 = real(-4.0)


def kernel(x, b, t0, omega, layout, table_0):
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
        t0_w = i_hi - i_lo + 0
        t0_0 = 0 - i_lo
        for j in range(j_lo - 1, j_hi):
            poll(watch, i_hi - i_lo)
            if (i_hi >= 2 and j_hi >= j + 3) and j >= 0:
                t0_r1 = t0_0 + (j + 1 & 1) * t0_w
                x_r2 = x_0 + (j + 1) * x_s0
                b_r3 = b_0 + (j + 1) * b_s0
                x_r4 = x_0 + j * x_s0
                x_r5 = x_0 + (j + 2) * x_s0
                t0_r6 = t0_0 + (j & 1) * t0_w
                s7 = ld(x, x_r2)
                s8 = ld(b, b_r3)
                s9 = s8 + ld(x, x_r4)
                s10 = fma(w0, ld(x, x_r2), s9)
                s11 = s10 + ld(x, x_r2 + 1)
                s12 = s11 + ld(x, x_r5)
                s13 = fma(s12, omega, s7)
                st(t0, t0_r1, s13)
                st(x, x_r4, ld(t0, t0_r6))
                i_stop_1 = nx - 1
                early_1 = (address(x) + 8 * (x_r4 + 1) & 31) >> 3 if line_steps(x) & 31 == 0 else 0
                first_1 = 1 - early_1 if i_stop_1 - 1 >= 24 or early_1 + (i_stop_1 - 2 & 3) < 4 else 1
                ahead_1 = 640 if elements(x) + elements(b) > 524288 else 0
                x_ahead_1 = x_r5 + 1 + (ahead_1 - 1)
                b_ahead_1 = b_r3 + 1 + (ahead_1 - 1)
                x_ahead_2 = x_r5 + 64
                b_ahead_2 = b_r3 + 64
                i_1 = first_1
                i_past_1 = i_stop_1 - 3
                while i_1 < i_stop_1:
                    if i_1 < 1 or i_1 >= i_past_1:
                        i = i_1
                        request(x, x_ahead_1 + i, False, True)
                        request(b, b_ahead_1 + i, False, False)
                        request(x, x_ahead_2 + i, True, True)
                        request(b, b_ahead_2 + i, True, False)
                        rows_1 = rows_between4(1 - i, i_stop_1 - i)
                        s14_1 = vector_load4(x, x_r2 + i, rows_1)
                        s15_1 = vector_load4(b, b_r3 + i, rows_1)
                        s16_1 = s15_1 + vector_load4(x, x_r4 + i, rows_1)
                        s17_1 = s16_1 + vector_load4(x, x_r2 + i - 1, rows_1)
                        s18_1 = fma(w0, vector_load4(x, x_r2 + i, rows_1), s17_1)
                        s19_1 = s18_1 + vector_load4(x, x_r2 + i + 1, rows_1)
                        s20_1 = s19_1 + vector_load4(x, x_r5 + i, rows_1)
                        s21_1 = fma(s20_1, omega, s14_1)
                        vector_store(t0, t0_r1 + i, s21_1, rows_1)
                        vector_store(x, x_r4 + i, vector_load4(t0, t0_r6 + i, rows_1), rows_1)
                        i_1 = i_1 + 4
                    for i in vectors(i_1, i_past_1, 4):
                        request(x, x_ahead_1 + i, False, True)
                        request(b, b_ahead_1 + i, False, False)
                        request(x, x_ahead_2 + i, True, True)
                        request(b, b_ahead_2 + i, True, False)
                        s14_2 = vector_load4(x, x_r2 + i)
                        s15_2 = vector_load4(b, b_r3 + i)
                        s16_2 = s15_2 + vector_load4(x, x_r4 + i)
                        s17_2 = s16_2 + vector_load4(x, x_r2 + i - 1)
                        s18_2 = fma(w0, vector_load4(x, x_r2 + i), s17_2)
                        s19_2 = s18_2 + vector_load4(x, x_r2 + i + 1)
                        s20_2 = s19_2 + vector_load4(x, x_r5 + i)
                        s21_2 = fma(s20_2, omega, s14_2)
                        vector_store(t0, t0_r1 + i, s21_2)
                        vector_store(x, x_r4 + i, vector_load4(t0, t0_r6 + i))
                        i_1 = i + 4
                s22 = ld(x, x_r2 + nx - 1)
                s23 = ld(b, b_r3 + nx - 1)
                s24 = s23 + ld(x, x_r4 + nx - 1)
                s25 = s24 + ld(x, x_r2 + nx - 2)
                s26 = fma(w0, ld(x, x_r2 + nx - 1), s25)
                s27 = s26 + ld(x, x_r5 + nx - 1)
                s28 = fma(s27, omega, s22)
                st(t0, t0_r1 + nx - 1, s28)
                st(x, x_r4 + nx - 1, ld(t0, t0_r6 + nx - 1))
            else:
                if j_hi >= j + 2:
                    line29 = j + 2 if -j + ny - 3 >= 0 else j
                    test30 = j >= 0
                    test31 = -j + ny - 3 >= 0
                    t0_r32 = t0_0 + (j + 1 & 1) * t0_w
                    x_r33 = x_0 + (j + 1) * x_s0
                    b_r34 = b_0 + (j + 1) * b_s0
                    x_r35 = x_0 + j * x_s0
                    x_r36 = x_0 + line29 * x_s0
                    if nx >= 4:
                        early_2 = (address(x) + 8 * x_r33 & 31) >> 3 if line_steps(x) & 31 == 0 else 0
                        first_2 = -early_2 if nx >= 24 or early_2 + (nx - 1 & 3) < 4 else 0
                        ahead_2 = 640 if elements(x) + elements(b) > 524288 else 0
                        x_ahead_3 = x_r36 + ahead_2
                        b_ahead_3 = b_r34 + ahead_2
                        x_ahead_4 = x_r36 + 64
                        b_ahead_4 = b_r34 + 64
                        i_2 = first_2
                        i_low_1 = max(0, 1)
                        i_past_2 = min(nx, nx - 1) - 3
                        while i_2 < nx:
                            if i_2 < i_low_1 or i_2 >= i_past_2:
                                i = min(max(i_2, 0), nx - 4)
                                request(x, x_ahead_3 + i, False, False)
                                request(b, b_ahead_3 + i, False, False)
                                request(x, x_ahead_4 + i, True, False)
                                request(b, b_ahead_4 + i, True, False)
                                s37_1 = vector_load4(x, x_r33 + i)
                                s38_1 = vector_load4(b, b_r34 + i)
                                chosen_1 = spread4(test30)
                                s39_1 = blend(chosen_1, s38_1 + vector_load4(x, x_r35 + i, chosen_1), s38_1)
                                side_1 = rows_between4(1 - i, 4)
                                s40_1 = blend(side_1, s39_1 + vector_load4(x, x_r33 + i - 1, side_1), s39_1)
                                s41_1 = fma(w0, vector_load4(x, x_r33 + i), s40_1)
                                side_2 = rows_between4(0, nx - 1 - i)
                                s42_1 = blend(side_2, s41_1 + vector_load4(x, x_r33 + i + 1, side_2), s41_1)
                                chosen_2 = spread4(test31)
                                s43_1 = blend(chosen_2, s42_1 + vector_load4(x, x_r36 + i, chosen_2), s42_1)
                                s44_1 = fma(s43_1, omega, s37_1)
                                vector_store(t0, t0_r32 + i, s44_1)
                                i_2 = i_2 + 4
                            if i_2 >= i_low_1:
                                for i in vectors(i_2, i_past_2, 4):
                                    request(x, x_ahead_3 + i, False, False)
                                    request(b, b_ahead_3 + i, False, False)
                                    request(x, x_ahead_4 + i, True, False)
                                    request(b, b_ahead_4 + i, True, False)
                                    s37_2 = vector_load4(x, x_r33 + i)
                                    s38_2 = vector_load4(b, b_r34 + i)
                                    chosen_3 = spread4(test30)
                                    s39_2 = blend(chosen_3, s38_2 + vector_load4(x, x_r35 + i, chosen_3), s38_2)
                                    s40_2 = s39_2 + vector_load4(x, x_r33 + i - 1)
                                    s41_2 = fma(w0, vector_load4(x, x_r33 + i), s40_2)
                                    s42_2 = s41_2 + vector_load4(x, x_r33 + i + 1)
                                    chosen_4 = spread4(test31)
                                    s43_2 = blend(chosen_4, s42_2 + vector_load4(x, x_r36 + i, chosen_4), s42_2)
                                    s44_2 = fma(s43_2, omega, s37_2)
                                    vector_store(t0, t0_r32 + i, s44_2)
                                    i_2 = i + 4
                    else:
                        for i in rolled(nx):
                            s37 = ld(x, x_r33 + i)
                            s38 = ld(b, b_r34 + i)
                            s39 = s38 + ld(x, x_r35 + i) if test30 else s38
                            s40 = s39 + ld(x, x_r33 + i - 1) if i >= 1 else s39
                            s41 = fma(w0, ld(x, x_r33 + i), s40)
                            s42 = s41 + ld(x, x_r33 + i + 1) if i <= nx - 2 else s41
                            s43 = s42 + ld(x, x_r36 + i) if test31 else s42
                            s44 = fma(s43, omega, s37)
                            st(t0, t0_r32 + i, s44)
                if j >= 0:
                    x_r45 = x_0 + j * x_s0
                    t0_r46 = t0_0 + (j & 1) * t0_w
                    if nx >= 4:
                        early_3 = (address(x) + 8 * x_r45 & 31) >> 3 if line_steps(x) & 31 == 0 else 0
                        first_3 = -early_3 if nx >= 24 or early_3 + (nx - 1 & 3) < 4 else 0
                        ahead_3 = 640 if elements(x) > 524288 else 0
                        x_ahead_5 = x_r45 + ahead_3
                        x_ahead_6 = x_r45 + 64
                        i_3 = first_3
                        i_past_3 = nx - 3
                        while i_3 < nx:
                            if i_3 < 0 or i_3 >= i_past_3:
                                i = min(max(i_3, 0), nx - 4)
                                request(x, x_ahead_5 + i, False, True)
                                request(x, x_ahead_6 + i, True, True)
                                vector_store(x, x_r45 + i, vector_load4(t0, t0_r46 + i))
                                i_3 = i_3 + 4
                            for i in vectors(i_3, i_past_3, 4):
                                request(x, x_ahead_5 + i, False, True)
                                request(x, x_ahead_6 + i, True, True)
                                vector_store(x, x_r45 + i, vector_load4(t0, t0_r46 + i))
                                i_3 = i + 4
                    else:
                        for i in rolled(nx):
                            st(x, x_r45 + i, ld(t0, t0_r46 + i))
    return 0


# The arguments of kernel:
#     x: f8[:, :] written
#     b: f8[:, :]
#     t0: f8[:] contiguous written
#     omega: f8
#     layout: i8[:] contiguous written
#     table_0: i8[:, :] contiguous written
