"""gauss_seidel, generated for float64."""

import numpy as np

from ssr.runtime.check_layout import refused
from ssr.runtime.intrinsics import fma, ld, st
from ssr.runtime.parts import between
from ssr.runtime.polling import poll, stopwatch
from ssr.runtime.steps import copy, copy_column, follow

real = np.float64
w0 = real(0.25)


def c0_step_copy(source, target, links, p):
    rows, columns = links[p + 4], links[p + 5]
    s2, s3, t2, t3 = links[p + 9], links[p + 10], links[p + 14], links[p + 15]
    for a in range(links[p + 2]):
        for b in range(links[p + 3]):
            s = links[p + 6] + a * links[p + 7] + b * links[p + 8]
            t = links[p + 11] + a * links[p + 12] + b * links[p + 13]
            if columns < 8:
                for d in range(columns):
                    copy_column(target, t + d * t3, t2, source, s + d * s3, s2, rows)
            elif s3 == 1 and t3 == 1:
                for c in range(rows):
                    copy(target, t + c * t2, source, s + c * s2, columns)
            else:
                for c in range(rows):
                    for d in range(columns):
                        st(target, t + c * t2 + d * t3, ld(source, s + c * s2 + d * s3))


def c0_step_array(array, scratch, links, p):
    if links[p] == 0:
        c0_step_copy(array, scratch, links, p)
    elif links[p] == 1:
        c0_step_copy(scratch, array, links, p)
    else:
        c0_step_copy(array, array, links, p)


def c0_step(a0, a1, links, weights, scratch):
    for p in range(0, links.shape[0], 16):
        number = links[p + 1]
        if number == 0:
            c0_step_array(a0, scratch, links, p)
        elif number == 1:
            c0_step_array(a1, scratch, links, p)


def kernel(x, b, t0, layout, tables, links, weights, scratch, messages, steps, step, watch):
    if ld(steps, step + 3) < ld(steps, step + 4):
        c0_step(x, b, between(links, ld(steps, step + 3), ld(steps, step + 4)), between(weights, ld(steps, step + 5), ld(steps, step + 6)), messages)  # move
    for box in range(ld(steps, step + 1), ld(steps, step + 2), 10):  # x[:] = ...
        nx = ld(tables, box + 0)
        ny = ld(tables, box + 1)
        j_lo = ld(tables, box + 2)
        j_hi = ld(tables, box + 3)
        i_lo = ld(tables, box + 4)
        i_hi = ld(tables, box + 5)
        x_0 = ld(tables, box + 6)
        x_s0 = ld(tables, box + 7)
        b_0 = ld(tables, box + 8)
        b_s0 = ld(tables, box + 9)
        t0_0 = 0 - i_lo
        for j in range(j_lo, j_hi):
            poll(watch, i_hi - i_lo)
            x_r1 = x_0 + j * x_s0
            if (nx >= i_lo + 2 and ny >= j + 2) and j >= 1:
                b_r2 = b_0 + j * b_s0
                x_r3 = x_0 + (j + 1) * x_s0
                x_r4 = x_0 + (j - 1) * x_s0
                for i in range(i_lo, i_hi):
                    s5 = ld(b, b_r2 + i)
                    s6 = s5 + ld(x, x_r1 + i + 1) if i <= nx - 2 else s5
                    s7 = s6 + ld(x, x_r3 + i)
                    s8 = s7 + ld(x, x_r4 + i)
                    st(t0, t0_0 + i, s8 * w0)
            else:
                line9 = j + 1 if -j + ny - 2 >= 0 else j
                line10 = j - 1 if j - 1 >= 0 else j
                test11 = -j + ny - 2 >= 0
                test12 = j - 1 >= 0
                b_r13 = b_0 + j * b_s0
                x_r14 = x_0 + line9 * x_s0
                x_r15 = x_0 + line10 * x_s0
                for i in range(i_lo, i_hi):
                    s16 = ld(b, b_r13 + i)
                    s17 = s16 + ld(x, x_r1 + i + 1) if i <= nx - 2 else s16
                    s18 = s17 + ld(x, x_r14 + i) if test11 else s17
                    s19 = s18 + ld(x, x_r15 + i) if test12 else s18
                    st(t0, t0_0 + i, s19 * w0)
            if i_lo == 0:
                st(x, x_r1, ld(t0, t0_0))
            for i in range(max(1, i_lo), i_hi):
                s20 = ld(t0, t0_0 + i)
                s21 = fma(w0, ld(x, x_r1 + i - 1), s20)
                st(x, x_r1 + i, s21)
    if ld(steps, step + 7) < ld(steps, step + 8):
        c0_step(x, b, between(links, ld(steps, step + 7), ld(steps, step + 8)), between(weights, ld(steps, step + 9), ld(steps, step + 10)), messages)  # move
    return 0


def call(x, b, t0, scalars, layout, tables, links, weights, scratch, messages, steps, at):
    if refused((x, b), layout, 2):
        return 1
    watch = stopwatch()
    while at[0] < at[3]:
        while at[1] < steps.shape[0]:
            poll(watch, 1024)
            if steps[at[1], 0] == 0:
                kernel(x, b, t0, layout, tables, links, weights, scratch, messages, steps, at[1] * steps.shape[1], watch)
            else:
                reason = follow(steps, at)
                if reason:
                    return reason
            at[1] = at[1] + 1
        at[1] = 0
        at[0] = at[0] + 1
    return 0


# The arguments of call:
#     x: f8[:, :] written
#     b: f8[:, :] written
#     t0: f8[:] contiguous written
#     scalars: f8[:, :] contiguous
#     layout: i8[:] contiguous written
#     tables: i8[:] contiguous
#     links: i8[:] contiguous
#     weights: f8[:] contiguous
#     scratch: f8[:] contiguous written
#     messages: f8[:] contiguous written
#     steps: i8[:, :] contiguous
#     at: i8[:] contiguous written
