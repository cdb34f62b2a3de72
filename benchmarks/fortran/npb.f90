! Time steps of BT and SP of the NAS Parallel Benchmarks, from their equations: n^3 points, of which
! those on the boundary are given. *natural* has components innermost, arrays (5, n, n, n), loops
! over points, and stores the matrices of each line. *tuned* has one array for each component,
! (n, n, n, 5), and works on eight lines side by side.
!
! u is the state, f the forcing, r has room for changes and w for what is derived from the state.

module npb_flow
  use, intrinsic :: iso_c_binding, only: dp => c_double, ip => c_int64_t
  implicit none

  real(dp), parameter :: c1 = 1.4_dp, c2 = 0.4_dp, c3c4 = 0.1_dp, c1c5 = 1.96_dp
  real(dp), parameter :: stress = 4 * c3c4 / 3
  real(dp), parameter :: dissipation(3) = [0.75_dp, 0.75_dp, 1.0_dp]
  integer(ip), parameter :: lanes = 8

contains

  ! -- natural -----------------------------------------------------------------------------------

  ! Set w to 1 / rho, velocities, kinetic energy per volume and per mass, and the speed of sound.
  subroutine derive(n, u, w)
    integer(ip), intent(in) :: n
    real(dp), intent(in) :: u(5, n, n, n)
    real(dp), intent(out) :: w(7, n, n, n)
    real(dp) :: t
    integer(ip) :: i, j, k

    do k = 1, n
      do j = 1, n
        do i = 1, n
          t = 1 / u(1, i, j, k)
          w(1, i, j, k) = t
          w(2, i, j, k) = u(2, i, j, k) * t
          w(3, i, j, k) = u(3, i, j, k) * t
          w(4, i, j, k) = u(4, i, j, k) * t
          w(5, i, j, k) = 0.5_dp * t * (u(2, i, j, k)**2 + u(3, i, j, k)**2 + u(4, i, j, k)**2)
          w(6, i, j, k) = w(5, i, j, k) * t
          w(7, i, j, k) = sqrt(c1 * c2 * t * (u(5, i, j, k) - w(5, i, j, k)))
        end do
      end do
    end do
  end subroutine derive

  ! Set r to dt (f + L(u)) at the inner points.
  subroutine right_side(n, dt, u, f, w, r)
    integer(ip), intent(in) :: n
    real(dp), intent(in) :: dt, u(5, n, n, n), f(5, n, n, n), w(7, n, n, n)
    real(dp), intent(inout) :: r(5, n, n, n)
    integer(ip) :: i, j, k

    do k = 2, n - 1
      do j = 2, n - 1
        do i = 2, n - 1
          r(:, i, j, k) = f(:, i, j, k)
        end do
      end do
    end do
    do k = 2, n - 1
      do j = 2, n - 1
        do i = 2, n - 1
          call differ(2, dissipation(1), u(:, i - 1, j, k), u(:, i, j, k), u(:, i + 1, j, k), &
            w(:, i - 1, j, k), w(:, i, j, k), w(:, i + 1, j, k), r(:, i, j, k))
        end do
      end do
    end do
    do k = 2, n - 1
      do j = 2, n - 1
        call damp(r(:, 2, j, k), 5, u(:, 2, j, k), u(:, 3, j, k), u(:, 4, j, k))
        call damp_inside(r(:, 3, j, k), u(:, 2, j, k), u(:, 3, j, k), u(:, 4, j, k), u(:, 5, j, k))
        do i = 4, n - 3
          r(:, i, j, k) = r(:, i, j, k) - 0.25_dp * (u(:, i - 2, j, k) - 4 * u(:, i - 1, j, k) &
            + 6 * u(:, i, j, k) - 4 * u(:, i + 1, j, k) + u(:, i + 2, j, k))
        end do
        i = n - 2
        call damp_inside(r(:, i, j, k), u(:, i + 1, j, k), u(:, i, j, k), u(:, i - 1, j, k), &
          u(:, i - 2, j, k))
        i = n - 1
        call damp(r(:, i, j, k), 5, u(:, i, j, k), u(:, i - 1, j, k), u(:, i - 2, j, k))
      end do
    end do
    do k = 2, n - 1
      do j = 2, n - 1
        do i = 2, n - 1
          call differ(3, dissipation(2), u(:, i, j - 1, k), u(:, i, j, k), u(:, i, j + 1, k), &
            w(:, i, j - 1, k), w(:, i, j, k), w(:, i, j + 1, k), r(:, i, j, k))
        end do
      end do
    end do
    do k = 2, n - 1
      do i = 2, n - 1
        call damp(r(:, i, 2, k), 5, u(:, i, 2, k), u(:, i, 3, k), u(:, i, 4, k))
        call damp_inside(r(:, i, 3, k), u(:, i, 2, k), u(:, i, 3, k), u(:, i, 4, k), u(:, i, 5, k))
        j = n - 2
        call damp_inside(r(:, i, j, k), u(:, i, j + 1, k), u(:, i, j, k), u(:, i, j - 1, k), &
          u(:, i, j - 2, k))
        j = n - 1
        call damp(r(:, i, j, k), 5, u(:, i, j, k), u(:, i, j - 1, k), u(:, i, j - 2, k))
      end do
      do j = 4, n - 3
        do i = 2, n - 1
          r(:, i, j, k) = r(:, i, j, k) - 0.25_dp * (u(:, i, j - 2, k) - 4 * u(:, i, j - 1, k) &
            + 6 * u(:, i, j, k) - 4 * u(:, i, j + 1, k) + u(:, i, j + 2, k))
        end do
      end do
    end do
    do k = 2, n - 1
      do j = 2, n - 1
        do i = 2, n - 1
          call differ(4, dissipation(3), u(:, i, j, k - 1), u(:, i, j, k), u(:, i, j, k + 1), &
            w(:, i, j, k - 1), w(:, i, j, k), w(:, i, j, k + 1), r(:, i, j, k))
        end do
      end do
    end do
    do j = 2, n - 1
      do i = 2, n - 1
        call damp(r(:, i, j, 2), 5, u(:, i, j, 2), u(:, i, j, 3), u(:, i, j, 4))
        call damp_inside(r(:, i, j, 3), u(:, i, j, 2), u(:, i, j, 3), u(:, i, j, 4), u(:, i, j, 5))
        k = n - 2
        call damp_inside(r(:, i, j, k), u(:, i, j, k + 1), u(:, i, j, k), u(:, i, j, k - 1), &
          u(:, i, j, k - 2))
        k = n - 1
        call damp(r(:, i, j, k), 5, u(:, i, j, k), u(:, i, j, k - 1), u(:, i, j, k - 2))
      end do
    end do
    do k = 4, n - 3
      do j = 2, n - 1
        do i = 2, n - 1
          r(:, i, j, k) = r(:, i, j, k) - 0.25_dp * (u(:, i, j, k - 2) - 4 * u(:, i, j, k - 1) &
            + 6 * u(:, i, j, k) - 4 * u(:, i, j, k + 1) + u(:, i, j, k + 2))
        end do
      end do
    end do
    do k = 2, n - 1
      do j = 2, n - 1
        do i = 2, n - 1
          r(:, i, j, k) = dt * r(:, i, j, k)
        end do
      end do
    end do

  contains

    ! Add convection, viscosity and dissipation of second order along a direction, whose momentum
    ! is component c: of the points before, here and behind.
    subroutine differ(c, d, ub, u0, ua, wb, w0, wa, s)
      integer, intent(in) :: c
      real(dp), intent(in) :: d, ub(5), u0(5), ua(5), wb(7), w0(7), wa(7)
      real(dp), intent(inout) :: s(5)
      real(dp) :: t1, t2, kappa
      integer :: m

      t1 = real(n - 1, dp)**2
      t2 = 0.5_dp * real(n - 1, dp)
      s(1) = s(1) + d * t1 * (ua(1) - 2 * u0(1) + ub(1)) - t2 * (ua(c) - ub(c))
      do m = 2, 4
        kappa = merge(stress, c3c4, m == c)
        s(m) = s(m) + d * t1 * (ua(m) - 2 * u0(m) + ub(m)) &
          + kappa * t1 * (wa(m) - 2 * w0(m) + wb(m)) - t2 * (ua(m) * wa(c) - ub(m) * wb(c))
      end do
      s(c) = s(c) - t2 * c2 * ((ua(5) - wa(5)) - (ub(5) - wb(5)))
      s(5) = s(5) + d * t1 * (ua(5) - 2 * u0(5) + ub(5)) &
        + (1 - c1c5) * c3c4 * t1 * (wa(6) - 2 * w0(6) + wb(6)) &
        + c3c4 / 6 * t1 * (wa(c)**2 - 2 * w0(c)**2 + wb(c)**2) &
        + c1c5 * c3c4 * t1 * (ua(5) * wa(1) - 2 * u0(5) * w0(1) + ub(5) * wb(1)) &
        - t2 * ((c1 * ua(5) - c2 * wa(5)) * wa(c) - (c1 * ub(5) - c2 * wb(5)) * wb(c))
    end subroutine differ

    ! Subtract dissipation of fourth order at a point beside the boundary, and at the next.
    subroutine damp(s, weight, u0, u1, u2)
      integer, intent(in) :: weight
      real(dp), intent(in) :: u0(5), u1(5), u2(5)
      real(dp), intent(inout) :: s(5)

      s = s - 0.25_dp * (weight * u0 - 4 * u1 + u2)
    end subroutine damp

    subroutine damp_inside(s, ub, u0, u1, u2)
      real(dp), intent(in) :: ub(5), u0(5), u1(5), u2(5)
      real(dp), intent(inout) :: s(5)

      s = s - 0.25_dp * (-4 * ub + 6 * u0 - 4 * u1 + u2)
    end subroutine damp_inside
  end subroutine right_side

  subroutine add(n, r, u)
    integer(ip), intent(in) :: n
    real(dp), intent(in) :: r(5, n, n, n)
    real(dp), intent(inout) :: u(5, n, n, n)
    integer(ip) :: i, j, k

    do k = 2, n - 1
      do j = 2, n - 1
        do i = 2, n - 1
          u(:, i, j, k) = u(:, i, j, k) + r(:, i, j, k)
        end do
      end do
    end do
  end subroutine add

  ! -- tuned -------------------------------------------------------------------------------------

  subroutine derive_tuned(n, u, w)
    integer(ip), intent(in) :: n
    real(dp), intent(in) :: u(n, n, n, 5)
    real(dp), intent(inout) :: w(n, n, n, 7)
    real(dp) :: t
    integer(ip) :: i, j, k

    do k = 1, n
      do j = 1, n
        do i = 1, n
          t = 1 / u(i, j, k, 1)
          w(i, j, k, 1) = t
          w(i, j, k, 2) = u(i, j, k, 2) * t
          w(i, j, k, 3) = u(i, j, k, 3) * t
          w(i, j, k, 4) = u(i, j, k, 4) * t
          w(i, j, k, 5) = 0.5_dp * t * (u(i, j, k, 2)**2 + u(i, j, k, 3)**2 + u(i, j, k, 4)**2)
          w(i, j, k, 6) = w(i, j, k, 5) * t
        end do
      end do
    end do
  end subroutine derive_tuned

  ! Row by row, so that changes stay in the nearest cache until they are complete.
  subroutine right_side_tuned(n, dt, u, f, w, r)
    integer(ip), intent(in) :: n
    real(dp), intent(in) :: dt, u(n, n, n, 5), f(n, n, n, 5), w(n, n, n, 7)
    real(dp), intent(inout) :: r(n, n, n, 5)
    real(dp) :: e(5, n)
    integer(ip) :: i, j, k, m

    e = spread(0.25_dp * [1, -4, 6, -4, 1], 2, int(n))
    e(:, 2) = 0.25_dp * [0, 0, 5, -4, 1]
    e(1, 3) = 0
    e(5, n - 2) = 0
    e(:, n - 1) = 0.25_dp * [1, -4, 5, 0, 0]
    do k = 2, n - 1
      do j = 2, n - 1
        r(:, j, k, :) = f(:, j, k, :)
        call differ(2, dissipation(1), 1_ip, 0_ip, 0_ip)
        call differ(3, dissipation(2), 0_ip, 1_ip, 0_ip)
        call differ(4, dissipation(3), 0_ip, 0_ip, 1_ip)
        do m = 1, 5
          call damp(e(:, j), max(j - 2, 1_ip), k, j - 1, k, j + 1, k, min(j + 2, n), k)
          call damp(e(:, k), j, max(k - 2, 1_ip), j, k - 1, j, k + 1, j, min(k + 2, n))
          do i = 4, n - 3
            r(i, j, k, m) = r(i, j, k, m) - 0.25_dp * (u(i - 2, j, k, m) + u(i + 2, j, k, m) &
              - 4 * (u(i - 1, j, k, m) + u(i + 1, j, k, m)) + 6 * u(i, j, k, m))
          end do
          do i = 2, 3
            r(i, j, k, m) = r(i, j, k, m) - e(3, i) * u(i, j, k, m) - e(2, i) * u(i - 1, j, k, m) &
              - e(4, i) * u(i + 1, j, k, m) - e(5, i) * u(i + 2, j, k, m)
          end do
          do i = n - 2, n - 1
            r(i, j, k, m) = r(i, j, k, m) - e(3, i) * u(i, j, k, m) - e(2, i) * u(i - 1, j, k, m) &
              - e(4, i) * u(i + 1, j, k, m) - e(1, i) * u(i - 2, j, k, m)
          end do
          do i = 2, n - 1
            r(i, j, k, m) = dt * r(i, j, k, m)
          end do
        end do
      end do
    end do

  contains

    ! Add convection, viscosity and dissipation of second order along a direction to a row.
    subroutine differ(c, d, x, y, z)
      integer, intent(in) :: c
      real(dp), intent(in) :: d
      integer(ip), intent(in) :: x, y, z
      real(dp) :: t1, t2, kappa
      integer :: m

      t1 = real(n - 1, dp)**2
      t2 = 0.5_dp * real(n - 1, dp)
      do i = 2, n - 1
        r(i, j, k, 1) = r(i, j, k, 1) - t2 * (u(i+x, j+y, k+z, c) - u(i-x, j-y, k-z, c)) &
          + d * t1 * (u(i+x, j+y, k+z, 1) - 2 * u(i, j, k, 1) + u(i-x, j-y, k-z, 1))
      end do
      do m = 2, 4
        kappa = merge(stress, c3c4, m == c)
        do i = 2, n - 1
          r(i, j, k, m) = r(i, j, k, m) &
            + d * t1 * (u(i+x, j+y, k+z, m) - 2 * u(i, j, k, m) + u(i-x, j-y, k-z, m)) &
            + kappa * t1 * (w(i+x, j+y, k+z, m) - 2 * w(i, j, k, m) + w(i-x, j-y, k-z, m)) &
            - t2 * (u(i+x, j+y, k+z, m) * w(i+x, j+y, k+z, c) &
            - u(i-x, j-y, k-z, m) * w(i-x, j-y, k-z, c))
        end do
      end do
      do i = 2, n - 1
        r(i, j, k, c) = r(i, j, k, c) - t2 * c2 * ((u(i+x, j+y, k+z, 5) - w(i+x, j+y, k+z, 5)) &
          - (u(i-x, j-y, k-z, 5) - w(i-x, j-y, k-z, 5)))
        r(i, j, k, 5) = r(i, j, k, 5) &
          + d * t1 * (u(i+x, j+y, k+z, 5) - 2 * u(i, j, k, 5) + u(i-x, j-y, k-z, 5)) &
          + (1 - c1c5) * c3c4 * t1 &
          * (w(i+x, j+y, k+z, 6) - 2 * w(i, j, k, 6) + w(i-x, j-y, k-z, 6)) &
          + c3c4 / 6 * t1 &
          * (w(i+x, j+y, k+z, c)**2 - 2 * w(i, j, k, c)**2 + w(i-x, j-y, k-z, c)**2) &
          + c1c5 * c3c4 * t1 * (u(i+x, j+y, k+z, 5) * w(i+x, j+y, k+z, 1) &
          - 2 * u(i, j, k, 5) * w(i, j, k, 1) + u(i-x, j-y, k-z, 5) * w(i-x, j-y, k-z, 1)) &
          - t2 * ((c1 * u(i+x, j+y, k+z, 5) - c2 * w(i+x, j+y, k+z, 5)) * w(i+x, j+y, k+z, c) &
          - (c1 * u(i-x, j-y, k-z, 5) - c2 * w(i-x, j-y, k-z, 5)) * w(i-x, j-y, k-z, c))
      end do
    end subroutine differ

    ! Subtract dissipation of fourth order across rows, with weights and the places of four rows.
    subroutine damp(a, ja, ka, jb, kb, jc, kc, jd, kd)
      real(dp), intent(in) :: a(5)
      integer(ip), intent(in) :: ja, ka, jb, kb, jc, kc, jd, kd

      do i = 2, n - 1
        r(i, j, k, m) = r(i, j, k, m) - a(1) * u(i, ja, ka, m) - a(2) * u(i, jb, kb, m) &
          - a(3) * u(i, j, k, m) - a(4) * u(i, jc, kc, m) - a(5) * u(i, jd, kd, m)
      end do
    end subroutine damp
  end subroutine right_side_tuned

  ! Copy some components at the points of eight lines, whose first is at (i, j, k), from an array.
  subroutine taken(n, axis, i, j, k, order, a, b)
    integer(ip), intent(in) :: n, i, j, k
    integer, intent(in) :: axis, order(:)
    real(dp), intent(in) :: a(n, n, n, *)
    real(dp), intent(out) :: b(lanes, size(order), n)
    integer(ip) :: p
    integer :: m

    do p = 1, n
      do m = 1, size(order)
        select case (axis)
        case (1)
          b(:, m, p) = a(p, j:j+lanes-1, k, order(m))
        case (2)
          b(:, m, p) = a(i:i+lanes-1, p, k, order(m))
        case default
          b(:, m, p) = a(i:i+lanes-1, j, p, order(m))
        end select
      end do
    end do
  end subroutine taken

  ! Copy the inner points of lines, from the given one of the eight on, back to an array.
  subroutine given(n, axis, first, i, j, k, order, b, a)
    integer(ip), intent(in) :: n, first, i, j, k
    integer, intent(in) :: axis, order(:)
    real(dp), intent(in) :: b(lanes, size(order), n)
    real(dp), intent(inout) :: a(n, n, n, *)
    integer(ip) :: p
    integer :: m

    do p = 2, n - 1
      do m = 1, size(order)
        select case (axis)
        case (1)
          a(p, j+first-1:j+lanes-1, k, order(m)) = b(first:, m, p)
        case (2)
          a(i+first-1:i+lanes-1, p, k, order(m)) = b(first:, m, p)
        case default
          a(i+first-1:i+lanes-1, j, p, order(m)) = b(first:, m, p)
        end select
      end do
    end do
  end subroutine given
