"""diffuse, generated for float64."""

import numpy as np

from ssr.runtime.check_layout import refused
from ssr.runtime.intrinsics import fma, ld, st
from ssr.runtime.polling import poll, stopwatch

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
                line3 = j if j >= 0 else j + ny
                t0_1_r4 = t0_1_0 + (j + 1 & 1) * t0_1_w
                u_r5 = u_0 + (j + 1) * u_s0
                u_r6 = u_0 + line3 * u_s0
                u_r7 = u_0 + (j + 2) * u_s0
                s8 = ld(u, u_r5)
                s9 = -ld(u, u_r6)
                s10 = s9 - ld(u, u_r5 + nx - 1)
                s11 = fma(w0, ld(u, u_r5), s10)
                s12 = s11 - ld(u, u_r5 + 1)
                s13 = s12 - ld(u, u_r7)
                s14 = fma(-r, s13, s8)
                st(t0_1, t0_1_r4, s14)
                for i in range(1, nx - 1):
                    s15 = ld(u, u_r5 + i)
                    s16 = -ld(u, u_r6 + i)
                    s17 = s16 - ld(u, u_r5 + i - 1)
                    s18 = fma(w0, ld(u, u_r5 + i), s17)
                    s19 = s18 - ld(u, u_r5 + i + 1)
                    s20 = s19 - ld(u, u_r7 + i)
                    s21 = fma(-r, s20, s15)
                    st(t0_1, t0_1_r4 + i, s21)
                s22 = ld(u, u_r5 + nx - 1)
                s23 = -ld(u, u_r6 + nx - 1)
                s24 = s23 - ld(u, u_r5 + nx - 2)
                s25 = fma(w0, ld(u, u_r5 + nx - 1), s24)
                s26 = s25 - ld(u, u_r5)
                s27 = s26 - ld(u, u_r7 + nx - 1)
                s28 = fma(-r, s27, s22)
                st(t0_1, t0_1_r4 + nx - 1, s28)
            elif j_hi >= j + 2:
                line29 = j if j >= 0 else j + ny
                line30 = j + 2 if -j + ny - 3 >= 0 else j + 1
                line31 = j - ny + 2 if j - ny + 2 >= 0 else 0
                test32 = -j + ny - 3 >= 0
                test33 = j - ny + 2 >= 0
                t0_1_r34 = t0_1_0 + (j + 1 & 1) * t0_1_w
                u_r35 = u_0 + (j + 1) * u_s0
                u_r36 = u_0 + line29 * u_s0
                u_r37 = u_0 + line30 * u_s0
                u_old_r38 = u_old_0 + line31 * u_old_s0
                for i in range(nx):
                    s39 = ld(u, u_r35 + i)
                    s40 = -ld(u, u_r36 + i)
                    s41 = s40 - ld(u, u_r35 + i - 1) if i >= 1 else s40
                    s42 = s41 - ld(u, u_r35 + i + nx - 1) if i <= 0 else s41
                    s43 = fma(w0, ld(u, u_r35 + i), s42)
                    s44 = s43 - ld(u, u_r35 + i + 1) if i <= nx - 2 else s43
                    s45 = s44 - ld(u, u_r35 + i - nx + 1) if i >= nx - 1 else s44
                    s46 = s45 - ld(u, u_r37 + i) if test32 else s45
                    s47 = s46 - ld(u_old, u_old_r38 + i) if test33 else s46
                    s48 = fma(-r, s47, s39)
                    st(t0_1, t0_1_r34 + i, s48)
            if j >= 0:
                u_r49 = u_0 + j * u_s0
                t0_1_r50 = t0_1_0 + (j & 1) * t0_1_w
                for i in range(nx):
                    st(u, u_r49 + i, ld(t0_1, t0_1_r50 + i))
    return 0


# The arguments of kernel:
#     u: f8[:, :] written
#     u_old: f8[:, :] written
#     t0_1: f8[:] contiguous written
#     r: f8
#     layout: i8[:] contiguous written
#     table_0: i8[:, :] contiguous written
#     table_1: i8[:, :] contiguous written
