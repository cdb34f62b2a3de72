! Iterations of conjugate gradients with a V-cycle of four grids as preconditioner for the 27-point
! operator: 26 at the centre, -1 at each neighbour, nothing outside. The HPCG algorithm without
! stored matrices, fused by hand.
!
! Grids have nx, ny, nz points and half, a quarter, an eighth of them. r and z hold those of all
! grids one after the other; z and p have one layer of ghosts that hold zeros, and finite numbers
! inside. seconds: V-cycles with (r, z); products with the new p and (p, q); updates of x and r with
! (r, r).
!
! Sweeps are those of symgs27_tuned. The first one starts from zero and reads nothing that it has
! not made; the residual is computed where the injection reads it; corrections are added one row and
! plane ahead of the sweep that reads them, and so is the new p; dot products are summed in eight
! lanes as soon as a row is ready.

module pieces
  use, intrinsic :: iso_c_binding, only: c_double, c_int64_t
  implicit none
  real(c_double), parameter :: a = 1.0_c_double / 26

contains

  ! x = about A^-1 r by a forward and a backward sweep from zero
  subroutine start(nx, ny, nz, r, x)
    integer(c_int64_t), intent(in) :: nx, ny, nz
    real(c_double), intent(in) :: r(nx, ny, nz)
    real(c_double), intent(inout) :: x(0:nx+1, 0:ny+1, 0:nz+1)
    real(c_double) :: c(0:nx+1), t(-15:nx+16), v(-15:nx+16), lanes(8)
    integer(c_int64_t) :: i, j, k

    c = 0
    t = 0
    v = 0
    do k = 1, nz
      do j = 1, ny
        do i = 1, nx
          c(i) = x(i, j-1, k-1) + x(i, j, k-1) + x(i, j+1, k-1) + x(i, j-1, k)
        end do
        do i = 1, nx
          t(i) = a * (r(i, j, k) + (c(i-1) + c(i) + c(i+1)))
        end do
        do i = 1, nx
          v(i) = (t(i) + a * t(i-1)) + a**2 * (t(i-2) + a * t(i-3))
        end do
        do i = 1, nx
          x(i, j, k) = (v(i) + a**4 * v(i-4)) + a**8 * (v(i-8) + a**4 * v(i-12))
        end do
      end do
    end do
    call backward(nx, ny, nz, r, x, .false., lanes)
  end subroutine start

  ! rc = the residual at the points of the coarser grid
  subroutine restrict(nx, ny, nz, r, x, rc)
    integer(c_int64_t), intent(in) :: nx, ny, nz
    real(c_double), intent(in) :: r(nx, ny, nz), x(0:nx+1, 0:ny+1, 0:nz+1)
    real(c_double), intent(out) :: rc(nx/2, ny/2, nz/2)
    real(c_double) :: c(0:nx+1)
    integer(c_int64_t) :: i, j, k

    do k = 1, nz, 2
      do j = 1, ny, 2
        do i = 0, nx + 1
          c(i) = x(i, j-1, k-1) + x(i, j, k-1) + x(i, j+1, k-1) &
            + x(i, j-1, k) + x(i, j, k) + x(i, j+1, k) &
            + x(i, j-1, k+1) + x(i, j, k+1) + x(i, j+1, k+1)
        end do
        do i = 1, nx / 2
          rc(i, (j+1)/2, (k+1)/2) = r(2*i-1, j, k) - 27 * x(2*i-1, j, k) &
            + (c(2*i-2) + c(2*i-1) + c(2*i))
        end do
      end do
    end do
  end subroutine restrict

  ! x = x + corrections from the coarser grid, then a forward and a backward sweep
  subroutine finish(nx, ny, nz, r, x, xc, dot, lanes)
    integer(c_int64_t), intent(in) :: nx, ny, nz
    real(c_double), intent(in) :: r(nx, ny, nz), xc(0:nx/2+1, 0:ny/2+1, 0:nz/2+1)
    real(c_double), intent(inout) :: x(0:nx+1, 0:ny+1, 0:nz+1), lanes(8)
    logical, intent(in) :: dot
    real(c_double) :: g(nx, 0:2), c(0:nx+1), s, t(-15:nx+16), v(-15:nx+16)
    integer(c_int64_t) :: i, j, k, old, mid, new

    c = 0
    t = 0
    v = 0
    do j = 1, ny, 2
      call correct(j, 1_c_int64_t)
    end do
    do k = 1, nz
      if (mod(k, 2_c_int64_t) == 0 .and. k < nz) call correct(1_c_int64_t, k + 1)
      g(:, 0) = x(1:nx, 0, k-1) + x(1:nx, 0, k+1)
      g(:, 1) = x(1:nx, 1, k-1) + x(1:nx, 1, k+1)
      do j = 1, ny
        if (mod(k, 2_c_int64_t) == 0 .and. k < nz .and. mod(j, 2_c_int64_t) == 0 .and. j < ny) &
          call correct(j + 1, k + 1)
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
          t(i) = a * (r(i, j, k) + x(i+1, j, k) + (c(i-1) + c(i) + c(i+1)))
        end do
        do i = 1, nx
          v(i) = (t(i) + a * t(i-1)) + a**2 * (t(i-2) + a * t(i-3))
        end do
        do i = 1, nx
          x(i, j, k) = (v(i) + a**4 * v(i-4)) + a**8 * (v(i-8) + a**4 * v(i-12))
        end do
      end do
    end do
    call backward(nx, ny, nz, r, x, dot, lanes)

  contains

    ! Add the corrections in one row.
    subroutine correct(j, k)
      integer(c_int64_t), intent(in) :: j, k
      integer(c_int64_t) :: i

      do i = 1, nx / 2
        x(2*i-1, j, k) = x(2*i-1, j, k) + xc(i, (j+1)/2, (k+1)/2)
      end do
    end subroutine correct
  end subroutine finish

  subroutine backward(nx, ny, nz, r, x, dot, lanes)
    integer(c_int64_t), intent(in) :: nx, ny, nz
    real(c_double), intent(in) :: r(nx, ny, nz)
    real(c_double), intent(inout) :: x(0:nx+1, 0:ny+1, 0:nz+1), lanes(8)
    logical, intent(in) :: dot
    real(c_double) :: g(nx, 0:2), c(0:nx+1), s, t(-15:nx+16), v(-15:nx+16)
    integer(c_int64_t) :: i, j, k, old, mid, new

    c = 0
    t = 0
    v = 0
    lanes = 0
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
          t(i) = a * (r(i, j, k) + x(i-1, j, k) + (c(i-1) + c(i) + c(i+1)))
        end do
        do i = 1, nx
          v(i) = (t(i) + a * t(i+1)) + a**2 * (t(i+2) + a * t(i+3))
        end do
        do i = 1, nx
          x(i, j, k) = (v(i) + a**4 * v(i+4)) + a**8 * (v(i+8) + a**4 * v(i+12))
        end do
        if (dot) call add(nx, r(:, j, k), x(1:nx, j, k), lanes)
      end do
    end do
  end subroutine backward

  ! p = z + beta p, q = A p, (p, q)
  subroutine product(nx, ny, nz, z, beta, p, q, lanes)
    integer(c_int64_t), intent(in) :: nx, ny, nz
    real(c_double), intent(in) :: z(0:nx+1, 0:ny+1, 0:nz+1), beta
    real(c_double), intent(inout) :: p(0:nx+1, 0:ny+1, 0:nz+1)
    real(c_double), intent(out) :: q(nx, ny, nz), lanes(8)
    real(c_double) :: g(0:nx+1, 0:2), c(0:nx+1), s
    integer(c_int64_t) :: i, j, k

    lanes = 0
    p(1:nx, 1:ny, 1) = z(1:nx, 1:ny, 1) + beta * p(1:nx, 1:ny, 1)
    do k = 1, nz
      if (k < nz) p(1:nx, 1, k+1) = z(1:nx, 1, k+1) + beta * p(1:nx, 1, k+1)
      g(:, 0) = 0
      g(:, 1) = p(:, 1, k-1) + p(:, 1, k) + p(:, 1, k+1)
      do j = 1, ny
        if (k < nz .and. j < ny) &
          p(1:nx, j+1, k+1) = z(1:nx, j+1, k+1) + beta * p(1:nx, j+1, k+1)
        !GCC$ ivdep
        do i = 0, nx + 1
          s = p(i, j+1, k-1) + p(i, j+1, k) + p(i, j+1, k+1)
          g(i, mod(j+1, 3_c_int64_t)) = s
          c(i) = g(i, mod(j-1, 3_c_int64_t)) + g(i, mod(j, 3_c_int64_t)) + s
        end do
        do i = 1, nx
          q(i, j, k) = 27 * p(i, j, k) - (c(i-1) + c(i) + c(i+1))
        end do
        call add(nx, p(1:nx, j, k), q(:, j, k), lanes)
      end do
    end do
  end subroutine product

  ! Add products of two rows to the lanes.
  subroutine add(n, u, v, lanes)
    integer(c_int64_t), intent(in) :: n
    real(c_double), intent(in) :: u(n), v(n)
    real(c_double), intent(inout) :: lanes(8)
    integer(c_int64_t) :: i, whole

    whole = n - mod(n, 8_c_int64_t)
    do i = 1, whole, 8
      lanes = lanes + u(i:i+7) * v(i:i+7)
    end do
    do i = whole + 1, n
      lanes(1) = lanes(1) + u(i) * v(i)
    end do
  end subroutine add