end module npb_flow

! Solves on eight lines side by side. Momenta and velocities are ordered with those along the lines
! first, so that all directions have the same blocks.
module npb_lines
  use npb_flow
  implicit none

contains

  ! Solve with blocks of 5 x 5 on three diagonals; only the upper factor c is stored.
  subroutine block_lines(n, dt, d, q, s, c)
    integer(ip), intent(in) :: n
    real(dp), intent(in) :: dt, d, q(lanes, 5, n)
    real(dp), intent(inout) :: s(lanes, 5, n), c(lanes, 5, 5, n)
    real(dp), dimension(lanes, 5, 5) :: flux, heat, lower, pivot
    real(dp) :: t1, t2
    integer(ip) :: p

    t1 = dt * real(n - 1, dp)**2
    t2 = dt * 0.5_dp * real(n - 1, dp)
    do p = 2, n - 1
      call jacobians(q(:, :, p), flux, heat)
      call combine(0.0_dp, 2 * t1, 1 + 2 * t1 * d, flux, heat, pivot)
      call jacobians(q(:, :, p + 1), flux, heat)
      call combine(t2, -t1, -t1 * d, flux, heat, c(:, :, :, p))
      if (p > 2) then
        call jacobians(q(:, :, p - 1), flux, heat)
        call combine(-t2, -t1, -t1 * d, flux, heat, lower)
        call reduce(lower, c(:, :, :, p - 1), s(:, :, p - 1), pivot, s(:, :, p))
      end if
      call eliminate(pivot, c(:, :, :, p), s(:, :, p))
    end do
    do p = n - 2, 2, -1
      call subtract(c(:, :, :, p), s(:, :, p + 1), s(:, :, p))
    end do
  end subroutine block_lines

  subroutine combine(x, y, z, flux, heat, a)
    real(dp), intent(in) :: x, y, z, flux(lanes, 5, 5), heat(lanes, 5, 5)
    real(dp), intent(out) :: a(lanes, 5, 5)
    integer :: m

    a = x * flux + y * heat
    do m = 1, 5
      a(:, m, m) = a(:, m, m) + z
    end do
  end subroutine combine

  subroutine subtract(a, x, y)
    real(dp), intent(in) :: a(lanes, 5, 5), x(lanes, 5)
    real(dp), intent(inout) :: y(lanes, 5)
    integer :: m

    do m = 1, 5
      y(:, m) = y(:, m) - a(:, m, 1) * x(:, 1) - a(:, m, 2) * x(:, 2) - a(:, m, 3) * x(:, 3) &
        - a(:, m, 4) * x(:, 4) - a(:, m, 5) * x(:, 5)
    end do
  end subroutine subtract

  ! Eliminate the block before the diagonal, without what is zero in it.
  subroutine reduce(a, c, x, b, y)
    real(dp), intent(in) :: a(lanes, 5, 5), c(lanes, 5, 5), x(lanes, 5)
    real(dp), intent(inout) :: b(lanes, 5, 5), y(lanes, 5)
    integer :: q

    do q = 1, 5
      b(:, 1, q) = b(:, 1, q) - a(:, 1, 1) * c(:, 1, q) - a(:, 1, 2) * c(:, 2, q)
      b(:, 2, q) = b(:, 2, q) - a(:, 2, 1) * c(:, 1, q) - a(:, 2, 2) * c(:, 2, q) &
        - a(:, 2, 3) * c(:, 3, q) - a(:, 2, 4) * c(:, 4, q) - a(:, 2, 5) * c(:, 5, q)
      b(:, 3, q) = b(:, 3, q) - a(:, 3, 1) * c(:, 1, q) - a(:, 3, 2) * c(:, 2, q) &
        - a(:, 3, 3) * c(:, 3, q)
      b(:, 4, q) = b(:, 4, q) - a(:, 4, 1) * c(:, 1, q) - a(:, 4, 2) * c(:, 2, q) &
        - a(:, 4, 4) * c(:, 4, q)
      b(:, 5, q) = b(:, 5, q) - a(:, 5, 1) * c(:, 1, q) - a(:, 5, 2) * c(:, 2, q) &
        - a(:, 5, 3) * c(:, 3, q) - a(:, 5, 4) * c(:, 4, q) - a(:, 5, 5) * c(:, 5, q)
    end do
    call subtract(a, x, y)
  end subroutine reduce

  ! Solve with a block for the columns of c and for y: forward, then backward.
  subroutine eliminate(b, c, y)
    real(dp), intent(inout) :: b(lanes, 5, 5), c(lanes, 5, 5), y(lanes, 5)
    real(dp) :: inverse(lanes)
    integer :: m, q, x

    do q = 1, 5
      inverse = 1 / b(:, q, q)
      do x = q + 1, 5
        b(:, q, x) = b(:, q, x) * inverse
      end do
      do x = 1, 5
        c(:, q, x) = c(:, q, x) * inverse
      end do
      y(:, q) = y(:, q) * inverse
      do m = q + 1, 5
        do x = q + 1, 5
          b(:, m, x) = b(:, m, x) - b(:, m, q) * b(:, q, x)
        end do
        do x = 1, 5
          c(:, m, x) = c(:, m, x) - b(:, m, q) * c(:, q, x)
        end do
        y(:, m) = y(:, m) - b(:, m, q) * y(:, q)
      end do
    end do
    do q = 5, 2, -1
      do m = 1, q - 1
        do x = 1, 5
          c(:, m, x) = c(:, m, x) - b(:, m, q) * c(:, q, x)
        end do
        y(:, m) = y(:, m) - b(:, m, q) * y(:, q)
      end do
    end do
  end subroutine eliminate

  ! Return the derivatives of the flux and of the viscous terms along the lines.
  subroutine jacobians(q, flux, heat)
    real(dp), intent(in) :: q(lanes, 5)
    real(dp), intent(out) :: flux(lanes, 5, 5), heat(lanes, 5, 5)
    real(dp), dimension(lanes) :: t, v, square, energy
    real(dp) :: e(lanes, 2:4)
    real(dp), parameter :: kappa(2:4) = [stress, c3c4, c3c4]
    integer :: m

    t = 1 / q(:, 1)
    do m = 2, 4
      e(:, m) = q(:, m) * t
    end do
    v = e(:, 2)
    square = 0.5_dp * (v * v + e(:, 3)**2 + e(:, 4)**2)
    energy = q(:, 5) * t
    flux = 0
    heat = 0
    flux(:, 1, 2) = 1
    heat(:, 5, 1) = -c1c5 * c3c4 * t * energy
    do m = 2, 4
      flux(:, m, 1) = -e(:, m) * v
      flux(:, m, m) = v
      flux(:, m, 2) = e(:, m)
      flux(:, 2, m) = -c2 * e(:, m)
      flux(:, 5, m) = -c2 * e(:, m) * v
      heat(:, m, 1) = -kappa(m) * t * e(:, m)
      heat(:, m, m) = kappa(m) * t
      heat(:, 5, 1) = heat(:, 5, 1) - (kappa(m) - c1c5 * c3c4) * t * e(:, m)**2
      heat(:, 5, m) = (kappa(m) - c1c5 * c3c4) * t * e(:, m)
    end do
    flux(:, 2, 1) = c2 * square - v * v
    flux(:, 2, 2) = (2 - c2) * v
    flux(:, 2, 5) = c2
    flux(:, 5, 1) = (2 * c2 * square - c1 * energy) * v
    flux(:, 5, 2) = c1 * energy - c2 * (v * v + square)
    flux(:, 5, 5) = c1 * v
    heat(:, 5, 5) = c1c5 * c3c4 * t
  end subroutine jacobians

  ! Solve five systems with five diagonals: three at the speed of the flow, and sound with and
  ! against it, made of the last two sides and taken apart again.
  subroutine band_lines(n, dt, d, e, s)
    integer(ip), intent(in) :: n
    real(dp), intent(in) :: dt, d
    real(dp), intent(inout) :: e(lanes, 3, n), s(lanes, 5, 0:n+1)
    real(dp) :: against(lanes)
    integer(ip) :: p

    e(:, 1, :) = dt * real(n - 1, dp)**2 * (d + c1c5 * c3c4 * e(:, 1, :))
    e(:, 2:3, :) = dt * 0.5_dp * real(n - 1, dp) * e(:, 2:3, :)
    s(:, :, 0:1) = 0
    s(:, :, n:n+1) = 0
    do p = 2, n - 1
      against = s(:, 5, p) - s(:, 4, p)
      s(:, 4, p) = s(:, 5, p) + s(:, 4, p)
      s(:, 5, p) = against
    end do
    call band(n, dt, 1, 3, e, s)
    e(:, 2, :) = e(:, 2, :) + e(:, 3, :)
    call band(n, dt, 4, 4, e, s)
    e(:, 2, :) = e(:, 2, :) - 2 * e(:, 3, :)
    call band(n, dt, 5, 5, e, s)
    do p = 2, n - 1
      against = 0.5_dp * (s(:, 4, p) + s(:, 5, p))
      s(:, 4, p) = 0.5_dp * (s(:, 4, p) - s(:, 5, p))
      s(:, 5, p) = against
    end do
  end subroutine band_lines

  ! Solve for some of the sides, which are zero before the first row and behind the last.
  subroutine band(n, dt, first, last, e, s)
    integer(ip), intent(in) :: n
    integer, intent(in) :: first, last
    real(dp), intent(in) :: dt, e(lanes, 3, n)
    real(dp), intent(inout) :: s(lanes, 5, 0:n+1)
    real(dp) :: e1(lanes), pivot(lanes), f1(lanes), upper(lanes, 2, 0:n), q
    integer(ip) :: p
    integer :: m

    q = 0.25_dp * dt
    upper(:, :, 0:1) = 0
    do p = 2, n - 1
      e1 = -e(:, 2, p - 1) - e(:, 1, p - 1) - 4 * q - q * upper(:, 1, p - 2)
      pivot = 1 + 2 * e(:, 1, p) + merge(5, 6, p == 2 .or. p == n - 1) * q &
        - q * upper(:, 2, p - 2) - e1 * upper(:, 1, p - 1)
      f1 = e(:, 2, p + 1) - e(:, 1, p + 1) - 4 * q - e1 * upper(:, 2, p - 1)
      pivot = 1 / pivot
      upper(:, 1, p) = f1 * pivot
      upper(:, 2, p) = q * pivot
      do m = first, last
        s(:, m, p) = (s(:, m, p) - q * s(:, m, p - 2) - e1 * s(:, m, p - 1)) * pivot
      end do
    end do
    do p = n - 2, 2, -1
      do m = first, last
        s(:, m, p) = s(:, m, p) - upper(:, 1, p) * s(:, m, p + 1) - upper(:, 2, p) * s(:, m, p + 2)
      end do
    end do
  end subroutine band
