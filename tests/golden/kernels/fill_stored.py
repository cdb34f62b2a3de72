"""stored, generated for float64."""

import numpy as np

from ssr.runtime.check_layout import refused
from ssr.runtime.intrinsics import fma, ld, prefetch, rolled, st
from ssr.runtime.polling import poll, stopwatch

real = np.float64
w0 = real(4.0)


def c0_step_lines(f, op, links, at, weights, scratch):
    slot = ld(links, at + 0)
    weight_place = ld(links, at + 1)
    first = ld(links, at + 2)
    lines = ld(links, at + 3)
    length = ld(links, at + 4)
    slot_step = ld(links, at + 5)
    weight_step = ld(links, at + 6)
    ranges = ld(links, at + 7)
    line_step = ld(links, at + 8)
    step = ld(links, at + 9)
    weight = ld(weights, weight_place)
    zero = ld(weights, 0)
    for n in range(ranges):
        place = ld(links, at + 10 + n)
        if op == 1 and step == 1:
            for a in range(lines):
                x = slot + a * slot_step
                y = place + a * line_step
                for t in range(length):
                    st(scratch, x + t, ld(f, y + t))
        elif op == 1:
            for a in range(lines):
                x = slot + a * slot_step
                y = place + a * line_step
                for t in range(length):
                    st(scratch, x + t, ld(f, y + t * step))
        elif op == 2 and step == 1:
            for a in range(lines):
                x = slot + a * slot_step
                y = place + a * line_step
                for t in range(length):
                    st(f, y + t, weight * ld(scratch, x + t))
        elif op == 2:
            for a in range(lines):
                x = slot + a * slot_step
                y = place + a * line_step
                for t in range(length):
                    st(f, y + t * step, weight * ld(scratch, x + t))
        elif first == 1 and step == 1:
            for a in range(lines):
                x = slot + a * slot_step
                y = place + a * line_step
                w = weight_place + a * weight_step
                for t in range(length):
                    factor = ld(weights, w + t)
                    value = ld(f, y + t)
                    st(scratch, x + t, fma(factor, value if factor != zero else zero, zero))
        elif first == 1:
            for a in range(lines):
                x = slot + a * slot_step
                y = place + a * line_step
                w = weight_place + a * weight_step
                for t in range(length):
                    factor = ld(weights, w + t)
                    value = ld(f, y + t * step)
                    st(scratch, x + t, fma(factor, value if factor != zero else zero, zero))
        elif step == 1:
            for a in range(lines):
                x = slot + a * slot_step
                y = place + a * line_step
                w = weight_place + a * weight_step
                for t in range(length):
                    factor = ld(weights, w + t)
                    value = ld(f, y + t)
                    st(scratch, x + t, fma(factor, value if factor != zero else zero, ld(scratch, x + t)))
        else:
            for a in range(lines):
                x = slot + a * slot_step
                y = place + a * line_step
                w = weight_place + a * weight_step
                for t in range(length):
                    factor = ld(weights, w + t)
                    value = ld(f, y + t * step)
                    st(scratch, x + t, fma(factor, value if factor != zero else zero, ld(scratch, x + t)))


def c0_step_copy(f, op, links, at, weights, g):
    weight_place = ld(links, at + 0)
    lines = ld(links, at + 1)
    length = ld(links, at + 2)
    to = ld(links, at + 3)
    to_line = ld(links, at + 4)
    to_step = ld(links, at + 5)
    of = ld(links, at + 6)
    of_line = ld(links, at + 7)
    of_step = ld(links, at + 8)
    weight = ld(weights, weight_place)
    if op == 5:
        column = at + 9
        while length > 0:
            if length >= 6:
                x0 = to + ld(links, column + 0)
                x1 = to + ld(links, column + 2)
                x2 = to + ld(links, column + 4)
                x3 = to + ld(links, column + 6)
                x4 = to + ld(links, column + 8)
                x5 = to + ld(links, column + 10)
                y0 = of + ld(links, column + 1)
                y1 = of + ld(links, column + 3)
                y2 = of + ld(links, column + 5)
                y3 = of + ld(links, column + 7)
                y4 = of + ld(links, column + 9)
                y5 = of + ld(links, column + 11)
                column = column + 12
                length = length - 6
                for a in rolled(lines):
                    prefetch(f, x0 + (a + 8) * to_line)
                    prefetch(f, y0 + (a + 8) * of_line)
                    v0 = weight * ld(g, y0 + a * of_line)
                    v1 = weight * ld(g, y1 + a * of_line)
                    v2 = weight * ld(g, y2 + a * of_line)
                    v3 = weight * ld(g, y3 + a * of_line)
                    v4 = weight * ld(g, y4 + a * of_line)
                    v5 = weight * ld(g, y5 + a * of_line)
                    st(f, x0 + a * to_line, v0)
                    st(f, x1 + a * to_line, v1)
                    st(f, x2 + a * to_line, v2)
                    st(f, x3 + a * to_line, v3)
                    st(f, x4 + a * to_line, v4)
                    st(f, x5 + a * to_line, v5)
            else:
                x0 = to + ld(links, column + 0)
                x1 = to + ld(links, column + 2)
                y0 = of + ld(links, column + 1)
                y1 = of + ld(links, column + 3)
                column = column + 4
                length = length - 2
                for a in rolled(lines):
                    v0 = weight * ld(f, y0 + a * of_line)
                    v1 = weight * ld(f, y1 + a * of_line)
                    st(f, x0 + a * to_line, v0)
                    st(f, x1 + a * to_line, v1)
    else:
        for a in rolled(lines):
            x = to + a * to_line
            y = of + a * of_line
            if to_step == 1 and of_step == 1 and weight == 1:
                for t in range(length):
                    st(f, x + t, ld(g, y + t))
            elif to_step == 1 and of_step == 1:
                for t in range(length):
                    st(f, x + t, weight * ld(g, y + t))
            else:
                for t in rolled(length):
                    st(f, x + t * to_step, weight * ld(g, y + t * of_step))


