"""stencil apply, generated for float64."""

import numpy as np

from ssr.runtime.check_layout import refused
from ssr.runtime.intrinsics import address, fma
from ssr.runtime.polling import poll, stopwatch
from ssr.runtime.vectors import blend, elements, line_steps, request, rows_between8, spread8, vector_load8, vector_store, vectors

real = np.float64
w0 = real(4.0)
w1 = real(-0.0)


def kernel(y, x, layout, table_0):
    if refused((y, x), layout, 1):
        return 1
    watch = stopwatch()
    for box in range(table_0.shape[0]):  # y[:] = ...
        nx = table_0[box, 0]
        ny = table_0[box, 1]
        j_lo = table_0[box, 2]
        j_hi = table_0[box, 3]
        i_lo = table_0[box, 4]
        i_hi = table_0[box, 5]
        y_0 = table_0[box, 6]
        y_s0 = table_0[box, 7]
        x_0 = table_0[box, 8]
        x_s0 = table_0[box, 9]
        for j in range(j_lo, j_hi):
            poll(watch, i_hi - i_lo)
            if ((i_hi >= 2 and nx >= i_lo + 2) and ny >= j + 2) and j >= 1:
                y_r1 = y_0 + j * y_s0
                x_r2 = x_0 + (j - 1) * x_s0
                x_r3 = x_0 + j * x_s0
                x_r4 = x_0 + (j + 1) * x_s0
                early_1 = (address(x) + 8 * (x_r2 + i_lo) & 63) >> 3 if line_steps(x) & 63 == 0 else 0
                first_1 = i_lo - early_1 if i_hi - i_lo >= 48 or early_1 + (i_hi - i_lo - 1 & 7) < 8 else i_lo
                ahead_1 = 640 if elements(x) + elements(y) > 524288 else 0
                x_ahead_1 = x_r4 + i_lo + (ahead_1 - i_lo)
                y_ahead_1 = y_r1 + i_lo + (ahead_1 - i_lo)
                x_ahead_2 = x_r4 + i_lo + (64 - i_lo)
                y_ahead_2 = y_r1 + i_lo + (64 - i_lo)
                i_1 = first_1
                i_low_1 = max(i_lo, 1)
                i_past_1 = min(i_hi, nx - 1) - 7
                while i_1 < i_hi:
                    if i_1 < i_low_1 or i_1 >= i_past_1:
                        i = i_1
                        request(x, x_ahead_1 + i, False, False)
                        request(y, y_ahead_1 + i, False, True)
                        request(x, x_ahead_2 + i, True, False)
                        request(y, y_ahead_2 + i, True, True)
                        rows_1 = rows_between8(i_lo - i, i_hi - i)
                        s5_1 = -vector_load8(x, x_r2 + i, rows_1)
                        side_1 = rows_between8(1 - i, 8)
                        rows_2 = rows_1 & side_1
                        s6_1 = blend(side_1, s5_1 - vector_load8(x, x_r3 + i - 1, rows_2), s5_1)
                        s7_1 = fma(w0, vector_load8(x, x_r3 + i, rows_1), s6_1)
                        side_2 = rows_between8(0, nx - 1 - i)
                        rows_3 = rows_1 & side_2
                        s8_1 = blend(side_2, s7_1 - vector_load8(x, x_r3 + i + 1, rows_3), s7_1)
                        s9_1 = s8_1 - vector_load8(x, x_r4 + i, rows_1)
                        vector_store(y, y_r1 + i, s9_1, rows_1)
                        i_1 = i_1 + 8
                    if i_1 >= i_low_1:
                        for i in vectors(i_1, i_past_1, 8):
                            request(x, x_ahead_1 + i, False, False)
                            request(y, y_ahead_1 + i, False, True)
                            request(x, x_ahead_2 + i, True, False)
                            request(y, y_ahead_2 + i, True, True)
                            s5_2 = -vector_load8(x, x_r2 + i)
                            s6_2 = s5_2 - vector_load8(x, x_r3 + i - 1)
                            s7_2 = fma(w0, vector_load8(x, x_r3 + i), s6_2)
                            s8_2 = s7_2 - vector_load8(x, x_r3 + i + 1)
                            s9_2 = s8_2 - vector_load8(x, x_r4 + i)
                            vector_store(y, y_r1 + i, s9_2)
                            i_1 = i + 8
            else:
                line10 = j - 1 if j - 1 >= 0 else j
                line11 = j + 1 if -j + ny - 2 >= 0 else j
                test12 = j - 1 >= 0
                test13 = -j + ny - 2 >= 0
                y_r14 = y_0 + j * y_s0
                x_r15 = x_0 + line10 * x_s0
                x_r16 = x_0 + j * x_s0
                x_r17 = x_0 + line11 * x_s0
                early_2 = (address(x) + 8 * (x_r15 + i_lo) & 63) >> 3 if line_steps(x) & 63 == 0 else 0
                first_2 = i_lo - early_2 if i_hi - i_lo >= 48 or early_2 + (i_hi - i_lo - 1 & 7) < 8 else i_lo
                ahead_2 = 640 if elements(x) + elements(y) > 524288 else 0
                x_ahead_3 = x_r17 + i_lo + (ahead_2 - i_lo)
                y_ahead_3 = y_r14 + i_lo + (ahead_2 - i_lo)
                x_ahead_4 = x_r17 + i_lo + (64 - i_lo)
                y_ahead_4 = y_r14 + i_lo + (64 - i_lo)
                i_2 = first_2
                i_low_2 = max(i_lo, 1)
                i_past_2 = min(i_hi, nx - 1) - 7
                while i_2 < i_hi:
                    if i_2 < i_low_2 or i_2 >= i_past_2:
                        i = i_2
                        request(x, x_ahead_3 + i, False, False)
                        request(y, y_ahead_3 + i, False, True)
                        request(x, x_ahead_4 + i, True, False)
                        request(y, y_ahead_4 + i, True, True)
                        rows_4 = rows_between8(i_lo - i, i_hi - i)
                        chosen_1 = spread8(test12)
                        rows_5 = rows_4 & chosen_1
                        s18_1 = blend(chosen_1, w1 - vector_load8(x, x_r15 + i, rows_5), spread8(w1))
                        side_3 = rows_between8(1 - i, 8)
                        rows_6 = rows_4 & side_3
                        s19_1 = blend(side_3, s18_1 - vector_load8(x, x_r16 + i - 1, rows_6), s18_1)
                        s20_1 = fma(w0, vector_load8(x, x_r16 + i, rows_4), s19_1)
                        side_4 = rows_between8(0, nx - 1 - i)
                        rows_7 = rows_4 & side_4
                        s21_1 = blend(side_4, s20_1 - vector_load8(x, x_r16 + i + 1, rows_7), s20_1)
                        chosen_2 = spread8(test13)
                        rows_8 = rows_4 & chosen_2
                        s22_1 = blend(chosen_2, s21_1 - vector_load8(x, x_r17 + i, rows_8), s21_1)
                        vector_store(y, y_r14 + i, s22_1, rows_4)
                        i_2 = i_2 + 8
                    if i_2 >= i_low_2:
                        for i in vectors(i_2, i_past_2, 8):
                            request(x, x_ahead_3 + i, False, False)
                            request(y, y_ahead_3 + i, False, True)
                            request(x, x_ahead_4 + i, True, False)
                            request(y, y_ahead_4 + i, True, True)
                            chosen_3 = spread8(test12)
                            s18_2 = blend(chosen_3, w1 - vector_load8(x, x_r15 + i, chosen_3), spread8(w1))
                            s19_2 = s18_2 - vector_load8(x, x_r16 + i - 1)
                            s20_2 = fma(w0, vector_load8(x, x_r16 + i), s19_2)
                            s21_2 = s20_2 - vector_load8(x, x_r16 + i + 1)
                            chosen_4 = spread8(test13)
                            s22_2 = blend(chosen_4, s21_2 - vector_load8(x, x_r17 + i, chosen_4), s21_2)
                            vector_store(y, y_r14 + i, s22_2)
                            i_2 = i + 8
    return 0


# The arguments of kernel:
#     y: f8[:, :] written
#     x: f8[:, :]
#     layout: i8[:] contiguous written
#     table_0: i8[:, :] contiguous written