end module npb_lines

! A step of BT: blocks of 5 x 5 on three diagonals, stored for each line.
subroutine npb_bt_natural(n, dt, u, f, r, w) bind(c)
  use npb_flow
  integer(ip), value :: n
  real(dp), value :: dt
  real(dp), intent(inout) :: u(5, n, n, n), r(5, n, n, n), w(7, n, n, n)
  real(dp), intent(in) :: f(5, n, n, n)
  real(dp) :: q(5, n), e(7, n), s(5, n), flux(5, 5, n), heat(5, 5, n), lhs(5, 5, 3, n)
  integer(ip) :: i, j, k

  call derive(n, u, w)
  call right_side(n, dt, u, f, w, r)
  do k = 2, n - 1
    do j = 2, n - 1
      q = u(:, :, j, k)
      e = w(:, :, j, k)
      s = r(:, :, j, k)
      call line(2, dissipation(1))
      r(:, 2:n-1, j, k) = s(:, 2:n-1)
    end do
  end do
  do k = 2, n - 1
    do i = 2, n - 1
      q = u(:, i, :, k)
      e = w(:, i, :, k)
      s = r(:, i, :, k)
      call line(3, dissipation(2))
      r(:, i, 2:n-1, k) = s(:, 2:n-1)
    end do
  end do
  do j = 2, n - 1
    do i = 2, n - 1
      q = u(:, i, j, :)
      e = w(:, i, j, :)
      s = r(:, i, j, :)
      call line(4, dissipation(3))
      r(:, i, j, 2:n-1) = s(:, 2:n-1)
    end do
  end do
  call add(n, r, u)

