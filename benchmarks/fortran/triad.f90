! a = b + s c on n doubles: the speed of the memory, the yardstick of every other time.
!
! Each element moves 24 bytes, and 8 more where the store first reads the line it fills. One loop
! is all there is to it.

subroutine triad_natural(n, s, b, c, a) bind(c)
  use, intrinsic :: iso_c_binding, only: c_double, c_int64_t
  implicit none
  integer(c_int64_t), value :: n
  real(c_double), value :: s
  real(c_double), intent(in) :: b(n), c(n)
  real(c_double), intent(out) :: a(n)
  integer(c_int64_t) :: i

  do i = 1, n
    a(i) = b(i) + s * c(i)
  end do
end subroutine triad_natural
