"""jacobi, generated for float64."""

import numpy as np
from numba.types import Array, f4, f8, i8

from ssr.intrinsics import address, fits, fma, ld, maximum, meet, minimum, prefetch, sign, st
from ssr.lanes import accumulate, extreme, found, total

META = {'fields': ['x', 'b'], 'temporaries': {}, 'written': ['x'], 'buffers': [('t0', 0, 2, 0, None)], 'scalars': ['omega'], 'sizes': ['nx', 'ny'], 'nests': [{'target': 'x', 'order': 'any', 'earlier': None, 'whole_lines': False, 'fused': True}], 'loops': 5, 'reductions': 0, 'results': 0, 'stored': (), 'debug': False, 'functions': []}

real = np.float64
w0 = real(-4.0)


def kernel(x, b, t0, omega, layout, table_0):
    if not fits(x, layout, 3):
        return 1
    if not fits(b, layout, 8):
        return 1
    if meet((address(x), address(b)), (layout[2], layout[7]), 1):
        return 2
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
            if ((((((((nx + ny) >= (i_lo + 3)) and (((nx + ny) + j) >= 3)) and (((i_hi + ny) + j) >= 2)) and (((i_hi + nx) + j) >= 2)) and (j_hi >= (j + 2))) or (((((j_lo == 0) and (i_hi == 1)) and (i_lo == 0)) and (nx == 1)) and (j == -1))) or ((((((j_hi == 1) and (j_lo == 0)) and (i_hi >= 2)) and (nx == i_hi)) and (ny == 1)) and (j == -1))) or ((((((j_hi == 1) and (j_lo == 0)) and (i_lo == 0)) and (nx >= 2)) and (ny == 1)) and (j == -1)):
                if (((nx >= 2) and (i_lo == 0)) and (ny >= (j + 3))) and (j >= 0):
                    s1 = ld(x, x_0 + (j + 1) * x_s0)
                    s2 = ld(b, b_0 + (j + 1) * b_s0)
                    s3 = s2 + ld(x, x_0 + j * x_s0)
                    s4 = fma(w0, ld(x, x_0 + (j + 1) * x_s0), s3)
                    s5 = s4 + ld(x, x_0 + (j + 1) * x_s0 + 1)
                    s6 = s5 + ld(x, x_0 + (j + 2) * x_s0)
                    s7 = s1 + (s6 * omega)
                    st(t0, t0_0 + ((j + 1) & 1) * t0_w, s7)
                if (ny >= (j + 3)) and (j >= 0):
                    t0_r8 = t0_0 + ((j + 1) & 1) * t0_w
                    x_r9 = x_0 + (j + 1) * x_s0
                    b_r10 = b_0 + (j + 1) * b_s0
                    x_r11 = x_0 + j * x_s0
                    x_r12 = x_0 + (j + 2) * x_s0
                    for i in range(max(1, i_lo), min((nx - 1), i_hi)):
                        s13 = ld(x, x_r9 + i)
                        s14 = ld(b, b_r10 + i)
                        s15 = s14 + ld(x, x_r11 + i)
                        s16 = s15 + ld(x, x_r9 + i - 1)
                        s17 = fma(w0, ld(x, x_r9 + i), s16)
                        s18 = s17 + ld(x, x_r9 + i + 1)
                        s19 = s18 + ld(x, x_r12 + i)
                        s20 = s13 + (s19 * omega)
                        st(t0, t0_r8 + i, s20)
                    if (nx >= 2) and (i_hi == nx):
                        s21 = ld(x, x_0 + (j + 1) * x_s0 + nx - 1)
                        s22 = ld(b, b_0 + (j + 1) * b_s0 + nx - 1)
                        s23 = s22 + ld(x, x_0 + j * x_s0 + nx - 1)
                        s24 = s23 + ld(x, x_0 + (j + 1) * x_s0 + nx - 2)
                        s25 = fma(w0, ld(x, x_0 + (j + 1) * x_s0 + nx - 1), s24)
                        s26 = s25 + ld(x, x_0 + (j + 2) * x_s0 + nx - 1)
                        s27 = s21 + (s26 * omega)
                        st(t0, t0_0 + ((j + 1) & 1) * t0_w + nx - 1, s27)
                    else:
                        if ((nx == 1) and (i_hi == 1)) and (i_lo == 0):
                            s28 = ld(x, x_0 + (j + 1) * x_s0)
                            s29 = ld(b, b_0 + (j + 1) * b_s0)
                            s30 = s29 + ld(x, x_0 + j * x_s0)
                            s31 = fma(w0, ld(x, x_0 + (j + 1) * x_s0), s30)
                            s32 = s31 + ld(x, x_0 + (j + 2) * x_s0)
                            s33 = s28 + (s32 * omega)
                            st(t0, t0_0 + ((j + 1) & 1) * t0_w, s33)
                else:
                    if ((((nx >= 2) and (ny >= 2)) and (i_lo == 0)) and (j_lo == 0)) and (j == -1):
                        s34 = ld(x, x_0 + (j + 1) * x_s0)
                        s35 = ld(b, b_0 + (j + 1) * b_s0)
                        s36 = fma(w0, ld(x, x_0 + (j + 1) * x_s0), s35)
                        s37 = s36 + ld(x, x_0 + (j + 1) * x_s0 + 1)
                        s38 = s37 + ld(x, x_0 + (j + 2) * x_s0)
                        s39 = s34 + (s38 * omega)
                        st(t0, t0_0 + ((j + 1) & 1) * t0_w, s39)
                    else:
                        if ((((nx >= 2) and (ny >= 2)) and (i_lo == 0)) and (j_hi == ny)) and ((j + 2) == ny):
                            s40 = ld(x, x_0 + (j + 1) * x_s0)
                            s41 = ld(b, b_0 + (j + 1) * b_s0)
                            s42 = s41 + ld(x, x_0 + j * x_s0)
                            s43 = fma(w0, ld(x, x_0 + (j + 1) * x_s0), s42)
                            s44 = s43 + ld(x, x_0 + (j + 1) * x_s0 + 1)
                            s45 = s40 + (s44 * omega)
                            st(t0, t0_0 + ((j + 1) & 1) * t0_w, s45)
                        if ((ny >= 2) and (j_hi == ny)) and ((j + 2) == ny):
                            t0_r46 = t0_0 + ((j + 1) & 1) * t0_w
                            x_r47 = x_0 + (j + 1) * x_s0
                            b_r48 = b_0 + (j + 1) * b_s0
                            x_r49 = x_0 + j * x_s0
                            for i in range(max(1, i_lo), min((nx - 1), i_hi)):
                                s50 = ld(x, x_r47 + i)
                                s51 = ld(b, b_r48 + i)
                                s52 = s51 + ld(x, x_r49 + i)
                                s53 = s52 + ld(x, x_r47 + i - 1)
                                s54 = fma(w0, ld(x, x_r47 + i), s53)
                                s55 = s54 + ld(x, x_r47 + i + 1)
                                s56 = s50 + (s55 * omega)
                                st(t0, t0_r46 + i, s56)
                            if (nx >= 2) and (i_hi == nx):
                                s57 = ld(x, x_0 + (j + 1) * x_s0 + nx - 1)
                                s58 = ld(b, b_0 + (j + 1) * b_s0 + nx - 1)
                                s59 = s58 + ld(x, x_0 + j * x_s0 + nx - 1)
                                s60 = s59 + ld(x, x_0 + (j + 1) * x_s0 + nx - 2)
                                s61 = fma(w0, ld(x, x_0 + (j + 1) * x_s0 + nx - 1), s60)
                                s62 = s57 + (s61 * omega)
                                st(t0, t0_0 + ((j + 1) & 1) * t0_w + nx - 1, s62)
                        else:
                            if (((nx >= 2) and (ny == 1)) and (i_lo == 0)) and (j_hi == 1):
                                s63 = ld(x, x_0 + (j + 1) * x_s0)
                                s64 = ld(b, b_0 + (j + 1) * b_s0)
                                s65 = fma(w0, ld(x, x_0 + (j + 1) * x_s0), s64)
                                s66 = s65 + ld(x, x_0 + (j + 1) * x_s0 + 1)
                                s67 = s63 + (s66 * omega)
                                st(t0, t0_0 + ((j + 1) & 1) * t0_w, s67)
                            if (ny == 1) and (j_hi == 1):
                                t0_r68 = t0_0 + ((j + 1) & 1) * t0_w
                                x_r69 = x_0 + (j + 1) * x_s0
                                b_r70 = b_0 + (j + 1) * b_s0
                                for i in range(max(1, i_lo), min((nx - 1), i_hi)):
                                    s71 = ld(x, x_r69 + i)
                                    s72 = ld(b, b_r70 + i)
                                    s73 = s72 + ld(x, x_r69 + i - 1)
                                    s74 = fma(w0, ld(x, x_r69 + i), s73)
                                    s75 = s74 + ld(x, x_r69 + i + 1)
                                    s76 = s71 + (s75 * omega)
                                    st(t0, t0_r68 + i, s76)
                                if (nx >= 2) and (i_hi == nx):
                                    s77 = ld(x, x_0 + (j + 1) * x_s0 + nx - 1)
                                    s78 = ld(b, b_0 + (j + 1) * b_s0 + nx - 1)
                                    s79 = s78 + ld(x, x_0 + (j + 1) * x_s0 + nx - 2)
                                    s80 = fma(w0, ld(x, x_0 + (j + 1) * x_s0 + nx - 1), s79)
                                    s81 = s77 + (s80 * omega)
                                    st(t0, t0_0 + ((j + 1) & 1) * t0_w + nx - 1, s81)
                            else:
                                if ((nx == 1) and (i_hi == 1)) and (i_lo == 0):
                                    s82 = ld(x, x_0 + (j + 1) * x_s0)
                                    s83 = ld(b, b_0 + (j + 1) * b_s0)
                                    s84 = fma(w0, ld(x, x_0 + (j + 1) * x_s0), s83)
                                    s85 = s84 + ld(x, x_0 + (j + 2) * x_s0)
                                    s86 = s82 + (s85 * omega)
                                    st(t0, t0_0 + ((j + 1) & 1) * t0_w, s86)
                    if ((ny >= 2) and (j_lo == 0)) and (j == -1):
                        t0_r87 = t0_0 + ((j + 1) & 1) * t0_w
                        x_r88 = x_0 + (j + 1) * x_s0
                        b_r89 = b_0 + (j + 1) * b_s0
                        x_r90 = x_0 + (j + 2) * x_s0
                        for i in range(max(1, i_lo), min((nx - 1), i_hi)):
                            s91 = ld(x, x_r88 + i)
                            s92 = ld(b, b_r89 + i)
                            s93 = s92 + ld(x, x_r88 + i - 1)
                            s94 = fma(w0, ld(x, x_r88 + i), s93)
                            s95 = s94 + ld(x, x_r88 + i + 1)
                            s96 = s95 + ld(x, x_r90 + i)
                            s97 = s91 + (s96 * omega)
                            st(t0, t0_r87 + i, s97)
                        if (nx >= 2) and (i_hi == nx):
                            s98 = ld(x, x_0 + (j + 1) * x_s0 + nx - 1)
                            s99 = ld(b, b_0 + (j + 1) * b_s0 + nx - 1)
                            s100 = s99 + ld(x, x_0 + (j + 1) * x_s0 + nx - 2)
                            s101 = fma(w0, ld(x, x_0 + (j + 1) * x_s0 + nx - 1), s100)
                            s102 = s101 + ld(x, x_0 + (j + 2) * x_s0 + nx - 1)
                            s103 = s98 + (s102 * omega)
                            st(t0, t0_0 + ((j + 1) & 1) * t0_w + nx - 1, s103)
                    else:
                        if (((nx == 1) and (ny >= 2)) and (i_hi == 1)) and (i_lo == 0):
                            s104 = ld(x, x_0 + (j + 1) * x_s0)
                            s105 = ld(b, b_0 + (j + 1) * b_s0)
                            s106 = s105 + ld(x, x_0 + j * x_s0)
                            s107 = fma(w0, ld(x, x_0 + (j + 1) * x_s0), s106)
                            s108 = s104 + (s107 * omega)
                            st(t0, t0_0 + ((j + 1) & 1) * t0_w, s108)
                        else:
                            if ((((nx == 1) and (ny == 1)) and (i_hi == 1)) and (i_lo == 0)) and (j_lo == 0):
                                s109 = ld(x, x_0 + (j + 1) * x_s0)
                                s110 = ld(b, b_0 + (j + 1) * b_s0)
                                s111 = fma(w0, ld(x, x_0 + (j + 1) * x_s0), s110)
                                s112 = s109 + (s111 * omega)
                                st(t0, t0_0 + ((j + 1) & 1) * t0_w, s112)
            if j >= j_lo:
                x_r113 = x_0 + j * x_s0
                t0_r114 = t0_0 + ((j) & 1) * t0_w
                for i in range(i_lo, i_hi):
                    st(x, x_r113 + i, ld(t0, t0_r114 + i))
    return 0


SIGNATURE = i8(
    f8[:, :],
    Array(f8, 2, 'A', readonly=True),
    f8[::1],
    f8,
    i8[::1],
    i8[:, ::1],
)
