! Shallow water on the cubed sphere by spectral elements: depth and covariant velocity at m x m
! points of six panels, m = 3 n + 1, SSP-RK3; the algorithm of apps/swe/spectral.py, fused by hand.
!
! A stage is one pass over the lines of a panel: momenta and energies are made three lines ahead, in
! eight lines that rotate. Loops over elements are unrolled, and lines have a loop for each place in
! an element. Stages write the other one of two states, and the last one the state itself.
!
!   metric  1/J, J, G11, G12, G22 on any panel
!   place   J f and the bottom
!   edges   pairs of points on two panels, turn the matrices of their means; corners likewise
!   line    1 / W along a line, own the part of W that one element has
!   dual    the dual basis in space

module sem_pieces
  use, intrinsic :: iso_c_binding, only: c_double, c_int64_t
  implicit none
  integer, parameter :: dp = c_double, int = c_int64_t
  real(dp), parameter :: gravity = 9.80616_dp, s = sqrt(5.0_dp)
  real(dp), parameter :: d01 = 2.5_dp * (1 + s), d02 = 2.5_dp * (1 - s)
  real(dp), parameter :: d10 = -(1 + s) / 2, d12 = s, d13 = (1 - s) / 2
  real(dp), parameter :: sh1 = d01 / 2, sh2 = d02 / 2

