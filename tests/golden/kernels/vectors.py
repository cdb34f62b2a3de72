"""step, generated for float64."""

import numpy as np

from ssr.runtime.check_layout import refused
from ssr.runtime.intrinsics import apart, component, fma, independent, ld, st
from ssr.runtime.parts import between, rows
from ssr.runtime.polling import poll, stopwatch

real = np.float64
w0 = real(4.0)
w1 = real(0.5)
w2 = real(-0.0)


def kernel(v__u__0, v__u__1, h, t0, t1, t2, dt, layout, table_0):
    if refused((v__u__0, v__u__1, h), layout, 3):
        return 1
    watch = stopwatch()
    for box in range(table_0.shape[0]):  # h[:] = ...
        nx = table_0[box, 0]
        j_lo = table_0[box, 2]
        j_hi = table_0[box, 3]
        i_lo = table_0[box, 4]
        i_hi = table_0[box, 5]
        v__u__0_0 = table_0[box, 6]
        v__u__0_s0 = table_0[box, 7]
        h_0 = table_0[box, 10]
        h_s0 = table_0[box, 11]
        t0_w = i_hi - i_lo + 0
        t0_0 = 0 - i_lo
        t1_w = i_hi - i_lo + 0
        t1_0 = 0 - i_lo
        t2_w = i_hi - i_lo + 0
        t2_0 = 0 - i_lo
        for j in range(j_lo - 2, j_hi):
            poll(watch, i_hi - i_lo)
            if (i_hi >= 2 and j_hi >= j + 4) and j >= 0:
                t0_r1 = t0_0 + (j + 2 & 3) * t0_w
                v__u__0_r2 = v__u__0_0 + (j + 2) * v__u__0_s0
                t1_r3 = t1_0 + (j + 2 & 1) * t1_w
                v__u__0_r4 = v__u__0_0 + (j + 1) * v__u__0_s0
                v__u__0_r5 = v__u__0_0 + (j + 3) * v__u__0_s0
                h_r6 = h_0 + (j + 2) * h_s0
                t1_r7 = t1_0 + (j + 1 & 1) * t1_w
                t2_r8 = t2_0 + (j + 1 & 1) * t2_w
                v__u__1_r9 = v__u__0_0 + j * v__u__0_s0
                h_r10 = h_0 + (j + 1) * h_s0
                t2_r11 = t2_0 + (j & 1) * t2_w
                h_r12 = h_0 + j * h_s0
                t0_r13 = t0_0 + (j & 3) * t0_w
                s14 = ld(v__u__0, v__u__0_r2) * ld(v__u__0, v__u__0_r2)
                s15 = fma(ld(v__u__1, v__u__0_r2), ld(v__u__1, v__u__0_r2), s14)
                st(t0, t0_r1, np.sqrt(s15))
                s16 = ld(v__u__0, v__u__0_r2)
                s17 = -ld(v__u__0, v__u__0_r4)
                s18 = fma(w0, ld(v__u__0, v__u__0_r2), s17)
                s19 = s18 - ld(v__u__0, v__u__0_r2 + 1)
                s20 = s19 - ld(v__u__0, v__u__0_r5)
                s21 = s16 - dt * s20 / (ld(h, h_r6) if ld(h, h_r6) > w1 else w1)
                st(t1, t1_r3, s21)
                st(v__u__0, v__u__0_r4, ld(t1, t1_r7))
                s22 = ld(v__u__1, v__u__0_r4)
                s23 = -ld(v__u__1, v__u__1_r9)
                s24 = fma(w0, ld(v__u__1, v__u__0_r4), s23)
                s25 = s24 - ld(v__u__1, v__u__0_r4 + 1)
                s26 = s25 - ld(v__u__1, v__u__0_r2)
                s27 = s22 - dt * s26 / (ld(h, h_r10) if ld(h, h_r10) > w1 else w1)
                st(t2, t2_r8, s27)
                st(v__u__1, v__u__1_r9, ld(t2, t2_r11))
                s28 = ld(h, h_r12)
                s29 = -ld(h, h_r12)
                s30 = fma(dt * ld(t0, t0_r13), np.exp(s29), s28)
                st(h, h_r12, s30)
                for i in independent(1, nx - 1):
                    s31 = ld(v__u__0, v__u__0_r2 + i) * ld(v__u__0, v__u__0_r2 + i)
                    s32 = fma(ld(v__u__1, v__u__0_r2 + i), ld(v__u__1, v__u__0_r2 + i), s31)
                    st(t0, t0_r1 + i, np.sqrt(s32))
                    s33 = ld(v__u__0, v__u__0_r2 + i)
                    s34 = -ld(v__u__0, v__u__0_r4 + i)
                    s35 = s34 - ld(v__u__0, v__u__0_r2 + i - 1)
                    s36 = fma(w0, ld(v__u__0, v__u__0_r2 + i), s35)
                    s37 = s36 - ld(v__u__0, v__u__0_r2 + i + 1)
                    s38 = s37 - ld(v__u__0, v__u__0_r5 + i)
                    s39 = s33 - dt * s38 / (ld(h, h_r6 + i) if ld(h, h_r6 + i) > w1 else w1)
                    st(t1, t1_r3 + i, s39)
                    st(v__u__0, v__u__0_r4 + i, ld(t1, t1_r7 + i))
                    s40 = ld(v__u__1, v__u__0_r4 + i)
                    s41 = -ld(v__u__1, v__u__1_r9 + i)
                    s42 = s41 - ld(v__u__1, v__u__0_r4 + i - 1)
                    s43 = fma(w0, ld(v__u__1, v__u__0_r4 + i), s42)
                    s44 = s43 - ld(v__u__1, v__u__0_r4 + i + 1)
                    s45 = s44 - ld(v__u__1, v__u__0_r2 + i)
                    s46 = s40 - dt * s45 / (ld(h, h_r10 + i) if ld(h, h_r10 + i) > w1 else w1)
                    st(t2, t2_r8 + i, s46)
                    st(v__u__1, v__u__1_r9 + i, ld(t2, t2_r11 + i))
                    s47 = ld(h, h_r12 + i)
                    s48 = -ld(h, h_r12 + i)
                    s49 = fma(dt * ld(t0, t0_r13 + i), np.exp(s48), s47)
                    st(h, h_r12 + i, s49)
                s50 = ld(v__u__0, v__u__0_r2 + nx - 1) * ld(v__u__0, v__u__0_r2 + nx - 1)
                s51 = fma(ld(v__u__1, v__u__0_r2 + nx - 1), ld(v__u__1, v__u__0_r2 + nx - 1), s50)
                st(t0, t0_r1 + nx - 1, np.sqrt(s51))
                s52 = ld(v__u__0, v__u__0_r2 + nx - 1)
                s53 = -ld(v__u__0, v__u__0_r4 + nx - 1)
                s54 = s53 - ld(v__u__0, v__u__0_r2 + nx - 2)
                s55 = fma(w0, ld(v__u__0, v__u__0_r2 + nx - 1), s54)
                s56 = s55 - ld(v__u__0, v__u__0_r5 + nx - 1)
                s57 = s52 - dt * s56 / (ld(h, h_r6 + nx - 1) if ld(h, h_r6 + nx - 1) > w1 else w1)
                st(t1, t1_r3 + nx - 1, s57)
                st(v__u__0, v__u__0_r4 + nx - 1, ld(t1, t1_r7 + nx - 1))
                s58 = ld(v__u__1, v__u__0_r4 + nx - 1)
                s59 = -ld(v__u__1, v__u__1_r9 + nx - 1)
                s60 = s59 - ld(v__u__1, v__u__0_r4 + nx - 2)
                s61 = fma(w0, ld(v__u__1, v__u__0_r4 + nx - 1), s60)
                s62 = s61 - ld(v__u__1, v__u__0_r2 + nx - 1)
                s63 = s58 - dt * s62 / (ld(h, h_r10 + nx - 1) if ld(h, h_r10 + nx - 1) > w1 else w1)
                st(t2, t2_r8 + nx - 1, s63)
                st(v__u__1, v__u__1_r9 + nx - 1, ld(t2, t2_r11 + nx - 1))
                s64 = ld(h, h_r12 + nx - 1)
                s65 = -ld(h, h_r12 + nx - 1)
                s66 = fma(dt * ld(t0, t0_r13 + nx - 1), np.exp(s65), s64)
                st(h, h_r12 + nx - 1, s66)
            else:
                if j_hi >= j + 3:
                    line67 = j + 1 if j + 1 >= 0 else j
                    line68 = j + 3 if -j + j_hi - 4 >= 0 else j
                    test69 = j + 1 >= 0
                    test70 = -j + j_hi - 4 >= 0
                    t0_r71 = t0_0 + (j + 2 & 3) * t0_w
                    v__u__0_r72 = v__u__0_0 + (j + 2) * v__u__0_s0
                    t1_r73 = t1_0 + (j + 2 & 1) * t1_w
                    v__u__0_r74 = v__u__0_0 + line67 * v__u__0_s0
                    v__u__0_r75 = v__u__0_0 + line68 * v__u__0_s0
                    h_r76 = h_0 + (j + 2) * h_s0
                    for i in range(nx):
                        s77 = ld(v__u__0, v__u__0_r72 + i) * ld(v__u__0, v__u__0_r72 + i)
                        s78 = fma(ld(v__u__1, v__u__0_r72 + i), ld(v__u__1, v__u__0_r72 + i), s77)
                        st(t0, t0_r71 + i, np.sqrt(s78))
                        s79 = ld(v__u__0, v__u__0_r72 + i)
                        s80 = w2 - ld(v__u__0, v__u__0_r74 + i) if test69 else w2
                        s81 = s80 - ld(v__u__0, v__u__0_r72 + i - 1) if i >= 1 else s80
                        s82 = fma(w0, ld(v__u__0, v__u__0_r72 + i), s81)
                        s83 = s82 - ld(v__u__0, v__u__0_r72 + i + 1) if i <= i_hi - 2 else s82
                        s84 = s83 - ld(v__u__0, v__u__0_r75 + i) if test70 else s83
                        s85 = s79 - dt * s84 / (ld(h, h_r76 + i) if ld(h, h_r76 + i) > w1 else w1)
                        st(t1, t1_r73 + i, s85)
                if j_hi >= j + 2 and j >= -1:
                    line86 = j + 2 if -j + j_hi - 3 >= 0 else j
                    test87 = j >= 0
                    test88 = -j + j_hi - 3 >= 0
                    v__u__0_r89 = v__u__0_0 + (j + 1) * v__u__0_s0
                    t1_r90 = t1_0 + (j + 1 & 1) * t1_w
                    t2_r91 = t2_0 + (j + 1 & 1) * t2_w
                    v__u__1_r92 = v__u__0_0 + j * v__u__0_s0
                    v__u__1_r93 = v__u__0_0 + line86 * v__u__0_s0
                    h_r94 = h_0 + (j + 1) * h_s0
                    for i in range(nx):
                        st(v__u__0, v__u__0_r89 + i, ld(t1, t1_r90 + i))
                        s95 = ld(v__u__1, v__u__0_r89 + i)
                        s96 = w2 - ld(v__u__1, v__u__1_r92 + i) if test87 else w2
                        s97 = s96 - ld(v__u__1, v__u__0_r89 + i - 1) if i >= 1 else s96
                        s98 = fma(w0, ld(v__u__1, v__u__0_r89 + i), s97)
                        s99 = s98 - ld(v__u__1, v__u__0_r89 + i + 1) if i <= i_hi - 2 else s98
                        s100 = s99 - ld(v__u__1, v__u__1_r93 + i) if test88 else s99
                        s101 = s95 - dt * s100 / (ld(h, h_r94 + i) if ld(h, h_r94 + i) > w1 else w1)
                        st(t2, t2_r91 + i, s101)
                if j >= 0:
                    v__u__1_r102 = v__u__0_0 + j * v__u__0_s0
                    t2_r103 = t2_0 + (j & 1) * t2_w
                    h_r104 = h_0 + j * h_s0
                    t0_r105 = t0_0 + (j & 3) * t0_w
                    for i in range(nx):
                        st(v__u__1, v__u__1_r102 + i, ld(t2, t2_r103 + i))
                        s106 = ld(h, h_r104 + i)
                        s107 = -ld(h, h_r104 + i)
                        s108 = fma(dt * ld(t0, t0_r105 + i), np.exp(s107), s106)
                        st(h, h_r104 + i, s108)
    return 0


def call(v__u, h, memory, dt, layout, tables):
    if not apart(v__u, 2):
        return 1
    return kernel(component(v__u, 0), component(v__u, 1), h, between(memory, tables[0], tables[1]), between(memory, tables[3], tables[4]), between(memory, tables[6], tables[7]), dt, layout, rows(tables, tables[9], tables[10], tables[11]))


# The arguments of call:
#     v__u: f8[:, :, :] written
#     h: f8[:, :] written
#     memory: f8[:] contiguous written
#     dt: f8
#     layout: i8[:] contiguous written
#     tables: i8[:] contiguous
