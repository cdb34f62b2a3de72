! y = A x, A the 7-point operator with seven coefficients at every point.
!
! x has one layer of ghosts that hold zeros, y and the coefficients have none; the first index is
! contiguous.

! The formula as it reads.
subroutine spmv7_natural(nx, ny, nz, west, east, south, north, low, high, centre, x, y) bind(c)
  use, intrinsic :: iso_c_binding, only: c_double, c_int64_t
  implicit none
  integer(c_int64_t), value :: nx, ny, nz
  real(c_double), intent(in), dimension(nx, ny, nz) :: west, east, south, north, low, high, centre
  real(c_double), intent(in) :: x(0:nx+1, 0:ny+1, 0:nz+1)
  real(c_double), intent(out) :: y(nx, ny, nz)
  integer(c_int64_t) :: i, j, k

  do k = 1, nz
    do j = 1, ny
      do i = 1, nx
        y(i, j, k) = centre(i, j, k) * x(i, j, k) &
          + west(i, j, k) * x(i-1, j, k) + east(i, j, k) * x(i+1, j, k) &
          + south(i, j, k) * x(i, j-1, k) + north(i, j, k) * x(i, j+1, k) &
          + low(i, j, k) * x(i, j, k-1) + high(i, j, k) * x(i, j, k+1)
      end do
    end do
  end do
end subroutine spmv7_natural

! The coefficients are read once, so only x can be saved: rows are taken in blocks, so that the
! three planes of a block stay in the second-level cache while k advances.
subroutine spmv7_tuned(nx, ny, nz, west, east, south, north, low, high, centre, x, y) bind(c)
  use, intrinsic :: iso_c_binding, only: c_double, c_int64_t
  implicit none
  integer(c_int64_t), value :: nx, ny, nz
  real(c_double), intent(in), dimension(nx, ny, nz) :: west, east, south, north, low, high, centre
  real(c_double), intent(in) :: x(0:nx+1, 0:ny+1, 0:nz+1)
  real(c_double), intent(out) :: y(nx, ny, nz)
  integer(c_int64_t), parameter :: cache = 32768   ! doubles of x kept of three planes
  integer(c_int64_t) :: i, j, k, first, rows

  rows = max(8_c_int64_t, cache / (3 * (nx + 2)))
  do first = 1, ny, rows
    do k = 1, nz
      do j = first, min(ny, first + rows - 1)
        do i = 1, nx
          y(i, j, k) = centre(i, j, k) * x(i, j, k) &
            + west(i, j, k) * x(i-1, j, k) + east(i, j, k) * x(i+1, j, k) &
            + south(i, j, k) * x(i, j-1, k) + north(i, j, k) * x(i, j+1, k) &
            + low(i, j, k) * x(i, j, k-1) + high(i, j, k) * x(i, j, k+1)
        end do
      end do
    end do
  end do
end subroutine spmv7_tuned
