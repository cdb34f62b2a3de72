"""jacobi, generated for float64."""

import numpy as np
from numba.types import Array, f4, f8, i8

from ssr.runtime.intrinsics import address, fits, fma, interleaved, ld, maximum, meet, minimum, prefetch, sign, st, uneven
from ssr.runtime.lanes import accumulate, extreme, found, total
from ssr.runtime.polling import poll, stopwatch

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
            if ((nx >= 2) and (j_hi >= (j + 3))) and (j >= 0):
                t0_r1 = t0_0 + ((j + 1) & 1) * t0_w
                x_r2 = x_0 + (j + 1) * x_s0
                b_r3 = b_0 + (j + 1) * b_s0
                x_r4 = x_0 + j * x_s0
                x_r5 = x_0 + (j + 2) * x_s0
                s6 = ld(x, x_r2)
                s7 = ld(b, b_r3)
                s8 = s7 + ld(x, x_r4)
                s9 = fma(w0, ld(x, x_r2), s8)
                s10 = s9 + ld(x, x_r2 + 1)
                s11 = s10 + ld(x, x_r5)
                s12 = fma(s11, omega, s6)
                st(t0, t0_r1, s12)
                for i in range(1, nx - 1):
                    s13 = ld(x, x_r2 + i)
                    s14 = ld(b, b_r3 + i)
                    s15 = s14 + ld(x, x_r4 + i)
                    s16 = s15 + ld(x, x_r2 + i - 1)
                    s17 = fma(w0, ld(x, x_r2 + i), s16)
                    s18 = s17 + ld(x, x_r2 + i + 1)
                    s19 = s18 + ld(x, x_r5 + i)
                    s20 = fma(s19, omega, s13)
                    st(t0, t0_r1 + i, s20)
                s21 = ld(x, x_r2 + nx - 1)
                s22 = ld(b, b_r3 + nx - 1)
                s23 = s22 + ld(x, x_r4 + nx - 1)
                s24 = s23 + ld(x, x_r2 + nx - 2)
                s25 = fma(w0, ld(x, x_r2 + nx - 1), s24)
                s26 = s25 + ld(x, x_r5 + nx - 1)
                s27 = fma(s26, omega, s21)
                st(t0, t0_r1 + nx - 1, s27)
            else:
                if ((j_hi >= 2) and (nx >= 2)) and ((j + 2) == j_hi):
                    t0_r28 = t0_0 + ((j + 1) & 1) * t0_w
                    x_r29 = x_0 + (j + 1) * x_s0
                    b_r30 = b_0 + (j + 1) * b_s0
                    x_r31 = x_0 + j * x_s0
                    s32 = ld(x, x_r29)
                    s33 = ld(b, b_r30)
                    s34 = s33 + ld(x, x_r31)
                    s35 = fma(w0, ld(x, x_r29), s34)
                    s36 = s35 + ld(x, x_r29 + 1)
                    s37 = fma(s36, omega, s32)
                    st(t0, t0_r28, s37)
                    for i in range(1, nx - 1):
                        s38 = ld(x, x_r29 + i)
                        s39 = ld(b, b_r30 + i)
                        s40 = s39 + ld(x, x_r31 + i)
                        s41 = s40 + ld(x, x_r29 + i - 1)
                        s42 = fma(w0, ld(x, x_r29 + i), s41)
                        s43 = s42 + ld(x, x_r29 + i + 1)
                        s44 = fma(s43, omega, s38)
                        st(t0, t0_r28 + i, s44)
                    s45 = ld(x, x_r29 + nx - 1)
                    s46 = ld(b, b_r30 + nx - 1)
                    s47 = s46 + ld(x, x_r31 + nx - 1)
                    s48 = s47 + ld(x, x_r29 + nx - 2)
                    s49 = fma(w0, ld(x, x_r29 + nx - 1), s48)
                    s50 = fma(s49, omega, s45)
                    st(t0, t0_r28 + nx - 1, s50)
                if ((nx == 1) and (j_hi >= (j + 3))) and (j >= 0):
                    s51 = ld(x, x_0 + (j + 1) * x_s0)
                    s52 = ld(b, b_0 + (j + 1) * b_s0)
                    s53 = s52 + ld(x, x_0 + j * x_s0)
                    s54 = fma(w0, ld(x, x_0 + (j + 1) * x_s0), s53)
                    s55 = s54 + ld(x, x_0 + (j + 2) * x_s0)
                    s56 = fma(s55, omega, s51)
                    st(t0, t0_0 + ((j + 1) & 1) * t0_w, s56)
                if ((j_hi >= 2) and (nx == 1)) and ((j + 2) == j_hi):
                    s57 = ld(x, x_0 + (j + 1) * x_s0)
                    s58 = ld(b, b_0 + (j + 1) * b_s0)
                    s59 = s58 + ld(x, x_0 + j * x_s0)
                    s60 = fma(w0, ld(x, x_0 + (j + 1) * x_s0), s59)
                    s61 = fma(s60, omega, s57)
                    st(t0, t0_0 + ((j + 1) & 1) * t0_w, s61)
                if ((j_hi >= 2) and (nx >= 2)) and (j == -1):
                    t0_r62 = t0_0 + ((j + 1) & 1) * t0_w
                    x_r63 = x_0 + (j + 1) * x_s0
                    b_r64 = b_0 + (j + 1) * b_s0
                    x_r65 = x_0 + (j + 2) * x_s0
                    s66 = ld(x, x_r63)
                    s67 = ld(b, b_r64)
                    s68 = fma(w0, ld(x, x_r63), s67)
                    s69 = s68 + ld(x, x_r63 + 1)
                    s70 = s69 + ld(x, x_r65)
                    s71 = fma(s70, omega, s66)
                    st(t0, t0_r62, s71)
                    for i in range(1, nx - 1):
                        s72 = ld(x, x_r63 + i)
                        s73 = ld(b, b_r64 + i)
                        s74 = s73 + ld(x, x_r63 + i - 1)
                        s75 = fma(w0, ld(x, x_r63 + i), s74)
                        s76 = s75 + ld(x, x_r63 + i + 1)
                        s77 = s76 + ld(x, x_r65 + i)
                        s78 = fma(s77, omega, s72)
                        st(t0, t0_r62 + i, s78)
                    s79 = ld(x, x_r63 + nx - 1)
                    s80 = ld(b, b_r64 + nx - 1)
                    s81 = s80 + ld(x, x_r63 + nx - 2)
                    s82 = fma(w0, ld(x, x_r63 + nx - 1), s81)
                    s83 = s82 + ld(x, x_r65 + nx - 1)
                    s84 = fma(s83, omega, s79)
                    st(t0, t0_r62 + nx - 1, s84)
                if ((j_hi == 1) and (nx >= 2)) and (j == -1):
                    t0_r85 = t0_0 + ((j + 1) & 1) * t0_w
                    x_r86 = x_0 + (j + 1) * x_s0
                    b_r87 = b_0 + (j + 1) * b_s0
                    s88 = ld(x, x_r86)
                    s89 = ld(b, b_r87)
                    s90 = fma(w0, ld(x, x_r86), s89)
                    s91 = s90 + ld(x, x_r86 + 1)
                    s92 = fma(s91, omega, s88)
                    st(t0, t0_r85, s92)
                    for i in range(1, nx - 1):
                        s93 = ld(x, x_r86 + i)
                        s94 = ld(b, b_r87 + i)
                        s95 = s94 + ld(x, x_r86 + i - 1)
                        s96 = fma(w0, ld(x, x_r86 + i), s95)
                        s97 = s96 + ld(x, x_r86 + i + 1)
                        s98 = fma(s97, omega, s93)
                        st(t0, t0_r85 + i, s98)
                    s99 = ld(x, x_r86 + nx - 1)
                    s100 = ld(b, b_r87 + nx - 1)
                    s101 = s100 + ld(x, x_r86 + nx - 2)
                    s102 = fma(w0, ld(x, x_r86 + nx - 1), s101)
                    s103 = fma(s102, omega, s99)
                    st(t0, t0_r85 + nx - 1, s103)
                if ((j_hi >= 2) and (nx == 1)) and (j == -1):
                    s104 = ld(x, x_0 + (j + 1) * x_s0)
                    s105 = ld(b, b_0 + (j + 1) * b_s0)
                    s106 = fma(w0, ld(x, x_0 + (j + 1) * x_s0), s105)
                    s107 = s106 + ld(x, x_0 + (j + 2) * x_s0)
                    s108 = fma(s107, omega, s104)
                    st(t0, t0_0 + ((j + 1) & 1) * t0_w, s108)
                if ((j_hi == 1) and (nx == 1)) and (j == -1):
                    s109 = ld(x, x_0 + (j + 1) * x_s0)
                    s110 = ld(b, b_0 + (j + 1) * b_s0)
                    s111 = fma(w0, ld(x, x_0 + (j + 1) * x_s0), s110)
                    s112 = fma(s111, omega, s109)
                    st(t0, t0_0 + ((j + 1) & 1) * t0_w, s112)
            if j >= 0:
                x_r113 = x_0 + j * x_s0
                t0_r114 = t0_0 + ((j) & 1) * t0_w
                for i in range(0, nx):
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