contains

  subroutine line(c, d)
    integer, intent(in) :: c
    real(dp), intent(in) :: d
    real(dp) :: t1, t2
    integer(ip) :: p
    integer :: m

    t1 = dt * real(n - 1, dp)**2
    t2 = dt * 0.5_dp * real(n - 1, dp)
    do p = 1, n
      call jacobians(c, q(:, p), e(:, p), flux(:, :, p), heat(:, :, p))
    end do
    do p = 2, n - 1
      lhs(:, :, 1, p) = -t2 * flux(:, :, p - 1) - t1 * heat(:, :, p - 1)
      lhs(:, :, 2, p) = 2 * t1 * heat(:, :, p)
      lhs(:, :, 3, p) = t2 * flux(:, :, p + 1) - t1 * heat(:, :, p + 1)
      do m = 1, 5
        lhs(m, m, 1, p) = lhs(m, m, 1, p) - t1 * d
        lhs(m, m, 2, p) = lhs(m, m, 2, p) + 1 + 2 * t1 * d
        lhs(m, m, 3, p) = lhs(m, m, 3, p) - t1 * d
      end do
    end do
    call invert(lhs(:, :, 2, 2), lhs(:, :, 3, 2), s(:, 2))
    do p = 3, n - 1
      call subtract(lhs(:, :, 1, p), s(:, p - 1), s(:, p))
      call subtract_product(lhs(:, :, 1, p), lhs(:, :, 3, p - 1), lhs(:, :, 2, p))
      call invert(lhs(:, :, 2, p), lhs(:, :, 3, p), s(:, p))
    end do
    do p = n - 2, 2, -1
      call subtract(lhs(:, :, 3, p), s(:, p + 1), s(:, p))
    end do
  end subroutine line

  ! Return the derivatives of the flux and of the viscous terms along a direction.
  subroutine jacobians(c, q, e, a, g)
    integer, intent(in) :: c
    real(dp), intent(in) :: q(5), e(7)
    real(dp), intent(out) :: a(5, 5), g(5, 5)
    real(dp) :: t, v, energy, kappa
    integer :: m

    t = e(1)
    v = e(c)
    energy = q(5) * t
    a = 0
    g = 0
    a(1, c) = 1
    do m = 2, 4
      a(m, 1) = -e(m) * v
      a(m, m) = v
      a(m, c) = e(m)
      a(5, m) = -c2 * e(m) * v
    end do
    do m = 2, 4
      a(c, m) = -c2 * e(m)
    end do
    a(c, 1) = c2 * e(6) - v * v
    a(c, c) = (2 - c2) * v
    a(c, 5) = c2
    a(5, 1) = (2 * c2 * e(6) - c1 * energy) * v
    a(5, c) = c1 * energy - c2 * (v * v + e(6))
    a(5, 5) = c1 * v
    g(5, 1) = -c1c5 * c3c4 * t * energy
    do m = 2, 4
      kappa = merge(stress, c3c4, m == c)
      g(m, 1) = -kappa * t * e(m)
      g(m, m) = kappa * t
      g(5, 1) = g(5, 1) - (kappa - c1c5 * c3c4) * t * e(m)**2
      g(5, m) = (kappa - c1c5 * c3c4) * t * e(m)
    end do
    g(5, 5) = c1c5 * c3c4 * t
  end subroutine jacobians

  subroutine subtract(a, x, y)
    real(dp), intent(in) :: a(5, 5), x(5)
    real(dp), intent(inout) :: y(5)

    y = y - a(:, 1) * x(1) - a(:, 2) * x(2) - a(:, 3) * x(3) - a(:, 4) * x(4) - a(:, 5) * x(5)
  end subroutine subtract

  subroutine subtract_product(a, b, c)
    real(dp), intent(in) :: a(5, 5), b(5, 5)
    real(dp), intent(inout) :: c(5, 5)
    integer :: m

    do m = 1, 5
      call subtract(a, b(:, m), c(:, m))
    end do
  end subroutine subtract_product

  ! Solve with a for the columns of c and for y; all loops are unrolled.
  subroutine invert(a, c, y)
    real(dp), intent(inout) :: a(5, 5), c(5, 5), y(5)
    real(dp) :: pivot, factor
    integer :: m, q, x

    !GCC$ unroll 5
    do q = 1, 5
      pivot = 1 / a(q, q)
      !GCC$ unroll 5
      do x = q + 1, 5
        a(q, x) = a(q, x) * pivot
      end do
      !GCC$ unroll 5
      do x = 1, 5
        c(q, x) = c(q, x) * pivot
      end do
      y(q) = y(q) * pivot
      !GCC$ unroll 5
      do m = 1, 5
        if (m == q) cycle
        factor = a(m, q)
        !GCC$ unroll 5
        do x = q + 1, 5
          a(m, x) = a(m, x) - factor * a(q, x)
        end do
        !GCC$ unroll 5
        do x = 1, 5
          c(m, x) = c(m, x) - factor * c(q, x)
        end do
        y(m) = y(m) - factor * y(q)
      end do
    end do
  end subroutine invert
