"""gauss_seidel, generated for float64."""

import numpy as np

from ssr.runtime.check_layout import refused
from ssr.runtime.intrinsics import address, fma, ld, rolled, st
from ssr.runtime.polling import poll, stopwatch
from ssr.runtime.vectors import blend, elements, line_steps, request, rows_between4, spread4, vector_load4, vector_store, vectors

real = np.float64
w0 = real(0.25)


def kernel(x, b, t0, layout, table_0):
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
        t0_0 = 0 - i_lo
        for j in range(j_lo, j_hi):
            poll(watch, i_hi - i_lo)
            x_r1 = x_0 + j * x_s0
            if (nx >= i_lo + 2 and ny >= j + 2) and j >= 1:
                b_r2 = b_0 + j * b_s0
                x_r3 = x_0 + (j + 1) * x_s0
                x_r4 = x_0 + (j - 1) * x_s0
                if i_hi - i_lo >= 4:
                    early_1 = (address(x) + 8 * (x_r3 + i_lo) & 31) >> 3 if line_steps(x) & 31 == 0 else 0
                    first_1 = i_lo - early_1 if i_hi - i_lo >= 24 or early_1 + (i_hi - i_lo - 1 & 3) < 4 else i_lo
                    ahead_1 = 640 if elements(b) + elements(x) > 524288 else 0
                    b_ahead_1 = b_r2 + i_lo + (ahead_1 - i_lo)
                    x_ahead_1 = x_r3 + i_lo + (ahead_1 - i_lo)
                    b_ahead_2 = b_r2 + i_lo + (64 - i_lo)
                    x_ahead_2 = x_r3 + i_lo + (64 - i_lo)
                    i_1 = first_1
                    i_past_1 = min(i_hi, nx - 1) - 3
                    while i_1 < i_hi:
                        if i_1 < i_lo or i_1 >= i_past_1:
                            i = min(max(i_1, i_lo), i_hi - 4)
                            request(b, b_ahead_1 + i, False, False)
                            request(x, x_ahead_1 + i, False, False)
                            request(b, b_ahead_2 + i, True, False)
                            request(x, x_ahead_2 + i, True, False)
                            s5_1 = vector_load4(b, b_r2 + i)
                            side_1 = rows_between4(0, nx - 1 - i)
                            s6_1 = blend(side_1, s5_1 + vector_load4(x, x_r1 + i + 1, side_1), s5_1)
                            s7_1 = s6_1 + vector_load4(x, x_r3 + i)
                            s8_1 = s7_1 + vector_load4(x, x_r4 + i)
                            vector_store(t0, t0_0 + i, s8_1 * w0)
                            i_1 = i_1 + 4
                        for i in vectors(i_1, i_past_1, 4):
                            request(b, b_ahead_1 + i, False, False)
                            request(x, x_ahead_1 + i, False, False)
                            request(b, b_ahead_2 + i, True, False)
                            request(x, x_ahead_2 + i, True, False)
                            s5_2 = vector_load4(b, b_r2 + i)
                            s6_2 = s5_2 + vector_load4(x, x_r1 + i + 1)
                            s7_2 = s6_2 + vector_load4(x, x_r3 + i)
                            s8_2 = s7_2 + vector_load4(x, x_r4 + i)
                            vector_store(t0, t0_0 + i, s8_2 * w0)
                            i_1 = i + 4
                else:
                    for i in rolled(i_lo, i_hi):
                        s5 = ld(b, b_r2 + i)
                        s6 = s5 + ld(x, x_r1 + i + 1) if i <= nx - 2 else s5
                        s7 = s6 + ld(x, x_r3 + i)
                        s8 = s7 + ld(x, x_r4 + i)
                        st(t0, t0_0 + i, s8 * w0)
            else:
                line9 = j + 1 if -j + ny - 2 >= 0 else j
                line10 = j - 1 if j - 1 >= 0 else j
                test11 = -j + ny - 2 >= 0
                test12 = j - 1 >= 0
                b_r13 = b_0 + j * b_s0
                x_r14 = x_0 + line9 * x_s0
                x_r15 = x_0 + line10 * x_s0
                if i_hi - i_lo >= 4:
                    early_2 = (address(x) + 8 * (x_r14 + i_lo) & 31) >> 3 if line_steps(x) & 31 == 0 else 0
                    first_2 = i_lo - early_2 if i_hi - i_lo >= 24 or early_2 + (i_hi - i_lo - 1 & 3) < 4 else i_lo
                    ahead_2 = 640 if elements(b) + elements(x) > 524288 else 0
                    b_ahead_3 = b_r13 + i_lo + (ahead_2 - i_lo)
                    x_ahead_3 = x_r14 + i_lo + (ahead_2 - i_lo)
                    b_ahead_4 = b_r13 + i_lo + (64 - i_lo)
                    x_ahead_4 = x_r14 + i_lo + (64 - i_lo)
                    i_2 = first_2
                    i_past_2 = min(i_hi, nx - 1) - 3
                    while i_2 < i_hi:
                        if i_2 < i_lo or i_2 >= i_past_2:
                            i = min(max(i_2, i_lo), i_hi - 4)
                            request(b, b_ahead_3 + i, False, False)
                            request(x, x_ahead_3 + i, False, False)
                            request(b, b_ahead_4 + i, True, False)
                            request(x, x_ahead_4 + i, True, False)
                            s16_1 = vector_load4(b, b_r13 + i)
                            side_2 = rows_between4(0, nx - 1 - i)
                            s17_1 = blend(side_2, s16_1 + vector_load4(x, x_r1 + i + 1, side_2), s16_1)
                            chosen_1 = spread4(test11)
                            s18_1 = blend(chosen_1, s17_1 + vector_load4(x, x_r14 + i, chosen_1), s17_1)
                            chosen_2 = spread4(test12)
                            s19_1 = blend(chosen_2, s18_1 + vector_load4(x, x_r15 + i, chosen_2), s18_1)
                            vector_store(t0, t0_0 + i, s19_1 * w0)
                            i_2 = i_2 + 4
                        for i in vectors(i_2, i_past_2, 4):
                            request(b, b_ahead_3 + i, False, False)
                            request(x, x_ahead_3 + i, False, False)
                            request(b, b_ahead_4 + i, True, False)
                            request(x, x_ahead_4 + i, True, False)
                            s16_2 = vector_load4(b, b_r13 + i)
                            s17_2 = s16_2 + vector_load4(x, x_r1 + i + 1)
                            chosen_3 = spread4(test11)
                            s18_2 = blend(chosen_3, s17_2 + vector_load4(x, x_r14 + i, chosen_3), s17_2)
                            chosen_4 = spread4(test12)
                            s19_2 = blend(chosen_4, s18_2 + vector_load4(x, x_r15 + i, chosen_4), s18_2)
                            vector_store(t0, t0_0 + i, s19_2 * w0)
                            i_2 = i + 4
                else:
                    for i in rolled(i_lo, i_hi):
                        s16 = ld(b, b_r13 + i)
                        s17 = s16 + ld(x, x_r1 + i + 1) if i <= nx - 2 else s16
                        s18 = s17 + ld(x, x_r14 + i) if test11 else s17
                        s19 = s18 + ld(x, x_r15 + i) if test12 else s18
                        st(t0, t0_0 + i, s19 * w0)
            if i_lo == 0:
                st(x, x_r1, ld(t0, t0_0))
            for i in range(max(1, i_lo), i_hi):
                s20 = ld(t0, t0_0 + i)
                s21 = fma(w0, ld(x, x_r1 + i - 1), s20)
                st(x, x_r1 + i, s21)
    return 0


# The arguments of kernel:
#     x: f8[:, :] written
#     b: f8[:, :]
#     t0: f8[:] contiguous written
#     layout: i8[:] contiguous written
#     table_0: i8[:, :] contiguous written
