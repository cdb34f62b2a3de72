! Symmetric Gauss-Seidel, forward then backward in exact lexicographic order, for the 27-point
! operator: 26 at the centre, -1 at each neighbour, nothing outside.
!
! x has one layer of ghosts that hold zeros and is updated in place, b has none; the first index is
! contiguous.

! The formula as it reads.
subroutine symgs27_natural(nx, ny, nz, b, x) bind(c)
  use, intrinsic :: iso_c_binding, only: c_double, c_int64_t
  implicit none
  integer(c_int64_t), value :: nx, ny, nz
  real(c_double), intent(in) :: b(nx, ny, nz)
  real(c_double), intent(inout) :: x(0:nx+1, 0:ny+1, 0:nz+1)
  integer(c_int64_t) :: i, j, k

  do k = 1, nz
    do j = 1, ny
      do i = 1, nx
        x(i, j, k) = (b(i, j, k) &
          + x(i-1, j-1, k-1) + x(i, j-1, k-1) + x(i+1, j-1, k-1) &
          + x(i-1, j,   k-1) + x(i, j,   k-1) + x(i+1, j,   k-1) &
          + x(i-1, j+1, k-1) + x(i, j+1, k-1) + x(i+1, j+1, k-1) &
          + x(i-1, j-1, k)   + x(i, j-1, k)   + x(i+1, j-1, k)   &
          + x(i-1, j,   k)                    + x(i+1, j,   k)   &
          + x(i-1, j+1, k)   + x(i, j+1, k)   + x(i+1, j+1, k)   &
          + x(i-1, j-1, k+1) + x(i, j-1, k+1) + x(i+1, j-1, k+1) &
          + x(i-1, j,   k+1) + x(i, j,   k+1) + x(i+1, j,   k+1) &
          + x(i-1, j+1, k+1) + x(i, j+1, k+1) + x(i+1, j+1, k+1)) / 26
      end do
    end do
  end do
  do k = nz, 1, -1
    do j = ny, 1, -1
      do i = nx, 1, -1
        x(i, j, k) = (b(i, j, k) &
          + x(i-1, j-1, k-1) + x(i, j-1, k-1) + x(i+1, j-1, k-1) &
          + x(i-1, j,   k-1) + x(i, j,   k-1) + x(i+1, j,   k-1) &
          + x(i-1, j+1, k-1) + x(i, j+1, k-1) + x(i+1, j+1, k-1) &
          + x(i-1, j-1, k)   + x(i, j-1, k)   + x(i+1, j-1, k)   &
          + x(i-1, j,   k)                    + x(i+1, j,   k)   &
          + x(i-1, j+1, k)   + x(i, j+1, k)   + x(i+1, j+1, k)   &
          + x(i-1, j-1, k+1) + x(i, j-1, k+1) + x(i+1, j-1, k+1) &
          + x(i-1, j,   k+1) + x(i, j,   k+1) + x(i+1, j,   k+1) &
          + x(i-1, j+1, k+1) + x(i, j+1, k+1) + x(i+1, j+1, k+1)) / 26
      end do
    end do
  end do
end subroutine symgs27_natural

! Everything but the neighbour solved just before is summed first, row by row, in loops without a
! dependence: g = the planes k-1 and k+1, kept for three rows, row j in column mod(j, 3); c = three
! rows of g and the rows j-1 and j+1; then t. What is left, x(i) = t(i) + a x(i-1) with a = 1/26, is
! a finite sum in double precision, for a**16 is below 1e-22: v = four terms of t, x = four terms
! of v. c, t and v are zero beyond the ends of the row, as the ghosts are.
subroutine symgs27_tuned(nx, ny, nz, b, x) bind(c)
  use, intrinsic :: iso_c_binding, only: c_double, c_int64_t
  implicit none
  integer(c_int64_t), value :: nx, ny, nz
  real(c_double), intent(in) :: b(nx, ny, nz)
  real(c_double), intent(inout) :: x(0:nx+1, 0:ny+1, 0:nz+1)
  real(c_double), parameter :: a = 1.0_c_double / 26
  real(c_double) :: g(nx, 0:2), c(0:nx+1), s, t(-15:nx+16), v(-15:nx+16)
  integer(c_int64_t) :: i, j, k, old, mid, new

  c = 0
  t = 0
  v = 0
  do k = 1, nz
    g(:, 0) = x(1:nx, 0, k-1) + x(1:nx, 0, k+1)
    g(:, 1) = x(1:nx, 1, k-1) + x(1:nx, 1, k+1)
    do j = 1, ny
      old = mod(j-1, 3_c_int64_t)
      mid = mod(j, 3_c_int64_t)
      new = mod(j+1, 3_c_int64_t)
      !GCC$ ivdep
      do i = 1, nx
        s = x(i, j+1, k-1) + x(i, j+1, k+1)
        g(i, new) = s
        c(i) = g(i, old) + g(i, mid) + s + x(i, j-1, k) + x(i, j+1, k)
      end do
      do i = 1, nx
        t(i) = a * (b(i, j, k) + x(i+1, j, k) + (c(i-1) + c(i) + c(i+1)))
      end do
      do i = 1, nx
        v(i) = (t(i) + a * t(i-1)) + a**2 * (t(i-2) + a * t(i-3))
      end do
      do i = 1, nx
        x(i, j, k) = (v(i) + a**4 * v(i-4)) + a**8 * (v(i-8) + a**4 * v(i-12))
      end do
    end do
  end do
  do k = nz, 1, -1
    g(:, mod(ny+1, 3_c_int64_t)) = x(1:nx, ny+1, k-1) + x(1:nx, ny+1, k+1)
    g(:, mod(ny, 3_c_int64_t)) = x(1:nx, ny, k-1) + x(1:nx, ny, k+1)
    do j = ny, 1, -1
      old = mod(j+1, 3_c_int64_t)
      mid = mod(j, 3_c_int64_t)
      new = mod(j-1, 3_c_int64_t)
      !GCC$ ivdep
      do i = 1, nx
        s = x(i, j-1, k-1) + x(i, j-1, k+1)
        g(i, new) = s
        c(i) = g(i, old) + g(i, mid) + s + x(i, j-1, k) + x(i, j+1, k)
      end do
      do i = 1, nx
        t(i) = a * (b(i, j, k) + x(i-1, j, k) + (c(i-1) + c(i) + c(i+1)))
      end do
      do i = 1, nx
        v(i) = (t(i) + a * t(i+1)) + a**2 * (t(i+2) + a * t(i+3))
      end do
      do i = 1, nx
        x(i, j, k) = (v(i) + a**4 * v(i+4)) + a**8 * (v(i+8) + a**4 * v(i+12))
      end do
    end do
  end do
end subroutine symgs27_tuned