end subroutine npb_bt_natural

! A step of SP: five scalar systems with five diagonals on each line.
subroutine npb_sp_natural(n, dt, u, f, r, w) bind(c)
  use npb_flow
  integer(ip), value :: n
  real(dp), value :: dt
  real(dp), intent(inout) :: u(5, n, n, n), r(5, n, n, n), w(7, n, n, n)
  real(dp), intent(in) :: f(5, n, n, n)
  real(dp), parameter :: b = sqrt(0.5_dp)
  real(dp) :: speed(n), sigma(n), sound(n), s(5, n), lhs(5, n), plus(5, n), minus(5, n)
  integer(ip) :: i, j, k, p

  call derive(n, u, w)
  call right_side(n, dt, u, f, w, r)
  do k = 2, n - 1
    do j = 2, n - 1
      do i = 2, n - 1
        call to_x(w(:, i, j, k), r(:, i, j, k))
      end do
    end do
  end do
  do k = 2, n - 1
    do j = 2, n - 1
      do p = 1, n
        speed(p) = w(2, p, j, k)
        sound(p) = w(7, p, j, k)
        sigma(p) = dissipation(1) + c1c5 * c3c4 * w(1, p, j, k)
        s(:, p) = r(:, p, j, k)
      end do
      call line
      r(:, 2:n-1, j, k) = s(:, 2:n-1)
    end do
  end do
  do k = 2, n - 1
    do j = 2, n - 1
      do i = 2, n - 1
        r(:, i, j, k) = [-r(2, i, j, k), r(1, i, j, k), b * (r(4, i, j, k) - r(5, i, j, k)), &
          0.5_dp * (r(4, i, j, k) + r(5, i, j, k)) - b * r(3, i, j, k), &
          0.5_dp * (r(4, i, j, k) + r(5, i, j, k)) + b * r(3, i, j, k)]
      end do
    end do
  end do
  do k = 2, n - 1
    do i = 2, n - 1
      do p = 1, n
        speed(p) = w(3, i, p, k)
        sound(p) = w(7, i, p, k)
        sigma(p) = dissipation(2) + c1c5 * c3c4 * w(1, i, p, k)
        s(:, p) = r(:, i, p, k)
      end do
      call line
      r(:, i, 2:n-1, k) = s(:, 2:n-1)
    end do
  end do
  do k = 2, n - 1
    do j = 2, n - 1
      do i = 2, n - 1
        r(:, i, j, k) = [b * (r(4, i, j, k) - r(5, i, j, k)), -r(3, i, j, k), r(2, i, j, k), &
          0.5_dp * (r(4, i, j, k) + r(5, i, j, k)) - b * r(1, i, j, k), &
          0.5_dp * (r(4, i, j, k) + r(5, i, j, k)) + b * r(1, i, j, k)]
      end do
    end do
  end do
  do j = 2, n - 1
    do i = 2, n - 1
      do p = 1, n
        speed(p) = w(4, i, j, p)
        sound(p) = w(7, i, j, p)
        sigma(p) = dissipation(3) + c1c5 * c3c4 * w(1, i, j, p)
        s(:, p) = r(:, i, j, p)
      end do
      call line
      r(:, i, j, 2:n-1) = s(:, 2:n-1)
    end do
  end do
  do k = 2, n - 1
    do j = 2, n - 1
      do i = 2, n - 1
        call to_state(u(1, i, j, k), w(:, i, j, k), r(:, i, j, k))
      end do
    end do
  end do
  call add(n, r, u)

