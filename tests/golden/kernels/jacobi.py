"""jacobi, generated for float64."""

import numpy as np
from numba.types import Array, f4, f8, i8

from ssr.intrinsics import address, fma, jit, ld, prefetch, st

META = {'fields': ['x', 'b'], 'temporaries': ['x_new_0'], 'written': ['x_new_0', 'x'], 'buffers': [], 'scalars': ['omega'], 'sizes': ['nx', 'ny'], 'nests': [{'target': 'x_new_0', 'order': 'any', 'earlier': (), 'whole_lines': False}, {'target': 'x', 'order': 'any', 'earlier': (), 'whole_lines': False}], 'loops': 5}

real = np.float64


def kernel(x, b, u__x_new_0, omega, one, far, lengths, table_0, table_1):
    if address(x) < address(b) + lengths[1] and address(b) < address(x) + lengths[0]:
        return 2
    if address(x) < address(u__x_new_0) + lengths[2] and address(u__x_new_0) < address(x) + lengths[0]:
        return 3
    if address(u__x_new_0) < address(b) + lengths[1] and address(b) < address(u__x_new_0) + lengths[2]:
        return 8
    w0 = real(-4.0)
    strip_length = 256 if far else 4611686018427387904
    for box in range(table_0.shape[0]):  # x_new_0[:] = ...
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
        u__x_new_0_0 = table_0[box, 10]
        u__x_new_0_s0 = table_0[box, 11]
        for j in range(j_lo, j_hi):
            if (((nx >= 2) and (i_lo == 0)) and (ny >= (j + 2))) and (j >= 1):
                s1 = ld(x, x_0 + j * x_s0)
                s2 = ld(b, b_0 + j * b_s0)
                s3 = s2 + ld(x, x_0 + (j - 1) * x_s0)
                s4 = fma(w0, ld(x, x_0 + j * x_s0), s3)
                s5 = s4 + ld(x, x_0 + j * x_s0 + 1)
                s6 = s5 + ld(x, x_0 + (j + 1) * x_s0)
                s7 = s1 + (s6 * omega)
                st(u__x_new_0, u__x_new_0_0 + j * u__x_new_0_s0, s7)
            else:
                if ((((nx >= 2) and (ny >= 2)) and (i_lo == 0)) and (j_lo == 0)) and (j == 0):
                    s8 = ld(x, x_0 + j * x_s0)
                    s9 = ld(b, b_0 + j * b_s0)
                    s10 = fma(w0, ld(x, x_0 + j * x_s0), s9)
                    s11 = s10 + ld(x, x_0 + j * x_s0 + 1)
                    s12 = s11 + ld(x, x_0 + (j + 1) * x_s0)
                    s13 = s8 + (s12 * omega)
                    st(u__x_new_0, u__x_new_0_0 + j * u__x_new_0_s0, s13)
                if ((ny >= 2) and (j_lo == 0)) and (j == 0):
                    u__x_new_0_r14 = u__x_new_0_0 + j * u__x_new_0_s0
                    x_r15 = x_0 + j * x_s0
                    b_r16 = b_0 + j * b_s0
                    x_r17 = x_0 + (j + 1) * x_s0
                    for strip in range(max(1, i_lo), min((nx - 1), i_hi), strip_length):
                        if far:
                            for i in range(strip, min(strip + strip_length, min((nx - 1), i_hi)), 8):
                                prefetch(u__x_new_0, u__x_new_0_r14 + i + 512)
                                prefetch(x, x_r17 + i + 512)
                                prefetch(b, b_r16 + i + 512)
                        for i in range(strip, min(strip + strip_length, min((nx - 1), i_hi))):
                            s18 = ld(x, x_r15 + i)
                            s19 = ld(b, b_r16 + i)
                            s20 = s19 + ld(x, x_r15 + i - 1)
                            s21 = fma(w0, ld(x, x_r15 + i), s20)
                            s22 = s21 + ld(x, x_r15 + i + 1)
                            s23 = s22 + ld(x, x_r17 + i)
                            s24 = s18 + (s23 * omega)
                            st(u__x_new_0, u__x_new_0_r14 + i, s24)
                else:
                    if ((((nx == 1) and (i_hi == 1)) and (i_lo == 0)) and (ny >= (j + 2))) and (j >= 1):
                        s25 = ld(x, x_0 + j * x_s0)
                        s26 = ld(b, b_0 + j * b_s0)
                        s27 = s26 + ld(x, x_0 + (j - 1) * x_s0)
                        s28 = fma(w0, ld(x, x_0 + j * x_s0), s27)
                        s29 = s28 + ld(x, x_0 + (j + 1) * x_s0)
                        s30 = s25 + (s29 * omega)
                        st(u__x_new_0, u__x_new_0_0 + j * u__x_new_0_s0, s30)
            if (ny >= (j + 2)) and (j >= 1):
                u__x_new_0_r31 = u__x_new_0_0 + j * u__x_new_0_s0
                x_r32 = x_0 + j * x_s0
                b_r33 = b_0 + j * b_s0
                x_r34 = x_0 + (j - 1) * x_s0
                x_r35 = x_0 + (j + 1) * x_s0
                for strip in range(max(1, i_lo), min((nx - 1), i_hi), strip_length):
                    if far:
                        for i in range(strip, min(strip + strip_length, min((nx - 1), i_hi)), 8):
                            prefetch(u__x_new_0, u__x_new_0_r31 + i + 512)
                            prefetch(x, x_r35 + i + 512)
                            prefetch(b, b_r33 + i + 512)
                    for i in range(strip, min(strip + strip_length, min((nx - 1), i_hi))):
                        s36 = ld(x, x_r32 + i)
                        s37 = ld(b, b_r33 + i)
                        s38 = s37 + ld(x, x_r34 + i)
                        s39 = s38 + ld(x, x_r32 + i - 1)
                        s40 = fma(w0, ld(x, x_r32 + i), s39)
                        s41 = s40 + ld(x, x_r32 + i + 1)
                        s42 = s41 + ld(x, x_r35 + i)
                        s43 = s36 + (s42 * omega)
                        st(u__x_new_0, u__x_new_0_r31 + i, s43)
                if (nx >= 2) and (i_hi == nx):
                    s44 = ld(x, x_0 + j * x_s0 + nx - 1)
                    s45 = ld(b, b_0 + j * b_s0 + nx - 1)
                    s46 = s45 + ld(x, x_0 + (j - 1) * x_s0 + nx - 1)
                    s47 = s46 + ld(x, x_0 + j * x_s0 + nx - 2)
                    s48 = fma(w0, ld(x, x_0 + j * x_s0 + nx - 1), s47)
                    s49 = s48 + ld(x, x_0 + (j + 1) * x_s0 + nx - 1)
                    s50 = s44 + (s49 * omega)
                    st(u__x_new_0, u__x_new_0_0 + j * u__x_new_0_s0 + nx - 1, s50)
            else:
                if ((((nx >= 2) and (ny >= 2)) and (i_lo == 0)) and (j_hi == ny)) and ((j + 1) == ny):
                    s51 = ld(x, x_0 + j * x_s0)
                    s52 = ld(b, b_0 + j * b_s0)
                    s53 = s52 + ld(x, x_0 + (j - 1) * x_s0)
                    s54 = fma(w0, ld(x, x_0 + j * x_s0), s53)
                    s55 = s54 + ld(x, x_0 + j * x_s0 + 1)
                    s56 = s51 + (s55 * omega)
                    st(u__x_new_0, u__x_new_0_0 + j * u__x_new_0_s0, s56)
                if ((ny >= 2) and (j_hi == ny)) and ((j + 1) == ny):
                    u__x_new_0_r57 = u__x_new_0_0 + j * u__x_new_0_s0
                    x_r58 = x_0 + j * x_s0
                    b_r59 = b_0 + j * b_s0
                    x_r60 = x_0 + (j - 1) * x_s0
                    x_r61 = x_0 + (j + 1) * x_s0
                    for strip in range(max(1, i_lo), min((nx - 1), i_hi), strip_length):
                        if far:
                            for i in range(strip, min(strip + strip_length, min((nx - 1), i_hi)), 8):
                                prefetch(u__x_new_0, u__x_new_0_r57 + i + 512)
                                prefetch(x, x_r61 + i + 512)
                                prefetch(b, b_r59 + i + 512)
                        for i in range(strip, min(strip + strip_length, min((nx - 1), i_hi))):
                            s62 = ld(x, x_r58 + i)
                            s63 = ld(b, b_r59 + i)
                            s64 = s63 + ld(x, x_r60 + i)
                            s65 = s64 + ld(x, x_r58 + i - 1)
                            s66 = fma(w0, ld(x, x_r58 + i), s65)
                            s67 = s66 + ld(x, x_r58 + i + 1)
                            s68 = s62 + (s67 * omega)
                            st(u__x_new_0, u__x_new_0_r57 + i, s68)
                    if (nx >= 2) and (i_hi == nx):
                        s69 = ld(x, x_0 + j * x_s0 + nx - 1)
                        s70 = ld(b, b_0 + j * b_s0 + nx - 1)
                        s71 = s70 + ld(x, x_0 + (j - 1) * x_s0 + nx - 1)
                        s72 = s71 + ld(x, x_0 + j * x_s0 + nx - 2)
                        s73 = fma(w0, ld(x, x_0 + j * x_s0 + nx - 1), s72)
                        s74 = s69 + (s73 * omega)
                        st(u__x_new_0, u__x_new_0_0 + j * u__x_new_0_s0 + nx - 1, s74)
                    if ((nx == 1) and (i_hi == 1)) and (i_lo == 0):
                        s75 = ld(x, x_0 + j * x_s0)
                        s76 = ld(b, b_0 + j * b_s0)
                        s77 = s76 + ld(x, x_0 + (j - 1) * x_s0)
                        s78 = fma(w0, ld(x, x_0 + j * x_s0), s77)
                        s79 = s75 + (s78 * omega)
                        st(u__x_new_0, u__x_new_0_0 + j * u__x_new_0_s0, s79)
                else:
                    if ((nx >= 2) and (ny >= 2)) and (i_hi == nx):
                        s80 = ld(x, x_0 + j * x_s0 + nx - 1)
                        s81 = ld(b, b_0 + j * b_s0 + nx - 1)
                        s82 = s81 + ld(x, x_0 + j * x_s0 + nx - 2)
                        s83 = fma(w0, ld(x, x_0 + j * x_s0 + nx - 1), s82)
                        s84 = s83 + ld(x, x_0 + (j + 1) * x_s0 + nx - 1)
                        s85 = s80 + (s84 * omega)
                        st(u__x_new_0, u__x_new_0_0 + j * u__x_new_0_s0 + nx - 1, s85)
                    if (((nx >= 2) and (ny == 1)) and (i_lo == 0)) and (j_hi == 1):
                        s86 = ld(x, x_0 + j * x_s0)
                        s87 = ld(b, b_0 + j * b_s0)
                        s88 = fma(w0, ld(x, x_0 + j * x_s0), s87)
                        s89 = s88 + ld(x, x_0 + j * x_s0 + 1)
                        s90 = s86 + (s89 * omega)
                        st(u__x_new_0, u__x_new_0_0 + j * u__x_new_0_s0, s90)
                    if (ny == 1) and (j_hi == 1):
                        u__x_new_0_r91 = u__x_new_0_0 + j * u__x_new_0_s0
                        x_r92 = x_0 + j * x_s0
                        b_r93 = b_0 + j * b_s0
                        x_r94 = x_0 + (j + 1) * x_s0
                        for strip in range(max(1, i_lo), min((nx - 1), i_hi), strip_length):
                            if far:
                                for i in range(strip, min(strip + strip_length, min((nx - 1), i_hi)), 8):
                                    prefetch(u__x_new_0, u__x_new_0_r91 + i + 512)
                                    prefetch(x, x_r94 + i + 512)
                                    prefetch(b, b_r93 + i + 512)
                            for i in range(strip, min(strip + strip_length, min((nx - 1), i_hi))):
                                s95 = ld(x, x_r92 + i)
                                s96 = ld(b, b_r93 + i)
                                s97 = s96 + ld(x, x_r92 + i - 1)
                                s98 = fma(w0, ld(x, x_r92 + i), s97)
                                s99 = s98 + ld(x, x_r92 + i + 1)
                                s100 = s95 + (s99 * omega)
                                st(u__x_new_0, u__x_new_0_r91 + i, s100)
                        if (nx >= 2) and (i_hi == nx):
                            s101 = ld(x, x_0 + j * x_s0 + nx - 1)
                            s102 = ld(b, b_0 + j * b_s0 + nx - 1)
                            s103 = s102 + ld(x, x_0 + j * x_s0 + nx - 2)
                            s104 = fma(w0, ld(x, x_0 + j * x_s0 + nx - 1), s103)
                            s105 = s101 + (s104 * omega)
                            st(u__x_new_0, u__x_new_0_0 + j * u__x_new_0_s0 + nx - 1, s105)
                    else:
                        if ((nx == 1) and (i_hi == 1)) and (i_lo == 0):
                            s106 = ld(x, x_0 + j * x_s0)
                            s107 = ld(b, b_0 + j * b_s0)
                            s108 = fma(w0, ld(x, x_0 + j * x_s0), s107)
                            s109 = s108 + ld(x, x_0 + (j + 1) * x_s0)
                            s110 = s106 + (s109 * omega)
                            st(u__x_new_0, u__x_new_0_0 + j * u__x_new_0_s0, s110)
                    if ((((nx == 1) and (ny == 1)) and (i_hi == 1)) and (i_lo == 0)) and (j_hi == 1):
                        s111 = ld(x, x_0 + j * x_s0)
                        s112 = ld(b, b_0 + j * b_s0)
                        s113 = fma(w0, ld(x, x_0 + j * x_s0), s112)
                        s114 = s111 + (s113 * omega)
                        st(u__x_new_0, u__x_new_0_0 + j * u__x_new_0_s0, s114)
    for box in range(table_1.shape[0]):  # x[:] = ...
        nx = table_1[box, 0]
        ny = table_1[box, 1]
        j_lo = table_1[box, 2]
        j_hi = table_1[box, 3]
        i_lo = table_1[box, 4]
        i_hi = table_1[box, 5]
        x_0 = table_1[box, 6]
        x_s0 = table_1[box, 7]
        b_0 = table_1[box, 8]
        b_s0 = table_1[box, 9]
        u__x_new_0_0 = table_1[box, 10]
        u__x_new_0_s0 = table_1[box, 11]
        for j in range(j_lo, j_hi):
            x_r1 = x_0 + j * x_s0
            u__x_new_0_r2 = u__x_new_0_0 + j * u__x_new_0_s0
            for strip in range(i_lo, i_hi, strip_length):
                if far:
                    for i in range(strip, min(strip + strip_length, i_hi), 8):
                        prefetch(x, x_r1 + i + 512)
                        prefetch(u__x_new_0, u__x_new_0_r2 + i + 512)
                for i in range(strip, min(strip + strip_length, i_hi)):
                    st(x, x_r1 + i, ld(u__x_new_0, u__x_new_0_r2 + i))
    return 0


SIGNATURE = i8(
    f8[:, :],
    Array(f8, 2, 'A', readonly=True),
    f8[:, :],
    f8,
    i8,
    i8,
    i8[::1],
    i8[:, ::1],
    i8[:, ::1],
)
