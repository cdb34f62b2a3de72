"""wave, generated for float64."""

import numpy as np

from ssr.runtime.check_layout import refused
from ssr.runtime.intrinsics import fma, ld, st
from ssr.runtime.parts import between
from ssr.runtime.polling import poll, stopwatch
from ssr.runtime.steps import copy, copy_column, follow

real = np.float64
w0 = real(4.0)
w1 = real(-0.0)


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


def c0_step(a0, a1, a2, links, weights, scratch):
    for p in range(0, links.shape[0], 16):
        number = links[p + 1]
        if number == 0:
            c0_step_array(a0, scratch, links, p)
        elif number == 1:
            c0_step_array(a1, scratch, links, p)
        elif number == 2:
            c0_step_array(a2, scratch, links, p)


def kernel(u__p, q, c, dt, layout, tables, links, weights, scratch, messages, steps, step, watch):
    if ld(steps, step + 3) < ld(steps, step + 4):
        c0_step(u__p, q, c, between(links, ld(steps, step + 3), ld(steps, step + 4)), between(weights, ld(steps, step + 5), ld(steps, step + 6)), messages)  # move
    for box in range(ld(steps, step + 1), ld(steps, step + 2), 12):  # p[:] = ...
        nx = ld(tables, box + 0)
        ny = ld(tables, box + 1)
        j_lo = ld(tables, box + 2)
        j_hi = ld(tables, box + 3)
        i_lo = ld(tables, box + 4)
        i_hi = ld(tables, box + 5)
        u__p_0 = ld(tables, box + 6)
        u__p_s0 = ld(tables, box + 7)
        q_0 = ld(tables, box + 8)
        q_s0 = ld(tables, box + 9)
        c_0 = ld(tables, box + 10)
        c_s0 = ld(tables, box + 11)
        for j in range(j_lo - 1, j_hi):
            poll(watch, i_hi - i_lo)
            if (nx >= 2 and ny >= j + 3) and j >= 0:
                if j + 1 < j_hi:
                    q_r1 = q_0 + (j + 1) * q_s0
                    c_r2 = c_0 + (j + 1) * c_s0
                    u__p_r3 = u__p_0 + j * u__p_s0
                    u__p_r4 = u__p_0 + (j + 1) * u__p_s0
                    u__p_r5 = u__p_0 + (j + 2) * u__p_s0
                    for i in range(max(0, i_lo), min(nx, i_hi)):
                        s6 = ld(q, q_r1 + i)
                        s7 = -ld(u__p, u__p_r3 + i)
                        s8 = s7 - ld(u__p, u__p_r4 + i - 1) if i >= 1 else s7
                        s9 = fma(w0, ld(u__p, u__p_r4 + i), s8)
                        s10 = s9 - ld(u__p, u__p_r4 + i + 1) if i <= nx - 2 else s9
                        s11 = s10 - ld(u__p, u__p_r5 + i)
                        s12 = fma(-(dt * ld(c, c_r2 + i)), s11, s6)
                        st(q, q_r1 + i, s12)
            elif j + 1 < j_hi:
                if ny >= j + 2:
                    line13 = j if j >= 0 else j + 1
                    line14 = j + 2 if -j + ny - 3 >= 0 else j + 1
                    test15 = j >= 0
                    test16 = -j + ny - 3 >= 0
                    q_r17 = q_0 + (j + 1) * q_s0
                    c_r18 = c_0 + (j + 1) * c_s0
                    u__p_r19 = u__p_0 + line13 * u__p_s0
                    u__p_r20 = u__p_0 + (j + 1) * u__p_s0
                    u__p_r21 = u__p_0 + line14 * u__p_s0
                    for i in range(max(0, i_lo), min(nx, i_hi)):
                        s22 = ld(q, q_r17 + i)
                        s23 = w1 - ld(u__p, u__p_r19 + i) if test15 else w1
                        s24 = s23 - ld(u__p, u__p_r20 + i - 1) if i >= 1 else s23
                        s25 = fma(w0, ld(u__p, u__p_r20 + i), s24)
                        s26 = s25 - ld(u__p, u__p_r20 + i + 1) if i <= nx - 2 else s25
                        s27 = s26 - ld(u__p, u__p_r21 + i) if test16 else s26
                        s28 = fma(-(dt * ld(c, c_r18 + i)), s27, s22)
                        st(q, q_r17 + i, s28)
            if j >= j_lo:
                if j >= 0:
                    u__p_r29 = u__p_0 + j * u__p_s0
                    q_r30 = q_0 + j * q_s0
                    for i in range(max(0, i_lo), min(nx, i_hi)):
                        s31 = ld(u__p, u__p_r29 + i)
                        s32 = fma(dt, ld(q, q_r30 + i), s31)
                        st(u__p, u__p_r29 + i, s32)
    if ld(steps, step + 7) < ld(steps, step + 8):
        c0_step(u__p, q, c, between(links, ld(steps, step + 7), ld(steps, step + 8)), between(weights, ld(steps, step + 9), ld(steps, step + 10)), messages)  # move
    return 0


def call(u__p, q, c, scalars, layout, tables, links, weights, scratch, messages, steps, at):
    if refused((u__p, q, c), layout, 3):
        return 1
    watch = stopwatch()
    while at[0] < at[3]:
        while at[1] < steps.shape[0]:
            poll(watch, 1024)
            if steps[at[1], 0] == 0:
                kernel(u__p, q, c, ld(scalars, at[0] * 1 + 0), layout, tables, links, weights, scratch, messages, steps, at[1] * steps.shape[1], watch)
            else:
                reason = follow(steps, at)
                if reason:
                    return reason
            at[1] = at[1] + 1
        at[1] = 0
        at[0] = at[0] + 1
    return 0


# The arguments of call:
#     u__p: f8[:, :] written
#     q: f8[:, :] written
#     c: f8[:, :] written
#     scalars: f8[:, :] contiguous
#     layout: i8[:] contiguous written
#     tables: i8[:] contiguous
#     links: i8[:] contiguous
#     weights: f8[:] contiguous
#     scratch: f8[:] contiguous written
#     messages: f8[:] contiguous written
#     steps: i8[:, :] contiguous
#     at: i8[:] contiguous written
