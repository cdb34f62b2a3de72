"""gauss_seidel, generated for float64."""

import numpy as np
from numba.types import Array, f4, f8, i8

from ssr.runtime.intrinsics import address, fits, fma, independent, interleaved, ld, maximum, meet, minimum, prefetch, sign, st, uneven
from ssr.runtime.lanes import accumulate, extreme, found, total
from ssr.runtime.polling import poll, stopwatch

META = {'fields': ['x', 'b'], 'temporaries': {}, 'written': ['x'], 'buffers': [('c0', 0, 1, 1, None, 8), ('g1', 0, 4, 1, None, 8), ('t2', 0, 1, 16, None, 8), ('u3', 0, 1, 16, None, 8)], 'scalars': [], 'sizes': ['nx', 'ny', 'nz'], 'nests': [{'target': 'x', 'order': 'forward', 'earlier': ((-1, -1, -1), (-1, -1, 0), (-1, -1, 1), (-1, 0, -1), (-1, 0, 0), (-1, 0, 1), (-1, 1, -1), (-1, 1, 0), (-1, 1, 1), (0, -1, -1), (0, -1, 0), (0, -1, 1), (0, 0, -1)), 'whole_lines': True, 'fused': False}], 'loops': 11, 'reductions': 0, 'results': 0, 'stored': (), 'debug': False, 'functions': []}

real = np.float64
w0 = real(0.0)
w1 = real(0.038461538461538464)
w2 = real(0.0014792899408284025)
w3 = real(5.689576695493856e-05)
w4 = real(2.1882987290360987e-06)
w5 = real(4.7886513275010046e-12)


