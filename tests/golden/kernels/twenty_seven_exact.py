"""gauss_seidel, generated for float64."""

import numpy as np

from ssr.runtime.check_layout import refused
from ssr.runtime.intrinsics import ld, st
from ssr.runtime.polling import poll, stopwatch

real = np.float64
w0 = real(26.0)


def kernel(x, b, t0, layout, table_0):
    if refused((x, b), layout, 1):
        return 1
    watch = stopwatch()
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
        t0_0 = 0 - i_lo
        for k in range(k_lo, k_hi):
            line1 = k + 1 if -k + nz - 2 >= 0 else k
            line2 = k - 1 if k - 1 >= 0 else k
            test3 = -k + nz - 2 >= 0
            test4 = k - 1 >= 0
            for j in range(j_lo, j_hi):
                poll(watch, i_hi - i_lo)
                x_r5 = x_0 + k * x_s0 + j * x_s1
                if ((((i_hi >= 2 and nx >= i_lo + 2) and nz >= k + 2) and k >= 1) and ny >= j + 2) and j >= 1:
                    b_r6 = b_0 + k * b_s0 + j * b_s1
                    x_r7 = x_0 + k * x_s0 + (j + 1) * x_s1
                    x_r8 = x_0 + (k + 1) * x_s0 + (j - 1) * x_s1
                    x_r9 = x_0 + (k + 1) * x_s0 + j * x_s1
                    x_r10 = x_0 + (k + 1) * x_s0 + (j + 1) * x_s1
                    x_r11 = x_0 + (k - 1) * x_s0 + (j - 1) * x_s1
                    x_r12 = x_0 + (k - 1) * x_s0 + j * x_s1
                    x_r13 = x_0 + (k - 1) * x_s0 + (j + 1) * x_s1
                    x_r14 = x_0 + k * x_s0 + (j - 1) * x_s1
                    if i_lo == 0:
                        s15 = ld(b, b_r6)
                        s16 = s15 + ld(x, x_r5 + 1)
                        s17 = s16 + ld(x, x_r7)
                        s18 = s17 + ld(x, x_r7 + 1)
                        s19 = s18 + ld(x, x_r8)
                        s20 = s19 + ld(x, x_r8 + 1)
                        s21 = s20 + ld(x, x_r9)
                        s22 = s21 + ld(x, x_r9 + 1)
                        s23 = s22 + ld(x, x_r10)
                        s24 = s23 + ld(x, x_r10 + 1)
                        s25 = s24 + ld(x, x_r11)
                        s26 = s25 + ld(x, x_r11 + 1)
                        s27 = s26 + ld(x, x_r12)
                        s28 = s27 + ld(x, x_r12 + 1)
                        s29 = s28 + ld(x, x_r13)
                        s30 = s29 + ld(x, x_r13 + 1)
                        s31 = s30 + ld(x, x_r14)
                        s32 = s31 + ld(x, x_r14 + 1)
                        st(t0, t0_0, s32)
                    for i in range(max(1, i_lo), min(nx - 1, i_hi)):
                        s33 = ld(b, b_r6 + i)
                        s34 = s33 + ld(x, x_r5 + i + 1)
                        s35 = s34 + ld(x, x_r7 + i - 1)
                        s36 = s35 + ld(x, x_r7 + i)
                        s37 = s36 + ld(x, x_r7 + i + 1)
                        s38 = s37 + ld(x, x_r8 + i - 1)
                        s39 = s38 + ld(x, x_r8 + i)
                        s40 = s39 + ld(x, x_r8 + i + 1)
                        s41 = s40 + ld(x, x_r9 + i - 1)
                        s42 = s41 + ld(x, x_r9 + i)
                        s43 = s42 + ld(x, x_r9 + i + 1)
                        s44 = s43 + ld(x, x_r10 + i - 1)
                        s45 = s44 + ld(x, x_r10 + i)
                        s46 = s45 + ld(x, x_r10 + i + 1)
                        s47 = s46 + ld(x, x_r11 + i - 1)
                        s48 = s47 + ld(x, x_r11 + i)
                        s49 = s48 + ld(x, x_r11 + i + 1)
                        s50 = s49 + ld(x, x_r12 + i - 1)
                        s51 = s50 + ld(x, x_r12 + i)
                        s52 = s51 + ld(x, x_r12 + i + 1)
                        s53 = s52 + ld(x, x_r13 + i - 1)
                        s54 = s53 + ld(x, x_r13 + i)
                        s55 = s54 + ld(x, x_r13 + i + 1)
                        s56 = s55 + ld(x, x_r14 + i - 1)
                        s57 = s56 + ld(x, x_r14 + i)
                        s58 = s57 + ld(x, x_r14 + i + 1)
                        st(t0, t0_0 + i, s58)
                    if i_hi == nx:
                        s59 = ld(b, b_r6 + nx - 1)
                        s60 = s59 + ld(x, x_r7 + nx - 2)
                        s61 = s60 + ld(x, x_r7 + nx - 1)
                        s62 = s61 + ld(x, x_r8 + nx - 2)
                        s63 = s62 + ld(x, x_r8 + nx - 1)
                        s64 = s63 + ld(x, x_r9 + nx - 2)
                        s65 = s64 + ld(x, x_r9 + nx - 1)
                        s66 = s65 + ld(x, x_r10 + nx - 2)
                        s67 = s66 + ld(x, x_r10 + nx - 1)
                        s68 = s67 + ld(x, x_r11 + nx - 2)
                        s69 = s68 + ld(x, x_r11 + nx - 1)
                        s70 = s69 + ld(x, x_r12 + nx - 2)
                        s71 = s70 + ld(x, x_r12 + nx - 1)
                        s72 = s71 + ld(x, x_r13 + nx - 2)
                        s73 = s72 + ld(x, x_r13 + nx - 1)
                        s74 = s73 + ld(x, x_r14 + nx - 2)
                        s75 = s74 + ld(x, x_r14 + nx - 1)
                        st(t0, t0_0 + nx - 1, s75)
                else:
                    line76 = j + 1 if -j + ny - 2 >= 0 else j
                    line77 = j - 1 if j - 1 >= 0 else j
                    test78 = -j + ny - 2 >= 0
                    test79 = j - 1 >= 0
                    b_r80 = b_0 + k * b_s0 + j * b_s1
                    x_r81 = x_0 + k * x_s0 + line76 * x_s1
                    x_r82 = x_0 + line1 * x_s0 + line77 * x_s1
                    x_r83 = x_0 + line1 * x_s0 + j * x_s1
                    x_r84 = x_0 + line1 * x_s0 + line76 * x_s1
                    x_r85 = x_0 + line2 * x_s0 + line77 * x_s1
                    x_r86 = x_0 + line2 * x_s0 + j * x_s1
                    x_r87 = x_0 + line2 * x_s0 + line76 * x_s1
                    x_r88 = x_0 + k * x_s0 + line77 * x_s1
                    for i in range(i_lo, i_hi):
                        s89 = ld(b, b_r80 + i)
                        s90 = s89 + ld(x, x_r5 + i + 1) if i <= nx - 2 else s89
                        s91 = s90 + ld(x, x_r81 + i - 1) if (i >= 1) & test78 else s90
                        s92 = s91 + ld(x, x_r81 + i) if test78 else s91
                        s93 = s92 + ld(x, x_r81 + i + 1) if (i <= nx - 2) & test78 else s92
                        s94 = s93 + ld(x, x_r82 + i - 1) if (i >= 1) & test3 & test79 else s93
                        s95 = s94 + ld(x, x_r82 + i) if test79 & test3 else s94
                        s96 = s95 + ld(x, x_r82 + i + 1) if (i <= nx - 2) & test3 & test79 else s95
                        s97 = s96 + ld(x, x_r83 + i - 1) if (i >= 1) & test3 else s96
                        s98 = s97 + ld(x, x_r83 + i) if test3 else s97
                        s99 = s98 + ld(x, x_r83 + i + 1) if (i <= nx - 2) & test3 else s98
                        s100 = s99 + ld(x, x_r84 + i - 1) if test78 & test3 & (i >= 1) else s99
                        s101 = s100 + ld(x, x_r84 + i) if test78 & test3 else s100
                        s102 = s101 + ld(x, x_r84 + i + 1) if test78 & test3 & (i <= nx - 2) else s101
                        s103 = s102 + ld(x, x_r85 + i - 1) if test4 & (i >= 1) & test79 else s102
                        s104 = s103 + ld(x, x_r85 + i) if test4 & test79 else s103
                        s105 = s104 + ld(x, x_r85 + i + 1) if test4 & (i <= nx - 2) & test79 else s104
                        s106 = s105 + ld(x, x_r86 + i - 1) if test4 & (i >= 1) else s105
                        s107 = s106 + ld(x, x_r86 + i) if test4 else s106
                        s108 = s107 + ld(x, x_r86 + i + 1) if test4 & (i <= nx - 2) else s107
                        s109 = s108 + ld(x, x_r87 + i - 1) if test4 & test78 & (i >= 1) else s108
                        s110 = s109 + ld(x, x_r87 + i) if test4 & test78 else s109
                        s111 = s110 + ld(x, x_r87 + i + 1) if test4 & test78 & (i <= nx - 2) else s110
                        s112 = s111 + ld(x, x_r88 + i - 1) if test79 & (i >= 1) else s111
                        s113 = s112 + ld(x, x_r88 + i) if test79 else s112
                        s114 = s113 + ld(x, x_r88 + i + 1) if test79 & (i <= nx - 2) else s113
                        st(t0, t0_0 + i, s114)
                if i_lo == 0:
                    st(x, x_r5, ld(t0, t0_0) / w0)
                for i in range(max(1, i_lo), i_hi):
                    s115 = ld(t0, t0_0 + i)
                    s116 = s115 + ld(x, x_r5 + i - 1)
                    st(x, x_r5 + i, s116 / w0)
    return 0


# The arguments of kernel:
#     x: f8[:, :, :] written
#     b: f8[:, :, :]
#     t0: f8[:] contiguous written
#     layout: i8[:] contiguous written
#     table_0: i8[:, :] contiguous written
