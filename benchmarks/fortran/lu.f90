! A step of LU of the NAS Parallel Benchmarks, in the standard form: components innermost, the
! blocks of one plane formed and stored, then the plane is swept; 5 x 5 elimination at each point.
! Arrays are (5, n, n, n), the last three indices along x, y and z, spacing h = 1 / (n - 1).
! u is advanced from the forcing frct, which is the operator of the exact solution; rsd is scratch.

module lu_constants
  use, intrinsic :: iso_c_binding, only: c_double, c_int64_t
  implicit none
  integer, parameter :: wp = c_double, ip = c_int64_t
  real(wp), parameter :: c1 = 1.4_wp, c2 = 0.4_wp, c34 = 0.1_wp, c1345 = 0.196_wp
  real(wp), parameter :: r43 = 4 / 3.0_wp, omega = 1.2_wp, dssp = 0.25_wp
  real(wp), parameter :: diss(3) = [0.75_wp, 0.75_wp, 1.0_wp]
end module lu_constants

subroutine lu_natural(n, dt, h, u, frct, rsd) bind(c)
  use lu_constants
  implicit none
  integer(ip), value :: n
  real(wp), value :: dt, h
  real(wp), intent(inout) :: u(5, n, n, n), rsd(5, n, n, n)
  real(wp), intent(in) :: frct(5, n, n, n)
  real(wp), allocatable :: rho(:, :, :), qs(:, :, :), a(:, :, :, :), b(:, :, :, :), c(:, :, :, :)
  real(wp), allocatable :: d(:, :, :, :)
  real(wp) :: t1, t2
  integer(ip) :: i, j, k

  allocate (rho(n, n, n), qs(n, n, n))
  allocate (a(5, 5, n, n), b(5, 5, n, n), c(5, 5, n, n), d(5, 5, n, n))
  t1 = 1 / h**2
  t2 = 1 / (2 * h)
  call residual
  do k = 2, n - 1
    do j = 2, n - 1
      do i = 2, n - 1
        rsd(:, i, j, k) = dt * rsd(:, i, j, k)
      end do
    end do
  end do
  do k = 2, n - 1
    call blocks(k, -1_ip)
    call lower(k)
  end do
  do k = n - 1, 2, -1
    call blocks(k, 1_ip)
    call upper(k)
  end do
  do k = 2, n - 1
    do j = 2, n - 1
      do i = 2, n - 1
        u(:, i, j, k) = u(:, i, j, k) + rsd(:, i, j, k) / (omega * (2 - omega))
      end do
    end do
  end do