contains

  ! Change changes of the state to the eigenvectors along x, and back from those along z.
  subroutine to_x(e, s)
    real(dp), intent(in) :: e(7)
    real(dp), intent(inout) :: s(5)
    real(dp) :: g1, g2, g3

    g1 = c2 / e(7)**2 * (e(6) * s(1) - e(2) * s(2) - e(3) * s(3) - e(4) * s(4) + s(5))
    g2 = b * e(1) * (e(2) * s(1) - s(2))
    g3 = b * e(1) * e(7) * g1
    s = [s(1) - g1, -e(1) * (e(4) * s(1) - s(4)), e(1) * (e(3) * s(1) - s(3)), g3 - g2, g3 + g2]
  end subroutine to_x

  subroutine to_state(rho, e, s)
    real(dp), intent(in) :: rho, e(7)
    real(dp), intent(inout) :: s(5)
    real(dp) :: g1, g2, g3

    g1 = b * rho * (s(4) + s(5)) / e(7)
    g2 = s(3) + g1
    g3 = b * rho * (s(4) - s(5))
    s = [g2, e(2) * g2 - rho * s(2), e(3) * g2 + rho * s(1), e(4) * g2 + g3, &
      rho * (e(3) * s(1) - e(2) * s(2)) + e(6) * g2 + e(7)**2 / c2 * g1 + e(4) * g3]
  end subroutine to_state

  ! Solve on a line: three systems at the speed of the flow, one each with and against sound.
  subroutine line
    real(dp) :: t1, t2, q
    integer(ip) :: p

    t1 = dt * real(n - 1, dp)**2
    t2 = dt * 0.5_dp * real(n - 1, dp)
    q = 0.25_dp * dt
    do p = 2, n - 1
      lhs(1, p) = q
      lhs(2, p) = -t2 * speed(p - 1) - t1 * sigma(p - 1) - 4 * q
      lhs(3, p) = 1 + 2 * t1 * sigma(p) + 6 * q
      lhs(4, p) = t2 * speed(p + 1) - t1 * sigma(p + 1) - 4 * q
      lhs(5, p) = q
    end do
    lhs(3, 2) = lhs(3, 2) - q
    lhs(3, n - 1) = lhs(3, n - 1) - q
    plus = lhs
    minus = lhs
    do p = 2, n - 1
      plus(2, p) = lhs(2, p) - t2 * sound(p - 1)
      plus(4, p) = lhs(4, p) + t2 * sound(p + 1)
      minus(2, p) = lhs(2, p) + t2 * sound(p - 1)
      minus(4, p) = lhs(4, p) - t2 * sound(p + 1)
    end do
    call eliminate(1, 3, lhs)
    call eliminate(4, 4, plus)
    call eliminate(5, 5, minus)
  end subroutine line

  subroutine eliminate(first, last, a)
    integer, intent(in) :: first, last
    real(dp), intent(inout) :: a(5, n)
    real(dp) :: pivot
    integer(ip) :: p
    integer :: m

    do p = 2, n - 1
      pivot = 1 / a(3, p)
      a(4, p) = a(4, p) * pivot
      a(5, p) = a(5, p) * pivot
      do m = first, last
        s(m, p) = s(m, p) * pivot
      end do
      if (p < n - 1) then
        a(3, p + 1) = a(3, p + 1) - a(2, p + 1) * a(4, p)
        a(4, p + 1) = a(4, p + 1) - a(2, p + 1) * a(5, p)
        do m = first, last
          s(m, p + 1) = s(m, p + 1) - a(2, p + 1) * s(m, p)
        end do
      end if
      if (p < n - 2) then
        a(2, p + 2) = a(2, p + 2) - a(1, p + 2) * a(4, p)
        a(3, p + 2) = a(3, p + 2) - a(1, p + 2) * a(5, p)
        do m = first, last
          s(m, p + 2) = s(m, p + 2) - a(1, p + 2) * s(m, p)
        end do
      end if
    end do
    do m = first, last
      s(m, n - 2) = s(m, n - 2) - a(4, n - 2) * s(m, n - 1)
    end do
    do p = n - 3, 2, -1
      do m = first, last
        s(m, p) = s(m, p) - a(4, p) * s(m, p + 1) - a(5, p) * s(m, p + 2)
      end do
    end do
  end subroutine eliminate
