"""gauss_seidel, generated for float64."""

import numpy as np
from numba.types import Array, f4, f8, i8

from ssr.intrinsics import address, fma, jit, ld, prefetch, st

META = {'fields': ['x', 'b'], 'temporaries': [], 'written': ['x'], 'buffers': [('t0', 0, 1, 1)], 'scalars': [], 'sizes': ['nx', 'ny'], 'nests': [{'target': 'x', 'order': 'backward', 'earlier': ((0, 1), (1, 0)), 'whole_lines': False}], 'loops': 4}

real = np.float64


def kernel(x, b, t0, one, far, lengths, table_0):
    if address(x) < address(b) + lengths[1] and address(b) < address(x) + lengths[0]:
        return 2
    w0 = real(0.0)
    w1 = real(0.25)
    strip_length = 256 if far else 4611686018427387904
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
        t0_0 = 1 - i_lo
        t0_w = i_hi - i_lo + 2
        for clear in range(1 * t0_w):
            st(t0, clear, w0)
        t0_m1 = t0_0 - one
        for j in range(j_hi - 1, j_lo - 1, -1):
            if ((i_lo == 0) and (ny >= (j + 2))) and (j >= 1):
                s1 = ld(b, b_0 + j * b_s0)
                s2 = s1 + ld(x, x_0 + (j - 1) * x_s0)
                s3 = s2 + ld(x, x_0 + (j + 1) * x_s0)
                st(t0, t0_0, (s3 * w1))
            if (ny >= (j + 2)) and (j >= 1):
                b_r4 = b_0 + j * b_s0
                x_r5 = x_0 + (j - 1) * x_s0
                x_r6 = x_0 + j * x_s0
                x_r7 = x_0 + (j + 1) * x_s0
                for strip in range(max(1, i_lo), i_hi, strip_length):
                    if far:
                        for i in range(strip, min(strip + strip_length, i_hi), 8):
                            prefetch(b, b_r4 + i + 512)
                            prefetch(x, x_r5 + i + 512)
                    for i in range(strip, min(strip + strip_length, i_hi)):
                        s8 = ld(b, b_r4 + i)
                        s9 = s8 + ld(x, x_r5 + i)
                        s10 = s9 + ld(x, x_r6 + i - 1)
                        s11 = s10 + ld(x, x_r7 + i)
                        st(t0, t0_0 + i, (s11 * w1))
            else:
                if (((ny >= 2) and (i_lo == 0)) and (j_lo == 0)) and (j == 0):
                    s12 = ld(b, b_0 + j * b_s0)
                    s13 = s12 + ld(x, x_0 + (j + 1) * x_s0)
                    st(t0, t0_0, (s13 * w1))
                if ((ny >= 2) and (j_lo == 0)) and (j == 0):
                    b_r14 = b_0 + j * b_s0
                    x_r15 = x_0 + j * x_s0
                    x_r16 = x_0 + (j + 1) * x_s0
                    x_r17 = x_0 + (j - 1) * x_s0
                    for strip in range(max(1, i_lo), i_hi, strip_length):
                        if far:
                            for i in range(strip, min(strip + strip_length, i_hi), 8):
                                prefetch(b, b_r14 + i + 512)
                                prefetch(x, x_r17 + i + 512)
                        for i in range(strip, min(strip + strip_length, i_hi)):
                            s18 = ld(b, b_r14 + i)
                            s19 = s18 + ld(x, x_r15 + i - 1)
                            s20 = s19 + ld(x, x_r16 + i)
                            st(t0, t0_0 + i, (s20 * w1))
                else:
                    if (ny >= 2) and (i_lo == 0):
                        s21 = ld(b, b_0 + j * b_s0)
                        s22 = s21 + ld(x, x_0 + (j - 1) * x_s0)
                        st(t0, t0_0, (s22 * w1))
                    if ny >= 2:
                        b_r23 = b_0 + j * b_s0
                        x_r24 = x_0 + (j - 1) * x_s0
                        x_r25 = x_0 + j * x_s0
                        for strip in range(max(1, i_lo), i_hi, strip_length):
                            if far:
                                for i in range(strip, min(strip + strip_length, i_hi), 8):
                                    prefetch(b, b_r23 + i + 512)
                                    prefetch(x, x_r24 + i + 512)
                            for i in range(strip, min(strip + strip_length, i_hi)):
                                s26 = ld(b, b_r23 + i)
                                s27 = s26 + ld(x, x_r24 + i)
                                s28 = s27 + ld(x, x_r25 + i - 1)
                                st(t0, t0_0 + i, (s28 * w1))
                    else:
                        if i_lo == 0:
                            s29 = ld(b, b_0 + j * b_s0)
                            st(t0, t0_0, (s29 * w1))
                        b_r30 = b_0 + j * b_s0
                        x_r31 = x_0 + j * x_s0
                        x_r32 = x_0 + (j - 1) * x_s0
                        for strip in range(max(1, i_lo), i_hi, strip_length):
                            if far:
                                for i in range(strip, min(strip + strip_length, i_hi), 8):
                                    prefetch(b, b_r30 + i + 512)
                                    prefetch(x, x_r32 + i + 512)
                            for i in range(strip, min(strip + strip_length, i_hi)):
                                s33 = ld(b, b_r30 + i)
                                s34 = s33 + ld(x, x_r31 + i - 1)
                                st(t0, t0_0 + i, (s34 * w1))
            if i_hi == nx:
                st(x, x_0 + j * x_s0 + nx - 1, ld(t0, t0_m1 + nx))
            x_r35 = x_0 + j * x_s0
            for i in range((min((nx - 1), i_hi)) - 1, (i_lo) - 1, -1):
                s36 = ld(t0, t0_0 + i)
                s37 = fma(w1, ld(x, x_r35 + i + 1), s36)
                st(x, x_r35 + i, s37)
    return 0


SIGNATURE = i8(
    f8[:, :],
    Array(f8, 2, 'A', readonly=True),
    f8[::1],
    i8,
    i8,
    i8[::1],
    i8[:, ::1],
)
