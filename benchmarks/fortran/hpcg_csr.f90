! Iterations of conjugate gradients with a V-cycle of four grids as preconditioner, on matrices in
! CSR form with 32-bit indices that count from zero: the HPCG algorithm on a general sparse matrix.
!
! The matrices of all grids are the blocks of one matrix; grid g has the rows first(g) to
! first(g+1) - 1, the finest one comes first. origin(row) is the row of the next finer grid at the
! same point. seconds: V-cycles with (r, z); products with the new p and (p, q); updates of x and r
! with (r, r).

subroutine hpcg_csr_natural(rows, nnz, fine, iterations, first, origin, indptr, indices, values, &
    diagonal, b, x, r, z, p, q, residuals, seconds) bind(c)
  use, intrinsic :: iso_c_binding, only: c_double, c_int32_t, c_int64_t
  implicit none
  integer(c_int64_t), value :: rows, nnz, fine, iterations
  integer(c_int32_t), intent(in) :: first(0:4), origin(0:rows-1)
  integer(c_int32_t), intent(in) :: indptr(0:rows), indices(0:nnz-1)
  real(c_double), intent(in) :: values(0:nnz-1), diagonal(0:rows-1), b(0:fine-1)
  real(c_double), intent(inout) :: x(0:fine-1), p(0:fine-1), r(0:rows-1), z(0:rows-1), q(0:rows-1)
  real(c_double), intent(inout) :: residuals(0:iterations), seconds(3)
  real(c_double) :: rz, old, alpha
  integer(c_int64_t) :: k, ticks(4), rate

  call system_clock(count_rate=rate)
  seconds = 0
  old = 1
  x = 0
  p = 0
  call spmv(0, x)
  r(0:fine-1) = b - q(0:fine-1)
  residuals(0) = norm2(r(0:fine-1))
  do k = 1, iterations
    call system_clock(ticks(1))
    call precondition
    rz = dot_product(r(0:fine-1), z(0:fine-1))
    call system_clock(ticks(2))
    if (k == 1) then
      p = z(0:fine-1)
    else
      p = z(0:fine-1) + rz / old * p
    end if
    old = rz
    call spmv(0, p)
    alpha = rz / dot_product(p, q(0:fine-1))
    call system_clock(ticks(3))
    x = x + alpha * p
    r(0:fine-1) = r(0:fine-1) - alpha * q(0:fine-1)
    residuals(k) = sqrt(dot_product(r(0:fine-1), r(0:fine-1)))
    call system_clock(ticks(4))
    seconds = seconds + real(ticks(2:4) - ticks(1:3), c_double) / rate
  end do

contains

  ! z = about A^-1 r
  subroutine precondition
    integer :: grid
    integer(c_int32_t) :: c

    z = 0
    do grid = 0, 2
      call smooth(grid)
      call spmv(grid, z(first(grid):first(grid+1)-1))
      do c = first(grid+1), first(grid+2) - 1
        r(c) = r(origin(c)) - q(origin(c))
      end do
    end do
    call smooth(3)
    do grid = 2, 0, -1
      do c = first(grid+1), first(grid+2) - 1
        z(origin(c)) = z(origin(c)) + z(c)
      end do
      call smooth(grid)
    end do
  end subroutine precondition

  ! A forward and a backward Gauss-Seidel sweep on z.
  subroutine smooth(grid)
    integer, intent(in) :: grid
    integer(c_int32_t) :: row

    do row = first(grid), first(grid+1) - 1
      call relax(row)
    end do
    do row = first(grid+1) - 1, first(grid), -1
      call relax(row)
    end do
  end subroutine smooth

  ! Subtract all entries, add that of the diagonal back, divide by it.
  subroutine relax(row)
    integer(c_int32_t), intent(in) :: row
    real(c_double) :: s
    integer(c_int32_t) :: e

    s = r(row)
    do e = indptr(row), indptr(row+1) - 1
      s = s - values(e) * z(indices(e))
    end do
    z(row) = (s + diagonal(row) * z(row)) / diagonal(row)
  end subroutine relax

  ! q = A v on a grid
  subroutine spmv(grid, v)
    integer, intent(in) :: grid
    real(c_double), intent(in) :: v(first(grid):first(grid+1)-1)
    real(c_double) :: s
    integer(c_int32_t) :: row, e

    do row = first(grid), first(grid+1) - 1
      s = 0
      do e = indptr(row), indptr(row+1) - 1
        s = s + values(e) * v(indices(e))
      end do
      q(row) = s
    end do
  end subroutine spmv
end subroutine hpcg_csr_natural