end subroutine npb_sp_natural

! A step of BT on eight lines side by side.
subroutine npb_bt_tuned(n, dt, u, f, r, w) bind(c)
  use npb_lines
  integer(ip), value :: n
  real(dp), value :: dt
  real(dp), intent(inout) :: u(n, n, n, 5), r(n, n, n, 5), w(n, n, n, 7)
  real(dp), intent(in) :: f(n, n, n, 5)
  integer, parameter :: order(5, 3) = reshape([1, 2, 3, 4, 5, 1, 3, 2, 4, 5, 1, 4, 3, 2, 5], [5, 3])
  real(dp) :: q(lanes, 5, n), s(lanes, 5, n), c(lanes, 5, 5, n)
  integer(ip) :: i, j, k, first
  integer :: axis

  call derive_tuned(n, u, w)
  call right_side_tuned(n, dt, u, f, w, r)
  do axis = 1, 3
    do k = 2, n - 1
      do first = 2, n - 1, lanes
        i = min(first, n - lanes)
        j = merge(i, k, axis == 1)
        call taken(n, axis, i, j, k, order(:, axis), u, q)
        call taken(n, axis, i, j, k, order(:, axis), r, s)
        call block_lines(n, dt, dissipation(axis), q, s, c)
        call given(n, axis, first - i + 1, i, j, k, order(:, axis), s, r)
      end do
    end do
  end do
  u(2:n-1, 2:n-1, 2:n-1, :) = u(2:n-1, 2:n-1, 2:n-1, :) + r(2:n-1, 2:n-1, 2:n-1, :)