contains

  pure subroutine along(n, x, y)
    integer(int), intent(in) :: n
    real(dp), intent(in) :: x(0:3*n)
    real(dp), intent(out) :: y(0:3*n)
    integer(int) :: e, i

    y(0) = -6 * x(0) + d01 * x(1) + d02 * x(2) + x(3)
    y(1) = d10 * x(0) + d12 * x(2) + d13 * x(3)
    y(2) = -d13 * x(0) - d12 * x(1) - d10 * x(3)
    do e = 1, n - 1
      i = 3 * e
      y(i) = 0.5_dp * (x(i+3) - x(i-3)) + sh2 * (x(i+2) - x(i-2)) + sh1 * (x(i+1) - x(i-1))
      y(i+1) = d10 * x(i) + d12 * x(i+2) + d13 * x(i+3)
      y(i+2) = -d13 * x(i) - d12 * x(i+1) - d10 * x(i+3)
    end do
    i = 3 * n
    y(i) = 6 * x(i) - d01 * x(i-1) - d02 * x(i-2) - x(i-3)
  end subroutine along

  ! W = R + a (U - R) with R = V + dt dV/dt, and W itself in the place of U in the last stage.
  subroutine stage(n, last, a, dt, per, metric, place, U, V, W)
    integer(int), intent(in) :: n
    logical, intent(in) :: last
    real(dp), intent(in) :: a, dt, per
    real(dp), intent(in) :: metric(0:3*n, 0:3*n, 5), place(0:3*n, 0:3*n, 6, 2)
    real(dp), intent(in) :: U(0:3*n, 0:3*n, 6, 3), V(0:3*n, 0:3*n, 6, 3)
    real(dp), intent(inout) :: W(0:3*n, 0:3*n, 6, 3)
    real(dp), dimension(0:3*n, 0:7) :: m1, m2, E, v1, v2
    real(dp), dimension(0:3*n) :: flow, left, right, shear
    integer(int) :: p, j, k, made, r

    do p = 1, 6
      made = -1
      do j = 0, 3 * n
        do k = made + 1, min(3 * n, j + 3)
          r = mod(k, 8_int)
          call ahead(3 * n + 1, metric(:, k, :), V(:, k, p, 1), V(:, k, p, 2), V(:, k, p, 3), &
                     place(:, k, p, 2), v1(:, r), v2(:, r), m1(:, r), m2(:, r), E(:, r))
        end do
        made = max(made, min(3 * n, j + 3))
        r = mod(j, 8_int)
        call along(n, m1(:, r), flow)
        call along(n, E(:, r), left)
        call along(n, V(:, j, p, 3), shear)
        call across(n, j, m2, E, V(:, :, p, 2), flow, right, shear)
        if (last) then
          call last_line(3 * n + 1, a, dt, per, metric(:, j, 1), place(:, j, p, 1), flow, left, &
                         right, shear, v1(:, r), v2(:, r), V(:, j, p, 1), V(:, j, p, 2), &
                         V(:, j, p, 3), W(:, j, p, 1), W(:, j, p, 2), W(:, j, p, 3))
        else
          call one_line(3 * n + 1, a, dt, per, metric(:, j, 1), place(:, j, p, 1), flow, left, right, &
                    shear, v1(:, r), v2(:, r), V(:, j, p, 1), V(:, j, p, 2), V(:, j, p, 3), &
                    U(:, j, p, 1), U(:, j, p, 2), U(:, j, p, 3), W(:, j, p, 1), W(:, j, p, 2), &
                    W(:, j, p, 3))
        end if
      end do
    end do
  end subroutine stage

  pure subroutine ahead(m, metric, h, u1, u2, b, v1, v2, m1, m2, E)
    integer(int), intent(in) :: m
    real(dp), intent(in) :: metric(:, :), h(m), u1(m), u2(m), b(m)
    real(dp), intent(out) :: v1(m), v2(m), m1(m), m2(m), E(m)
    real(dp) :: water
    integer(int) :: i

    do i = 1, m
      v1(i) = metric(i, 3) * u1(i) + metric(i, 4) * u2(i)
      v2(i) = metric(i, 4) * u1(i) + metric(i, 5) * u2(i)
      water = metric(i, 2) * h(i)
      m1(i) = water * v1(i)
      m2(i) = water * v2(i)
      E(i) = gravity * (h(i) + b(i)) + 0.5_dp * (u1(i) * v1(i) + u2(i) * v2(i))
    end do
  end subroutine ahead

  pure subroutine across(n, j, m2, E, u1, flow, slope, shear)
    integer(int), intent(in) :: n, j
    real(dp), intent(in) :: m2(0:3*n, 0:7), E(0:3*n, 0:7), u1(0:3*n, 0:3*n)
    real(dp), intent(inout) :: flow(0:3*n), shear(0:3*n)
    real(dp), intent(out) :: slope(0:3*n)
    real(dp) :: c0, c1, c2, c3
    integer(int) :: x0, x1, x2, x3, y1, y2, y3, j0, i

    if (mod(j, 3_int) == 0 .and. j > 0 .and. j < 3 * n) then
      x1 = mod(j - 1, 8_int); x2 = mod(j - 2, 8_int); x3 = mod(j - 3, 8_int)
      y1 = mod(j + 1, 8_int); y2 = mod(j + 2, 8_int); y3 = mod(j + 3, 8_int)
      do i = 0, 3 * n
        flow(i) = flow(i) + 0.5_dp * (m2(i, y3) - m2(i, x3)) &
                  + sh2 * (m2(i, y2) - m2(i, x2)) + sh1 * (m2(i, y1) - m2(i, x1))
        slope(i) = 0.5_dp * (E(i, y3) - E(i, x3)) + sh2 * (E(i, y2) - E(i, x2)) &
                   + sh1 * (E(i, y1) - E(i, x1))
        shear(i) = shear(i) - 0.5_dp * (u1(i, j+3) - u1(i, j-3)) &
                   - sh2 * (u1(i, j+2) - u1(i, j-2)) - sh1 * (u1(i, j+1) - u1(i, j-1))
      end do
      return
    end if
    j0 = 3 * min(j / 3, n - 1)
    x0 = mod(j0, 8_int); x1 = mod(j0 + 1, 8_int); x2 = mod(j0 + 2, 8_int); x3 = mod(j0 + 3, 8_int)
    select case (j - j0)
    case (1)
      do i = 0, 3 * n
        flow(i) = flow(i) + d10 * m2(i, x0) + d12 * m2(i, x2) + d13 * m2(i, x3)
        slope(i) = d10 * E(i, x0) + d12 * E(i, x2) + d13 * E(i, x3)
        shear(i) = shear(i) - d10 * u1(i, j-1) - d12 * u1(i, j+1) - d13 * u1(i, j+2)
      end do
    case (2)
      do i = 0, 3 * n
        flow(i) = flow(i) - d13 * m2(i, x0) - d12 * m2(i, x1) - d10 * m2(i, x3)
        slope(i) = -d13 * E(i, x0) - d12 * E(i, x1) - d10 * E(i, x3)
        shear(i) = shear(i) + d13 * u1(i, j-2) + d12 * u1(i, j-1) + d10 * u1(i, j+1)
      end do
    case default
      c0 = merge(-6.0_dp, -1.0_dp, j == 0)
      c1 = merge(d01, -d02, j == 0)
      c2 = merge(d02, -d01, j == 0)
      c3 = merge(1.0_dp, 6.0_dp, j == 0)
      do i = 0, 3 * n
        flow(i) = flow(i) + c0 * m2(i, x0) + c1 * m2(i, x1) + c2 * m2(i, x2) + c3 * m2(i, x3)
        slope(i) = c0 * E(i, x0) + c1 * E(i, x1) + c2 * E(i, x2) + c3 * E(i, x3)
        shear(i) = shear(i) - c0 * u1(i, j0) - c1 * u1(i, j0+1) - c2 * u1(i, j0+2) &
                   - c3 * u1(i, j0+3)
      end do
    end select
  end subroutine across

  pure subroutine one_line(m, a, dt, per, J, f, flow, left, right, shear, v1, v2, h, u1, u2, &
                       o1, o2, o3, w1, w2, w3)
    integer(int), intent(in) :: m
    real(dp), intent(in) :: a, dt, per
    real(dp), intent(in), dimension(m) :: J, f, flow, left, right, shear, v1, v2, h, u1, u2
    real(dp), intent(in), dimension(m) :: o1, o2, o3
    real(dp), intent(out), dimension(m) :: w1, w2, w3
    real(dp) :: Z, x
    integer(int) :: i

    do i = 1, m
      Z = per * shear(i) + f(i)
      x = h(i) - dt * per * J(i) * flow(i)
      w1(i) = x + a * (o1(i) - x)
      x = u1(i) + dt * (Z * v2(i) - per * left(i))
      w2(i) = x + a * (o2(i) - x)
      x = u2(i) - dt * (Z * v1(i) + per * right(i))
      w3(i) = x + a * (o3(i) - x)
    end do
  end subroutine one_line

  pure subroutine last_line(m, a, dt, per, J, f, flow, left, right, shear, v1, v2, h, u1, u2, &
                            w1, w2, w3)
    integer(int), intent(in) :: m
    real(dp), intent(in) :: a, dt, per
    real(dp), intent(in), dimension(m) :: J, f, flow, left, right, shear, v1, v2, h, u1, u2
    real(dp), intent(inout), dimension(m) :: w1, w2, w3
    real(dp) :: Z, x
    integer(int) :: i

    do i = 1, m
      Z = per * shear(i) + f(i)
      x = h(i) - dt * per * J(i) * flow(i)
      w1(i) = x + a * (w1(i) - x)
      x = u1(i) + dt * (Z * v2(i) - per * left(i))
      w2(i) = x + a * (w2(i) - x)
      x = u2(i) - dt * (Z * v1(i) + per * right(i))
      w3(i) = x + a * (w3(i) - x)
    end do
  end subroutine last_line

  subroutine share(points, count, edges, corners, q)
    integer(int), intent(in) :: points, count, edges(2, count), corners(3, 8)
    real(dp), intent(inout) :: q(points)
    integer(int) :: k

    do k = 1, count
      q(edges(:, k)) = 0.5_dp * (q(edges(1, k)) + q(edges(2, k)))
    end do
    do k = 1, 8
      q(corners(:, k)) = sum(q(corners(:, k))) / 3
    end do
  end subroutine share

  subroutine share_vectors(points, count, edges, turn, corners, turns, q)
    integer(int), intent(in) :: points, count, edges(2, count), corners(3, 8)
    real(dp), intent(in) :: turn(4, 4, count), turns(6, 6, 8)
    real(dp), intent(inout) :: q(points, 2)
    real(dp) :: x(4), y(6)
    integer(int) :: k, a, b

    do k = 1, count
      a = edges(1, k); b = edges(2, k)
      x = [q(a, 1), q(a, 2), q(b, 1), q(b, 2)]
      q(a, 1) = turn(1,1,k) * x(1) + turn(2,1,k) * x(2) + turn(3,1,k) * x(3) + turn(4,1,k) * x(4)
      q(a, 2) = turn(1,2,k) * x(1) + turn(2,2,k) * x(2) + turn(3,2,k) * x(3) + turn(4,2,k) * x(4)
      q(b, 1) = turn(1,3,k) * x(1) + turn(2,3,k) * x(2) + turn(3,3,k) * x(3) + turn(4,3,k) * x(4)
      q(b, 2) = turn(1,4,k) * x(1) + turn(2,4,k) * x(2) + turn(3,4,k) * x(3) + turn(4,4,k) * x(4)
    end do
    do k = 1, 8
      y(1:5:2) = q(corners(:, k), 1)
      y(2:6:2) = q(corners(:, k), 2)
      do a = 1, 3
        q(corners(a, k), 1) = dot_product(turns(:, 2*a-1, k), y)
        q(corners(a, k), 2) = dot_product(turns(:, 2*a, k), y)
      end do
    end do
  end subroutine share_vectors

  subroutine laplace(n, per, metric, line, own, count, edges, corners, q, r)
    integer(int), intent(in) :: n, count, edges(2, count), corners(3, 8)
    real(dp), intent(in) :: per, metric(0:3*n, 0:3*n, 5), line(0:3*n), own(0:3)
    real(dp), intent(in) :: q(0:3*n, 0:3*n, 6)
    real(dp), intent(out) :: r(0:3*n, 0:3*n, 6)
    real(dp) :: x(0:3, 0:3), f(0:3, 0:3), g(0:3, 0:3), ga, gb, w, total(0:3*n, 0:3)
    integer(int) :: p, ej, ei, i, j, at, up

    do p = 1, 6
      total = 0
      do ej = 0, n - 1
        up = 3 * ej
        do ei = 0, n - 1
          at = 3 * ei
          x = q(at:at+3, up:up+3, p)
          do j = 0, 3
            f(0, j) = -6 * x(0, j) + d01 * x(1, j) + d02 * x(2, j) + x(3, j)
            f(1, j) = d10 * x(0, j) + d12 * x(2, j) + d13 * x(3, j)
            f(2, j) = -d13 * x(0, j) - d12 * x(1, j) - d10 * x(3, j)
            f(3, j) = 6 * x(3, j) - d01 * x(2, j) - d02 * x(1, j) - x(0, j)
          end do
          do i = 0, 3
            g(i, 0) = -6 * x(i, 0) + d01 * x(i, 1) + d02 * x(i, 2) + x(i, 3)
            g(i, 1) = d10 * x(i, 0) + d12 * x(i, 2) + d13 * x(i, 3)
            g(i, 2) = -d13 * x(i, 0) - d12 * x(i, 1) - d10 * x(i, 3)
            g(i, 3) = 6 * x(i, 3) - d01 * x(i, 2) - d02 * x(i, 1) - x(i, 0)
          end do
          do j = 0, 3
            do i = 0, 3
              w = own(i) * own(j) * metric(at + i, up + j, 2)
              ga = w * (metric(at+i, up+j, 3) * f(i, j) + metric(at+i, up+j, 4) * g(i, j))
              gb = w * (metric(at+i, up+j, 4) * f(i, j) + metric(at+i, up+j, 5) * g(i, j))
              f(i, j) = ga
              g(i, j) = gb
            end do
          end do
          do j = 0, 3
            total(at, j) = total(at, j) - 6 * f(0, j) + d10 * f(1, j) - d13 * f(2, j) - f(3, j)
            total(at+1, j) = total(at+1, j) + d01 * f(0, j) - d12 * f(2, j) - d02 * f(3, j)
            total(at+2, j) = total(at+2, j) + d02 * f(0, j) + d12 * f(1, j) - d01 * f(3, j)
            total(at+3, j) = total(at+3, j) + f(0, j) + d13 * f(1, j) - d10 * f(2, j) + 6 * f(3, j)
          end do
          do i = 0, 3
            total(at+i, 0) = total(at+i, 0) - 6 * g(i, 0) + d10 * g(i, 1) - d13 * g(i, 2) - g(i, 3)
            total(at+i, 1) = total(at+i, 1) + d01 * g(i, 0) - d12 * g(i, 2) - d02 * g(i, 3)
            total(at+i, 2) = total(at+i, 2) + d02 * g(i, 0) + d12 * g(i, 1) - d01 * g(i, 3)
            total(at+i, 3) = total(at+i, 3) + g(i, 0) + d13 * g(i, 1) - d10 * g(i, 2) + 6 * g(i, 3)
          end do
        end do
        do j = 0, merge(3, 2, ej == n - 1)
          r(:, up+j, p) = -per**2 * total(:, j) * line * line(up+j) * metric(:, up+j, 1)
        end do
        total(:, 0) = total(:, 3)
        total(:, 1:3) = 0
      end do
    end do
    call share(6 * (3 * n + 1)**2, count, edges, corners, r)
  end subroutine laplace

