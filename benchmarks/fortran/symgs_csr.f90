! Symmetric Gauss-Seidel, forward then backward, on a matrix in CSR form with 32-bit indices that
! count from zero: the sweep of a general sparse code.
!
! Each row subtracts all its entries, adds its diagonal entry back and divides by it.

subroutine symgs_csr_natural(rows, nnz, indptr, indices, values, diagonal, b, x) bind(c)
  use, intrinsic :: iso_c_binding, only: c_double, c_int32_t, c_int64_t
  implicit none
  integer(c_int64_t), value :: rows, nnz
  integer(c_int32_t), intent(in) :: indptr(0:rows), indices(0:nnz-1)
  real(c_double), intent(in) :: values(0:nnz-1), diagonal(0:rows-1), b(0:rows-1)
  real(c_double), intent(inout) :: x(0:rows-1)
  real(c_double) :: s
  integer(c_int64_t) :: r
  integer(c_int32_t) :: p

  do r = 0, rows - 1
    s = b(r)
    do p = indptr(r), indptr(r+1) - 1
      s = s - values(p) * x(indices(p))
    end do
    x(r) = (s + diagonal(r) * x(r)) / diagonal(r)
  end do
  do r = rows - 1, 0, -1
    s = b(r)
    do p = indptr(r), indptr(r+1) - 1
      s = s - values(p) * x(indices(p))
    end do
    x(r) = (s + diagonal(r) * x(r)) / diagonal(r)
  end do
end subroutine symgs_csr_natural
