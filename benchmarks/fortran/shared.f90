! Points shared by panels of a cubed sphere, m x m points each: all copies become their mean.
!
! Tables: edge(:, e) holds where a copy of edge e starts, its step, and the same for the other copy,
! without the ends; corner(:, c) where the three copies of a corner are. Places count from 1.

subroutine shared_natural(m, fields, edge, corner, u) bind(c)
  use, intrinsic :: iso_c_binding, only: c_double, c_int64_t
  implicit none
  integer(c_int64_t), value :: m, fields
  integer(c_int64_t), intent(in) :: edge(4, 12), corner(3, 8)
  real(c_double), intent(inout) :: u(6 * m * m, fields)
  real(c_double) :: mean
  integer(c_int64_t) :: c, e, f, t, a, b

  do f = 1, fields
    do e = 1, 12
      do t = 0, m - 3
        a = edge(1, e) + t * edge(2, e)
        b = edge(3, e) + t * edge(4, e)
        mean = 0.5_c_double * (u(a, f) + u(b, f))
        u(a, f) = mean
        u(b, f) = mean
      end do
    end do
    do c = 1, 8
      mean = (u(corner(1, c), f) + u(corner(2, c), f) + u(corner(3, c), f)) / 3
      u(corner(:, c), f) = mean
    end do
  end do
end subroutine shared_natural
