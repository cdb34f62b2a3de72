"""diffuse, generated for float32."""

import numpy as np

from ssr.runtime.check_layout import refused
from ssr.runtime.intrinsics import fma, ld, st
from ssr.runtime.polling import poll, stopwatch

real = np.float32
w0 = real(4.0)


def kernel(u, t0, r, layout, table_0):
    if refused((u,), layout, 1):
        return 1
    watch = stopwatch()
    scalar0 = -r
    scalar1 = real(scalar0)
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
                    s13 = fma(scalar1, s12, s7)
                    st(t0, t0_r3, s13)
                    for i in range(1, nx - 1):
                        s14 = ld(u, u_r4 + i)
                        s15 = -ld(u, u_r5 + i)
                        s16 = s15 - ld(u, u_r4 + i - 1)
                        s17 = fma(w0, ld(u, u_r4 + i), s16)
                        s18 = s17 - ld(u, u_r4 + i + 1)
                        s19 = s18 - ld(u, u_r6 + i)
                        s20 = fma(scalar1, s19, s14)
                        st(t0, t0_r3 + i, s20)
                    s21 = ld(u, u_r4 + nx - 1)
                    s22 = -ld(u, u_r5 + nx - 1)
                    s23 = s22 - ld(u, u_r4 + nx - 2)
                    s24 = fma(w0, ld(u, u_r4 + nx - 1), s23)
                    s25 = s24 - ld(u, u_r4 + nx - 1)
                    s26 = s25 - ld(u, u_r6 + nx - 1)
                    s27 = fma(scalar1, s26, s21)
                    st(t0, t0_r3 + nx - 1, s27)
                else:
                    u_r28 = u_0 + (j + 1) * u_s0
                    s29 = ld(u, u_r28)
                    s30 = -ld(u, u_0 + (j if j >= 0 else -j - 1) * u_s0)
                    s31 = s30 - ld(u, u_r28)
                    s32 = fma(w0, ld(u, u_r28), s31)
                    s33 = s32 - ld(u, u_r28 + 2 * nx - 2)
                    s34 = s33 - ld(u, u_0 + (j + 2 if -j + ny - 3 >= 0 else -j + 2 * ny - 3) * u_s0)
                    s35 = fma(scalar1, s34, s29)
                    st(t0, t0_0 + (j + 1 & 1) * t0_w, s35)
            if j >= 0:
                u_r36 = u_0 + j * u_s0
                t0_r37 = t0_0 + (j & 1) * t0_w
                for i in range(nx):
                    st(u, u_r36 + i, ld(t0, t0_r37 + i))
    return 0


# The arguments of kernel:
#     u: f4[:, :] written
#     t0: f4[:] contiguous written
#     r: f8
#     layout: i8[:] contiguous written
#     table_0: i8[:, :] contiguous written
