! Interfaces of the C API, and helpers that convert statuses and strings.  Only for the other modules: programs use the
! module effort.
module effort_c_api
  use, intrinsic :: iso_c_binding
  use effort_types, only: effort_hint
  implicit none

  interface
    integer(c_int) function c_init(cfg) bind(C, name='effort_init')
      import; type(c_ptr), value :: cfg
    end function
    integer(c_int) function c_finalize() bind(C, name='effort_finalize')
      import
    end function
    integer(c_int) function c_config_new(out) bind(C, name='effort_config_new')
      import; type(c_ptr), intent(out) :: out
    end function
    integer(c_int) function c_config_set(c, key, value) bind(C, name='effort_config_set')
      import; type(c_ptr), value :: c; character(kind=c_char), intent(in) :: key(*), value(*)
    end function
    integer(c_int) function c_config_free(c) bind(C, name='effort_config_free')
      import; type(c_ptr), value :: c
    end function
    integer(c_int) function c_region(name, kind, out) bind(C, name='effort_region')
      import; character(kind=c_char), intent(in) :: name(*); integer(c_int), value :: kind
      integer(c_int32_t), intent(out) :: out
    end function
    integer(c_int) function c_begin(r) bind(C, name='effort_begin')
      import; integer(c_int32_t), value :: r
    end function
    integer(c_int) function c_end(r) bind(C, name='effort_end')
      import; integer(c_int32_t), value :: r
    end function
    integer(c_int) function c_add(r, seconds) bind(C, name='effort_add')
      import; integer(c_int32_t), value :: r; real(c_double), value :: seconds
    end function
    integer(c_int) function c_phase(name) bind(C, name='effort_phase')
      import; character(kind=c_char), intent(in) :: name(*)
    end function
    integer(c_int) function c_work_unit(name, out) bind(C, name='effort_work_unit')
      import; character(kind=c_char), intent(in) :: name(*); integer(c_int32_t), intent(out) :: out
    end function
    integer(c_int) function c_work(w, amount) bind(C, name='effort_work')
      import; integer(c_int32_t), value :: w; real(c_double), value :: amount
    end function
    integer(c_int) function c_metric_define(name, unit, out) bind(C, name='effort_metric_define')
      import; character(kind=c_char), intent(in) :: name(*), unit(*); integer(c_int32_t), intent(out) :: out
    end function
    integer(c_int) function c_metric(m, value) bind(C, name='effort_metric')
      import; integer(c_int32_t), value :: m; real(c_double), value :: value
    end function
    integer(c_int) function c_progress_step() bind(C, name='effort_progress_step')
      import
    end function
    integer(c_int) function c_on_rebalance(fn, user) bind(C, name='effort_on_rebalance')
      import; type(c_funptr), value :: fn; type(c_ptr), value :: user
    end function
    integer(c_int) function c_on_sampling(fn, user) bind(C, name='effort_on_sampling')
      import; type(c_funptr), value :: fn; type(c_ptr), value :: user
    end function
    integer(c_int) function c_sampled() bind(C, name='effort_sampled')
      import
    end function
    integer(c_int) function c_rebalance_begin() bind(C, name='effort_rebalance_begin')
      import
    end function
    integer(c_int) function c_rebalance_end() bind(C, name='effort_rebalance_end')
      import
    end function
    integer(c_int) function c_hint_copy(out, bytes) bind(C, name='effort_hint_copy')
      import; type(effort_hint), intent(inout) :: out; integer(c_size_t), value :: bytes
    end function
    integer(c_int) function c_snapshot(path) bind(C, name='effort_snapshot')
      import; type(c_ptr), value :: path
    end function
    integer(c_int) function c_weights_items(n_items, n_units, amount, unit_cost, weight) &
        bind(C, name='effort_weights_items')
      import; integer(c_size_t), value :: n_items; integer(c_int32_t), value :: n_units
      real(c_double), intent(in) :: amount(*), unit_cost(*); real(c_double), intent(inout) :: weight(*)
    end function
    integer(c_int) function c_weights_share(n_items, estimate, load, weight) bind(C, name='effort_weights_share')
      import; integer(c_size_t), value :: n_items; real(c_double), intent(in) :: estimate(*)
      real(c_double), value :: load; real(c_double), intent(inout) :: weight(*)
    end function
    integer(c_int) function c_weights_integers(n_items, weight, sum, least, cost) &
        bind(C, name='effort_weights_integers')
      import; integer(c_size_t), value :: n_items; real(c_double), intent(in) :: weight(*)
      integer(c_int64_t), value :: sum, least; integer(c_int64_t), intent(inout) :: cost(*)
    end function
    integer(c_int) function c_weights_ranks(n_ranks, load, factor) bind(C, name='effort_weights_ranks')
      import; integer(c_int32_t), value :: n_ranks; real(c_double), intent(in) :: load(*)
      real(c_double), intent(inout) :: factor(*)
    end function
    type(c_ptr) function c_status_string(s) bind(C, name='effort_status_string')
      import; integer(c_int), value :: s
    end function
    type(c_ptr) function c_last_error() bind(C, name='effort_last_error')
      import
    end function
    integer(c_int) function c_version() bind(C, name='effort_version')
      import
    end function
#ifdef EFFORT_HAVE_MPI
    integer(c_int) function c_init_mpi(comm, cfg) bind(C, name='effort_init_mpi_fortran')
      import; integer(c_int), value :: comm; type(c_ptr), value :: cfg
    end function
#endif
    integer(c_int) function c_region_find(name, out) bind(C, name='effort_region_find')
      import; character(kind=c_char), intent(in) :: name(*); integer(c_int32_t), intent(out) :: out
    end function
    integer(c_int) function c_fail(status, message) bind(C, name='effort_fail')
      import; integer(c_int), value :: status; character(kind=c_char), intent(in) :: message(*)
    end function
    integer(c_size_t) function c_strlen(s) bind(C, name='strlen')
      import; type(c_ptr), value :: s
    end function
  end interface
contains

  subroutine set_ierr(status, ierr)
    integer(c_int), intent(in) :: status
    integer, intent(out), optional :: ierr
    if (present(ierr)) ierr = int(status)
  end subroutine

  !> Reports an error that the Fortran modules found themselves, and keeps its message for effort_last_error.
  subroutine refuse(status, message, ierr)
    integer(c_int), intent(in) :: status
    character(*), intent(in) :: message
    integer, intent(out), optional :: ierr
    call set_ierr(c_fail(status, message//c_null_char), ierr)
  end subroutine

  !> `text` without trailing blanks, as a C string.
  pure function c_text(text) result(out)
    character(*), intent(in) :: text
    character(kind=c_char, len=:), allocatable :: out
    out = trim(text)//c_null_char
  end function

  !> Converts a C string (hint%region_name, ...) to a Fortran string; empty for a null pointer.
  function effort_string(text) result(out)
    type(c_ptr), intent(in) :: text
    character(:), allocatable :: out
    character(kind=c_char), pointer :: chars(:)
    integer(c_size_t) :: i, n
    n = 0
    if (c_associated(text)) n = c_strlen(text)
    allocate (character(n) :: out)
    if (n == 0) return
    call c_f_pointer(text, chars, [n])
    do i = 1, n
      out(i:i) = chars(i)
    end do
  end function
end module effort_c_api