end subroutine npb_bt_tuned

! A step of SP on eight lines side by side, with changes of entropy, velocities and pressure instead
! of components of eigenvectors: of these only sound is put together for each direction.
subroutine npb_sp_tuned(n, dt, u, f, r, w) bind(c)
  use npb_lines
  integer(ip), value :: n
  real(dp), value :: dt
  real(dp), intent(inout) :: u(n, n, n, 5), r(n, n, n, 5), w(n, n, n, 7)
  real(dp), intent(in) :: f(n, n, n, 5)
  integer, parameter :: order(5, 3) = reshape([1, 3, 4, 2, 5, 1, 2, 4, 3, 5, 1, 2, 3, 4, 5], [5, 3])
  real(dp) :: e(lanes, 3, n), s(lanes, 5, 0:n+1), mass, m1, m2, m3, p, c
  integer(ip) :: i, j, k, first
  integer :: axis

  call derive_tuned(n, u, w)
  call right_side_tuned(n, dt, u, f, w, r)
  do k = 1, n
    do j = 1, n
      do i = 1, n
        c = sqrt(c1 * c2 * w(i, j, k, 1) * (u(i, j, k, 5) - w(i, j, k, 5)))
        w(i, j, k, 7) = c
        mass = r(i, j, k, 1)
        p = c2 / (c * c) * (w(i, j, k, 6) * mass - w(i, j, k, 2) * r(i, j, k, 2) &
          - w(i, j, k, 3) * r(i, j, k, 3) - w(i, j, k, 4) * r(i, j, k, 4) + r(i, j, k, 5))
        r(i, j, k, 1) = mass - p
        r(i, j, k, 2) = w(i, j, k, 1) * (r(i, j, k, 2) - w(i, j, k, 2) * mass)
        r(i, j, k, 3) = w(i, j, k, 1) * (r(i, j, k, 3) - w(i, j, k, 3) * mass)
        r(i, j, k, 4) = w(i, j, k, 1) * (r(i, j, k, 4) - w(i, j, k, 4) * mass)
        r(i, j, k, 5) = c * w(i, j, k, 1) * p
      end do
    end do
  end do
  do axis = 1, 3
    do k = 2, n - 1
      do first = 2, n - 1, lanes
        i = min(first, n - lanes)
        j = merge(i, k, axis == 1)
        call taken(n, axis, i, j, k, [1, 1 + axis, 7], w, e)
        call taken(n, axis, i, j, k, order(:, axis), r, s(:, :, 1:n))
        call band_lines(n, dt, dissipation(axis), e, s)
        call given(n, axis, first - i + 1, i, j, k, order(:, axis), s(:, :, 1:n), r)
      end do
    end do
  end do
  do k = 2, n - 1
    do j = 2, n - 1
      do i = 2, n - 1
        mass = r(i, j, k, 1) + u(i, j, k, 1) / w(i, j, k, 7) * r(i, j, k, 5)
        m1 = u(i, j, k, 1) * r(i, j, k, 2) + w(i, j, k, 2) * mass
        m2 = u(i, j, k, 1) * r(i, j, k, 3) + w(i, j, k, 3) * mass
        m3 = u(i, j, k, 1) * r(i, j, k, 4) + w(i, j, k, 4) * mass
        u(i, j, k, 5) = u(i, j, k, 5) + u(i, j, k, 1) * w(i, j, k, 7) / c2 * r(i, j, k, 5) &
          - w(i, j, k, 6) * mass + w(i, j, k, 2) * m1 + w(i, j, k, 3) * m2 + w(i, j, k, 4) * m3
        u(i, j, k, 1) = u(i, j, k, 1) + mass
        u(i, j, k, 2) = u(i, j, k, 2) + m1
        u(i, j, k, 3) = u(i, j, k, 3) + m2
        u(i, j, k, 4) = u(i, j, k, 4) + m3
      end do
    end do
  end do
end subroutine npb_sp_tuned
