! Shallow water on the cubed sphere: cell averages of J h, J h u1, J h u2 on six panels of n x n
! cells, fourth order, LMARS fluxes, SSP-RK3; the algorithm of apps/swe.
!
! The first index is along alpha, the second along beta. q holds h, H = h + b, u1 and u2 at the
! centres of a panel with three layers of ghosts; its corners are never read. Sides are W, E, S, N.
! A face has the index of the cell before it.
!
!   cell    1/Jd, J, G11, G12, G22, gamma 1_11, 1_12, 2_12, 2_22 at centres, on any panel
!   place   bottom and Coriolis parameter at centres
!   facea   J s and 1/s at alpha faces, s^2 = G11; faceb the same at beta faces, s^2 = G22
!   work    of a panel, between its loops: fluxes 1-3 and 4-6, pressure 7, slope 8, source 9-10
!   mass    the mass that flows out through the edges of each panel
!
! Tables of the boundary, the layer k counting outwards and t along the edge:
!
!   links   the neighbour's panel and side, and whether its edge runs the other way (0 or 1)
!   first   the first of the neighbour's cells that a ghost is interpolated from, w their weights
!   turn    rotation of the velocity's components, bghost the bottom at the ghosts

module swe_pieces
  use, intrinsic :: iso_c_binding, only: c_double, c_int64_t
  implicit none
  integer, parameter :: dp = c_double, int = c_int64_t
  real(dp), parameter :: gravity = 9.80616_dp, pi = 3.14159265358979323846_dp

