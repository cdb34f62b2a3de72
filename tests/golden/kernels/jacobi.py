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
            if j_hi >= (j + 2):
                if ((nx >= 2) and (ny >= (j + 3))) and (j >= 0):
                    x_r1 = x_0 + (j + 1) * x_s0
                    s2 = ld(x, x_r1)
                    s3 = ld(b, b_0 + (j + 1) * b_s0)
                    s4 = s3 + ld(x, x_0 + j * x_s0)
                    s5 = fma(w0, ld(x, x_r1), s4)
                    s6 = s5 + ld(x, x_r1 + 1)
                    s7 = s6 + ld(x, x_0 + (j + 2) * x_s0)
                    s8 = fma(s7, omega, s2)
                    st(t0, t0_0 + ((j + 1) & 1) * t0_w, s8)
                if (ny >= (j + 3)) and (j >= 0):
                    t0_r9 = t0_0 + ((j + 1) & 1) * t0_w
                    x_r10 = x_0 + (j + 1) * x_s0
                    b_r11 = b_0 + (j + 1) * b_s0
                    x_r12 = x_0 + j * x_s0
                    x_r13 = x_0 + (j + 2) * x_s0
                    for i in range(1, nx - 1):
                        s14 = ld(x, x_r10 + i)
                        s15 = ld(b, b_r11 + i)
                        s16 = s15 + ld(x, x_r12 + i)
                        s17 = s16 + ld(x, x_r10 + i - 1)
                        s18 = fma(w0, ld(x, x_r10 + i), s17)
                        s19 = s18 + ld(x, x_r10 + i + 1)
                        s20 = s19 + ld(x, x_r13 + i)
                        s21 = fma(s20, omega, s14)
                        st(t0, t0_r9 + i, s21)
                    if nx >= 2:
                        s22 = ld(x, x_r10 + nx - 1)
                        s23 = ld(b, b_r11 + nx - 1)
                        s24 = s23 + ld(x, x_r12 + nx - 1)
                        s25 = s24 + ld(x, x_r10 + nx - 2)
                        s26 = fma(w0, ld(x, x_r10 + nx - 1), s25)
                        s27 = s26 + ld(x, x_r13 + nx - 1)
                        s28 = fma(s27, omega, s22)
                        st(t0, t0_r9 + nx - 1, s28)
                    else:
                        if nx == 1:
                            s29 = ld(x, x_r10)
                            s30 = ld(b, b_r11)
                            s31 = s30 + ld(x, x_r12)
                            s32 = fma(w0, ld(x, x_r10), s31)
                            s33 = s32 + ld(x, x_r13)
                            s34 = fma(s33, omega, s29)
                            st(t0, t0_r9, s34)
                else:
                    if ((nx >= 2) and (ny >= 2)) and (j == -1):
                        x_r35 = x_0 + (j + 1) * x_s0
                        s36 = ld(x, x_r35)
                        s37 = ld(b, b_0 + (j + 1) * b_s0)
                        s38 = fma(w0, ld(x, x_r35), s37)
                        s39 = s38 + ld(x, x_r35 + 1)
                        s40 = s39 + ld(x, x_0 + (j + 2) * x_s0)
                        s41 = fma(s40, omega, s36)
                        st(t0, t0_0 + ((j + 1) & 1) * t0_w, s41)
                    else:
                        if ((nx >= 2) and (ny >= 2)) and ((j + 2) == ny):
                            x_r42 = x_0 + (j + 1) * x_s0
                            s43 = ld(x, x_r42)
                            s44 = ld(b, b_0 + (j + 1) * b_s0)
                            s45 = s44 + ld(x, x_0 + j * x_s0)
                            s46 = fma(w0, ld(x, x_r42), s45)
                            s47 = s46 + ld(x, x_r42 + 1)
                            s48 = fma(s47, omega, s43)
                            st(t0, t0_0 + ((j + 1) & 1) * t0_w, s48)
                        if (ny >= 2) and ((j + 2) == ny):
                            t0_r49 = t0_0 + ((j + 1) & 1) * t0_w
                            x_r50 = x_0 + (j + 1) * x_s0
                            b_r51 = b_0 + (j + 1) * b_s0
                            x_r52 = x_0 + j * x_s0
                            for i in range(1, nx - 1):
                                s53 = ld(x, x_r50 + i)
                                s54 = ld(b, b_r51 + i)
                                s55 = s54 + ld(x, x_r52 + i)
                                s56 = s55 + ld(x, x_r50 + i - 1)
                                s57 = fma(w0, ld(x, x_r50 + i), s56)
                                s58 = s57 + ld(x, x_r50 + i + 1)
                                s59 = fma(s58, omega, s53)
                                st(t0, t0_r49 + i, s59)
                            if nx >= 2:
                                s60 = ld(x, x_r50 + nx - 1)
                                s61 = ld(b, b_r51 + nx - 1)
                                s62 = s61 + ld(x, x_r52 + nx - 1)
                                s63 = s62 + ld(x, x_r50 + nx - 2)
                                s64 = fma(w0, ld(x, x_r50 + nx - 1), s63)
                                s65 = fma(s64, omega, s60)
                                st(t0, t0_r49 + nx - 1, s65)
                        else:
                            if (nx >= 2) and (ny == 1):
                                x_r66 = x_0 + (j + 1) * x_s0
                                s67 = ld(x, x_r66)
                                s68 = ld(b, b_0 + (j + 1) * b_s0)
                                s69 = fma(w0, ld(x, x_r66), s68)
                                s70 = s69 + ld(x, x_r66 + 1)
                                s71 = fma(s70, omega, s67)
                                st(t0, t0_0 + ((j + 1) & 1) * t0_w, s71)
                            if ny == 1:
                                t0_r72 = t0_0 + ((j + 1) & 1) * t0_w
                                x_r73 = x_0 + (j + 1) * x_s0
                                b_r74 = b_0 + (j + 1) * b_s0
                                for i in range(1, nx - 1):
                                    s75 = ld(x, x_r73 + i)
                                    s76 = ld(b, b_r74 + i)
                                    s77 = s76 + ld(x, x_r73 + i - 1)
                                    s78 = fma(w0, ld(x, x_r73 + i), s77)
                                    s79 = s78 + ld(x, x_r73 + i + 1)
                                    s80 = fma(s79, omega, s75)
                                    st(t0, t0_r72 + i, s80)
                                if nx >= 2:
                                    s81 = ld(x, x_r73 + nx - 1)
                                    s82 = ld(b, b_r74 + nx - 1)
                                    s83 = s82 + ld(x, x_r73 + nx - 2)
                                    s84 = fma(w0, ld(x, x_r73 + nx - 1), s83)
                                    s85 = fma(s84, omega, s81)
                                    st(t0, t0_r72 + nx - 1, s85)
                            else:
                                s86 = ld(x, x_0 + (j + 1) * x_s0)
                                s87 = ld(b, b_0 + (j + 1) * b_s0)
                                s88 = fma(w0, ld(x, x_0 + (j + 1) * x_s0), s87)
                                s89 = s88 + ld(x, x_0 + (j + 2) * x_s0)
                                s90 = fma(s89, omega, s86)
                                st(t0, t0_0 + ((j + 1) & 1) * t0_w, s90)
                    if (ny >= 2) and (j == -1):
                        t0_r91 = t0_0 + ((j + 1) & 1) * t0_w
                        x_r92 = x_0 + (j + 1) * x_s0
                        b_r93 = b_0 + (j + 1) * b_s0
                        x_r94 = x_0 + (j + 2) * x_s0
                        for i in range(1, nx - 1):
                            s95 = ld(x, x_r92 + i)
                            s96 = ld(b, b_r93 + i)
                            s97 = s96 + ld(x, x_r92 + i - 1)
                            s98 = fma(w0, ld(x, x_r92 + i), s97)
                            s99 = s98 + ld(x, x_r92 + i + 1)
                            s100 = s99 + ld(x, x_r94 + i)
                            s101 = fma(s100, omega, s95)
                            st(t0, t0_r91 + i, s101)
                        if nx >= 2:
                            s102 = ld(x, x_r92 + nx - 1)
                            s103 = ld(b, b_r93 + nx - 1)
                            s104 = s103 + ld(x, x_r92 + nx - 2)
                            s105 = fma(w0, ld(x, x_r92 + nx - 1), s104)
                            s106 = s105 + ld(x, x_r94 + nx - 1)
                            s107 = fma(s106, omega, s102)
                            st(t0, t0_r91 + nx - 1, s107)
                    else:
                        if (nx == 1) and (ny >= 2):
                            s108 = ld(x, x_0 + (j + 1) * x_s0)
                            s109 = ld(b, b_0 + (j + 1) * b_s0)
                            s110 = s109 + ld(x, x_0 + j * x_s0)
                            s111 = fma(w0, ld(x, x_0 + (j + 1) * x_s0), s110)
                            s112 = fma(s111, omega, s108)
                            st(t0, t0_0 + ((j + 1) & 1) * t0_w, s112)
                        else:
                            if (nx == 1) and (ny == 1):
                                s113 = ld(x, x_0 + (j + 1) * x_s0)
                                s114 = ld(b, b_0 + (j + 1) * b_s0)
                                s115 = fma(w0, ld(x, x_0 + (j + 1) * x_s0), s114)
                                s116 = fma(s115, omega, s113)
                                st(t0, t0_0 + ((j + 1) & 1) * t0_w, s116)
            if j >= 0:
                x_r117 = x_0 + j * x_s0
                t0_r118 = t0_0 + ((j) & 1) * t0_w
                for i in range(0, i_hi):
                    st(x, x_r117 + i, ld(t0, t0_r118 + i))
    return 0


SIGNATURE = i8(
    f8[:, :],
    Array(f8, 2, 'A', readonly=True),
    f8[::1],
    f8,
    i8[::1],
    i8[:, ::1],
)
