! One iteration of conjugate gradients with the 7-point operator: 6, and -1 at each neighbour.
!
!   q = A p,  alpha = rr / (p, q),  x = x + alpha p,  r = r - alpha q,  new = (r, r),
!   p = r + new / rr p
!
! p has one layer of ghosts that hold zeros, the others have none; the first index is contiguous.

! Step by step, with q stored.
subroutine cg7_natural(nx, ny, nz, x, r, p, q, rr) bind(c)
  use, intrinsic :: iso_c_binding, only: c_double, c_int64_t
  implicit none
  integer(c_int64_t), value :: nx, ny, nz
  real(c_double), intent(inout) :: x(nx, ny, nz), r(nx, ny, nz), q(nx, ny, nz), rr(1)
  real(c_double), intent(inout) :: p(0:nx+1, 0:ny+1, 0:nz+1)
  real(c_double) :: alpha, new
  integer(c_int64_t) :: i, j, k

  do k = 1, nz
    do j = 1, ny
      do i = 1, nx
        q(i, j, k) = 6 * p(i, j, k) - p(i-1, j, k) - p(i+1, j, k) - p(i, j-1, k) - p(i, j+1, k) &
          - p(i, j, k-1) - p(i, j, k+1)
      end do
    end do
  end do
  alpha = rr(1) / sum(p(1:nx, 1:ny, 1:nz) * q)
  x = x + alpha * p(1:nx, 1:ny, 1:nz)
  r = r - alpha * q
  new = sum(r * r)
  p(1:nx, 1:ny, 1:nz) = r + new / rr(1) * p(1:nx, 1:ny, 1:nz)
  rr(1) = new
end subroutine cg7_natural

! In three passes: the product with its dot product, both updates with theirs, the new direction.
! Sums have eight terms at a time, so that they are vectorised without the compiler's leave.
subroutine cg7_tuned(nx, ny, nz, x, r, p, q, rr) bind(c)
  use, intrinsic :: iso_c_binding, only: c_double, c_int64_t
  implicit none
  integer(c_int64_t), value :: nx, ny, nz
  real(c_double), intent(inout) :: x(nx, ny, nz), r(nx, ny, nz), q(nx, ny, nz), rr(1)
  real(c_double), intent(inout) :: p(0:nx+1, 0:ny+1, 0:nz+1)
  real(c_double) :: alpha, beta, lanes(8)
  integer(c_int64_t) :: i, j, k, n, whole

  whole = nx - mod(nx, 8_c_int64_t)
  lanes = 0
  do k = 1, nz
    do j = 1, ny
      !GCC$ ivdep
      do i = 1, nx
        q(i, j, k) = 6 * p(i, j, k) - p(i-1, j, k) - p(i+1, j, k) - p(i, j-1, k) - p(i, j+1, k) &
          - p(i, j, k-1) - p(i, j, k+1)
      end do
      do i = 1, whole, 8
        do n = 1, 8
          lanes(n) = lanes(n) + p(i+n-1, j, k) * q(i+n-1, j, k)
        end do
      end do
      do i = whole + 1, nx
        lanes(1) = lanes(1) + p(i, j, k) * q(i, j, k)
      end do
    end do
  end do
  alpha = rr(1) / sum(lanes)
  lanes = 0
  do k = 1, nz
    do j = 1, ny
      !GCC$ ivdep
      do i = 1, nx
        x(i, j, k) = x(i, j, k) + alpha * p(i, j, k)
        r(i, j, k) = r(i, j, k) - alpha * q(i, j, k)
      end do
      do i = 1, whole, 8
        do n = 1, 8
          lanes(n) = lanes(n) + r(i+n-1, j, k) * r(i+n-1, j, k)
        end do
      end do
      do i = whole + 1, nx
        lanes(1) = lanes(1) + r(i, j, k) * r(i, j, k)
      end do
    end do
  end do
  beta = sum(lanes) / rr(1)
  rr(1) = sum(lanes)
  do k = 1, nz
    do j = 1, ny
      !GCC$ ivdep
      do i = 1, nx
        p(i, j, k) = r(i, j, k) + beta * p(i, j, k)
      end do
    end do
  end do
end subroutine cg7_tuned
