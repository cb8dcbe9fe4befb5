! waves.f90: waves on a square membrane, in Fortran.
!
!     gfortran -g -O2 -fopenmp -o waves waves.f90
!     ./waves [CELLS_A_SIDE [STEPS]]
!
! The fields are allocated and set to zero by whole-array assignments, which one thread carries out: all pages lie on its
! node. The loops run over columns in parallel, as Fortran stores them.
program waves
    implicit none
    integer, parameter :: wide = selected_real_kind(12)
    real(wide), allocatable :: before(:, :), now(:, :), after(:, :)
    real(wide) :: energy
    integer :: n, steps, step, i, j

    n = number(1, 1000)
    steps = number(2, 10)
    if (n < 3 .or. steps < 1) then
        write (0, '(a)') 'usage: waves [CELLS_A_SIDE [STEPS]], at least 3 cells and 1 step'
        stop 2
    end if
    allocate (before(n, n), now(n, n), after(n, n))
    before = 0
    now = 0
    after = 0
    now(n/2, n/2) = 1

    do step = 1, steps
        !$omp parallel do schedule(static) private(i)
        do j = 2, n - 1
            do i = 2, n - 1
                after(i, j) = 2*now(i, j) - before(i, j) &
                    + 0.2_wide*(now(i - 1, j) + now(i + 1, j) + now(i, j - 1) + now(i, j + 1) - 4*now(i, j))
            end do
        end do
        !$omp end parallel do
        !$omp parallel do schedule(static)
        do j = 1, n
            before(:, j) = now(:, j)
            now(:, j) = after(:, j)
        end do
        !$omp end parallel do
    end do

    energy = 0
    !$omp parallel do schedule(static) reduction(+:energy)
    do j = 1, n
        energy = energy + sum((now(:, j) - before(:, j))**2)
    end do
    !$omp end parallel do
    write (*, '(a,i0,a,i0,a,es14.7)') 'waves n=', n, ' steps=', steps, ' energy=', energy

contains

    integer function number(position, otherwise)
        integer, intent(in) :: position, otherwise
        character(len=32) :: text
        integer :: status

        number = otherwise
        if (command_argument_count() >= position) then
            call get_command_argument(position, text)
            read (text, *, iostat=status) number
            if (status /= 0) number = 0
        end if
    end function number
end program waves
