! The ghosts of a field by periodicity and by reflection, w layers on all sides, corners too; the
! first index is contiguous. One direction after the other: the later ones take the ghosts of the
! earlier ones along.

subroutine halo_periodic2(nx, ny, w, u) bind(c)
  use, intrinsic :: iso_c_binding, only: c_double, c_int64_t
  implicit none
  integer(c_int64_t), value :: nx, ny, w
  real(c_double), intent(inout) :: u(1-w:nx+w, 1-w:ny+w)
  integer(c_int64_t) :: j, k

  do j = 1, ny
    do k = 1, w
      u(1-k, j) = u(nx+1-k, j)
      u(nx+k, j) = u(k, j)
    end do
  end do
  do k = 1, w
    u(:, 1-k) = u(:, ny+1-k)
    u(:, ny+k) = u(:, k)
  end do
end subroutine halo_periodic2

subroutine halo_mirror2(nx, ny, w, u) bind(c)
  use, intrinsic :: iso_c_binding, only: c_double, c_int64_t
  implicit none
  integer(c_int64_t), value :: nx, ny, w
  real(c_double), intent(inout) :: u(1-w:nx+w, 1-w:ny+w)
  integer(c_int64_t) :: j, k

  do j = 1, ny
    do k = 1, w
      u(1-k, j) = u(k, j)
      u(nx+k, j) = u(nx+1-k, j)
    end do
  end do
  do k = 1, w
    u(:, 1-k) = u(:, k)
    u(:, ny+k) = u(:, ny+1-k)
  end do
end subroutine halo_mirror2

subroutine halo_periodic3(nx, ny, nz, w, u) bind(c)
  use, intrinsic :: iso_c_binding, only: c_double, c_int64_t
  implicit none
  integer(c_int64_t), value :: nx, ny, nz, w
  real(c_double), intent(inout) :: u(1-w:nx+w, 1-w:ny+w, 1-w:nz+w)
  integer(c_int64_t) :: j, k, l

  do l = 1, nz
    do j = 1, ny
      do k = 1, w
        u(1-k, j, l) = u(nx+1-k, j, l)
        u(nx+k, j, l) = u(k, j, l)
      end do
    end do
    do k = 1, w
      u(:, 1-k, l) = u(:, ny+1-k, l)
      u(:, ny+k, l) = u(:, k, l)
    end do
  end do
  do k = 1, w
    u(:, :, 1-k) = u(:, :, nz+1-k)
    u(:, :, nz+k) = u(:, :, k)
  end do
end subroutine halo_periodic3

subroutine halo_mirror3(nx, ny, nz, w, u) bind(c)
  use, intrinsic :: iso_c_binding, only: c_double, c_int64_t
  implicit none
  integer(c_int64_t), value :: nx, ny, nz, w
  real(c_double), intent(inout) :: u(1-w:nx+w, 1-w:ny+w, 1-w:nz+w)
  integer(c_int64_t) :: j, k, l

  do l = 1, nz
    do j = 1, ny
      do k = 1, w
        u(1-k, j, l) = u(k, j, l)
        u(nx+k, j, l) = u(nx+1-k, j, l)
      end do
    end do
    do k = 1, w
      u(:, 1-k, l) = u(:, k, l)
      u(:, ny+k, l) = u(:, ny+1-k, l)
    end do
  end do
  do k = 1, w
    u(:, :, 1-k) = u(:, :, k)
    u(:, :, nz+k) = u(:, :, nz+1-k)
  end do
end subroutine halo_mirror3
