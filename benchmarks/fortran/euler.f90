! A step of the Euler equations in two dimensions, MUSCL-Hancock with HLL fluxes, gamma = 1.4; the
! formulas are those of apps/euler.py:
!
!   W = (rho, u, v, p),  X, Y = minmod of its differences along x and y,  H = W after half a step,
!   F between H + X/2 and H - X/2, G between H + Y/2 and H - Y/2,
!   new = old - r (F(i+1) - F(i)) - s (G(j+1) - G(j)),  r = dt/dx, s = dt/dy
!
! old has two layers of ghosts, filled by the caller; the first index is contiguous, the last of an
! argument the component. A face and the cell behind it have the same index. The routines of the
! module do one line; all of their loops are vectorised.

module euler_lines
  use, intrinsic :: iso_c_binding, only: c_double, c_int64_t
  implicit none
  real(c_double), parameter :: gamma = 1.4_c_double, half = 0.5_c_double
contains

  subroutine primitive(n, rho, mx, my, energy, d, u, v, p)
    integer(c_int64_t), intent(in) :: n
    real(c_double), intent(in) :: rho(n), mx(n), my(n), energy(n)
    real(c_double), intent(out) :: d(n), u(n), v(n), p(n)
    real(c_double) :: over
    integer(c_int64_t) :: i

    do i = 1, n
      over = 1 / rho(i)
      d(i) = rho(i)
      u(i) = mx(i) * over
      v(i) = my(i) * over
      p(i) = (gamma - 1) * (energy(i) - half * (mx(i) * u(i) + my(i) * v(i)))
    end do
  end subroutine primitive

  ! What is at the four faces of a row B of cells, between the rows A and C.
  subroutine states(n, r, s, A, B, C, west, east, south, north)
    integer(c_int64_t), intent(in) :: n
    real(c_double), intent(in) :: r, s
    real(c_double), intent(in), dimension(-1:n+2, 4) :: A, B, C
    real(c_double), intent(out), dimension(0:n+1, 4) :: west, east, south, north
    real(c_double) :: x1, x2, x3, x4, y1, y2, y3, y4, h1, h2, h3, h4, k, l, d, u, v, p, spread
    integer(c_int64_t) :: i

    !GCC$ ivdep
    do i = 0, n + 1
      d = B(i, 1)
      u = r * B(i, 2)
      v = s * B(i, 3)
      p = B(i, 4)
      k = d - B(i-1, 1)
      l = B(i+1, 1) - d
      x1 = (sign(half, k) + sign(half, l)) * min(abs(k), abs(l))
      k = B(i, 2) - B(i-1, 2)
      l = B(i+1, 2) - B(i, 2)
      x2 = (sign(half, k) + sign(half, l)) * min(abs(k), abs(l))
      k = B(i, 3) - B(i-1, 3)
      l = B(i+1, 3) - B(i, 3)
      x3 = (sign(half, k) + sign(half, l)) * min(abs(k), abs(l))
      k = p - B(i-1, 4)
      l = B(i+1, 4) - p
      x4 = (sign(half, k) + sign(half, l)) * min(abs(k), abs(l))
      k = d - A(i, 1)
      l = C(i, 1) - d
      y1 = (sign(half, k) + sign(half, l)) * min(abs(k), abs(l))
      k = B(i, 2) - A(i, 2)
      l = C(i, 2) - B(i, 2)
      y2 = (sign(half, k) + sign(half, l)) * min(abs(k), abs(l))
      k = B(i, 3) - A(i, 3)
      l = C(i, 3) - B(i, 3)
      y3 = (sign(half, k) + sign(half, l)) * min(abs(k), abs(l))
      k = p - A(i, 4)
      l = C(i, 4) - p
      y4 = (sign(half, k) + sign(half, l)) * min(abs(k), abs(l))
      spread = r * x2 + s * y3
      h1 = d - half * (u * x1 + v * y1 + d * spread)
      h2 = B(i, 2) - half * (u * x2 + v * y2 + r * x4 / d)
      h3 = B(i, 3) - half * (u * x3 + v * y3 + s * y4 / d)
      h4 = p - half * (u * x4 + v * y4 + gamma * p * spread)
      west(i, 1) = h1 - half * x1
      west(i, 2) = h2 - half * x2
      west(i, 3) = h3 - half * x3
      west(i, 4) = h4 - half * x4
      east(i, 1) = h1 + half * x1
      east(i, 2) = h2 + half * x2
      east(i, 3) = h3 + half * x3
      east(i, 4) = h4 + half * x4
      south(i, 1) = h1 - half * y1
      south(i, 2) = h2 - half * y2
      south(i, 3) = h3 - half * y3
      south(i, 4) = h4 - half * y4
      north(i, 1) = h1 + half * y1
      north(i, 2) = h2 + half * y2
      north(i, 3) = h3 + half * y3
      north(i, 4) = h4 + half * y4
    end do
  end subroutine states

  ! The HLL flux of mass, normal and other momentum, and energy between two states: density, normal
  ! and other velocity, pressure.
  subroutine hll(n, d, u, v, p, e, q, w, o, f1, f2, f3, f4)
    integer(c_int64_t), intent(in) :: n
    real(c_double), intent(in) :: d(n), u(n), v(n), p(n), e(n), q(n), w(n), o(n)
    real(c_double), intent(out) :: f1(n), f2(n), f3(n), f4(n)
    real(c_double) :: c, k, a, b, ab, over, m, l, energy, other
    integer(c_int64_t) :: i

    do i = 1, n
      c = sqrt(gamma * p(i) / d(i))
      k = sqrt(gamma * o(i) / e(i))
      a = min(0.0_c_double, min(u(i) - c, q(i) - k))
      b = max(0.0_c_double, max(u(i) + c, q(i) + k))
      over = 1 / (b - a)
      ab = a * b
      m = d(i) * u(i)
      l = e(i) * q(i)
      energy = p(i) / (gamma - 1) + half * d(i) * (u(i) * u(i) + v(i) * v(i))
      other = o(i) / (gamma - 1) + half * e(i) * (q(i) * q(i) + w(i) * w(i))
      f1(i) = (b * m - a * l + ab * (e(i) - d(i))) * over
      f2(i) = (b * (m * u(i) + p(i)) - a * (l * q(i) + o(i)) + ab * (l - m)) * over
      f3(i) = (b * (m * v(i)) - a * (l * w(i)) + ab * (e(i) * w(i) - d(i) * v(i))) * over
      f4(i) = (b * (u(i) * (energy + p(i))) - a * (q(i) * (other + o(i))) + ab * (other - energy)) &
        * over
    end do
  end subroutine hll

  subroutine update(n, r, s, old, f, g, h, new)
    integer(c_int64_t), intent(in) :: n
    real(c_double), intent(in) :: r, s, old(n), f(n + 1), g(n), h(n)
    real(c_double), intent(out) :: new(n)
    integer(c_int64_t) :: i

    do i = 1, n
      new(i) = old(i) - r * (f(i+1) - f(i)) - s * (h(i) - g(i))
    end do
  end subroutine update