end module sem_pieces

subroutine sem_step(n, nu, dt, per, metric, place, dual, line, own, count, edges, turn, corners, &
                    turns, U, V, W, Q) bind(c)
  use sem_pieces
  implicit none
  integer(int), value :: n, count
  real(dp), value :: nu, dt, per
  real(dp), intent(in) :: metric(0:3*n, 0:3*n, 5), place(0:3*n, 0:3*n, 6, 2)
  real(dp), intent(in) :: dual(0:3*n, 0:3*n, 6, 6), line(0:3*n), own(0:3)
  integer(int), intent(in) :: edges(2, count), corners(3, 8)
  real(dp), intent(in) :: turn(4, 4, count), turns(6, 6, 8)
  real(dp), intent(inout), dimension(0:3*n, 0:3*n, 6, 3) :: U, V, W
  real(dp), intent(inout) :: Q(0:3*n, 0:3*n, 6, 5)
  real(dp) :: x, y, J2
  integer(int) :: p, j, i, c

  call stage(n, .false., 0.0_dp, dt, per, metric, place, U, U, V)
  call agree(V)
  call stage(n, .false., 0.75_dp, dt, per, metric, place, U, V, W)
  call agree(W)
  call stage(n, .true., 1 / 3.0_dp, dt, per, metric, place, V, W, U)
  call agree(U)
  if (nu == 0) return
  Q(:, :, :, 1) = U(:, :, :, 1) + place(:, :, :, 2)
  do c = 1, 3
    Q(:, :, :, c+1) = U(:, :, :, 2) * dual(:, :, :, c) + U(:, :, :, 3) * dual(:, :, :, c+3)
  end do
  do c = 1, 4
    call laplace(n, per, metric, line, own, count, edges, corners, Q(:, :, :, c), Q(:, :, :, 5))
    call laplace(n, per, metric, line, own, count, edges, corners, Q(:, :, :, 5), Q(:, :, :, c))
  end do
  do p = 1, 6
    do j = 0, 3 * n
      do i = 0, 3 * n
        x = Q(i, j, p, 2) * dual(i, j, p, 1) + Q(i, j, p, 3) * dual(i, j, p, 2) &
            + Q(i, j, p, 4) * dual(i, j, p, 3)
        y = Q(i, j, p, 2) * dual(i, j, p, 4) + Q(i, j, p, 3) * dual(i, j, p, 5) &
            + Q(i, j, p, 4) * dual(i, j, p, 6)
        J2 = nu * dt * metric(i, j, 2)**2
        U(i, j, p, 1) = U(i, j, p, 1) - nu * dt * Q(i, j, p, 1)
        U(i, j, p, 2) = U(i, j, p, 2) - J2 * (metric(i, j, 5) * x - metric(i, j, 4) * y)
        U(i, j, p, 3) = U(i, j, p, 3) - J2 * (metric(i, j, 3) * y - metric(i, j, 4) * x)
      end do
    end do
  end do

contains

  subroutine agree(X)
    real(dp), intent(inout) :: X(0:3*n, 0:3*n, 6, 3)
    integer(int) :: points

    points = 6 * (3 * n + 1)**2
    call share(points, count, edges, corners, X(:, :, :, 1))
    call share_vectors(points, count, edges, turn, corners, turns, X(:, :, :, 2:3))
  end subroutine agree

end subroutine sem_step
