! Solve along the lines of one axis with blocks of 5 x 5: 4 I + v v' on the diagonal, and
! s v v' beside it, with v = u at the block's own column, s = -1/10 before and 1/10 behind the row.
! Arrays are (nx, ny, nz, 5), the first index contiguous; axis is 1, 2 or 3.

! Line by line, with components innermost and the blocks of a line stored, as is usual.
subroutine block_band_natural(nx, ny, nz, axis, u, b, x) bind(c)
  use, intrinsic :: iso_c_binding, only: c_double, c_int64_t
  implicit none
  integer(c_int64_t), value :: nx, ny, nz, axis
  real(c_double), intent(in) :: u(nx, ny, nz, 5), b(nx, ny, nz, 5)
  real(c_double), intent(inout) :: x(nx, ny, nz, 5)
  real(c_double), allocatable :: v(:, :), r(:, :), lhs(:, :, :, :)
  integer(c_int64_t) :: i, j, k

  allocate (v(5, max(nx, ny, nz)), r(5, max(nx, ny, nz)), lhs(5, 5, 3, max(nx, ny, nz)))
  select case (axis)
  case (1)
    do k = 1, nz
      do j = 1, ny
        v(:, 1:nx) = transpose(u(:, j, k, :))
        r(:, 1:nx) = transpose(b(:, j, k, :))
        call line(nx)
        x(:, j, k, :) = transpose(r(:, 1:nx))
      end do
    end do
  case (2)
    do k = 1, nz
      do i = 1, nx
        v(:, 1:ny) = transpose(u(i, :, k, :))
        r(:, 1:ny) = transpose(b(i, :, k, :))
        call line(ny)
        x(i, :, k, :) = transpose(r(:, 1:ny))
      end do
    end do
  case default
    do j = 1, ny
      do i = 1, nx
        v(:, 1:nz) = transpose(u(i, j, :, :))
        r(:, 1:nz) = transpose(b(i, j, :, :))
        call line(nz)
        x(i, j, :, :) = transpose(r(:, 1:nz))
      end do
    end do
  end select

contains

  subroutine line(n)
    integer(c_int64_t), intent(in) :: n
    integer(c_int64_t) :: p, m, q

    do p = 1, n
      do q = 1, 5
        do m = 1, 5
          lhs(m, q, 1, p) = 0
          lhs(m, q, 3, p) = 0
          if (p > 1) lhs(m, q, 1, p) = -0.1_c_double * v(m, p - 1) * v(q, p - 1)
          lhs(m, q, 2, p) = v(m, p) * v(q, p)
          if (p < n) lhs(m, q, 3, p) = 0.1_c_double * v(m, p + 1) * v(q, p + 1)
        end do
        lhs(q, q, 2, p) = lhs(q, q, 2, p) + 4
      end do
    end do
    do p = 1, n
      if (p > 1) then
        r(:, p) = r(:, p) - matmul(lhs(:, :, 1, p), r(:, p - 1))
        lhs(:, :, 2, p) = lhs(:, :, 2, p) - matmul(lhs(:, :, 1, p), lhs(:, :, 3, p - 1))
      end if
      call invert(lhs(:, :, 2, p), lhs(:, :, 3, p), r(:, p))
    end do
    do p = n - 1, 1, -1
      r(:, p) = r(:, p) - matmul(lhs(:, :, 3, p), r(:, p + 1))
    end do
  end subroutine line

  subroutine invert(a, c, f)
    real(c_double), intent(inout) :: a(5, 5), c(5, 5), f(5)
    real(c_double) :: pivot, factor
    integer(c_int64_t) :: m, q

    do q = 1, 5
      pivot = 1 / a(q, q)
      a(q, :) = a(q, :) * pivot
      c(q, :) = c(q, :) * pivot
      f(q) = f(q) * pivot
      do m = 1, 5
        if (m == q) cycle
        factor = a(m, q)
        a(m, :) = a(m, :) - factor * a(q, :)
        c(m, :) = c(m, :) - factor * c(q, :)
        f(m) = f(m) - factor * f(q)
      end do
    end do
  end subroutine invert
end subroutine block_band_natural

