"""diffuse, generated for float64."""

import numpy as np

from ssr.runtime.intrinsics import address, fma, independent, ld, maximum, minimum, prefetch, sign, st
from ssr.runtime.polling import poll, stopwatch
from ssr.runtime.check_layout import refused
from ssr.runtime.sums import accumulate, accumulate_squares, extreme, found, root, total

real = np.float64
w0 = real(4.0)


def kernel(u, u_old, t0_1, r, layout, table_0, table_1):
    if refused((u,), layout, 1):
        return 1
    watch = stopwatch()
    for box in range(table_0.shape[0]):  # u_old[:] = ...
        j_lo = table_0[box, 2]
        j_hi = table_0[box, 3]
        i_lo = table_0[box, 4]
        i_hi = table_0[box, 5]
        u_0 = table_0[box, 6]
        u_s0 = table_0[box, 7]
        u_old_0 = table_0[box, 8]
        u_old_s0 = table_0[box, 9]
        for j in range(j_lo, j_hi):
            poll(watch, i_hi - i_lo)
            u_old_r1 = u_old_0 + j * u_old_s0
            u_r2 = u_0 + j * u_s0
            for i in range(i_lo, i_hi):
                st(u_old, u_old_r1 + i, ld(u, u_r2 + i))
    for box in range(table_1.shape[0]):  # u[:] = ...
        nx = table_1[box, 0]
        ny = table_1[box, 1]
        j_lo = table_1[box, 2]
        j_hi = table_1[box, 3]
        i_lo = table_1[box, 4]
        i_hi = table_1[box, 5]
        u_0 = table_1[box, 6]
        u_s0 = table_1[box, 7]
        u_old_0 = table_1[box, 8]
        u_old_s0 = table_1[box, 9]
        t0_1_w = i_hi - i_lo + 0
        t0_1_0 = 0 - i_lo
        for j in range(j_lo - 1, j_hi):
            poll(watch, i_hi - i_lo)
            if i_hi >= 2 and j_hi >= j + 3:
                line1 = j if j >= 0 else j + ny
                t0_1_r2 = t0_1_0 + (j + 1 & 1) * t0_1_w
                u_r3 = u_0 + (j + 1) * u_s0
                u_r4 = u_0 + line1 * u_s0
                u_r5 = u_0 + (j + 2) * u_s0
                s6 = ld(u, u_r3)
                s7 = -ld(u, u_r4)
                s8 = s7 - ld(u, u_r3 + nx - 1)
                s9 = fma(w0, ld(u, u_r3), s8)
                s10 = s9 - ld(u, u_r3 + 1)
                s11 = s10 - ld(u, u_r5)
                s12 = fma(-r, s11, s6)
                st(t0_1, t0_1_r2, s12)
                for i in range(1, nx - 1):
                    s13 = ld(u, u_r3 + i)
                    s14 = -ld(u, u_r4 + i)
                    s15 = s14 - ld(u, u_r3 + i - 1)
                    s16 = fma(w0, ld(u, u_r3 + i), s15)
                    s17 = s16 - ld(u, u_r3 + i + 1)
                    s18 = s17 - ld(u, u_r5 + i)
                    s19 = fma(-r, s18, s13)
                    st(t0_1, t0_1_r2 + i, s19)
                s20 = ld(u, u_r3 + nx - 1)
                s21 = -ld(u, u_r4 + nx - 1)
                s22 = s21 - ld(u, u_r3 + nx - 2)
                s23 = fma(w0, ld(u, u_r3 + nx - 1), s22)
                s24 = s23 - ld(u, u_r3)
                s25 = s24 - ld(u, u_r5 + nx - 1)
                s26 = fma(-r, s25, s20)
                st(t0_1, t0_1_r2 + nx - 1, s26)
            elif j_hi >= j + 2:
                line27 = j if j >= 0 else j + ny
                line28 = j + 2 if -j + ny - 3 >= 0 else j + 1
                line29 = j - ny + 2 if j - ny + 2 >= 0 else 0
                test30 = -j + ny - 3 >= 0
                test31 = j - ny + 2 >= 0
                t0_1_r32 = t0_1_0 + (j + 1 & 1) * t0_1_w
                u_r33 = u_0 + (j + 1) * u_s0
                u_r34 = u_0 + line27 * u_s0
                u_r35 = u_0 + line28 * u_s0
                u_old_r36 = u_old_0 + line29 * u_old_s0
                for i in range(nx):
                    s37 = ld(u, u_r33 + i)
                    s38 = -ld(u, u_r34 + i)
                    s39 = s38 - ld(u, u_r33 + i - 1) if i >= 1 else s38
                    s40 = s39 - ld(u, u_r33 + i + nx - 1) if i <= 0 else s39
                    s41 = fma(w0, ld(u, u_r33 + i), s40)
                    s42 = s41 - ld(u, u_r33 + i + 1) if i <= nx - 2 else s41
                    s43 = s42 - ld(u, u_r33 + i - nx + 1) if i >= nx - 1 else s42
                    s44 = s43 - ld(u, u_r35 + i) if test30 else s43
                    s45 = s44 - ld(u_old, u_old_r36 + i) if test31 else s44
                    s46 = fma(-r, s45, s37)
                    st(t0_1, t0_1_r32 + i, s46)
            if j >= 0:
                u_r47 = u_0 + j * u_s0
                t0_1_r48 = t0_1_0 + (j & 1) * t0_1_w
                for i in range(nx):
                    st(u, u_r47 + i, ld(t0_1, t0_1_r48 + i))
    return 0


# SIGNATURE of kernel:
#     u: f8[:, :] written
#     u_old: f8[:, :] written
#     t0_1: f8[:] contiguous written
#     r: f8
#     layout: i8[:] contiguous written
#     table_0: i8[:, :] contiguous written
#     table_1: i8[:, :] contiguous written
