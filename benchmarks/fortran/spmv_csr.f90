! y = A x, A in CSR form with 32-bit indices that count from zero.

subroutine spmv_csr_natural(rows, nnz, indptr, indices, values, x, y) bind(c)
  use, intrinsic :: iso_c_binding, only: c_double, c_int32_t, c_int64_t
  implicit none
  integer(c_int64_t), value :: rows, nnz
  integer(c_int32_t), intent(in) :: indptr(0:rows), indices(0:nnz-1)
  real(c_double), intent(in) :: values(0:nnz-1), x(0:rows-1)
  real(c_double), intent(out) :: y(0:rows-1)
  real(c_double) :: s
  integer(c_int64_t) :: r
  integer(c_int32_t) :: p

  do r = 0, rows - 1
    s = 0
    do p = indptr(r), indptr(r+1) - 1
      s = s + values(p) * x(indices(p))
    end do
    y(r) = s
  end do
end subroutine spmv_csr_natural
