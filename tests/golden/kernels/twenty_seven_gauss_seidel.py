"""gauss_seidel, generated for float64."""

import numpy as np
from numba.types import Array, f4, f8, i8

from ssr.intrinsics import address, fma, jit, ld, prefetch, st

META = {'fields': ['x', 'b'], 'temporaries': [], 'written': ['x'], 'buffers': [('c0', 0, 1, 1), ('g1', 0, 4, 1), ('t2', 0, 1, 16), ('u3', 0, 1, 16)], 'scalars': [], 'sizes': ['nx', 'ny', 'nz'], 'nests': [{'target': 'x', 'order': 'forward', 'earlier': ((-1, -1, -1), (-1, -1, 0), (-1, -1, 1), (-1, 0, -1), (-1, 0, 0), (-1, 0, 1), (-1, 1, -1), (-1, 1, 0), (-1, 1, 1), (0, -1, -1), (0, -1, 0), (0, -1, 1), (0, 0, -1)), 'whole_lines': True}], 'loops': 13}

real = np.float64


def kernel(x, b, c0, g1, t2, u3, one, far, lengths, table_0):
    if address(x) < address(b) + lengths[1] and address(b) < address(x) + lengths[0]:
        return 2
    w0 = real(0.0)
    w1 = real(0.038461538461538464)
    w2 = real(0.0014792899408284025)
    w3 = real(5.689576695493856e-05)
    w4 = real(2.1882987290360987e-06)
    w5 = real(4.7886513275010046e-12)
    strip_length = 256 if far else 4611686018427387904
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
        c0_0 = 1 - i_lo
        c0_w = i_hi - i_lo + 2
        for clear in range(1 * c0_w):
            st(c0, clear, w0)
        g1_0 = 1 - i_lo
        g1_w = i_hi - i_lo + 2
        for clear in range(4 * g1_w):
            st(g1, clear, w0)
        t2_0 = 16 - i_lo
        t2_w = i_hi - i_lo + 32
        for clear in range(1 * t2_w):
            st(t2, clear, w0)
        u3_0 = 16 - i_lo
        u3_w = i_hi - i_lo + 32
        for clear in range(1 * u3_w):
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
                if (((nz >= (k + 2)) and (k >= 1)) and (ny >= (j + 2))) and (j >= -1):
                    g1_r1 = g1_0 + ((j + 1) & 3) * g1_w
                    x_r2 = x_0 + (k - 1) * x_s0 + (j + 1) * x_s1
                    x_r3 = x_0 + (k + 1) * x_s0 + (j + 1) * x_s1
                    for strip in range(max(0, (i_lo - 1)), min((nx - 1), i_hi) + 1, strip_length):
                        if far:
                            for i in range(strip, min(strip + strip_length, min((nx - 1), i_hi) + 1), 8):
                                prefetch(x, x_r3 + i + 512)
                        for i in range(strip, min(strip + strip_length, min((nx - 1), i_hi) + 1)):
                            s4 = ld(x, x_r2 + i)
                            s5 = s4 + ld(x, x_r3 + i)
                            st(g1, g1_r1 + i, s5)
                if ((((k_hi >= 2) and (nz == k_hi)) and ((k + 1) == k_hi)) and (ny >= (j + 2))) and (j >= -1):
                    g1_r6 = g1_0 + ((j + 1) & 3) * g1_w
                    x_r7 = x_0 + (k - 1) * x_s0 + (j + 1) * x_s1
                    x_r8 = x_0 + (k + 1) * x_s0 + (j + 1) * x_s1
                    for strip in range(max(0, (i_lo - 1)), min((nx - 1), i_hi) + 1, strip_length):
                        if far:
                            for i in range(strip, min(strip + strip_length, min((nx - 1), i_hi) + 1), 8):
                                prefetch(x, x_r8 + i + 512)
                        for i in range(strip, min(strip + strip_length, min((nx - 1), i_hi) + 1)):
                            st(g1, g1_r6 + i, ld(x, x_r7 + i))
                if ((((k_lo == 0) and (nz >= 2)) and (k == 0)) and (ny >= (j + 2))) and (j >= -1):
                    g1_r9 = g1_0 + ((j + 1) & 3) * g1_w
                    x_r10 = x_0 + (k + 1) * x_s0 + (j + 1) * x_s1
                    for strip in range(max(0, (i_lo - 1)), min((nx - 1), i_hi) + 1, strip_length):
                        if far:
                            for i in range(strip, min(strip + strip_length, min((nx - 1), i_hi) + 1), 8):
                                prefetch(x, x_r10 + i + 512)
                        for i in range(strip, min(strip + strip_length, min((nx - 1), i_hi) + 1)):
                            st(g1, g1_r9 + i, ld(x, x_r10 + i))
                if ((((ny == j_hi) and (nz >= 2)) and ((j + 1) == j_hi)) or (((j_lo == 0) and (nz >= 2)) and (j == -2))) or ((((k_hi == 1) and (k_lo == 0)) and (nz == 1)) and (k == 0)):
                    if ((nz >= 2) and (j_hi == ny)) and ((j + 1) == ny):
                        g1_r11 = g1_0 + ((j + 1) & 3) * g1_w
                        x_r12 = x_0 + (k + 1) * x_s0 + (j + 1) * x_s1
                        for strip in range(max(0, (i_lo - 1)), min((nx - 1), i_hi) + 1, strip_length):
                            if far:
                                for i in range(strip, min(strip + strip_length, min((nx - 1), i_hi) + 1), 8):
                                    prefetch(x, x_r12 + i + 512)
                            for i in range(strip, min(strip + strip_length, min((nx - 1), i_hi) + 1)):
                                st(g1, g1_r11 + i, w0)
                    else:
                        if ((nz >= 2) and (j_lo == 0)) and (j == -2):
                            g1_r13 = g1_0 + ((j + 1) & 3) * g1_w
                            x_r14 = x_0 + (k + 1) * x_s0 + (j + 1) * x_s1
                            for strip in range(max(0, (i_lo - 1)), min((nx - 1), i_hi) + 1, strip_length):
                                if far:
                                    for i in range(strip, min(strip + strip_length, min((nx - 1), i_hi) + 1), 8):
                                        prefetch(x, x_r14 + i + 512)
                                for i in range(strip, min(strip + strip_length, min((nx - 1), i_hi) + 1)):
                                    st(g1, g1_r13 + i, w0)
                        else:
                            g1_r15 = g1_0 + ((j + 1) & 3) * g1_w
                            x_r16 = x_0 + (k + 1) * x_s0 + (j + 1) * x_s1
                            for strip in range(max(0, (i_lo - 1)), min((nx - 1), i_hi) + 1, strip_length):
                                if far:
                                    for i in range(strip, min(strip + strip_length, min((nx - 1), i_hi) + 1), 8):
                                        prefetch(x, x_r16 + i + 512)
                                for i in range(strip, min(strip + strip_length, min((nx - 1), i_hi) + 1)):
                                    st(g1, g1_r15 + i, w0)
                if ((ny >= (j + 2)) and (j >= 1)) and (j >= j_lo):
                    g1_r17 = g1_0 + ((j - 1) & 3) * g1_w
                    g1_r18 = g1_0 + ((j) & 3) * g1_w
                    g1_r19 = g1_0 + ((j + 1) & 3) * g1_w
                    x_r20 = x_0 + k * x_s0 + (j - 1) * x_s1
                    x_r21 = x_0 + k * x_s0 + (j + 1) * x_s1
                    for i in range(max(0, (i_lo - 1)), min((nx - 1), i_hi) + 1):
                        s22 = ld(g1, g1_r17 + i)
                        s23 = s22 + ld(g1, g1_r18 + i)
                        s24 = s23 + ld(g1, g1_r19 + i)
                        s25 = s24 + ld(x, x_r20 + i)
                        s26 = s25 + ld(x, x_r21 + i)
                        st(c0, c0_0 + i, s26)
                if ((j_hi >= 2) and (ny == j_hi)) and ((j + 1) == j_hi):
                    g1_r27 = g1_0 + ((j - 1) & 3) * g1_w
                    g1_r28 = g1_0 + ((j) & 3) * g1_w
                    g1_r29 = g1_0 + ((j + 1) & 3) * g1_w
                    x_r30 = x_0 + k * x_s0 + (j - 1) * x_s1
                    for i in range(max(0, (i_lo - 1)), min((nx - 1), i_hi) + 1):
                        s31 = ld(g1, g1_r27 + i)
                        s32 = s31 + ld(g1, g1_r28 + i)
                        s33 = s32 + ld(g1, g1_r29 + i)
                        s34 = s33 + ld(x, x_r30 + i)
                        st(c0, c0_0 + i, s34)
                if ((j_lo == 0) and (ny >= 2)) and (j == 0):
                    g1_r35 = g1_0 + ((j - 1) & 3) * g1_w
                    g1_r36 = g1_0 + ((j) & 3) * g1_w
                    g1_r37 = g1_0 + ((j + 1) & 3) * g1_w
                    x_r38 = x_0 + k * x_s0 + (j + 1) * x_s1
                    for i in range(max(0, (i_lo - 1)), min((nx - 1), i_hi) + 1):
                        s39 = ld(g1, g1_r35 + i)
                        s40 = s39 + ld(g1, g1_r36 + i)
                        s41 = s40 + ld(g1, g1_r37 + i)
                        s42 = s41 + ld(x, x_r38 + i)
                        st(c0, c0_0 + i, s42)
                if (((j_hi == 1) and (j_lo == 0)) and (ny == 1)) and (j == 0):
                    g1_r43 = g1_0 + ((j - 1) & 3) * g1_w
                    g1_r44 = g1_0 + ((j) & 3) * g1_w
                    g1_r45 = g1_0 + ((j + 1) & 3) * g1_w
                    for i in range(max(0, (i_lo - 1)), min((nx - 1), i_hi) + 1):
                        s46 = ld(g1, g1_r43 + i)
                        s47 = s46 + ld(g1, g1_r44 + i)
                        s48 = s47 + ld(g1, g1_r45 + i)
                        st(c0, c0_0 + i, s48)
                if j >= j_lo:
                    b_r49 = b_0 + k * b_s0 + j * b_s1
                    x_r50 = x_0 + k * x_s0 + j * x_s1
                    for strip in range(i_lo, min((nx - 1), i_hi), strip_length):
                        if far:
                            for i in range(strip, min(strip + strip_length, min((nx - 1), i_hi)), 8):
                                prefetch(b, b_r49 + i + 512)
                        for i in range(strip, min(strip + strip_length, min((nx - 1), i_hi))):
                            s51 = ld(b, b_r49 + i)
                            s52 = s51 + ld(x, x_r50 + i + 1)
                            s53 = s52 + ld(c0, c0_m1 + i)
                            s54 = s53 + ld(c0, c0_0 + i)
                            s55 = s54 + ld(c0, c0_p1 + i)
                            st(t2, t2_0 + i, (s55 * w1))
                    if i_hi == nx:
                        s56 = ld(b, b_0 + k * b_s0 + j * b_s1 + nx - 1)
                        s57 = s56 + ld(c0, c0_m2 + nx)
                        s58 = s57 + ld(c0, c0_m1 + nx)
                        s59 = s58 + ld(c0, c0_0 + nx)
                        st(t2, t2_m1 + nx, (s59 * w1))
                    for i in range(i_lo, i_hi):
                        s60 = ld(t2, t2_0 + i)
                        s61 = fma(w1, ld(t2, t2_m1 + i), s60)
                        s62 = fma(w2, ld(t2, t2_m2 + i), s61)
                        s63 = fma(w3, ld(t2, t2_m3 + i), s62)
                        st(u3, u3_0 + i, s63)
                    x_r64 = x_0 + k * x_s0 + j * x_s1
                    for i in range(i_lo, i_hi):
                        s65 = ld(u3, u3_0 + i)
                        s66 = fma(w4, ld(u3, u3_m4 + i), s65)
                        s67 = fma(w5, ld(u3, u3_m8 + i), s66)
                        st(x, x_r64 + i, s67)
    return 0


SIGNATURE = i8(
    f8[:, :, :],
    Array(f8, 3, 'A', readonly=True),
    f8[::1],
    f8[::1],
    f8[::1],
    f8[::1],
    i8,
    i8,
    i8[::1],
    i8[:, ::1],
)