def kernel(x, b, c0, g1, t2, u3, layout, table_0):
    if not fits(x, layout, 3):
        return 1
    if not fits(b, layout, 10):
        return 1
    if meet((address(x), address(b)), (layout[2], layout[9]), 1):
        return 2
    watch = stopwatch()
    one = layout[0]
    for box in range(table_0.shape[0]):  # x[:] = ...
        nx = table_0[box, 0]
        ny = table_0[box, 1]
        nz = table_0[box, 2]
        k_lo = table_0[box, 3]
        k_hi = table_0[box, 4]
        j_lo = table_0[box, 5]
        j_hi = table_0[box, 6]
        i_lo = table_0[box, 7]
        i_hi = table_0[box, 8]
        x_0 = table_0[box, 9]
        x_s0 = table_0[box, 10]
        x_s1 = table_0[box, 11]
        b_0 = table_0[box, 12]
        b_s0 = table_0[box, 13]
        b_s1 = table_0[box, 14]
        c0_n = (i_hi - i_lo + 7) // 8 + 1
        c0_w = (c0_n + 1 - min(c0_n % 16, 1)) * 8
        c0_0 = 8 - i_lo
        for clear in range(1 * c0_w + 8):
            st(c0, clear, w0)
        g1_n = (i_hi - i_lo + 7) // 8 + 1
        g1_w = (g1_n + 1 - min(g1_n % 16, 1)) * 8
        g1_0 = 8 - i_lo
        for clear in range(4 * g1_w + 8):
            st(g1, clear, w0)
        t2_n = (i_hi - i_lo + 7) // 8 + 4
        t2_w = (t2_n + 1 - min(t2_n % 16, 1)) * 8
        t2_0 = 16 - i_lo
        for clear in range(1 * t2_w + 16):
            st(t2, clear, w0)
        u3_n = (i_hi - i_lo + 7) // 8 + 4
        u3_w = (u3_n + 1 - min(u3_n % 16, 1)) * 8
        u3_0 = 16 - i_lo
        for clear in range(1 * u3_w + 16):
            st(u3, clear, w0)
        c0_m1 = c0_0 - one
        c0_m2 = c0_0 - 2 * one
        c0_p1 = c0_0 + one
        t2_m1 = t2_0 - one
        t2_m2 = t2_0 - 2 * one
        t2_m3 = t2_0 - 3 * one
        u3_m4 = u3_0 - 4 * one
        u3_m8 = u3_0 - 8 * one
        for k in range(k_lo, k_hi):
            for j in range(j_lo - 2, j_hi):
                poll(watch, i_hi - i_lo)
                if (((nz >= (k + 2)) and (k >= 1)) and (ny >= (j + 2))) and (j >= -1):
                    g1_r1 = g1_0 + ((j + 1) & 3) * g1_w
                    x_r2 = x_0 + (k - 1) * x_s0 + (j + 1) * x_s1
                    x_r3 = x_0 + (k + 1) * x_s0 + (j + 1) * x_s1
                    for i in range(max(0, (i_lo - 1)), min((nx - 1), i_hi) + 1):
                        s4 = ld(x, x_r2 + i)
                        s5 = s4 + ld(x, x_r3 + i)
                        st(g1, g1_r1 + i, s5)
                else:
                    if ((((k_hi >= 2) and (nz == k_hi)) and ((k + 1) == k_hi)) and (ny >= (j + 2))) and (j >= -1):
                        g1_r6 = g1_0 + ((j + 1) & 3) * g1_w
                        x_r7 = x_0 + (k - 1) * x_s0 + (j + 1) * x_s1
                        for i in range(max(0, (i_lo - 1)), min((nx - 1), i_hi) + 1):
                            st(g1, g1_r6 + i, ld(x, x_r7 + i))
                    if ((((k_lo == 0) and (nz >= 2)) and (k == 0)) and (ny >= (j + 2))) and (j >= -1):
                        g1_r8 = g1_0 + ((j + 1) & 3) * g1_w
                        x_r9 = x_0 + (k + 1) * x_s0 + (j + 1) * x_s1
                        for i in range(max(0, (i_lo - 1)), min((nx - 1), i_hi) + 1):
                            st(g1, g1_r8 + i, ld(x, x_r9 + i))
                    if ((((ny == j_hi) and (nz >= 2)) and ((j + 1) == j_hi)) or (((j_lo == 0) and (nz >= 2)) and (j == -2))) or ((((k_hi == 1) and (k_lo == 0)) and (nz == 1)) and (k == 0)):
                        g1_r10 = g1_0 + ((j + 1) & 3) * g1_w
                        for i in range(max(0, (i_lo - 1)), min((nx - 1), i_hi) + 1):
                            st(g1, g1_r10 + i, w0)
                if ((ny >= (j + 2)) and (j >= 1)) and (j >= j_lo):
                    g1_r11 = g1_0 + ((j - 1) & 3) * g1_w
                    g1_r12 = g1_0 + ((j) & 3) * g1_w
                    g1_r13 = g1_0 + ((j + 1) & 3) * g1_w
                    x_r14 = x_0 + k * x_s0 + (j - 1) * x_s1
                    x_r15 = x_0 + k * x_s0 + (j + 1) * x_s1
                    for i in range(max(0, (i_lo - 1)), min((nx - 1), i_hi) + 1):
                        s16 = ld(g1, g1_r11 + i)
                        s17 = s16 + ld(g1, g1_r12 + i)
                        s18 = s17 + ld(g1, g1_r13 + i)
                        s19 = s18 + ld(x, x_r14 + i)
                        s20 = s19 + ld(x, x_r15 + i)
                        st(c0, c0_0 + i, s20)
                else:
                    if ((j_hi >= 2) and (ny == j_hi)) and ((j + 1) == j_hi):
                        g1_r21 = g1_0 + ((j - 1) & 3) * g1_w
                        g1_r22 = g1_0 + ((j) & 3) * g1_w
                        g1_r23 = g1_0 + ((j + 1) & 3) * g1_w
                        x_r24 = x_0 + k * x_s0 + (j - 1) * x_s1
                        for i in range(max(0, (i_lo - 1)), min((nx - 1), i_hi) + 1):
                            s25 = ld(g1, g1_r21 + i)
                            s26 = s25 + ld(g1, g1_r22 + i)
                            s27 = s26 + ld(g1, g1_r23 + i)
                            s28 = s27 + ld(x, x_r24 + i)
                            st(c0, c0_0 + i, s28)
                    if ((j_lo == 0) and (ny >= 2)) and (j == 0):
                        g1_r29 = g1_0 + ((j - 1) & 3) * g1_w
                        g1_r30 = g1_0 + ((j) & 3) * g1_w
                        g1_r31 = g1_0 + ((j + 1) & 3) * g1_w
                        x_r32 = x_0 + k * x_s0 + (j + 1) * x_s1
                        for i in range(max(0, (i_lo - 1)), min((nx - 1), i_hi) + 1):
                            s33 = ld(g1, g1_r29 + i)
                            s34 = s33 + ld(g1, g1_r30 + i)
                            s35 = s34 + ld(g1, g1_r31 + i)
                            s36 = s35 + ld(x, x_r32 + i)
                            st(c0, c0_0 + i, s36)
                    if (((j_hi == 1) and (j_lo == 0)) and (ny == 1)) and (j == 0):
                        g1_r37 = g1_0 + ((j - 1) & 3) * g1_w
                        g1_r38 = g1_0 + ((j) & 3) * g1_w
                        g1_r39 = g1_0 + ((j + 1) & 3) * g1_w
                        for i in range(max(0, (i_lo - 1)), min((nx - 1), i_hi) + 1):
                            s40 = ld(g1, g1_r37 + i)
                            s41 = s40 + ld(g1, g1_r38 + i)
                            s42 = s41 + ld(g1, g1_r39 + i)
                            st(c0, c0_0 + i, s42)
                if j >= j_lo:
                    b_r43 = b_0 + k * b_s0 + j * b_s1
                    x_r44 = x_0 + k * x_s0 + j * x_s1
                    for i in range(i_lo, min((nx - 1), i_hi)):
                        s45 = ld(b, b_r43 + i)
                        s46 = s45 + ld(x, x_r44 + i + 1)
                        s47 = s46 + ld(c0, c0_m1 + i)
                        s48 = s47 + ld(c0, c0_0 + i)
                        s49 = s48 + ld(c0, c0_p1 + i)
                        st(t2, t2_0 + i, (s49 * w1))
                    if i_hi == nx:
                        s50 = ld(b, b_r43 + nx - 1)
                        s51 = s50 + ld(c0, c0_m2 + nx)
                        s52 = s51 + ld(c0, c0_m1 + nx)
                        s53 = s52 + ld(c0, c0_0 + nx)
                        st(t2, t2_m1 + nx, (s53 * w1))
                    for i in range(i_lo, i_hi):
                        s54 = ld(t2, t2_0 + i)
                        s55 = fma(w1, ld(t2, t2_m1 + i), s54)
                        s56 = fma(w2, ld(t2, t2_m2 + i), s55)
                        s57 = fma(w3, ld(t2, t2_m3 + i), s56)
                        st(u3, u3_0 + i, s57)
                    for i in range(i_lo, i_hi):
                        s58 = ld(u3, u3_0 + i)
                        s59 = fma(w4, ld(u3, u3_m4 + i), s58)
                        s60 = fma(w5, ld(u3, u3_m8 + i), s59)
                        st(x, x_r44 + i, s60)
    return 0


SIGNATURE = i8(
    f8[:, :, :],
    Array(f8, 3, 'A', readonly=True),
    f8[::1],
    f8[::1],
    f8[::1],
    f8[::1],
    i8[::1],
    i8[:, ::1],
)
