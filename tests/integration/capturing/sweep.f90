! Sweeps over an array that Fortran allocates, with a reduction.
program sweep
  implicit none
  integer, parameter :: n = 600
  real(8), allocatable :: a(:, :)
  real(8) :: total
  integer :: i, j, step
  allocate (a(n, n))
  a = 1
  total = 0
  do step = 1, 12
    !$omp parallel do private(i)
    do j = 2, n - 1
      do i = 2, n - 1
        a(i, j) = a(i, j) + 0.25d0 / (1 + a(i, j)**2)
      end do
    end do
    !$omp parallel do reduction(+:total) private(i)
    do j = 1, n
      do i = 1, n
        total = total + a(i, j) * 1d-6
      end do
    end do
  end do
  print '(f14.8)', total
end program sweep