def c0_step_points(f, op, links, at, weights, scratch):
    count = ld(links, at + 0)
    zero = ld(weights, 0)
    at = at + 1
    if op == 7:
        for n in range(count):
            slot = ld(links, at)
            weight = ld(weights, ld(links, at + 1))
            value = ld(f, ld(links, at + 2))
            st(scratch, slot, fma(weight, value if weight != zero else zero, ld(scratch, slot)))
            at = at + 3
    else:
        for n in range(count):
            st(f, ld(links, at + 1), ld(scratch, ld(links, at)))
            at = at + 2


def c0_step(f0, links, weights, scratch):
    zero = ld(weights, 0)
    start = 0
    while ld(links, start) != 0:
        op = ld(links, start)
        at = start + 2
        if op <= 3:
            c0_step_lines(f0, op, links, at + 1, weights, scratch)
        elif op <= 5:
            c0_step_copy(f0, op, links, at + 1, weights, f0)
        elif op <= 8:
            c0_step_points(f0, op, links, at + 1, weights, scratch)
        elif op == 9:
            slot = ld(links, at + 0)
            weight_place = ld(links, at + 1)
            lines = ld(links, at + 2)
            length = ld(links, at + 3)
            slot_step = ld(links, at + 4)
            weight_step = ld(links, at + 5)
            for a in range(lines):
                x = slot + a * slot_step
                w = weight_place + a * weight_step
                for t in range(length):
                    st(scratch, x + t, ld(weights, w + t))
        start = ld(links, start + 1)


def kernel(v, y, u, c0_scratch, layout, table_0, table_1, c0_links, c0_weights):
    if refused((v, y, u), layout, 2):
        return 1
    watch = stopwatch()
    for box in range(table_0.shape[0]):  # v[0:ny, 0:nx] = ...
        j_lo = table_0[box, 2]
        j_hi = table_0[box, 3]
        i_lo = table_0[box, 4]
        i_hi = table_0[box, 5]
        v_0 = table_0[box, 6]
        v_s0 = table_0[box, 7]
        u_0 = table_0[box, 10]
        u_s0 = table_0[box, 11]
        for j in range(j_lo, j_hi):
            poll(watch, i_hi - i_lo)
            v_r1 = v_0 + j * v_s0
            u_r2 = u_0 + j * u_s0
            for i in range(i_lo, i_hi):
                st(v, v_r1 + i, ld(u, u_r2 + i))
    c0_step(v, c0_links, c0_weights, c0_scratch)  # fill(dirichlet(1.0))
    for box in range(table_1.shape[0]):  # y[:] = ...
        j_lo = table_1[box, 2]
        j_hi = table_1[box, 3]
        i_lo = table_1[box, 4]
        i_hi = table_1[box, 5]
        v_0 = table_1[box, 6]
        v_s0 = table_1[box, 7]
        y_0 = table_1[box, 8]
        y_s0 = table_1[box, 9]
        for j in range(j_lo, j_hi):
            poll(watch, i_hi - i_lo)
            y_r3 = y_0 + j * y_s0
            v_r4 = v_0 + (j - 1) * v_s0
            v_r5 = v_0 + j * v_s0
            v_r6 = v_0 + (j + 1) * v_s0
            for i in range(i_lo, i_hi):
                s7 = -ld(v, v_r4 + i)
                s8 = s7 - ld(v, v_r5 + i - 1)
                s9 = fma(w0, ld(v, v_r5 + i), s8)
                s10 = s9 - ld(v, v_r5 + i + 1)
                s11 = s10 - ld(v, v_r6 + i)
                st(y, y_r3 + i, s11)
    return 0


# The arguments of kernel:
#     v: f8[:, :] written
#     y: f8[:, :] written
#     u: f8[:, :]
#     c0_scratch: f8[:] contiguous written
#     layout: i8[:] contiguous written
#     table_0: i8[:, :] contiguous written
#     table_1: i8[:, :] contiguous written
#     c0_links: i8[:] contiguous
#     c0_weights: f8[:] contiguous
