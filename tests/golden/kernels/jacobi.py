"""jacobi, generated for float64."""

import numpy as np

from ssr.runtime.check_layout import refused
from ssr.runtime.intrinsics import fma, independent, ld, st
from ssr.runtime.polling import poll, stopwatch

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
                for i in independent(1, nx - 1):
                    s14 = ld(x, x_r2 + i)
                    s15 = ld(b, b_r3 + i)
                    s16 = s15 + ld(x, x_r4 + i)
                    s17 = s16 + ld(x, x_r2 + i - 1)
                    s18 = fma(w0, ld(x, x_r2 + i), s17)
                    s19 = s18 + ld(x, x_r2 + i + 1)
                    s20 = s19 + ld(x, x_r5 + i)
                    s21 = fma(s20, omega, s14)
                    st(t0, t0_r1 + i, s21)
                    st(x, x_r4 + i, ld(t0, t0_r6 + i))
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
                    for i in range(nx):
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
                    for i in range(nx):
                        st(x, x_r45 + i, ld(t0, t0_r46 + i))
    return 0


# The arguments of kernel:
#     x: f8[:, :] written
#     b: f8[:, :]
#     t0: f8[:] contiguous written
#     omega: f8
#     layout: i8[:] contiguous written
#     table_0: i8[:, :] contiguous written
