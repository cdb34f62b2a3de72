! Solve along the lines of one axis: a diagonal d(i, j, k), -1 beside it, and, for reach 2, 1/10
! beside these. Arrays are (nx, ny, nz), the first index contiguous; axis is 1, 2 or 3.

! Line by line along the first axis, plane by plane of lines along the others.
subroutine band_natural(nx, ny, nz, axis, reach, d, b, x) bind(c)
  use, intrinsic :: iso_c_binding, only: c_double, c_int64_t
  implicit none
  integer(c_int64_t), value :: nx, ny, nz, axis, reach
  real(c_double), intent(in) :: d(nx, ny, nz), b(nx, ny, nz)
  real(c_double), intent(inout) :: x(nx, ny, nz)
  real(c_double), allocatable :: p(:, :), r(:, :)
  integer(c_int64_t) :: j, k, n

  n = merge(nx, merge(ny, nz, axis == 2), axis == 1)
  if (axis == 1) then
    allocate (p(1, n), r(1, n))
    do k = 1, nz
      do j = 1, ny
        p(1, :) = d(:, j, k)
        r(1, :) = b(:, j, k)
        call eliminate(1_c_int64_t, n, reach, p, r)
        x(:, j, k) = r(1, :)
      end do
    end do
  else if (axis == 2) then
    allocate (p(nx, n), r(nx, n))
    do k = 1, nz
      p = d(:, :, k)
      r = b(:, :, k)
      call eliminate(nx, n, reach, p, r)
      x(:, :, k) = r
    end do
  else
    allocate (p(nx, n), r(nx, n))
    do j = 1, ny
      p = d(:, j, :)
      r = b(:, j, :)
      call eliminate(nx, n, reach, p, r)
      x(:, j, :) = r
    end do
  end if

contains

  subroutine eliminate(m, n, reach, p, r)
    integer(c_int64_t), intent(in) :: m, n, reach
    real(c_double), intent(in) :: p(m, n)
    real(c_double), intent(inout) :: r(m, n)
    real(c_double) :: c1(m, -1:n), c2(m, -1:n), a, e, f
    integer(c_int64_t) :: i, l

    c1(:, -1:0) = 0
    c2(:, -1:0) = 0
    e = merge(0.1_c_double, 0.0_c_double, reach == 2)
    do i = 1, n
      do l = 1, m
        a = -1 - e * c1(l, i - 2)
        f = p(l, i) - e * c2(l, i - 2) - a * c1(l, i - 1)
        c1(l, i) = (-1 - a * c2(l, i - 1)) / f
        c2(l, i) = e / f
        if (i > 2) r(l, i) = r(l, i) - e * r(l, i - 2)
        if (i > 1) r(l, i) = r(l, i) - a * r(l, i - 1)
        r(l, i) = r(l, i) / f
      end do
    end do
    do i = n - 1, 1, -1
      do l = 1, m
        r(l, i) = r(l, i) - c1(l, i) * r(l, i + 1)
        if (i < n - 1) r(l, i) = r(l, i) - c2(l, i) * r(l, i + 2)
      end do
    end do
  end subroutine eliminate
end subroutine band_natural

! Eight lines at a time, side by side in local arrays; ny and nx are multiples of eight.
subroutine band_tuned(nx, ny, nz, axis, reach, d, b, x) bind(c)
  use, intrinsic :: iso_c_binding, only: c_double, c_int64_t
  implicit none
  integer(c_int64_t), parameter :: w = 8
  integer(c_int64_t), value :: nx, ny, nz, axis, reach
  real(c_double), intent(in) :: d(nx, ny, nz), b(nx, ny, nz)
  real(c_double), intent(inout) :: x(nx, ny, nz)
  real(c_double) :: p(w, max(nx, ny, nz)), r(w, max(nx, ny, nz))
  integer(c_int64_t) :: i, j, k

  if (axis == 1) then
    do k = 1, nz
      do j = 1, ny, w
        p(:, 1:nx) = transpose(d(:, j:j+w-1, k))
        r(:, 1:nx) = transpose(b(:, j:j+w-1, k))
        call eliminate(nx)
        x(:, j:j+w-1, k) = transpose(r(:, 1:nx))
      end do
    end do
  else if (axis == 2) then
    do k = 1, nz
      do i = 1, nx, w
        p(:, 1:ny) = d(i:i+w-1, :, k)
        r(:, 1:ny) = b(i:i+w-1, :, k)
        call eliminate(ny)
        x(i:i+w-1, :, k) = r(:, 1:ny)
      end do
    end do
  else
    do j = 1, ny
      do i = 1, nx, w
        p(:, 1:nz) = d(i:i+w-1, j, :)
        r(:, 1:nz) = b(i:i+w-1, j, :)
        call eliminate(nz)
        x(i:i+w-1, j, :) = r(:, 1:nz)
      end do
    end do
  end if

contains

  subroutine eliminate(n)
    integer(c_int64_t), intent(in) :: n

    if (reach == 1) then
      call three(n)
    else
      call five(n)
    end if
  end subroutine eliminate

  subroutine three(n)
    integer(c_int64_t), intent(in) :: n
    real(c_double) :: c(w, n), m(w)
    integer(c_int64_t) :: i, l

    m = 1 / p(:, 1)
    c(:, 1) = -m
    r(:, 1) = r(:, 1) * m
    do i = 2, n
      do l = 1, w
        m(l) = 1 / (p(l, i) + c(l, i - 1))
        c(l, i) = -m(l)
        r(l, i) = (r(l, i) + r(l, i - 1)) * m(l)
      end do
    end do
    do i = n - 1, 1, -1
      do l = 1, w
        r(l, i) = r(l, i) - c(l, i) * r(l, i + 1)
      end do
    end do
  end subroutine three

  subroutine five(n)
    integer(c_int64_t), intent(in) :: n
    real(c_double), parameter :: e = 0.1_c_double
    real(c_double) :: c1(w, n), c2(w, n), a(w), m(w)
    integer(c_int64_t) :: i, l

    do i = 1, min(2_c_int64_t, n)
      do l = 1, w
        if (i == 1) then
          m(l) = 1 / p(l, 1)
          c1(l, 1) = -m(l)
          r(l, 1) = r(l, 1) * m(l)
        else
          m(l) = 1 / (p(l, 2) + c1(l, 1))
          c1(l, 2) = (c2(l, 1) - 1) * m(l)
          r(l, 2) = (r(l, 2) + r(l, 1)) * m(l)
        end if
        c2(l, i) = e * m(l)
      end do
    end do
    do i = 3, n
      do l = 1, w
        a(l) = -1 - e * c1(l, i - 2)
        m(l) = 1 / (p(l, i) - e * c2(l, i - 2) - a(l) * c1(l, i - 1))
        c1(l, i) = (-1 - a(l) * c2(l, i - 1)) * m(l)
        c2(l, i) = e * m(l)
        r(l, i) = (r(l, i) - e * r(l, i - 2) - a(l) * r(l, i - 1)) * m(l)
      end do
    end do
    r(:, n - 1) = r(:, n - 1) - c1(:, n - 1) * r(:, n)
    do i = n - 2, 1, -1
      do l = 1, w
        r(l, i) = r(l, i) - c1(l, i) * r(l, i + 1) - c2(l, i) * r(l, i + 2)
      end do
    end do
  end subroutine five
end subroutine band_tuned