contains

  ! Boundary: ghosts, and the mass that flows from panel to panel.

  subroutine fill(n, links, first, w, turn, bghost, q)
    integer(int), intent(in) :: n, links(3, 4, 6), first(n, 3)
    real(dp), intent(in) :: w(n, 3, 6), turn(n, 3, 4, 6, 2, 2), bghost(n, 3, 4, 6)
    real(dp), intent(inout) :: q(-2:n+3, -2:n+3, 4, 6)
    real(dp) :: line(n), ghost(n, 2:4), u
    integer(int) :: p, side, k, m, t, r

    do p = 1, 6
      do side = 1, 4
        do k = 1, 3
          do m = 2, 4
            call take_line(n, links(2, side, p), k, q(:, :, m, links(1, side, p)), line)
            if (links(3, side, p) == 1) line = line(n:1:-1)
            do t = 1, n
              r = first(t, k)
              ghost(t, m) = w(t, k, 1) * line(r+1) + w(t, k, 2) * line(r+2) &
                            + w(t, k, 3) * line(r+3) + w(t, k, 4) * line(r+4) &
                            + w(t, k, 5) * line(r+5) + w(t, k, 6) * line(r+6)
            end do
          end do
          do t = 1, n
            u = ghost(t, 3)
            ghost(t, 3) = turn(t, k, side, p, 1, 1) * u + turn(t, k, side, p, 2, 1) * ghost(t, 4)
            ghost(t, 4) = turn(t, k, side, p, 1, 2) * u + turn(t, k, side, p, 2, 2) * ghost(t, 4)
          end do
          call put_line(n, side, k, ghost(:, 2) - bghost(:, k, side, p), q(:, :, 1, p))
          do m = 2, 4
            call put_line(n, side, k, ghost(:, m), q(:, :, m, p))
          end do
        end do
      end do
    end do
  end subroutine fill

  ! The k-th line of cells inside an edge.
  subroutine take_line(n, side, k, v, line)
    integer(int), intent(in) :: n, side, k
    real(dp), intent(in) :: v(-2:n+3, -2:n+3)
    real(dp), intent(out) :: line(n)

    select case (side)
    case (1)
      line = v(k, 1:n)
    case (2)
      line = v(n+1-k, 1:n)
    case (3)
      line = v(1:n, k)
    case (4)
      line = v(1:n, n+1-k)
    end select
  end subroutine take_line

  ! The k-th line of ghosts outside an edge.
  subroutine put_line(n, side, k, line, v)
    integer(int), intent(in) :: n, side, k
    real(dp), intent(in) :: line(n)
    real(dp), intent(inout) :: v(-2:n+3, -2:n+3)

    select case (side)
    case (1)
      v(1-k, 1:n) = line
    case (2)
      v(n+k, 1:n) = line
    case (3)
      v(1:n, 1-k) = line
    case (4)
      v(1:n, n+k) = line
    end select
  end subroutine put_line

  ! Replace what flows through an edge by the mean of both panels; scale is a time over the width of
  ! a cell. The tendencies were made with each panel's own flux.
  subroutine synchronise(n, links, scale, mass, U)
    integer(int), intent(in) :: n, links(3, 4, 6)
    real(dp), intent(in) :: scale, mass(n, 4, 6)
    real(dp), intent(inout) :: U(n, n, 6)
    real(dp) :: line(n)
    integer(int) :: p, side

    do p = 1, 6
      do side = 1, 4
        line = mass(:, links(2, side, p), links(1, side, p))
        if (links(3, side, p) == 1) line = line(n:1:-1)
        line = scale / 2 * (mass(:, side, p) + line)
        select case (side)
        case (1)
          U(1, :, p) = U(1, :, p) + line
        case (2)
          U(n, :, p) = U(n, :, p) + line
        case (3)
          U(:, 1, p) = U(:, 1, p) + line
        case (4)
          U(:, n, p) = U(:, n, p) + line
        end select
      end do
    end do
  end subroutine synchronise

  ! Interior.

  ! d = second differences of v between rows, at row j of m; one-sided in the first and last row.
  subroutine across(n, stride, m, v, j, d)
    integer(int), intent(in) :: n, stride, m, j
    real(dp), intent(in) :: v(stride, *)
    real(dp), intent(out) :: d(n)

    if (j == 1) then
      d = 2 * v(:n, 1) - 5 * v(:n, 2) + 4 * v(:n, 3) - v(:n, 4)
    else if (j == m) then
      d = 2 * v(:n, m) - 5 * v(:n, m-1) + 4 * v(:n, m-2) - v(:n, m-3)
    else
      d = v(:n, j-1) - 2 * v(:n, j) + v(:n, j+1)
    end if
  end subroutine across

  ! Add second differences along a row to d.
  subroutine along(n, v, d)
    integer(int), intent(in) :: n
    real(dp), intent(in) :: v(n)
    real(dp), intent(inout) :: d(n)
    integer(int) :: i

    d(1) = d(1) + 2 * v(1) - 5 * v(2) + 4 * v(3) - v(4)
    do i = 2, n - 1
      d(i) = d(i) + (v(i-1) - 2 * v(i) + v(i+1))
    end do
    d(n) = d(n) + 2 * v(n) - 5 * v(n-1) + 4 * v(n-2) - v(n-3)
  end subroutine along

  ! r = row j of v plus w times its second differences along both directions.
  subroutine corrected(n, stride, v, j, w, r)
    integer(int), intent(in) :: n, stride, j
    real(dp), intent(in) :: v(stride, *), w
    real(dp), intent(out) :: r(n)
    integer(int) :: i

    if (j == 1 .or. j == n) then
      call across(n, stride, n, v, j, r)
      call along(n, v(:n, j), r)
      r = v(:n, j) + w * r
    else
      do i = 2, n - 1
        r(i) = v(i, j) + w * (v(i, j-1) + v(i, j+1) + v(i-1, j) + v(i+1, j) - 4 * v(i, j))
      end do
      do i = 1, n, n - 1
        r(i) = v(i, j) + w * (v(i, j-1) - 2 * v(i, j) + v(i, j+1))
      end do
      r(1) = r(1) + w * (2 * v(1, j) - 5 * v(2, j) + 4 * v(3, j) - v(4, j))
      r(n) = r(n) + w * (2 * v(n, j) - 5 * v(n-1, j) + 4 * v(n-2, j) - v(n-3, j))
    end if
  end subroutine corrected

  ! q = h, H, u1, u2 at the centres of a panel.
  subroutine points(n, p, overj, bottom, U, q)
    integer(int), intent(in) :: n, p
    real(dp), intent(in) :: overj(n, n), bottom(n, n), U(n, n, 6, 3)
    real(dp), intent(inout) :: q(-2:n+3, -2:n+3, 4)
    real(dp) :: c(n, 3), over
    integer(int) :: i, j, m

    do j = 1, n
      do m = 1, 3
        call corrected(n, n, U(:, :, p, m), j, -1.0_dp / 24, c(:, m))
      end do
      do i = 1, n
        over = 1 / c(i, 1)
        q(i, j, 1) = c(i, 1) * overj(i, j)
        q(i, j, 2) = q(i, j, 1) + bottom(i, j)
        q(i, j, 3) = c(i, 2) * over
        q(i, j, 4) = c(i, 3) * over
      end do
    end do
  end subroutine points

  ! Values on both sides of n faces, between c and d.
  subroutine states(sharp, n, a, b, c, d, e, f, left, right)
    integer(int), intent(in) :: sharp, n
    real(dp), intent(in), dimension(n) :: a, b, c, d, e, f
    real(dp), intent(out), dimension(n) :: left, right
    real(dp), parameter :: w = 1.0_dp / 128
    integer(int) :: i

    if (sharp == 1) then
      call weno(n, a, b, c, d, e, left)
      call weno(n, f, e, d, c, b, right)
    else
      do i = 1, n
        left(i) = w * (3 * a(i) - 20 * b(i) + 90 * c(i) + 60 * d(i) - 5 * e(i))
        right(i) = w * (3 * f(i) - 20 * e(i) + 90 * d(i) + 60 * c(i) - 5 * b(i))
      end do
    end if
  end subroutine states

  ! WENO-Z on one side of n faces; the weights have a common denominator: there is one division.
  subroutine weno(n, qa, qb, qc, qd, qe, face)
    integer(int), intent(in) :: n
    real(dp), intent(in), dimension(n) :: qa, qb, qc, qd, qe
    real(dp), intent(out) :: face(n)
    real(dp) :: a, b, c, d, e, s0, s1, s2, tau, eps, w0, w1, w2
    integer(int) :: i

    do i = 1, n
      a = qa(i)
      b = qb(i)
      c = qc(i)
      d = qd(i)
      e = qe(i)
      eps = 1e-40_dp + 1e-16_dp * (c**2 + 1e-30_dp)
      s0 = 13.0_dp / 12 * (a - 2 * b + c)**2 + (a - 4 * b + 3 * c)**2 / 4 + eps
      s1 = 13.0_dp / 12 * (b - 2 * c + d)**2 + (b - d)**2 / 4 + eps
      s2 = 13.0_dp / 12 * (c - 2 * d + e)**2 + (3 * c - 4 * d + e)**2 / 4 + eps
      tau = (s0 - s2)**2
      s0 = s0**2
      s1 = s1**2
      s2 = s2**2
      w0 = (s0 + tau) * (s1 * s2)
      w1 = 10 * (s1 + tau) * (s0 * s2)
      w2 = 5 * (s2 + tau) * (s0 * s1)
      face(i) = (w0 * (3 * a - 10 * b + 15 * c) + w1 * (6 * c + 3 * d - b) &
                 + w2 * (3 * c + 6 * d - e)) / (8 * (w0 + w1 + w2))
    end do
  end subroutine weno

  ! The LMARS fluxes and the pressure at n faces; v is the velocity's component across them, w the
  ! other one, Gv and Gw their fluxes.
  subroutine lmars(n, hL, hR, eL, eR, vL, vR, wL, wR, js, over, F, Gv, Gw, pressure)
    integer(int), intent(in) :: n
    real(dp), intent(in), dimension(n) :: hL, hR, eL, eR, vL, vR, wL, wR, js, over
    real(dp), intent(out), dimension(n) :: F, Gv, Gw, pressure
    real(dp) :: c, speed
    integer(int) :: i

    do i = 1, n
      c = sqrt(gravity / 2 * (hL(i) + hR(i)))
      speed = (vL(i) + vR(i)) * over(i) / 2 - gravity / (2 * c) * (eR(i) - eL(i))
      pressure(i) = gravity / 2 * (eL(i) + eR(i)) + c / 2 * (vL(i) - vR(i)) * over(i)
      F(i) = js(i) * speed * merge(hL(i), hR(i), speed > 0)
      Gv(i) = F(i) * merge(vL(i), vR(i), speed > 0)
      Gw(i) = F(i) * merge(wL(i), wR(i), speed > 0)
    end do
  end subroutine lmars

  ! The same from the fields h, H, v and w of a padded panel, with linear weights, in one loop: the
  ! cells before the faces are 1 to n, and those across a face are a stride apart.
  subroutine linear(n, stride, h, e, v, w, js, over, F, Gv, Gw, pressure)
    integer(int), intent(in) :: n, stride
    real(dp), intent(in), dimension(1-2*stride:n+3*stride) :: h, e, v, w
    real(dp), intent(in), dimension(n) :: js, over
    real(dp), intent(out), dimension(n) :: F, Gv, Gw, pressure
    real(dp), parameter :: a = 3.0_dp / 128, b = -20.0_dp / 128, c = 90.0_dp / 128
    real(dp), parameter :: d = 60.0_dp / 128, z = -5.0_dp / 128
    real(dp) :: hL, hR, eL, eR, vL, vR, wL, wR, wave, speed
    integer(int) :: i, s, t, u

    s = stride
    t = 2 * stride
    u = 3 * stride
    do i = 1, n
      hL = a * h(i-t) + b * h(i-s) + c * h(i) + d * h(i+s) + z * h(i+t)
      hR = a * h(i+u) + b * h(i+t) + c * h(i+s) + d * h(i) + z * h(i-s)
      eL = a * e(i-t) + b * e(i-s) + c * e(i) + d * e(i+s) + z * e(i+t)
      eR = a * e(i+u) + b * e(i+t) + c * e(i+s) + d * e(i) + z * e(i-s)
      vL = a * v(i-t) + b * v(i-s) + c * v(i) + d * v(i+s) + z * v(i+t)
      vR = a * v(i+u) + b * v(i+t) + c * v(i+s) + d * v(i) + z * v(i-s)
      wL = a * w(i-t) + b * w(i-s) + c * w(i) + d * w(i+s) + z * w(i+t)
      wR = a * w(i+u) + b * w(i+t) + c * w(i+s) + d * w(i) + z * w(i-s)
      wave = sqrt(gravity / 2 * (hL + hR))
      speed = (vL + vR) * over(i) / 2 - gravity / (2 * wave) * (eR - eL)
      pressure(i) = gravity / 2 * (eL + eR) + wave / 2 * (vL - vR) * over(i)
      F(i) = js(i) * speed * merge(hL, hR, speed > 0)
      Gv(i) = F(i) * merge(vL, vR, speed > 0)
      Gw(i) = F(i) * merge(wL, wR, speed > 0)
    end do
  end subroutine linear

  ! Fluxes, slopes of the pressure and sources of a panel, from its padded q.
  subroutine panel(sharp, n, cell, coriolis, facea, faceb, q, work)
    integer(int), intent(in) :: sharp, n
    real(dp), intent(in) :: cell(n, n, 9), coriolis(n, n), facea(0:n, n, 2), faceb(n, 0:n, 2)
    real(dp), intent(in) :: q(-2:n+3, -2:n+3, 4)
    real(dp), intent(inout) :: work(0:n, 0:n, 10)
    real(dp), dimension(0:n, 4) :: L, R
    real(dp) :: p(0:n), d(n), inv, pa, pb, u, v, rot
    integer(int) :: i, j, m

    inv = n / (3 * pi)
    do j = 1, n
      if (sharp == 1) then
        do m = 1, 4
          call states(sharp, n + 1, q(-2:n-2, j, m), q(-1:n-1, j, m), q(0:n, j, m), &
                      q(1:n+1, j, m), q(2:n+2, j, m), q(3:n+3, j, m), L(:, m), R(:, m))
        end do
        call lmars(n + 1, L(:, 1), R(:, 1), L(:, 2), R(:, 2), L(:, 3), R(:, 3), L(:, 4), R(:, 4), &
                   facea(:, j, 1), facea(:, j, 2), work(:, j, 1), work(:, j, 2), work(:, j, 3), p)
      else
        call linear(n + 1, 1_int, q(-2, j, 1), q(-2, j, 2), q(-2, j, 3), q(-2, j, 4), &
                    facea(:, j, 1), facea(:, j, 2), work(:, j, 1), work(:, j, 2), work(:, j, 3), p)
      end if
      do i = 1, n
        work(i, j, 8) = (8 * (p(i) - p(i-1)) - gravity * (q(i+1, j, 2) - q(i-1, j, 2))) * inv
      end do
    end do
    do j = 0, n
      if (sharp == 1) then
        do m = 1, 4
          call states(sharp, n, q(1:n, j-2, m), q(1:n, j-1, m), q(1:n, j, m), q(1:n, j+1, m), &
                      q(1:n, j+2, m), q(1:n, j+3, m), L(1:, m), R(1:, m))
        end do
        call lmars(n, L(1:, 1), R(1:, 1), L(1:, 2), R(1:, 2), L(1:, 4), R(1:, 4), L(1:, 3), &
                   R(1:, 3), faceb(:, j, 1), faceb(:, j, 2), work(1:, j, 4), work(1:, j, 6), &
                   work(1:, j, 5), work(1:, j, 7))
      else
        call linear(n, n + 6, q(1, j-2, 1), q(1, j-2, 2), q(1, j-2, 4), q(1, j-2, 3), &
                    faceb(:, j, 1), faceb(:, j, 2), work(1:, j, 4), work(1:, j, 6), &
                    work(1:, j, 5), work(1:, j, 7))
      end if
      do m = 4, 6
        d = 0
        call along(n, work(1:, j, m), d)
        work(1:, j, m) = work(1:, j, m) + d / 24
      end do
    end do
    do j = 1, n
      do i = 1, n
        u = q(i, j, 3)
        v = q(i, j, 4)
        pa = work(i, j, 8)
        pb = (8 * (work(i, j, 7) - work(i, j-1, 7)) &
              - gravity * (q(i, j+1, 2) - q(i, j-1, 2))) * inv
        pa = pa - coriolis(i, j) * cell(i, j, 2) * v
        pb = pb + coriolis(i, j) * cell(i, j, 2) * u
        rot = -cell(i, j, 2) * q(i, j, 1)
        work(i, j, 9) = rot * ((cell(i, j, 6) * u + 2 * cell(i, j, 7) * v) * u &
                               + cell(i, j, 3) * pa + cell(i, j, 4) * pb)
        work(i, j, 10) = rot * ((2 * cell(i, j, 8) * u + cell(i, j, 9) * v) * v &
                                + cell(i, j, 4) * pa + cell(i, j, 5) * pb)
      end do
    end do
  end subroutine panel

  ! The tendencies of a panel: stage 0 writes them to V, 1 to 3 take that stage of a step.
  subroutine update(stage, dt, n, work, mass, p, U, V)
    integer(int), intent(in) :: stage, n, p
    real(dp), intent(in) :: dt, work(0:n, 0:n, 10)
    real(dp), intent(out) :: mass(n, 4)
    real(dp), intent(inout), dimension(n, n, 6, 3) :: U, V
    real(dp) :: F(0:n), d(0:n), t(n), inv
    integer(int) :: i, j, m

    inv = 2 * n / pi
    mass(:, 3) = -work(1:, 0, 4)
    mass(:, 4) = work(1:, n, 4)
    do j = 1, n
      do m = 1, 3
        call across(n + 1, n + 1, n, work(:, 1:, m), j, d)
        F = work(:, j, m) + d / 24
        if (m == 1) then
          mass(j, 1) = -F(0)
          mass(j, 2) = F(n)
        end if
        do i = 1, n
          t(i) = (F(i-1) - F(i) + work(i, j-1, 3+m) - work(i, j, 3+m)) * inv
        end do
        if (m > 1) then
          call corrected(n, n + 1, work(1, 1, 7+m), j, 1.0_dp / 24, d(1:))
          t = t + d(1:)
        end if
        select case (stage)
        case (0)
          V(:, j, p, m) = t
        case (1)
          V(:, j, p, m) = U(:, j, p, m) + dt * t
        case (2)
          V(:, j, p, m) = 0.75_dp * U(:, j, p, m) + 0.25_dp * (V(:, j, p, m) + dt * t)
        case (3)
          U(:, j, p, m) = U(:, j, p, m) / 3 + (V(:, j, p, m) + dt * t) * (2.0_dp / 3)
        end select
      end do
    end do
  end subroutine update

  subroutine stage_of(stage, dt, sharp, n, cell, place, facea, faceb, links, first, w, turn, &
                      bghost, q, work, mass, U, V)
    integer(int), intent(in) :: stage, sharp, n, links(3, 4, 6), first(n, 3)
    real(dp), intent(in) :: dt, cell(n, n, 9), place(n, n, 6, 2), facea(0:n, n, 2)
    real(dp), intent(in) :: faceb(n, 0:n, 2), w(n, 3, 6), turn(n, 3, 4, 6, 2, 2)
    real(dp), intent(in) :: bghost(n, 3, 4, 6)
    real(dp), intent(inout) :: q(-2:n+3, -2:n+3, 4, 6), work(0:n, 0:n, 10), mass(n, 4, 6)
    real(dp), intent(inout), dimension(n, n, 6, 3) :: U, V
    real(dp), parameter :: weight(0:3) = [1.0_dp, 1.0_dp, 0.25_dp, 2.0_dp / 3]
    real(dp) :: scale
    integer(int) :: p

    do p = 1, 6
      if (stage < 2) then
        call points(n, p, cell(:, :, 1), place(:, :, p, 1), U, q(:, :, :, p))
      else
        call points(n, p, cell(:, :, 1), place(:, :, p, 1), V, q(:, :, :, p))
      end if
    end do
    call fill(n, links, first, w, turn, bghost, q)
    do p = 1, 6
      call panel(sharp, n, cell, place(:, :, p, 2), facea, faceb, q(:, :, :, p), work)
      call update(stage, dt, n, work, mass(:, :, p), p, U, V)
    end do
    scale = merge(1.0_dp, dt, stage == 0) * weight(stage) * 2 * n / pi
    if (stage < 3) then
      call synchronise(n, links, scale, mass, V(:, :, :, 1))
    else
      call synchronise(n, links, scale, mass, U(:, :, :, 1))
    end if
  end subroutine stage_of

