"""wave, generated for float64."""

import numpy as np

from ssr.runtime.check_layout import refused
from ssr.runtime.intrinsics import fma, independent, ld, st
from ssr.runtime.polling import poll, stopwatch

real = np.float64
w0 = real(4.0)
w1 = real(-0.0)


def kernel(u__p, q, c, dt, layout, table_0):
    if refused((u__p, q, c), layout, 2):
        return 1
    watch = stopwatch()
    for box in range(table_0.shape[0]):  # p[:] = ...
        nx = table_0[box, 0]
        ny = table_0[box, 1]
        j_lo = table_0[box, 2]
        j_hi = table_0[box, 3]
        i_lo = table_0[box, 4]
        i_hi = table_0[box, 5]
        u__p_0 = table_0[box, 6]
        u__p_s0 = table_0[box, 7]
        q_0 = table_0[box, 8]
        q_s0 = table_0[box, 9]
        c_0 = table_0[box, 10]
        c_s0 = table_0[box, 11]
        for j in range(j_lo - 1, j_hi):
            poll(watch, i_hi - i_lo)
            if (i_hi >= 2 and j_hi >= j + 3) and j >= 0:
                q_r1 = q_0 + (j + 1) * q_s0
                c_r2 = c_0 + (j + 1) * c_s0
                u__p_r3 = u__p_0 + j * u__p_s0
                u__p_r4 = u__p_0 + (j + 1) * u__p_s0
                u__p_r5 = u__p_0 + (j + 2) * u__p_s0
                q_r6 = q_0 + j * q_s0
                s7 = ld(q, q_r1)
                s8 = -ld(u__p, u__p_r3)
                s9 = fma(w0, ld(u__p, u__p_r4), s8)
                s10 = s9 - ld(u__p, u__p_r4 + 1)
                s11 = s10 - ld(u__p, u__p_r5)
                s12 = fma(-(dt * ld(c, c_r2)), s11, s7)
                st(q, q_r1, s12)
                s13 = ld(u__p, u__p_r3)
                s14 = fma(dt, ld(q, q_r6), s13)
                st(u__p, u__p_r3, s14)
                for i in independent(1, nx - 1):
                    s15 = ld(q, q_r1 + i)
                    s16 = -ld(u__p, u__p_r3 + i)
                    s17 = s16 - ld(u__p, u__p_r4 + i - 1)
                    s18 = fma(w0, ld(u__p, u__p_r4 + i), s17)
                    s19 = s18 - ld(u__p, u__p_r4 + i + 1)
                    s20 = s19 - ld(u__p, u__p_r5 + i)
                    s21 = fma(-(dt * ld(c, c_r2 + i)), s20, s15)
                    st(q, q_r1 + i, s21)
                    s22 = ld(u__p, u__p_r3 + i)
                    s23 = fma(dt, ld(q, q_r6 + i), s22)
                    st(u__p, u__p_r3 + i, s23)
                s24 = ld(q, q_r1 + nx - 1)
                s25 = -ld(u__p, u__p_r3 + nx - 1)
                s26 = s25 - ld(u__p, u__p_r4 + nx - 2)
                s27 = fma(w0, ld(u__p, u__p_r4 + nx - 1), s26)
                s28 = s27 - ld(u__p, u__p_r5 + nx - 1)
                s29 = fma(-(dt * ld(c, c_r2 + nx - 1)), s28, s24)
                st(q, q_r1 + nx - 1, s29)
                s30 = ld(u__p, u__p_r3 + nx - 1)
                s31 = fma(dt, ld(q, q_r6 + nx - 1), s30)
                st(u__p, u__p_r3 + nx - 1, s31)
            else:
                if j_hi >= j + 2:
                    line32 = j + 2 if -j + ny - 3 >= 0 else j
                    test33 = j >= 0
                    test34 = -j + ny - 3 >= 0
                    q_r35 = q_0 + (j + 1) * q_s0
                    c_r36 = c_0 + (j + 1) * c_s0
                    u__p_r37 = u__p_0 + j * u__p_s0
                    u__p_r38 = u__p_0 + (j + 1) * u__p_s0
                    u__p_r39 = u__p_0 + line32 * u__p_s0
                    for i in range(nx):
                        s40 = ld(q, q_r35 + i)
                        s41 = w1 - ld(u__p, u__p_r37 + i) if test33 else w1
                        s42 = s41 - ld(u__p, u__p_r38 + i - 1) if i >= 1 else s41
                        s43 = fma(w0, ld(u__p, u__p_r38 + i), s42)
                        s44 = s43 - ld(u__p, u__p_r38 + i + 1) if i <= nx - 2 else s43
                        s45 = s44 - ld(u__p, u__p_r39 + i) if test34 else s44
                        s46 = fma(-(dt * ld(c, c_r36 + i)), s45, s40)
                        st(q, q_r35 + i, s46)
                if j >= 0:
                    u__p_r47 = u__p_0 + j * u__p_s0
                    q_r48 = q_0 + j * q_s0
                    for i in range(nx):
                        s49 = ld(u__p, u__p_r47 + i)
                        s50 = fma(dt, ld(q, q_r48 + i), s49)
                        st(u__p, u__p_r47 + i, s50)
    return 0


# The arguments of kernel:
#     u__p: f8[:, :] written
#     q: f8[:, :] written
#     c: f8[:, :]
#     dt: f8
#     layout: i8[:] contiguous written
#     table_0: i8[:, :] contiguous written
