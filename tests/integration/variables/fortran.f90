! Two arrays are allocated; the main thread initialises one of them alone, line 15.
program arrays
    use omp_lib
    implicit none
    integer, parameter :: n = 2**19
    double precision, allocatable :: wrong(:)
    double precision, allocatable :: right(:)
    double precision :: end_s
    integer :: i

    allocate (wrong(n))
    allocate (right(n))
    do i = 1, n
        ! the first touch
        wrong(i) = 0.5d0 * i
    end do
    !$omp parallel do schedule(static)
    do i = 1, n
        right(i) = i
    end do
    end_s = omp_get_wtime() + 0.7d0
    do while (omp_get_wtime() < end_s)
        !$omp parallel do schedule(static)
        do i = 1, n
            wrong(i) = wrong(i) + right(i)
        end do
    end do
    print *, wrong(n / 2)
end program
