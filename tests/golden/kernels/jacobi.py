"""jacobi, generated for float64."""

import numpy as np
from numba.types import Array, f4, f8, i8

from ssr.intrinsics import address, fits, fma, ld, maximum, minimum, prefetch, sign, st
from ssr.sums import accumulate, extreme, found, total

META = {'fields': ['x', 'b'], 'temporaries': {'x_new': 'x'}, 'written': ['x_new', 'x'], 'buffers': [], 'scalars': ['omega'], 'sizes': ['nx', 'ny'], 'nests': [{'target': 'x_new', 'order': 'any', 'earlier': (), 'whole_lines': False}, {'target': 'x', 'order': 'any', 'earlier': (), 'whole_lines': False}], 'loops': 5, 'reductions': 0, 'results': 0, 'debug': False}

real = np.float64


def kernel(x, b, x_new, omega, layout, table_0, table_1):
    if not fits(x, layout, 3):
        return 1
    if not fits(b, layout, 8):
        return 1
    if address(x) < address(b) + layout[7]:
        if address(b) < address(x) + layout[2]:
            return 2
    w0 = real(-4.0)
    for box in range(table_0.shape[0]):  # x_new[:] = ...
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
        x_new_0 = table_0[box, 10]
        x_new_s0 = table_0[box, 11]
        for j in range(j_lo, j_hi):
            if (((nx >= 2) and (i_lo == 0)) and (ny >= (j + 2))) and (j >= 1):
                s1 = ld(x, x_0 + j * x_s0)
                s2 = ld(b, b_0 + j * b_s0)
                s3 = s2 + ld(x, x_0 + (j - 1) * x_s0)
                s4 = fma(w0, ld(x, x_0 + j * x_s0), s3)
                s5 = s4 + ld(x, x_0 + j * x_s0 + 1)
                s6 = s5 + ld(x, x_0 + (j + 1) * x_s0)
                s7 = s1 + (s6 * omega)
                st(x_new, x_new_0 + j * x_new_s0, s7)
            else:
                if ((((nx >= 2) and (ny >= 2)) and (i_lo == 0)) and (j_lo == 0)) and (j == 0):
                    s8 = ld(x, x_0 + j * x_s0)
                    s9 = ld(b, b_0 + j * b_s0)
                    s10 = fma(w0, ld(x, x_0 + j * x_s0), s9)
                    s11 = s10 + ld(x, x_0 + j * x_s0 + 1)
                    s12 = s11 + ld(x, x_0 + (j + 1) * x_s0)
                    s13 = s8 + (s12 * omega)
                    st(x_new, x_new_0 + j * x_new_s0, s13)
                if ((ny >= 2) and (j_lo == 0)) and (j == 0):
                    x_new_r14 = x_new_0 + j * x_new_s0
                    x_r15 = x_0 + j * x_s0
                    b_r16 = b_0 + j * b_s0
                    x_r17 = x_0 + (j + 1) * x_s0
                    for i in range(max(1, i_lo), min((nx - 1), i_hi)):
                        s18 = ld(x, x_r15 + i)
                        s19 = ld(b, b_r16 + i)
                        s20 = s19 + ld(x, x_r15 + i - 1)
                        s21 = fma(w0, ld(x, x_r15 + i), s20)
                        s22 = s21 + ld(x, x_r15 + i + 1)
                        s23 = s22 + ld(x, x_r17 + i)
                        s24 = s18 + (s23 * omega)
                        st(x_new, x_new_r14 + i, s24)
                else:
                    if ((((nx == 1) and (i_hi == 1)) and (i_lo == 0)) and (ny >= (j + 2))) and (j >= 1):
                        s25 = ld(x, x_0 + j * x_s0)
                        s26 = ld(b, b_0 + j * b_s0)
                        s27 = s26 + ld(x, x_0 + (j - 1) * x_s0)
                        s28 = fma(w0, ld(x, x_0 + j * x_s0), s27)
                        s29 = s28 + ld(x, x_0 + (j + 1) * x_s0)
                        s30 = s25 + (s29 * omega)
                        st(x_new, x_new_0 + j * x_new_s0, s30)
            if (ny >= (j + 2)) and (j >= 1):
                x_new_r31 = x_new_0 + j * x_new_s0
                x_r32 = x_0 + j * x_s0
                b_r33 = b_0 + j * b_s0
                x_r34 = x_0 + (j - 1) * x_s0
                x_r35 = x_0 + (j + 1) * x_s0
                for i in range(max(1, i_lo), min((nx - 1), i_hi)):
                    s36 = ld(x, x_r32 + i)
                    s37 = ld(b, b_r33 + i)
                    s38 = s37 + ld(x, x_r34 + i)
                    s39 = s38 + ld(x, x_r32 + i - 1)
                    s40 = fma(w0, ld(x, x_r32 + i), s39)
                    s41 = s40 + ld(x, x_r32 + i + 1)
                    s42 = s41 + ld(x, x_r35 + i)
                    s43 = s36 + (s42 * omega)
                    st(x_new, x_new_r31 + i, s43)
                if (nx >= 2) and (i_hi == nx):
                    s44 = ld(x, x_0 + j * x_s0 + nx - 1)
                    s45 = ld(b, b_0 + j * b_s0 + nx - 1)
                    s46 = s45 + ld(x, x_0 + (j - 1) * x_s0 + nx - 1)
                    s47 = s46 + ld(x, x_0 + j * x_s0 + nx - 2)
                    s48 = fma(w0, ld(x, x_0 + j * x_s0 + nx - 1), s47)
                    s49 = s48 + ld(x, x_0 + (j + 1) * x_s0 + nx - 1)
                    s50 = s44 + (s49 * omega)
                    st(x_new, x_new_0 + j * x_new_s0 + nx - 1, s50)
            else:
                if ((((nx >= 2) and (ny >= 2)) and (i_lo == 0)) and (j_hi == ny)) and ((j + 1) == ny):
                    s51 = ld(x, x_0 + j * x_s0)
                    s52 = ld(b, b_0 + j * b_s0)
                    s53 = s52 + ld(x, x_0 + (j - 1) * x_s0)
                    s54 = fma(w0, ld(x, x_0 + j * x_s0), s53)
                    s55 = s54 + ld(x, x_0 + j * x_s0 + 1)
                    s56 = s51 + (s55 * omega)
                    st(x_new, x_new_0 + j * x_new_s0, s56)
                if ((ny >= 2) and (j_hi == ny)) and ((j + 1) == ny):
                    x_new_r57 = x_new_0 + j * x_new_s0
                    x_r58 = x_0 + j * x_s0
                    b_r59 = b_0 + j * b_s0
                    x_r60 = x_0 + (j - 1) * x_s0
                    for i in range(max(1, i_lo), min((nx - 1), i_hi)):
                        s61 = ld(x, x_r58 + i)
                        s62 = ld(b, b_r59 + i)
                        s63 = s62 + ld(x, x_r60 + i)
                        s64 = s63 + ld(x, x_r58 + i - 1)
                        s65 = fma(w0, ld(x, x_r58 + i), s64)
                        s66 = s65 + ld(x, x_r58 + i + 1)
                        s67 = s61 + (s66 * omega)
                        st(x_new, x_new_r57 + i, s67)
                    if (nx >= 2) and (i_hi == nx):
                        s68 = ld(x, x_0 + j * x_s0 + nx - 1)
                        s69 = ld(b, b_0 + j * b_s0 + nx - 1)
                        s70 = s69 + ld(x, x_0 + (j - 1) * x_s0 + nx - 1)
                        s71 = s70 + ld(x, x_0 + j * x_s0 + nx - 2)
                        s72 = fma(w0, ld(x, x_0 + j * x_s0 + nx - 1), s71)
                        s73 = s68 + (s72 * omega)
                        st(x_new, x_new_0 + j * x_new_s0 + nx - 1, s73)
                    if ((nx == 1) and (i_hi == 1)) and (i_lo == 0):
                        s74 = ld(x, x_0 + j * x_s0)
                        s75 = ld(b, b_0 + j * b_s0)
                        s76 = s75 + ld(x, x_0 + (j - 1) * x_s0)
                        s77 = fma(w0, ld(x, x_0 + j * x_s0), s76)
                        s78 = s74 + (s77 * omega)
                        st(x_new, x_new_0 + j * x_new_s0, s78)
                else:
                    if ((nx >= 2) and (ny >= 2)) and (i_hi == nx):
                        s79 = ld(x, x_0 + j * x_s0 + nx - 1)
                        s80 = ld(b, b_0 + j * b_s0 + nx - 1)
                        s81 = s80 + ld(x, x_0 + j * x_s0 + nx - 2)
                        s82 = fma(w0, ld(x, x_0 + j * x_s0 + nx - 1), s81)
                        s83 = s82 + ld(x, x_0 + (j + 1) * x_s0 + nx - 1)
                        s84 = s79 + (s83 * omega)
                        st(x_new, x_new_0 + j * x_new_s0 + nx - 1, s84)
                    if (((nx >= 2) and (ny == 1)) and (i_lo == 0)) and (j_hi == 1):
                        s85 = ld(x, x_0 + j * x_s0)
                        s86 = ld(b, b_0 + j * b_s0)
                        s87 = fma(w0, ld(x, x_0 + j * x_s0), s86)
                        s88 = s87 + ld(x, x_0 + j * x_s0 + 1)
                        s89 = s85 + (s88 * omega)
                        st(x_new, x_new_0 + j * x_new_s0, s89)
                    if (ny == 1) and (j_hi == 1):
                        x_new_r90 = x_new_0 + j * x_new_s0
                        x_r91 = x_0 + j * x_s0
                        b_r92 = b_0 + j * b_s0
                        for i in range(max(1, i_lo), min((nx - 1), i_hi)):
                            s93 = ld(x, x_r91 + i)
                            s94 = ld(b, b_r92 + i)
                            s95 = s94 + ld(x, x_r91 + i - 1)
                            s96 = fma(w0, ld(x, x_r91 + i), s95)
                            s97 = s96 + ld(x, x_r91 + i + 1)
                            s98 = s93 + (s97 * omega)
                            st(x_new, x_new_r90 + i, s98)
                        if (nx >= 2) and (i_hi == nx):
                            s99 = ld(x, x_0 + j * x_s0 + nx - 1)
                            s100 = ld(b, b_0 + j * b_s0 + nx - 1)
                            s101 = s100 + ld(x, x_0 + j * x_s0 + nx - 2)
                            s102 = fma(w0, ld(x, x_0 + j * x_s0 + nx - 1), s101)
                            s103 = s99 + (s102 * omega)
                            st(x_new, x_new_0 + j * x_new_s0 + nx - 1, s103)
                    else:
                        if ((nx == 1) and (i_hi == 1)) and (i_lo == 0):
                            s104 = ld(x, x_0 + j * x_s0)
                            s105 = ld(b, b_0 + j * b_s0)
                            s106 = fma(w0, ld(x, x_0 + j * x_s0), s105)
                            s107 = s106 + ld(x, x_0 + (j + 1) * x_s0)
                            s108 = s104 + (s107 * omega)
                            st(x_new, x_new_0 + j * x_new_s0, s108)
                    if ((((nx == 1) and (ny == 1)) and (i_hi == 1)) and (i_lo == 0)) and (j_hi == 1):
                        s109 = ld(x, x_0 + j * x_s0)
                        s110 = ld(b, b_0 + j * b_s0)
                        s111 = fma(w0, ld(x, x_0 + j * x_s0), s110)
                        s112 = s109 + (s111 * omega)
                        st(x_new, x_new_0 + j * x_new_s0, s112)
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
        x_new_0 = table_1[box, 10]
        x_new_s0 = table_1[box, 11]
        for j in range(j_lo, j_hi):
            x_r1 = x_0 + j * x_s0
            x_new_r2 = x_new_0 + j * x_new_s0
            for i in range(i_lo, i_hi):
                st(x, x_r1 + i, ld(x_new, x_new_r2 + i))
    return 0


SIGNATURE = i8(
    f8[:, :],
    Array(f8, 2, 'A', readonly=True),
    f8[:, :],
    f8,
    i8[::1],
    i8[:, ::1],
    i8[:, ::1],
)