end module euler_lines

! Stage by stage, each on whole arrays: W, X and Y, the states at the faces, the fluxes, the sum.
subroutine euler_natural(nx, ny, r, s, old, new) bind(c)
  use euler_lines
  implicit none
  integer(c_int64_t), value :: nx, ny
  real(c_double), value :: r, s
  real(c_double), intent(in) :: old(-1:nx+2, -1:ny+2, 4)
  real(c_double), intent(out) :: new(nx, ny, 4)
  real(c_double), allocatable, save :: W(:, :, :), X(:, :, :), Y(:, :, :), F(:, :, :), G(:, :, :)
  real(c_double), allocatable, save, dimension(:, :, :) :: H, west, east, south, north
  real(c_double) :: a, b
  integer(c_int64_t) :: i, j, n

  if (allocated(W)) then
    if (any(shape(W, c_int64_t) /= shape(old, c_int64_t))) &
      deallocate (W, X, Y, H, F, G, west, east, south, north)
  end if
  if (.not. allocated(W)) then
    allocate (W(-1:nx+2, -1:ny+2, 4), F(nx+1, ny, 4), G(nx, ny+1, 4))
    allocate (X(0:nx+1, 0:ny+1, 4))
    allocate (Y, H, west, east, south, north, mold=X)
  end if
  do j = -1, ny + 2
    call primitive(nx + 4, old(-1, j, 1), old(-1, j, 2), old(-1, j, 3), old(-1, j, 4), &
      W(-1, j, 1), W(-1, j, 2), W(-1, j, 3), W(-1, j, 4))
  end do
  do n = 1, 4
    do j = 0, ny + 1
      do i = 0, nx + 1
        a = W(i, j, n) - W(i-1, j, n)
        b = W(i+1, j, n) - W(i, j, n)
        X(i, j, n) = (sign(half, a) + sign(half, b)) * min(abs(a), abs(b))
        a = W(i, j, n) - W(i, j-1, n)
        b = W(i, j+1, n) - W(i, j, n)
        Y(i, j, n) = (sign(half, a) + sign(half, b)) * min(abs(a), abs(b))
      end do
    end do
  end do
  do j = 0, ny + 1
    !GCC$ ivdep
    do i = 0, nx + 1
      associate (d => W(i, j, 1), u => r * W(i, j, 2), v => s * W(i, j, 3), p => W(i, j, 4), &
        spread => r * X(i, j, 2) + s * Y(i, j, 3))
        H(i, j, 1) = d - half * (u * X(i, j, 1) + v * Y(i, j, 1) + d * spread)
        H(i, j, 2) = W(i, j, 2) - half * (u * X(i, j, 2) + v * Y(i, j, 2) + r * X(i, j, 4) / d)
        H(i, j, 3) = W(i, j, 3) - half * (u * X(i, j, 3) + v * Y(i, j, 3) + s * Y(i, j, 4) / d)
        H(i, j, 4) = p - half * (u * X(i, j, 4) + v * Y(i, j, 4) + gamma * p * spread)
      end associate
    end do
  end do
  west = H - half * X
  east = H + half * X
  south = H - half * Y
  north = H + half * Y
  do j = 1, ny
    call hll(nx + 1, east(0, j, 1), east(0, j, 2), east(0, j, 3), east(0, j, 4), &
      west(1, j, 1), west(1, j, 2), west(1, j, 3), west(1, j, 4), &
      F(1, j, 1), F(1, j, 2), F(1, j, 3), F(1, j, 4))
  end do
  do j = 1, ny + 1
    call hll(nx, north(1, j-1, 1), north(1, j-1, 3), north(1, j-1, 2), north(1, j-1, 4), &
      south(1, j, 1), south(1, j, 3), south(1, j, 2), south(1, j, 4), &
      G(1, j, 1), G(1, j, 3), G(1, j, 2), G(1, j, 4))
  end do
  do n = 1, 4
    do j = 1, ny
      call update(nx, r, s, old(1, j, n), F(1, j, n), G(1, j, n), G(1, j+1, n), new(1, j, n))
    end do
  end do
