! y = A x, A the 27-point operator: 26 at the centre, -1 at each neighbour, nothing outside.
!
! x has one layer of ghosts that hold zeros, y has none; the first index is contiguous.

! The formula as it reads.
subroutine spmv27_natural(nx, ny, nz, x, y) bind(c)
  use, intrinsic :: iso_c_binding, only: c_double, c_int64_t
  implicit none
  integer(c_int64_t), value :: nx, ny, nz
  real(c_double), intent(in) :: x(0:nx+1, 0:ny+1, 0:nz+1)
  real(c_double), intent(out) :: y(nx, ny, nz)
  integer(c_int64_t) :: i, j, k

  do k = 1, nz
    do j = 1, ny
      do i = 1, nx
        y(i, j, k) = 26 * x(i, j, k) &
          - x(i-1, j-1, k-1) - x(i, j-1, k-1) - x(i+1, j-1, k-1) &
          - x(i-1, j,   k-1) - x(i, j,   k-1) - x(i+1, j,   k-1) &
          - x(i-1, j+1, k-1) - x(i, j+1, k-1) - x(i+1, j+1, k-1) &
          - x(i-1, j-1, k)   - x(i, j-1, k)   - x(i+1, j-1, k)   &
          - x(i-1, j,   k)                    - x(i+1, j,   k)   &
          - x(i-1, j+1, k)   - x(i, j+1, k)   - x(i+1, j+1, k)   &
          - x(i-1, j-1, k+1) - x(i, j-1, k+1) - x(i+1, j-1, k+1) &
          - x(i-1, j,   k+1) - x(i, j,   k+1) - x(i+1, j,   k+1) &
          - x(i-1, j+1, k+1) - x(i, j+1, k+1) - x(i+1, j+1, k+1)
      end do
    end do
  end do
end subroutine spmv27_natural

! Sums over the three axes in turn: g = three planes, c = three rows of g, then three elements of c.
! Three rows of g are kept, row j in column mod(j, 3), so each is made once. c is zero at both ends,
! as the ghosts are. Rows are taken in blocks, so that the three planes of a block stay in the
! second-level cache while k advances.
subroutine spmv27_tuned(nx, ny, nz, x, y) bind(c)
  use, intrinsic :: iso_c_binding, only: c_double, c_int64_t
  implicit none
  integer(c_int64_t), value :: nx, ny, nz
  real(c_double), intent(in) :: x(0:nx+1, 0:ny+1, 0:nz+1)
  real(c_double), intent(out) :: y(nx, ny, nz)
  integer(c_int64_t), parameter :: cache = 24576   ! doubles of x kept of three planes
  real(c_double) :: g(nx, 0:2), c(0:nx+1), s
  integer(c_int64_t) :: i, j, k, first, rows, old, mid, new

  rows = max(8_c_int64_t, cache / (3 * (nx + 2)))
  c = 0
  do first = 1, ny, rows
    do k = 1, nz
      do j = first - 1, first
        new = mod(j, 3_c_int64_t)
        g(:, new) = x(1:nx, j, k-1) + x(1:nx, j, k) + x(1:nx, j, k+1)
      end do
      do j = first, min(ny, first + rows - 1)
        old = mod(j-1, 3_c_int64_t)
        mid = mod(j, 3_c_int64_t)
        new = mod(j+1, 3_c_int64_t)
        !GCC$ ivdep
        do i = 1, nx
          s = x(i, j+1, k-1) + x(i, j+1, k) + x(i, j+1, k+1)
          g(i, new) = s
          c(i) = g(i, old) + g(i, mid) + s
        end do
        do i = 1, nx
          y(i, j, k) = 27 * x(i, j, k) - (c(i-1) + c(i) + c(i+1))
        end do
      end do
    end do
  end do
end subroutine spmv27_tuned
