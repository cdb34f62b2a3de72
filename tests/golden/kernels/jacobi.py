"""jacobi, generated for float64."""

import numpy as np
from numba.types import Array, f4, f8, i8

from ssr.runtime.intrinsics import address, fits, fma, independent, interleaved, ld, maximum, meet, minimum, prefetch, sign, st, uneven
from ssr.runtime.lanes import accumulate, extreme, found, total
from ssr.runtime.polling import poll, stopwatch

META = {'fields': ['x', 'b'], 'temporaries': {}, 'written': ['x'], 'buffers': [('t0', 0, 2, 0, None, 1)], 'scalars': ['omega'], 'sizes': ['nx', 'ny'], 'nests': [{'target': 'x', 'order': 'any', 'earlier': None, 'whole_lines': False, 'fused': True}], 'loops': 5, 'reductions': 0, 'results': 0, 'stored': (), 'debug': False, 'functions': []}

real = np.float64
w0 = real(-4.0)


def kernel(x, b, t0, omega, layout, table_0):
    if not fits(x, layout, 3):
        return 1
    if not fits(b, layout, 8):
        return 1
    if meet((address(x), address(b)), (layout[2], layout[7]), 1):
        return 2
    watch = stopwatch()
    for box in range(table_0.shape[0]):  # x[:] = ...
        nx = table_0[box, 0]
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
            if ((i_hi >= 2) and (j_hi >= (j + 3))) and (j >= 0):
                t0_r1 = t0_0 + ((j + 1) & 1) * t0_w
                x_r2 = x_0 + (j + 1) * x_s0
                b_r3 = b_0 + (j + 1) * b_s0
                x_r4 = x_0 + j * x_s0
                x_r5 = x_0 + (j + 2) * x_s0
                t0_r6 = t0_0 + ((j) & 1) * t0_w
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
                if ((j_hi >= 2) and (nx >= 2)) and ((j + 2) == j_hi):
                    t0_r29 = t0_0 + ((j + 1) & 1) * t0_w
                    x_r30 = x_0 + (j + 1) * x_s0
                    b_r31 = b_0 + (j + 1) * b_s0
                    x_r32 = x_0 + j * x_s0
                    s33 = ld(x, x_r30)
                    s34 = ld(b, b_r31)
                    s35 = s34 + ld(x, x_r32)
                    s36 = fma(w0, ld(x, x_r30), s35)
                    s37 = s36 + ld(x, x_r30 + 1)
                    s38 = fma(s37, omega, s33)
                    st(t0, t0_r29, s38)
                    for i in range(1, nx - 1):
                        s39 = ld(x, x_r30 + i)
                        s40 = ld(b, b_r31 + i)
                        s41 = s40 + ld(x, x_r32 + i)
                        s42 = s41 + ld(x, x_r30 + i - 1)
                        s43 = fma(w0, ld(x, x_r30 + i), s42)
                        s44 = s43 + ld(x, x_r30 + i + 1)
                        s45 = fma(s44, omega, s39)
                        st(t0, t0_r29 + i, s45)
                    s46 = ld(x, x_r30 + nx - 1)
                    s47 = ld(b, b_r31 + nx - 1)
                    s48 = s47 + ld(x, x_r32 + nx - 1)
                    s49 = s48 + ld(x, x_r30 + nx - 2)
                    s50 = fma(w0, ld(x, x_r30 + nx - 1), s49)
                    s51 = fma(s50, omega, s46)
                    st(t0, t0_r29 + nx - 1, s51)
                else:
                    if ((nx == 1) and (j_hi >= (j + 3))) and (j >= 0):
                        s52 = ld(x, x_0 + (j + 1) * x_s0)
                        s53 = ld(b, b_0 + (j + 1) * b_s0)
                        s54 = s53 + ld(x, x_0 + j * x_s0)
                        s55 = fma(w0, ld(x, x_0 + (j + 1) * x_s0), s54)
                        s56 = s55 + ld(x, x_0 + (j + 2) * x_s0)
                        s57 = fma(s56, omega, s52)
                        st(t0, t0_0 + ((j + 1) & 1) * t0_w, s57)
                    if ((j_hi >= 2) and (nx == 1)) and ((j + 2) == j_hi):
                        s58 = ld(x, x_0 + (j + 1) * x_s0)
                        s59 = ld(b, b_0 + (j + 1) * b_s0)
                        s60 = s59 + ld(x, x_0 + j * x_s0)
                        s61 = fma(w0, ld(x, x_0 + (j + 1) * x_s0), s60)
                        s62 = fma(s61, omega, s58)
                        st(t0, t0_0 + ((j + 1) & 1) * t0_w, s62)
                    if ((j_hi >= 2) and (nx >= 2)) and (j == -1):
                        t0_r63 = t0_0 + ((j + 1) & 1) * t0_w
                        x_r64 = x_0 + (j + 1) * x_s0
                        b_r65 = b_0 + (j + 1) * b_s0
                        x_r66 = x_0 + (j + 2) * x_s0
                        s67 = ld(x, x_r64)
                        s68 = ld(b, b_r65)
                        s69 = fma(w0, ld(x, x_r64), s68)
                        s70 = s69 + ld(x, x_r64 + 1)
                        s71 = s70 + ld(x, x_r66)
                        s72 = fma(s71, omega, s67)
                        st(t0, t0_r63, s72)
                        for i in range(1, nx - 1):
                            s73 = ld(x, x_r64 + i)
                            s74 = ld(b, b_r65 + i)
                            s75 = s74 + ld(x, x_r64 + i - 1)
                            s76 = fma(w0, ld(x, x_r64 + i), s75)
                            s77 = s76 + ld(x, x_r64 + i + 1)
                            s78 = s77 + ld(x, x_r66 + i)
                            s79 = fma(s78, omega, s73)
                            st(t0, t0_r63 + i, s79)
                        s80 = ld(x, x_r64 + nx - 1)
                        s81 = ld(b, b_r65 + nx - 1)
                        s82 = s81 + ld(x, x_r64 + nx - 2)
                        s83 = fma(w0, ld(x, x_r64 + nx - 1), s82)
                        s84 = s83 + ld(x, x_r66 + nx - 1)
                        s85 = fma(s84, omega, s80)
                        st(t0, t0_r63 + nx - 1, s85)
                    if ((j_hi == 1) and (nx >= 2)) and (j == -1):
                        t0_r86 = t0_0 + ((j + 1) & 1) * t0_w
                        x_r87 = x_0 + (j + 1) * x_s0
                        b_r88 = b_0 + (j + 1) * b_s0
                        s89 = ld(x, x_r87)
                        s90 = ld(b, b_r88)
                        s91 = fma(w0, ld(x, x_r87), s90)
                        s92 = s91 + ld(x, x_r87 + 1)
                        s93 = fma(s92, omega, s89)
                        st(t0, t0_r86, s93)
                        for i in range(1, nx - 1):
                            s94 = ld(x, x_r87 + i)
                            s95 = ld(b, b_r88 + i)
                            s96 = s95 + ld(x, x_r87 + i - 1)
                            s97 = fma(w0, ld(x, x_r87 + i), s96)
                            s98 = s97 + ld(x, x_r87 + i + 1)
                            s99 = fma(s98, omega, s94)
                            st(t0, t0_r86 + i, s99)
                        s100 = ld(x, x_r87 + nx - 1)
                        s101 = ld(b, b_r88 + nx - 1)
                        s102 = s101 + ld(x, x_r87 + nx - 2)
                        s103 = fma(w0, ld(x, x_r87 + nx - 1), s102)
                        s104 = fma(s103, omega, s100)
                        st(t0, t0_r86 + nx - 1, s104)
                    if ((j_hi >= 2) and (nx == 1)) and (j == -1):
                        s105 = ld(x, x_0 + (j + 1) * x_s0)
                        s106 = ld(b, b_0 + (j + 1) * b_s0)
                        s107 = fma(w0, ld(x, x_0 + (j + 1) * x_s0), s106)
                        s108 = s107 + ld(x, x_0 + (j + 2) * x_s0)
                        s109 = fma(s108, omega, s105)
                        st(t0, t0_0 + ((j + 1) & 1) * t0_w, s109)
                    if ((j_hi == 1) and (nx == 1)) and (j == -1):
                        s110 = ld(x, x_0 + (j + 1) * x_s0)
                        s111 = ld(b, b_0 + (j + 1) * b_s0)
                        s112 = fma(w0, ld(x, x_0 + (j + 1) * x_s0), s111)
                        s113 = fma(s112, omega, s110)
                        st(t0, t0_0 + ((j + 1) & 1) * t0_w, s113)
                if j >= 0:
                    x_r114 = x_0 + j * x_s0
                    t0_r115 = t0_0 + ((j) & 1) * t0_w
                    for i in range(0, nx):
                        st(x, x_r114 + i, ld(t0, t0_r115 + i))
    return 0


SIGNATURE = i8(
    f8[:, :],
    Array(f8, 2, 'A', readonly=True),
    f8[::1],
    f8,
    i8[::1],
    i8[:, ::1],
)