end module pieces

subroutine hpcg_tuned(nx, ny, nz, iterations, rows, padded, b, x, r, z, p, q, residuals, seconds) bind(c)
  use pieces
  implicit none
  integer(c_int64_t), value :: nx, ny, nz, iterations, rows, padded
  real(c_double), intent(in) :: b(nx, ny, nz)
  real(c_double), intent(inout) :: x(nx, ny, nz), q(nx, ny, nz), p(0:nx+1, 0:ny+1, 0:nz+1)
  real(c_double), intent(inout) :: r(rows), z(padded), residuals(0:iterations), seconds(3)
  real(c_double) :: rz, old, alpha, lanes(8)
  integer(c_int64_t) :: k, ticks(4), rate, of_r(4), of_z(4), n(3, 4)
  integer :: grid

  of_r(1) = 1
  of_z(1) = 1
  n(:, 1) = [nx, ny, nz]
  do grid = 2, 4
    n(:, grid) = n(:, grid-1) / 2
    of_r(grid) = of_r(grid-1) + product_of(n(:, grid-1))
    of_z(grid) = of_z(grid-1) + product_of(n(:, grid-1) + 2)
  end do
  call system_clock(count_rate=rate)
  seconds = 0
  old = 1
  x = 0
  r(:nx*ny*nz) = reshape(b, [nx*ny*nz])
  residuals(0) = norm2(b)
  do k = 1, iterations
    call system_clock(ticks(1))
    call precondition
    rz = sum(lanes)
    call system_clock(ticks(2))
    call product(nx, ny, nz, z, merge(0.0_c_double, rz / old, k == 1), p, q, lanes)
    old = rz
    alpha = rz / sum(lanes)
    call system_clock(ticks(3))
    call advance(r)
    residuals(k) = sqrt(sum(lanes))
    call system_clock(ticks(4))
    seconds = seconds + real(ticks(2:4) - ticks(1:3), c_double) / rate
  end do

