! numapredict.f90: what a program knows of its threads and their memory, for `numapredict run`.
!
! The same calls as in numapredict.h, which says what each does, in which units and with which errors; they are compiled
! with the program: gfortran -fopenmp "$(numapredict --include)/numapredict.f90" program.f90. Buffers are addresses:
! c_loc(array), of an array that is a target. Call numapredict_begin first of all: memory that is allocated before
! cannot be attached or moved on next touch. Nothing has to be linked, but -ldl before glibc 2.34: the library's function
! is looked up once.
module numapredict
    use, intrinsic :: iso_c_binding, only: c_int, c_size_t, c_double, c_ptr, c_funptr, c_char, c_null_ptr, c_null_char, &
        c_associated, c_f_procpointer
    implicit none
    private
    public :: numapredict_begin, numapredict_attach, numapredict_attach_chunks, numapredict_attach_on_next_touch, &
        numapredict_move_on_next_touch, numapredict_team_work

    abstract interface
        function library_call(hint, buffer, bytes, chunk_bytes, work) bind(c) result(code)
            import :: c_int, c_size_t, c_double, c_ptr
            integer(c_int), value :: hint
            type(c_ptr), value :: buffer
            integer(c_size_t), value :: bytes, chunk_bytes
            real(c_double), value :: work
            integer(c_int) :: code
        end function library_call
    end interface

    interface
        function look_up(scope, name) bind(c, name='dlsym') result(found)
            import :: c_ptr, c_funptr, c_char
            type(c_ptr), value :: scope
            character(kind=c_char), intent(in) :: name(*)
            type(c_funptr) :: found
        end function look_up
    end interface

contains

    ! Say that the program has hints. Each function returns 0, or -1 with nothing changed.
    integer(c_int) function numapredict_begin()
        numapredict_begin = tell(0, c_null_ptr, 0_c_size_t, 0_c_size_t, 0._c_double)
    end function numapredict_begin

    ! Attach a buffer of so many bytes to the calling thread.
    integer(c_int) function numapredict_attach(buffer, bytes)
        type(c_ptr), intent(in) :: buffer
        integer(c_size_t), intent(in) :: bytes
        numapredict_attach = tell(1, buffer, bytes, 0_c_size_t, 0._c_double)
    end function numapredict_attach

    ! Attach a chunk of a buffer to each thread of the next team; of 0 bytes: as many equal ones as it has threads.
    integer(c_int) function numapredict_attach_chunks(buffer, bytes, chunk_bytes)
        type(c_ptr), intent(in) :: buffer
        integer(c_size_t), intent(in) :: bytes, chunk_bytes
        numapredict_attach_chunks = tell(2, buffer, bytes, chunk_bytes, 0._c_double)
    end function numapredict_attach_chunks

    ! Attach a buffer, whole, to the thread that touches it next.
    integer(c_int) function numapredict_attach_on_next_touch(buffer, bytes)
        type(c_ptr), intent(in) :: buffer
        integer(c_size_t), intent(in) :: bytes
        numapredict_attach_on_next_touch = tell(3, buffer, bytes, 0_c_size_t, 0._c_double)
    end function numapredict_attach_on_next_touch

    ! Move each block of a buffer's pages to the node of the thread that touches it next.
    integer(c_int) function numapredict_move_on_next_touch(buffer, bytes)
        type(c_ptr), intent(in) :: buffer
        integer(c_size_t), intent(in) :: bytes
        numapredict_move_on_next_touch = tell(4, buffer, bytes, 0_c_size_t, 0._c_double)
    end function numapredict_move_on_next_touch

    ! Say how much work the next team has left, in any unit of the program's.
    integer(c_int) function numapredict_team_work(units)
        real(c_double), intent(in) :: units
        numapredict_team_work = tell(5, c_null_ptr, 0_c_size_t, 0_c_size_t, units)
    end function numapredict_team_work

    integer(c_int) function tell(hint, buffer, bytes, chunk_bytes, work)
        integer, intent(in) :: hint
        type(c_ptr), intent(in) :: buffer
        integer(c_size_t), intent(in) :: bytes, chunk_bytes
        real(c_double), intent(in) :: work
        procedure(library_call), pointer :: call
        logical, save :: known = .false.
        type(c_funptr), save :: found

        if (.not. known) then
            found = look_up(c_null_ptr, 'numapredict_v1'//c_null_char)
            known = .true.
        end if
        tell = -1
        if (.not. c_associated(found)) return
        call c_f_procpointer(found, call)
        tell = call(int(hint, c_int), buffer, bytes, chunk_bytes, work)
    end function tell
end module numapredict
