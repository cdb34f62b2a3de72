! Three 5-point stages with a pointwise function between them, the last back into the first field:
!
!   v = f(L u),  w = f(L v),  u = u + L w / 100,  L: four neighbours less four times the point,
!   f(s) = s / (1 + s^2)
!
! u, v and w have one layer of ghosts that hold zeros; the first index is contiguous.

! Stage by stage, as it reads.
subroutine chain5_natural(nx, ny, u, v, w) bind(c)
  use, intrinsic :: iso_c_binding, only: c_double, c_int64_t
  implicit none
  integer(c_int64_t), value :: nx, ny
  real(c_double), intent(inout) :: u(0:nx+1, 0:ny+1), v(0:nx+1, 0:ny+1), w(0:nx+1, 0:ny+1)
  real(c_double) :: s
  integer(c_int64_t) :: i, j

  do j = 1, ny
    do i = 1, nx
      s = u(i-1, j) + u(i+1, j) + u(i, j-1) + u(i, j+1) - 4 * u(i, j)
      v(i, j) = s / (1 + s * s)
    end do
  end do
  do j = 1, ny
    do i = 1, nx
      s = v(i-1, j) + v(i+1, j) + v(i, j-1) + v(i, j+1) - 4 * v(i, j)
      w(i, j) = s / (1 + s * s)
    end do
  end do
  do j = 1, ny
    do i = 1, nx
      s = w(i-1, j) + w(i+1, j) + w(i, j-1) + w(i, j+1) - 4 * w(i, j)
      u(i, j) = u(i, j) + 0.01_c_double * s
    end do
  end do
end subroutine chain5_natural

! Row by row: v two rows ahead of u, w one. Four rows of v and of w are kept, row j in column
! mod(j, 4); rows beyond the last are zeros. The arrays v and w are not touched.
subroutine chain5_tuned(nx, ny, u, v, w) bind(c)
  use, intrinsic :: iso_c_binding, only: c_double, c_int64_t
  implicit none
  integer(c_int64_t), value :: nx, ny
  real(c_double), intent(inout) :: u(0:nx+1, 0:ny+1), v(0:nx+1, 0:ny+1), w(0:nx+1, 0:ny+1)
  real(c_double) :: p(0:nx+1, 0:3), q(0:nx+1, 0:3), s
  integer(c_int64_t) :: i, j, a, b, c

  p = 0
  q = 0
  do j = 1, ny + 2
    c = mod(j, 4_c_int64_t)
    if (j <= ny) then
      !GCC$ ivdep
      do i = 1, nx
        s = u(i-1, j) + u(i+1, j) + u(i, j-1) + u(i, j+1) - 4 * u(i, j)
        p(i, c) = s / (1 + s * s)
      end do
    else
      p(:, c) = 0
    end if
    a = mod(j + 2, 4_c_int64_t)   ! row j - 2
    b = mod(j + 3, 4_c_int64_t)   ! row j - 1
    if (j >= 2 .and. j <= ny + 1) then
      !GCC$ ivdep
      do i = 1, nx
        s = p(i-1, b) + p(i+1, b) + p(i, a) + p(i, c) - 4 * p(i, b)
        q(i, b) = s / (1 + s * s)
      end do
    else
      q(:, b) = 0
    end if
    if (j >= 3) then
      c = mod(j + 1, 4_c_int64_t)   ! row j - 3
      !GCC$ ivdep
      do i = 1, nx
        s = q(i-1, a) + q(i+1, a) + q(i, c) + q(i, b) - 4 * q(i, a)
        u(i, j-2) = u(i, j-2) + 0.01_c_double * s
      end do
    end if
  end do
end subroutine chain5_tuned