contains

  pure integer(c_int64_t) function product_of(extents)
    integer(c_int64_t), intent(in) :: extents(3)

    product_of = extents(1) * extents(2) * extents(3)
  end function product_of

  subroutine precondition
    do grid = 1, 3
      call start(n(1, grid), n(2, grid), n(3, grid), r(of_r(grid)), z(of_z(grid)))
      call restrict(n(1, grid), n(2, grid), n(3, grid), &
        r(of_r(grid)), z(of_z(grid)), r(of_r(grid+1)))
    end do
    call start(n(1, 4), n(2, 4), n(3, 4), r(of_r(4)), z(of_z(4)))
    do grid = 3, 1, -1
      call finish(n(1, grid), n(2, grid), n(3, grid), &
        r(of_r(grid)), z(of_z(grid)), z(of_z(grid+1)), grid == 1, lanes)
    end do
  end subroutine precondition

  subroutine advance(r)
    real(c_double), intent(inout) :: r(nx, ny, nz)
    integer(c_int64_t) :: j, k

    lanes = 0
    do k = 1, nz
      do j = 1, ny
        x(:, j, k) = x(:, j, k) + alpha * p(1:nx, j, k)
        r(:, j, k) = r(:, j, k) - alpha * q(:, j, k)
        call add(nx, r(:, j, k), r(:, j, k), lanes)
      end do
    end do
  end subroutine advance
end subroutine hpcg_tuned