! Eight lines at a time, side by side; only the upper factor is stored. nx and ny are multiples of 8.
subroutine block_band_tuned(nx, ny, nz, axis, u, b, x) bind(c)
  use, intrinsic :: iso_c_binding, only: c_double, c_int64_t
  implicit none
  integer(c_int64_t), parameter :: w = 8
  integer(c_int64_t), value :: nx, ny, nz, axis
  real(c_double), intent(in) :: u(nx, ny, nz, 5), b(nx, ny, nz, 5)
  real(c_double), intent(inout) :: x(nx, ny, nz, 5)
  real(c_double), allocatable :: v(:, :, :), r(:, :, :), c(:, :, :, :)
  integer(c_int64_t) :: i, j, k, m

  allocate (v(w, 5, max(nx, ny, nz)), r(w, 5, max(nx, ny, nz)), c(w, 5, 5, max(nx, ny, nz)))
  select case (axis)
  case (1)
    do k = 1, nz
      do j = 1, ny, w
        do m = 1, 5
          v(:, m, 1:nx) = transpose(u(:, j:j+w-1, k, m))
          r(:, m, 1:nx) = transpose(b(:, j:j+w-1, k, m))
        end do
        call lines(nx, v, r, c)
        do m = 1, 5
          x(:, j:j+w-1, k, m) = transpose(r(:, m, 1:nx))
        end do
      end do
    end do
  case (2)
    do k = 1, nz
      do i = 1, nx, w
        do m = 1, 5
          v(:, m, 1:ny) = u(i:i+w-1, :, k, m)
          r(:, m, 1:ny) = b(i:i+w-1, :, k, m)
        end do
        call lines(ny, v, r, c)
        do m = 1, 5
          x(i:i+w-1, :, k, m) = r(:, m, 1:ny)
        end do
      end do
    end do
  case default
    do j = 1, ny
      do i = 1, nx, w
        do m = 1, 5
          v(:, m, 1:nz) = u(i:i+w-1, j, :, m)
          r(:, m, 1:nz) = b(i:i+w-1, j, :, m)
        end do
        call lines(nz, v, r, c)
        do m = 1, 5
          x(i:i+w-1, j, :, m) = r(:, m, 1:nz)
        end do
      end do
    end do
  end select

contains

  subroutine lines(n, v, r, c)
    integer(c_int64_t), intent(in) :: n
    real(c_double), intent(in) :: v(w, 5, n)
    real(c_double), intent(inout) :: r(w, 5, n), c(w, 5, 5, n)
    real(c_double) :: a(w, 5, 5), d(w, 5, 5), e(w, 5, 5), pivot(w), factor(w)
    integer(c_int64_t) :: p, m, q, t, l

    do p = 1, n
      do q = 1, 5
        do m = 1, 5
          d(:, m, q) = v(:, m, p) * v(:, q, p)
        end do
        d(:, q, q) = d(:, q, q) + 4
      end do
      if (p < n) then
        do q = 1, 5
          do m = 1, 5
            e(:, m, q) = 0.1_c_double * v(:, m, p + 1) * v(:, q, p + 1)
          end do
        end do
      else
        e = 0
      end if
      if (p > 1) then
        do q = 1, 5
          do m = 1, 5
            a(:, m, q) = -0.1_c_double * v(:, m, p - 1) * v(:, q, p - 1)
          end do
        end do
        do t = 1, 5
          do m = 1, 5
            do l = 1, w
              r(l, m, p) = r(l, m, p) - a(l, m, t) * r(l, t, p - 1)
            end do
            do q = 1, 5
              do l = 1, w
                d(l, m, q) = d(l, m, q) - a(l, m, t) * c(l, t, q, p - 1)
              end do
            end do
          end do
        end do
      end if
      do q = 1, 5
        pivot = 1 / d(:, q, q)
        do m = q + 1, 5
          factor = d(:, m, q) * pivot
          do t = q + 1, 5
            d(:, m, t) = d(:, m, t) - factor * d(:, q, t)
          end do
          do t = 1, 5
            e(:, m, t) = e(:, m, t) - factor * e(:, q, t)
          end do
          r(:, m, p) = r(:, m, p) - factor * r(:, q, p)
        end do
        d(:, q, q) = pivot
      end do
      do q = 5, 1, -1
        do m = q + 1, 5
          do t = 1, 5
            e(:, q, t) = e(:, q, t) - d(:, q, m) * c(:, m, t, p)
          end do
          r(:, q, p) = r(:, q, p) - d(:, q, m) * r(:, m, p)
        end do
        do t = 1, 5
          c(:, q, t, p) = e(:, q, t) * d(:, q, q)
        end do
        r(:, q, p) = r(:, q, p) * d(:, q, q)
      end do
    end do
    do p = n - 1, 1, -1
      do t = 1, 5
        do m = 1, 5
          do l = 1, w
            r(l, m, p) = r(l, m, p) - c(l, m, t, p) * r(l, t, p + 1)
          end do
        end do
      end do
    end do
  end subroutine lines
end subroutine block_band_tuned