contains

  ! The diagonal blocks d of a plane, and those of the neighbours on one side: a, b, c for z, y, x.
  subroutine blocks(k, side)
    integer(ip), intent(in) :: k, side
    integer(ip) :: i, j

    do j = 2, n - 1
      do i = 2, n - 1
        call diagonal(u(:, i, j, k), rho(i, j, k), d(:, :, i, j))
        call beside(u(:, i, j, k + side), rho(i, j, k + side), qs(i, j, k + side), 3, side, &
                    a(:, :, i, j))
        call beside(u(:, i, j + side, k), rho(i, j + side, k), qs(i, j + side, k), 2, side, &
                    b(:, :, i, j))
        call beside(u(:, i + side, j, k), rho(i + side, j, k), qs(i + side, j, k), 1, side, &
                    c(:, :, i, j))
      end do
    end do
  end subroutine blocks

  pure subroutine diagonal(v, t, m)
    real(wp), intent(in) :: v(5), t
    real(wp), intent(out) :: m(5, 5)
    real(wp) :: s, total, kk, mm
    integer :: l

    s = 2 * dt * t1
    total = sum(diss)
    kk = (r43 + 2) * c34
    mm = 3 * c1345
    m = 0
    m(1, 1) = 1 + s * total
    do l = 2, 4
      m(l, 1) = -s * kk * t**2 * v(l)
      m(l, l) = 1 + s * (kk * t + total)
      m(5, l) = s * (kk - mm) * t**2 * v(l)
    end do
    m(5, 1) = -s * ((kk - mm) * t**3 * (v(2)**2 + v(3)**2 + v(4)**2) + mm * t**2 * v(5))
    m(5, 5) = 1 + s * (mm * t + total)
  end subroutine diagonal

  ! The block of a neighbour along a direction: side dt t2 f - dt t1 g - dt t1 D I.
  pure subroutine beside(v, t, q, direction, side, m)
    real(wp), intent(in) :: v(5), t, q
    integer, intent(in) :: direction
    integer(ip), intent(in) :: side
    real(wp), intent(out) :: m(5, 5)
    real(wp) :: f, g, kappa(4), un, w(4)
    integer :: l, normal

    normal = direction + 1
    f = side * dt * t2
    g = dt * t1
    kappa = c34
    kappa(normal) = r43 * c34
    w = t * v(1:4)
    un = w(normal)
    m = 0
    m(1, 1) = -g * diss(direction)
    m(1, normal) = f
    do l = 2, 4
      m(l, 1) = -f * w(l) * un + g * kappa(l) * t * w(l)
      m(l, l) = f * un - g * kappa(l) * t - g * diss(direction)
      m(l, normal) = m(l, normal) + f * w(l)
    end do
    do l = 2, 4
      m(normal, l) = m(normal, l) - f * c2 * w(l)
      m(5, l) = -f * c2 * w(l) * un - g * (kappa(l) - c1345) * t * w(l)
    end do
    m(normal, 1) = m(normal, 1) + f * c2 * q
    m(normal, 5) = f * c2
    m(5, 1) = f * (2 * c2 * q - c1 * t * v(5)) * un + g * c1345 * t * t * v(5)
    do l = 2, 4
      m(5, 1) = m(5, 1) + g * (kappa(l) - c1345) * t * w(l)**2
    end do
    m(5, normal) = m(5, normal) + f * (c1 * t * v(5) - c2 * q)
    m(5, 5) = f * c1 * un - g * c1345 * t - g * diss(direction)
  end subroutine beside

  subroutine lower(k)
    integer(ip), intent(in) :: k
    integer(ip) :: i, j
    integer :: m
    real(wp) :: r(5)

    do j = 2, n - 1
      do i = 2, n - 1
        do m = 1, 5
          r(m) = rsd(m, i, j, k) - omega * ( &
                 a(m, 1, i, j) * rsd(1, i, j, k - 1) + a(m, 2, i, j) * rsd(2, i, j, k - 1) &
                 + a(m, 3, i, j) * rsd(3, i, j, k - 1) + a(m, 4, i, j) * rsd(4, i, j, k - 1) &
                 + a(m, 5, i, j) * rsd(5, i, j, k - 1))
        end do
        do m = 1, 5
          r(m) = r(m) - omega * ( &
                 b(m, 1, i, j) * rsd(1, i, j - 1, k) + c(m, 1, i, j) * rsd(1, i - 1, j, k) &
                 + b(m, 2, i, j) * rsd(2, i, j - 1, k) + c(m, 2, i, j) * rsd(2, i - 1, j, k) &
                 + b(m, 3, i, j) * rsd(3, i, j - 1, k) + c(m, 3, i, j) * rsd(3, i - 1, j, k) &
                 + b(m, 4, i, j) * rsd(4, i, j - 1, k) + c(m, 4, i, j) * rsd(4, i - 1, j, k) &
                 + b(m, 5, i, j) * rsd(5, i, j - 1, k) + c(m, 5, i, j) * rsd(5, i - 1, j, k))
        end do
        call solved(d(:, :, i, j), r)
        rsd(:, i, j, k) = r
      end do
    end do
  end subroutine lower

  subroutine upper(k)
    integer(ip), intent(in) :: k
    integer(ip) :: i, j
    integer :: m
    real(wp) :: r(5)

    do j = n - 1, 2, -1
      do i = n - 1, 2, -1
        do m = 1, 5
          r(m) = omega * ( &
                 a(m, 1, i, j) * rsd(1, i, j, k + 1) + a(m, 2, i, j) * rsd(2, i, j, k + 1) &
                 + a(m, 3, i, j) * rsd(3, i, j, k + 1) + a(m, 4, i, j) * rsd(4, i, j, k + 1) &
                 + a(m, 5, i, j) * rsd(5, i, j, k + 1))
        end do
        do m = 1, 5
          r(m) = r(m) + omega * ( &
                 b(m, 1, i, j) * rsd(1, i, j + 1, k) + c(m, 1, i, j) * rsd(1, i + 1, j, k) &
                 + b(m, 2, i, j) * rsd(2, i, j + 1, k) + c(m, 2, i, j) * rsd(2, i + 1, j, k) &
                 + b(m, 3, i, j) * rsd(3, i, j + 1, k) + c(m, 3, i, j) * rsd(3, i + 1, j, k) &
                 + b(m, 4, i, j) * rsd(4, i, j + 1, k) + c(m, 4, i, j) * rsd(4, i + 1, j, k) &
                 + b(m, 5, i, j) * rsd(5, i, j + 1, k) + c(m, 5, i, j) * rsd(5, i + 1, j, k))
        end do
        call solved(d(:, :, i, j), r)
        rsd(:, i, j, k) = rsd(:, i, j, k) - r
      end do
    end do
  end subroutine upper

  ! Dense elimination without pivoting, written out column by column.
  pure subroutine solved(m, r)
    real(wp), intent(in) :: m(5, 5)
    real(wp), intent(inout) :: r(5)
    real(wp) :: w(5, 5), pivot, factor
    integer :: p, q

    w = m
    do p = 1, 4
      pivot = 1 / w(p, p)
      do q = p + 1, 5
        factor = pivot * w(q, p)
        w(q, p + 1:5) = w(q, p + 1:5) - factor * w(p, p + 1:5)
        r(q) = r(q) - factor * r(p)
      end do
    end do
    do p = 5, 1, -1
      r(p) = (r(p) - dot_product(w(p, p + 1:5), r(p + 1:5))) / w(p, p)
    end do
  end subroutine solved

  subroutine residual
    real(wp) :: flux(5, n), tmp(5, n)
    integer(ip) :: i, j, k

    do k = 1, n
      do j = 1, n
        do i = 1, n
          rsd(:, i, j, k) = -frct(:, i, j, k)
          rho(i, j, k) = 1 / u(1, i, j, k)
          qs(i, j, k) = 0.5_wp * rho(i, j, k)**2 &
                        * (u(2, i, j, k)**2 + u(3, i, j, k)**2 + u(4, i, j, k)**2)
        end do
      end do
    end do
    do k = 2, n - 1
      do j = 2, n - 1
        call line(u(:, :, j, k), rho(:, j, k), qs(:, j, k), 1, rsd(:, :, j, k), flux, tmp)
      end do
    end do
    do k = 2, n - 1
      do i = 2, n - 1
        call line(u(:, i, :, k), rho(i, :, k), qs(i, :, k), 2, rsd(:, i, :, k), flux, tmp)
      end do
    end do
    do j = 2, n - 1
      do i = 2, n - 1
        call line(u(:, i, j, :), rho(i, j, :), qs(i, j, :), 3, rsd(:, i, j, :), flux, tmp)
      end do
    end do
  end subroutine residual

  ! Add what a direction contributes along a line: convection, viscous fluxes, dissipation.
  pure subroutine line(v, t, q, direction, r, flux, viscous)
    real(wp), intent(in) :: v(:, :), t(:), q(:)
    integer, intent(in) :: direction
    real(wp), intent(inout) :: r(:, :)
    real(wp), intent(out) :: flux(:, :), viscous(:, :)
    real(wp) :: un, jump(4), w(4), before(4), kinetic(2), g
    integer(ip) :: p
    integer :: m, normal

    normal = direction + 1
    do p = 1, n
      un = t(p) * v(normal, p)
      flux(1, p) = v(normal, p)
      flux(2:4, p) = v(2:4, p) * un
      flux(normal, p) = flux(normal, p) + c2 * (v(5, p) - v(1, p) * q(p))
      flux(5, p) = (c1 * v(5, p) - c2 * v(1, p) * q(p)) * un
    end do
    do p = 2, n
      w = t(p) * [v(2:4, p), v(5, p)]
      before = t(p - 1) * [v(2:4, p - 1), v(5, p - 1)]
      jump = (w - before) / h
      kinetic = [q(p), q(p - 1)]
      viscous(1, p) = 0
      viscous(2:4, p) = c34 * jump(1:3)
      viscous(normal, p) = r43 * viscous(normal, p)
      viscous(5, p) = c34 / h * ((1 - c1 * c1) * (kinetic(1) - kinetic(2)) &
                      + (w(direction)**2 - before(direction)**2) / 6) + c1345 * jump(4)
    end do
    g = diss(direction) * t1
    do p = 2, n - 1
      do m = 1, 5
        r(m, p) = r(m, p) + g * (v(m, p - 1) - 2 * v(m, p) + v(m, p + 1)) &
                  - t2 * (flux(m, p + 1) - flux(m, p - 1)) + (viscous(m, p + 1) - viscous(m, p)) / h
      end do
    end do
    do m = 1, 5
      r(m, 2) = r(m, 2) - dssp * (5 * v(m, 2) - 4 * v(m, 3) + v(m, 4))
      r(m, 3) = r(m, 3) - dssp * (-4 * v(m, 2) + 6 * v(m, 3) - 4 * v(m, 4) + v(m, 5))
      r(m, n - 2) = r(m, n - 2) - dssp * (v(m, n - 4) - 4 * v(m, n - 3) + 6 * v(m, n - 2) &
                                          - 4 * v(m, n - 1))
      r(m, n - 1) = r(m, n - 1) - dssp * (v(m, n - 3) - 4 * v(m, n - 2) + 5 * v(m, n - 1))
    end do
    do p = 4, n - 3
      do m = 1, 5
        r(m, p) = r(m, p) - dssp * (v(m, p - 2) - 4 * v(m, p - 1) + 6 * v(m, p) &
                                    - 4 * v(m, p + 1) + v(m, p + 2))
      end do
    end do
  end subroutine line

end subroutine lu_natural