end subroutine euler_natural

! Row by row, all between in buffers of a few rows: W for four, row j in the slot mod(j, 4), north
! and G for two, the others for one.
subroutine euler_tuned(nx, ny, r, s, old, new) bind(c)
  use euler_lines
  implicit none
  integer(c_int64_t), value :: nx, ny
  real(c_double), value :: r, s
  real(c_double), intent(in) :: old(-1:nx+2, -1:ny+2, 4)
  real(c_double), intent(out) :: new(nx, ny, 4)
  real(c_double) :: W(-1:nx+2, 4, 0:3), F(nx+1, 4), G(nx, 4, 0:1)
  real(c_double) :: west(0:nx+1, 4), east(0:nx+1, 4), south(0:nx+1, 4), north(0:nx+1, 4, 0:1)
  integer(c_int64_t) :: j, n, slot, now, last

  do j = -1, ny + 2
    slot = modulo(j, 4_c_int64_t)
    call primitive(nx + 4, old(-1, j, 1), old(-1, j, 2), old(-1, j, 3), old(-1, j, 4), &
      W(-1, 1, slot), W(-1, 2, slot), W(-1, 3, slot), W(-1, 4, slot))
    if (j < 1) cycle
    now = mod(j, 2_c_int64_t)   ! from here on row j - 1
    last = 1 - now
    call states(nx, r, s, W(:, :, mod(j + 2, 4_c_int64_t)), W(:, :, mod(j + 3, 4_c_int64_t)), &
      W(:, :, slot), west, east, south, north(:, :, now))
    if (j < 2) cycle
    call hll(nx, north(1, 1, last), north(1, 3, last), north(1, 2, last), north(1, 4, last), &
      south(1, 1), south(1, 3), south(1, 2), south(1, 4), &
      G(1, 1, now), G(1, 3, now), G(1, 2, now), G(1, 4, now))
    if (j > 2) then
      do n = 1, 4
        call update(nx, r, s, old(1, j-2, n), F(1, n), G(1, n, last), G(1, n, now), new(1, j-2, n))
      end do
    end if
    call hll(nx + 1, east(0, 1), east(0, 2), east(0, 3), east(0, 4), &
      west(1, 1), west(1, 2), west(1, 3), west(1, 4), F(1, 1), F(1, 2), F(1, 3), F(1, 4))
  end do
end subroutine euler_tuned
