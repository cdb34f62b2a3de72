! One Jacobi sweep for the 5-point Laplacian: y = (b + west + east + south + north) / 4.
!
! x has one layer of ghosts that hold zeros, b and y have none; the first index is contiguous.

! The formula as it reads.
subroutine jacobi5_natural(nx, ny, b, x, y) bind(c)
  use, intrinsic :: iso_c_binding, only: c_double, c_int64_t
  implicit none
  integer(c_int64_t), value :: nx, ny
  real(c_double), intent(in) :: b(nx, ny), x(0:nx+1, 0:ny+1)
  real(c_double), intent(out) :: y(nx, ny)
  integer(c_int64_t) :: i, j

  do j = 1, ny
    do i = 1, nx
      y(i, j) = 0.25_c_double * (b(i, j) + x(i-1, j) + x(i+1, j) + x(i, j-1) + x(i, j+1))
    end do
  end do
end subroutine jacobi5_natural

! Two rows at a time, so that each reads two rows of x the other has just read; an odd last row is
! done alone. Sums in pairs have the shorter chain of additions.
subroutine jacobi5_tuned(nx, ny, b, x, y) bind(c)
  use, intrinsic :: iso_c_binding, only: c_double, c_int64_t
  implicit none
  integer(c_int64_t), value :: nx, ny
  real(c_double), intent(in) :: b(nx, ny), x(0:nx+1, 0:ny+1)
  real(c_double), intent(out) :: y(nx, ny)
  real(c_double), parameter :: q = 0.25_c_double
  integer(c_int64_t) :: i, j

  do j = 1, ny - 1, 2
    !GCC$ ivdep
    do i = 1, nx
      y(i, j) = q * (b(i, j) + ((x(i-1, j) + x(i+1, j)) + (x(i, j-1) + x(i, j+1))))
      y(i, j+1) = q * (b(i, j+1) + ((x(i-1, j+1) + x(i+1, j+1)) + (x(i, j) + x(i, j+2))))
    end do
  end do
  do j = ny - mod(ny, 2_c_int64_t) + 1, ny
    do i = 1, nx
      y(i, j) = q * (b(i, j) + ((x(i-1, j) + x(i+1, j)) + (x(i, j-1) + x(i, j+1))))
    end do
  end do
end subroutine jacobi5_tuned
