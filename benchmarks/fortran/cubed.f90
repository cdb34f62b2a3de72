! The ghosts of h and of the vector (u, v) on a cubed sphere: six panels of n x n cells, w layers.
!
! A ghost lies on a line of the neighbour's cells: it gets a value by six-point interpolation along
! that line, a vector is then turned from the neighbour's basis to that of the panel. Beyond the
! corners of a panel nothing is defined. Tables: link(:, e, p) holds the neighbour of panel p beyond
! edge e (west, east, south, north), the neighbour's edge, and 1 if the two run in opposite
! directions; the first of six points i0(t, k) and their weights for ghost t of layer k; turn, the
! rotations. The first index of a field is contiguous.

module cubed_parts
  use, intrinsic :: iso_c_binding, only: c_double, c_int64_t
  implicit none
  integer(c_int64_t), parameter :: west = 1, east = 2, south = 3, north = 4
contains

  ! The cells of a panel on a line along an edge, in the direction of the edge or against it.
  subroutine line_of(n, w, edge, against, k, panel, line)
    integer(c_int64_t), intent(in) :: n, w, edge, against, k
    real(c_double), intent(in) :: panel(1-w:n+w, 1-w:n+w)
    real(c_double), intent(out) :: line(n)

    select case (edge + 4 * against)
    case (west)
      line = panel(k, 1:n)
    case (east)
      line = panel(n+1-k, 1:n)
    case (south)
      line = panel(1:n, k)
    case (north)
      line = panel(1:n, n+1-k)
    case (west + 4)
      line = panel(k, n:1:-1)
    case (east + 4)
      line = panel(n+1-k, n:1:-1)
    case (south + 4)
      line = panel(n:1:-1, k)
    case (north + 4)
      line = panel(n:1:-1, n+1-k)
    end select
  end subroutine line_of

  ! Store a line of ghosts in layer k beyond an edge.
  subroutine store(n, w, edge, k, line, panel)
    integer(c_int64_t), intent(in) :: n, w, edge, k
    real(c_double), intent(in) :: line(n)
    real(c_double), intent(inout) :: panel(1-w:n+w, 1-w:n+w)

    select case (edge)
    case (west)
      panel(1-k, 1:n) = line
    case (east)
      panel(n+k, 1:n) = line
    case (south)
      panel(1:n, 1-k) = line
    case (north)
      panel(1:n, n+k) = line
    end select
  end subroutine store
end module cubed_parts

! One ghost after the other.
subroutine cubed_natural(n, w, link, i0, weight, turn, h, u, v) bind(c)
  use, intrinsic :: iso_c_binding, only: c_double, c_int64_t
  use cubed_parts
  implicit none
  integer(c_int64_t), value :: n, w
  integer(c_int64_t), intent(in) :: link(3, 4, 6), i0(n, w)
  real(c_double), intent(in) :: weight(6, n, w), turn(2, 2, n, w, 4, 6)
  real(c_double), intent(inout), dimension(1-w:n+w, 1-w:n+w, 6) :: h, u, v
  real(c_double), dimension(n) :: a, b, c, x, y, z
  real(c_double) :: alpha, beta
  integer(c_int64_t) :: p, e, q, f, r, k, t, s

  do p = 1, 6
    do e = 1, 4
      q = link(1, e, p)
      f = link(2, e, p)
      r = link(3, e, p)
      do k = 1, w
        call line_of(n, w, f, r, k, h(:, :, q), a)
        call line_of(n, w, f, r, k, u(:, :, q), b)
        call line_of(n, w, f, r, k, v(:, :, q), c)
        do t = 1, n
          s = i0(t, k)
          x(t) = sum(weight(:, t, k) * a(s:s+5))
          alpha = sum(weight(:, t, k) * b(s:s+5))
          beta = sum(weight(:, t, k) * c(s:s+5))
          y(t) = turn(1, 1, t, k, e, p) * alpha + turn(2, 1, t, k, e, p) * beta
          z(t) = turn(1, 2, t, k, e, p) * alpha + turn(2, 2, t, k, e, p) * beta
        end do
        call store(n, w, e, k, x, h(:, :, p))
        call store(n, w, e, k, y, u(:, :, p))
        call store(n, w, e, k, z, v(:, :, p))
      end do
    end do
  end do
end subroutine cubed_natural

! A vector of ghosts at a time: the tables have the place along the edge first, and the sum of six
! points is written out.
subroutine cubed_tuned(n, w, link, i0, weight, turn, h, u, v) bind(c)
  use, intrinsic :: iso_c_binding, only: c_double, c_int64_t
  use cubed_parts
  implicit none
  integer(c_int64_t), value :: n, w
  integer(c_int64_t), intent(in) :: link(3, 4, 6), i0(n, w)
  real(c_double), intent(in) :: weight(n, 6, w), turn(n, 2, 2, w, 4, 6)
  real(c_double), intent(inout), dimension(1-w:n+w, 1-w:n+w, 6) :: h, u, v
  real(c_double), dimension(n) :: a, b, c, x, y, z
  real(c_double) :: w1, w2, w3, w4, w5, w6, alpha, beta
  integer(c_int64_t) :: p, e, q, f, r, k, t, s

  do p = 1, 6
    do e = 1, 4
      q = link(1, e, p)
      f = link(2, e, p)
      r = link(3, e, p)
      do k = 1, w
        call line_of(n, w, f, r, k, h(:, :, q), a)
        call line_of(n, w, f, r, k, u(:, :, q), b)
        call line_of(n, w, f, r, k, v(:, :, q), c)
        !GCC$ ivdep
        do t = 1, n
          s = i0(t, k)
          w1 = weight(t, 1, k)
          w2 = weight(t, 2, k)
          w3 = weight(t, 3, k)
          w4 = weight(t, 4, k)
          w5 = weight(t, 5, k)
          w6 = weight(t, 6, k)
          x(t) = w1*a(s) + w2*a(s+1) + w3*a(s+2) + w4*a(s+3) + w5*a(s+4) + w6*a(s+5)
          alpha = w1*b(s) + w2*b(s+1) + w3*b(s+2) + w4*b(s+3) + w5*b(s+4) + w6*b(s+5)
          beta = w1*c(s) + w2*c(s+1) + w3*c(s+2) + w4*c(s+3) + w5*c(s+4) + w6*c(s+5)
          y(t) = turn(t, 1, 1, k, e, p) * alpha + turn(t, 2, 1, k, e, p) * beta
          z(t) = turn(t, 1, 2, k, e, p) * alpha + turn(t, 2, 2, k, e, p) * beta
        end do
        call store(n, w, e, k, x, h(:, :, p))
        call store(n, w, e, k, y, u(:, :, p))
        call store(n, w, e, k, z, v(:, :, p))
      end do
    end do
  end do
end subroutine cubed_tuned