end module swe_pieces

! V = dU/dt
subroutine swe_rhs(sharp, n, cell, place, facea, faceb, links, first, w, turn, bghost, q, &
                   work, mass, U, V) bind(c)
  use swe_pieces
  implicit none
  integer(int), intent(in), value :: sharp, n
  integer(int), intent(in) :: links(3, 4, 6), first(n, 3)
  real(dp), intent(in) :: cell(n, n, 9), place(n, n, 6, 2), facea(0:n, n, 2), faceb(n, 0:n, 2)
  real(dp), intent(in) :: w(n, 3, 6), turn(n, 3, 4, 6, 2, 2), bghost(n, 3, 4, 6)
  real(dp), intent(inout) :: q(-2:n+3, -2:n+3, 4, 6), work(0:n, 0:n, 10), mass(n, 4, 6)
  real(dp), intent(inout), dimension(n, n, 6, 3) :: U, V

  call stage_of(0_int, 0.0_dp, sharp, n, cell, place, facea, faceb, links, first, w, turn, &
                bghost, q, work, mass, U, V)
end subroutine swe_rhs

! One step of SSP-RK3; V is scratch.
subroutine swe_step(dt, sharp, n, cell, place, facea, faceb, links, first, w, turn, bghost, &
                    q, work, mass, U, V) bind(c)
  use swe_pieces
  implicit none
  integer(int), intent(in), value :: sharp, n
  integer(int), intent(in) :: links(3, 4, 6), first(n, 3)
  real(dp), intent(in), value :: dt
  real(dp), intent(in) :: cell(n, n, 9), place(n, n, 6, 2), facea(0:n, n, 2), faceb(n, 0:n, 2)
  real(dp), intent(in) :: w(n, 3, 6), turn(n, 3, 4, 6, 2, 2), bghost(n, 3, 4, 6)
  real(dp), intent(inout) :: q(-2:n+3, -2:n+3, 4, 6), work(0:n, 0:n, 10), mass(n, 4, 6)
  real(dp), intent(inout), dimension(n, n, 6, 3) :: U, V
  integer(int) :: stage

  do stage = 1, 3
    call stage_of(stage, dt, sharp, n, cell, place, facea, faceb, links, first, w, turn, &
                  bghost, q, work, mass, U, V)
  end do
end subroutine swe_step

! The part of a stage that is about boundaries, on what the last one has left.
subroutine swe_boundary(n, links, first, w, turn, bghost, q, mass, V) bind(c)
  use swe_pieces
  implicit none
  integer(int), intent(in), value :: n
  integer(int), intent(in) :: links(3, 4, 6), first(n, 3)
  real(dp), intent(in) :: w(n, 3, 6), turn(n, 3, 4, 6, 2, 2), bghost(n, 3, 4, 6)
  real(dp), intent(in) :: mass(n, 4, 6)
  real(dp), intent(inout) :: q(-2:n+3, -2:n+3, 4, 6), V(n, n, 6, 3)

  call fill(n, links, first, w, turn, bghost, q)
  call synchronise(n, links, 0.0_dp, mass, V(:, :, :, 1))
end subroutine swe_boundary
