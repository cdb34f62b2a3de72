"""diffuse, generated for float64."""

import numpy as np

from ssr.runtime.check_layout import refused
from ssr.runtime.intrinsics import fma, ld, st
from ssr.runtime.polling import poll, stopwatch

real = np.float64
w0 = real(0.0)
w1 = real(-0.0)
w2 = real(2.0)
w3 = real(1.0)
w4 = real(-1.0)
w5 = real(4.0)


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
                    pick3 = w1 if real(j) >= w0 else w2
                    pick4 = w3 if real(j) >= w0 else w4
                    pick5 = w1 if real(-j + ny - 3) >= w0 else w2
                    pick6 = w3 if real(-j + ny - 3) >= w0 else w4
                    t0_r7 = t0_0 + (j + 1 & 1) * t0_w
                    u_r8 = u_0 + (j + 1) * u_s0
                    u_r9 = u_0 + line1 * u_s0
                    u_r10 = u_0 + line2 * u_s0
                    s11 = ld(u, u_r8)
                    s12 = pick3
                    s13 = fma(pick4, ld(u, u_r9), s12)
                    s14 = -s13
                    s15 = w2
                    s16 = s15 - ld(u, u_r8)
                    s17 = s14 - s16
                    s18 = fma(w5, ld(u, u_r8), s17)
                    s19 = s18 - ld(u, u_r8 + 1)
                    s20 = pick5
                    s21 = fma(pick6, ld(u, u_r10), s20)
                    s22 = s19 - s21
                    s23 = fma(-r, s22, s11)
                    st(t0, t0_r7, s23)
                    for i in range(1, nx - 1):
                        s24 = ld(u, u_r8 + i)
                        s25 = pick3
                        s26 = fma(pick4, ld(u, u_r9 + i), s25)
                        s27 = -s26
                        s28 = s27 - ld(u, u_r8 + i - 1)
                        s29 = fma(w5, ld(u, u_r8 + i), s28)
                        s30 = s29 - ld(u, u_r8 + i + 1)
                        s31 = pick5
                        s32 = fma(pick6, ld(u, u_r10 + i), s31)
                        s33 = s30 - s32
                        s34 = fma(-r, s33, s24)
                        st(t0, t0_r7 + i, s34)
                    s35 = ld(u, u_r8 + nx - 1)
                    s36 = pick3
                    s37 = fma(pick4, ld(u, u_r9 + nx - 1), s36)
                    s38 = -s37
                    s39 = s38 - ld(u, u_r8 + nx - 2)
                    s40 = fma(w5, ld(u, u_r8 + nx - 1), s39)
                    s41 = w2
                    s42 = s41 - ld(u, u_r8 + nx - 1)
                    s43 = s40 - s42
                    s44 = pick5
                    s45 = fma(pick6, ld(u, u_r10 + nx - 1), s44)
                    s46 = s43 - s45
                    s47 = fma(-r, s46, s35)
                    st(t0, t0_r7 + nx - 1, s47)
                else:
                    u_r48 = u_0 + (j + 1) * u_s0
                    s49 = ld(u, u_r48)
                    is50 = real(j) >= w0
                    s51 = w1 if is50 else w2
                    s52 = fma(w3 if is50 else w4, ld(u, u_0 + (j if j >= 0 else -j - 1) * u_s0), s51)
                    s53 = -s52
                    s54 = w2
                    s55 = s54 - ld(u, u_r48)
                    s56 = s53 - s55
                    s57 = fma(w5, ld(u, u_r48), s56)
                    s58 = w2
                    s59 = s58 - ld(u, u_r48 + 2 * nx - 2)
                    s60 = s57 - s59
                    is61 = real(-j + ny - 3) >= w0
                    s62 = w1 if is61 else w2
                    s63 = fma(w3 if is61 else w4, ld(u, u_0 + (j + 2 if -j + ny - 3 >= 0 else -j + 2 * ny - 3) * u_s0), s62)
                    s64 = s60 - s63
                    s65 = fma(-r, s64, s49)
                    st(t0, t0_0 + (j + 1 & 1) * t0_w, s65)
            if j >= 0:
                u_r66 = u_0 + j * u_s0
                t0_r67 = t0_0 + (j & 1) * t0_w
                for i in range(nx):
                    st(u, u_r66 + i, ld(t0, t0_r67 + i))
    return 0


# The arguments of kernel:
#     u: f8[:, :] written
#     t0: f8[:] contiguous written
#     r: f8
#     layout: i8[:] contiguous written
#     table_0: i8[:, :] contiguous written
