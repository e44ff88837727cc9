! Tests every name of the Fortran module with `use mpi` or `use mpi_f08` (TEST_F08): valid calls, refused calls, and the
! callback with its user data.  Reports failure by its exit code.

! `use effort` gives no names but those of the C API: a program can have these for itself.
module names_that_stay_free
  use effort
  implicit none
  integer :: c_int, c_ptr, c_loc, MPI_Comm, set_ierr, refuse, c_text, handle_of, c_begin, begin_id, init_integer
end module

module host_checks
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  use effort
#ifdef TEST_F08
  use mpi_f08
#else
  use mpi
#endif
  implicit none
  integer :: failed = 0, rank = 0, size_ = 1

  type :: notebook
    integer :: calls = 0, answer_at = 0
    integer(c_int64_t) :: last_step = -1
    logical :: good = .true.
  end type

contains

  subroutine check(good, what)
    logical, intent(in) :: good
    character(*), intent(in) :: what
    if (good) return
    failed = failed + 1
    write (error_unit, '(a, i0, 2a)') 'rank ', rank, ' failed: ', what
  end subroutine

  subroutine check_status(ierr, want, what)
    integer, intent(in) :: ierr
    integer(c_int), intent(in) :: want
    character(*), intent(in) :: what
    if (ierr == want) return
    call check(.false., what//': '//effort_status_string(ierr)//': '//effort_last_error())
  end subroutine

  subroutine check_message(part, what)
    character(*), intent(in) :: part, what
    call check(index(effort_last_error(), part) > 0, what//': message is '//effort_last_error())
  end subroutine

  integer(c_int) function on_rebalance(hint, user) bind(C)
    type(effort_hint), intent(in) :: hint
    type(c_ptr), value :: user
    type(notebook), pointer :: book
    real(c_double), pointer :: load(:), predicted(:), region_load(:), stratum_region_load(:, :)
    integer(c_int32_t), pointer :: stratum(:), medoid(:)
    type(c_ptr), pointer :: names(:)
    integer :: r, ierr
    call c_f_pointer(user, book)
    call c_f_pointer(hint%load, load, [hint%n_ranks])
    call c_f_pointer(hint%predicted, predicted, [hint%n_ranks])
    call c_f_pointer(hint%stratum, stratum, [hint%n_ranks])
    call c_f_pointer(hint%medoid_rank, medoid, [hint%n_strata])
    call c_f_pointer(hint%region_name, names, [hint%n_regions])
    call c_f_pointer(hint%region_load, region_load, [hint%n_regions])
    call c_f_pointer(hint%stratum_region_load, stratum_region_load, [hint%n_regions, hint%n_strata])
    book%calls = book%calls + 1
    book%last_step = hint%step
    call check(hint%struct_size == c_sizeof(hint), 'size of the hint')
    call check(hint%step == hint%window_last + 2 .and. hint%window_first >= hint%window_last - 4, 'steps of the hint')
    call check(hint%rank == rank .and. hint%n_ranks == size_, 'rank and size of the hint')
    do r = 1, size_
      ! The first window also has the measured time of the regions of names_and_nesting, however long they took.
      call check(load(r) > 0.5d0*r - 1d-5 .and. (load(r) < 0.5d0*r + 1d-5 .or. hint%window_first == 0), 'load')
      call check(stratum(r) >= 0 .and. stratum(r) < hint%n_strata, 'stratum')
    end do
    call check(all(medoid >= 0 .and. medoid < size_), 'medoids')
    call check(all(predicted > 0), 'prediction')
    call check(hint%imbalance >= 0 .and. hint%load_balance <= 1 .and. hint%gain_per_step >= 0, 'numbers of the hint')
    call check(abs(sum(region_load) - load(rank + 1)) < 1d-5, 'load by region')
    call check(all(stratum_region_load >= 0), 'load by stratum and region')
    call check(any([(effort_string(names(r)) == 'solve', r=1, hint%n_regions)]), 'names of the regions')
    call check(iand(hint%advice, EFFORT_ADVICE_NO_PRICE) /= 0 .neqv. hint%rebalance_cost >= 0, 'advice and price')
    call progress_step(ierr=ierr)
    call check_status(ierr, EFFORT_ERR_CALLBACK, 'a step in the callback')
    call effort_finalize(ierr=ierr)
    call check_status(ierr, EFFORT_ERR_CALLBACK, 'finalize in the callback')
    on_rebalance = 0
    if (book%calls == book%answer_at) on_rebalance = 1
  end function

  !> Weights need no init. Their shapes are checked.
  subroutine weights()
    real(c_double) :: amount(2, 3), weight(3), factor(2)
    integer(c_int64_t) :: cost(3)
    integer :: ierr
    amount = reshape([1d0, 2d0, 3d0, 0d0, 0d0, 10d0], [2, 3])
    call effort_weights_items(amount, [0.5d0, 0.25d0], weight, ierr=ierr)
    call check_status(ierr, EFFORT_OK, 'weights of items')
    call check(all(abs(weight - [1d0, 1.5d0, 2.5d0]) < 1d-14), 'weights of items')
    call effort_weights_items(amount, [1d0, 1d0, 1d0], weight, ierr=ierr)
    call check(ierr == EFFORT_ERR_INVALID_ARGUMENT, 'weights of the wrong shape')
    call check(index(effort_last_error(), 'amount(units, items)') > 0, 'message about the wrong shape')
    call effort_weights_share([1d0, 1d0], 8d0, weight, ierr=ierr)
    call check(ierr == EFFORT_ERR_INVALID_ARGUMENT .and. index(effort_last_error(), 'effort_weights_share') > 0, &
               'shares of the wrong size')
    call effort_weights_integers([1d0, 2d0], 12_c_int64_t, cost, ierr=ierr)
    call check(ierr == EFFORT_ERR_INVALID_ARGUMENT .and. index(effort_last_error(), 'effort_weights_integers') > 0, &
               'integers of the wrong size')
    call effort_weights_ranks([1d0, 3d0, 1d0], factor, ierr=ierr)
    call check(ierr == EFFORT_ERR_INVALID_ARGUMENT .and. index(effort_last_error(), 'effort_weights_ranks') > 0, &
               'factors of the wrong size')
    call effort_weights_items(amount(:, 3:1:-1), [0.5d0, 0.25d0], weight(3:1:-1), ierr=ierr)
    call check(all(abs(weight - [1d0, 1.5d0, 2.5d0]) < 1d-14), 'weights of a section')
    call effort_weights_share([1d0, 1d0, 2d0], 8d0, weight, ierr=ierr)
    call check(ierr == EFFORT_OK .and. all(abs(weight - [2d0, 2d0, 4d0]) < 1d-14), 'shares')
    call effort_weights_integers([1d0, 2d0, 3d0], 12_c_int64_t, cost, ierr=ierr)
    call check(ierr == EFFORT_OK .and. all(cost == [2, 4, 6]), 'integers')
    call effort_weights_integers([1d0, 2d0, 3d0], 2_c_int64_t, cost, least=1_c_int64_t, ierr=ierr)
    call check_status(ierr, EFFORT_ERR_INVALID_ARGUMENT, 'integers with too small a sum')
    call effort_weights_ranks([1d0, 3d0], factor, ierr=ierr)
    call check(ierr == EFFORT_OK .and. all(abs(factor - [0.5d0, 1.5d0]) < 1d-14), 'factors')
  end subroutine

  subroutine before_init()
    integer(effort_region_id) :: id
    integer :: ierr
    call effort_region('early', EFFORT_COMPUTE, id, ierr=ierr)
    call check_status(ierr, EFFORT_ERR_NOT_INITIALIZED, 'region before init')
    call effort_region('early', EFFORT_COMPUTE, id)  ! without ierr= an error is only recorded
    call progress_step()
    call effort_progress_step(ierr=ierr)
    call check_status(ierr, EFFORT_ERR_NOT_INITIALIZED, 'step before init')
    call effort_begin('early', ierr=ierr)
    call check_status(ierr, EFFORT_ERR_NOT_INITIALIZED, 'begin before init')
    call effort_end('early', ierr=ierr)
    call check_status(ierr, EFFORT_ERR_NOT_INITIALIZED, 'end before init')
    call effort_finalize(ierr=ierr)
    call check_status(ierr, EFFORT_ERR_NOT_INITIALIZED, 'finalize before init')
    call check_message('effort_init', 'finalize before init')
    call check(effort_version() >= 100, 'version')
    call check(effort_status_string(0) == 'no error', 'the string of no error')
    call check(len(effort_status_string(-99)) > 0, 'the string of an unknown status')
  end subroutine

  subroutine bad_settings()
    type(effort_config) :: config
    integer :: ierr
    call effort_config_new(config, ierr=ierr)
    call check_status(ierr, EFFORT_OK, 'config_new')
    call effort_config_set(config, 'WINDOW', 'many', ierr=ierr)
    call check_status(ierr, EFFORT_ERR_CONFIG, 'a bad value')
    call check_message('many', 'a bad value')
    call effort_config_set(config, 'COLOUR', 'red', ierr=ierr)
    call check_status(ierr, EFFORT_ERR_CONFIG, 'a bad key')
    call effort_config_free(config, ierr=ierr)
    call check_status(ierr, EFFORT_OK, 'config_free')
    call effort_config_set(config, 'WINDOW', '5', ierr=ierr)
    call check_status(ierr, EFFORT_ERR_INVALID_ARGUMENT, 'a freed configuration')
  end subroutine

  subroutine names_and_nesting(solve)
    integer(effort_region_id), intent(out) :: solve
    integer(effort_region_id) :: again, halo
    integer :: ierr
    call effort_region('solve', EFFORT_COMPUTE, solve, ierr=ierr)
    call check_status(ierr, EFFORT_OK, 'region')
    call effort_region('solve   ', EFFORT_COMPUTE, again)
    call check(again == solve .and. solve > 0, 'one region per name, with or without trailing blanks')
    call effort_region('solve', EFFORT_IO, again, ierr=ierr)
    call check_status(ierr, EFFORT_ERR_CONFLICT, 'another kind')
    call effort_region('', EFFORT_IO, again, ierr=ierr)
    call check_status(ierr, EFFORT_ERR_INVALID_ARGUMENT, 'an empty name')
    call effort_region('halo', EFFORT_COMM, halo)
    call effort_begin(solve, ierr=ierr)
    call check_status(ierr, EFFORT_OK, 'begin')
    call effort_begin('halo', ierr=ierr)  ! a known region keeps its kind
    call check_status(ierr, EFFORT_OK, 'begin by name')
    call effort_end(solve, ierr=ierr)
    call check_status(ierr, EFFORT_ERR_NESTING, 'end of another region')
    call effort_end('halo', ierr=ierr)
    call check_status(ierr, EFFORT_OK, 'end by name')
    call effort_begin('halo', EFFORT_WAIT, ierr=ierr)
    call check_status(ierr, EFFORT_ERR_CONFLICT, 'begin by name with another kind')
    call effort_end(halo, ierr=ierr)
    call check_status(ierr, EFFORT_OK, 'the region was begun nevertheless')
    call effort_end(solve)
    call effort_end(solve, ierr=ierr)
    call check_status(ierr, EFFORT_ERR_NESTING, 'end without begin')
    call effort_begin(12345, ierr=ierr)
    call check_status(ierr, EFFORT_ERR_UNKNOWN_ID, 'an unknown id')
    call effort_end('nobody', ierr=ierr)
    call check_status(ierr, EFFORT_ERR_UNKNOWN_ID, 'an unknown name')
  end subroutine

  subroutine amounts(solve)
    integer(effort_region_id), intent(in) :: solve
    integer(effort_work_id) :: cells
    integer(effort_metric_id) :: flops
    integer :: ierr
    call effort_work_unit('cells', cells, ierr=ierr)
    call check_status(ierr, EFFORT_OK, 'work unit')
    call effort_work(cells, 4d0, ierr=ierr)
    call check_status(ierr, EFFORT_OK, 'work')
    call effort_work(cells, -4d0, ierr=ierr)
    call check_status(ierr, EFFORT_ERR_INVALID_ARGUMENT, 'negative work')
    call effort_metric_define('flops', '', flops, ierr=ierr)
    call check_status(ierr, EFFORT_OK, 'metric_define')
    call effort_metric(flops, 2d0, ierr=ierr)
    call check_status(ierr, EFFORT_OK, 'metric')
    call effort_metric(99, 2d0, ierr=ierr)
    call check_status(ierr, EFFORT_ERR_UNKNOWN_ID, 'an unknown metric')
    call effort_add(solve, -1d0, ierr=ierr)
    call check_status(ierr, EFFORT_ERR_INVALID_ARGUMENT, 'negative seconds')
    call effort_phase('first', ierr=ierr)
    call check_status(ierr, EFFORT_OK, 'phase')
  end subroutine

  subroutine steps(solve, book)
    integer(effort_region_id), intent(in) :: solve
    type(notebook), intent(inout), target :: book
    type(effort_hint) :: latest
    integer :: s, ierr
    call effort_hint_latest(latest, ierr=ierr)
    call check_status(ierr, EFFORT_ERR_NO_HINT, 'reading a hint before the first one')
    call effort_on_rebalance(on_rebalance, c_loc(book), ierr=ierr)
    call check_status(ierr, EFFORT_OK, 'on_rebalance')
    do s = 1, 22
      call effort_add(solve, 0.5d0*(rank + 1), ierr=ierr)
      call check_status(ierr, EFFORT_OK, 'add')
      if (s == 8) call effort_rebalance_begin(ierr=ierr)
      call check_status(ierr, EFFORT_OK, 'rebalance_begin')
      if (s == 8) call effort_rebalance_end(ierr=ierr)
      call check_status(ierr, EFFORT_OK, 'rebalance_end')
      call progress_step(ierr=ierr)
      call check_status(ierr, EFFORT_OK, 'step')
    end do
    call effort_rebalance_end(ierr=ierr)
    call check_status(ierr, EFFORT_ERR_NESTING, 'rebalance_end without begin')
    call effort_hint_latest(latest, ierr=ierr)
    call check_status(ierr, EFFORT_OK, 'hint_latest')
    call check(book%calls == 4 .and. latest%step == book%last_step .and. latest%window_first == 15, 'hints of 22 steps')
    call check(latest%rebalance_cost >= 0, 'the price of the rebalance')
  end subroutine

  subroutine snapshots(path)
    character(*), intent(in) :: path
    logical :: there
    integer :: ierr
    call effort_snapshot(path, ierr=ierr)
    call check_status(ierr, EFFORT_OK, 'snapshot')
    inquire (file=path, exist=there)
    call check(there, 'the snapshot exists')
    call effort_snapshot(path, ierr=ierr)
    call check_status(ierr, EFFORT_ERR_IO, 'a snapshot of the same name')
    call effort_snapshot(ierr=ierr)
    call check_status(ierr, EFFORT_OK, 'snapshot in the directory')
  end subroutine

  subroutine on_sampling(sampled, step, user) bind(C)
    integer(c_int), value :: sampled
    integer(c_int64_t), value :: step
    type(c_ptr), value :: user
    integer(c_int64_t), pointer :: first
    call c_f_pointer(user, first)
    first = merge(step, -step, sampled == 1)
  end subroutine

  !> The only rank of a run is always in the sample, once there is one.
  subroutine samples()
    integer(c_int64_t), target :: first
    type(effort_config) :: config
    integer(effort_region_id) :: id
    integer :: ierr, s
    first = 0
    call effort_init(ierr=ierr)
    call effort_on_sampling(on_sampling, ierr=ierr)
    call check_status(ierr, EFFORT_ERR_CONFIG, 'on_sampling without a design for it')
    call effort_finalize(ierr=ierr)
    call effort_config_new(config, ierr=ierr)
    call effort_config_set(config, 'TRACE_DESIGN', 'subset', ierr=ierr)
    call effort_init(config=config, ierr=ierr)
    call check_status(ierr, EFFORT_OK, 'init with a design')
    call effort_config_free(config, ierr=ierr)
    call effort_on_sampling(on_sampling, c_loc(first), ierr=ierr)
    call check_status(ierr, EFFORT_OK, 'on_sampling')
    call effort_region('solve', EFFORT_COMPUTE, id, ierr=ierr)
    call check(.not. effort_sampled(), 'no rank is in the sample at first')
    do s = 1, 40
      call effort_add(id, 0.5d0, ierr=ierr)
      call progress_step(ierr=ierr)
    end do
    call check(first > 0 .and. modulo(first, 10_c_int64_t) == 0, 'the rank enters the sample with a window')
    call check(effort_sampled(), 'the rank is in the sample')
    call effort_finalize(ierr=ierr)
    call check(.not. effort_sampled(), 'no sample after finalize')
  end subroutine

  subroutine one_process()
    integer :: ierr
    call effort_init(ierr=ierr)
    call check_status(ierr, EFFORT_OK, 'init')
    call effort_init(ierr=ierr)
    call check_status(ierr, EFFORT_ERR_ALREADY_INITIALIZED, 'two inits')
    call progress_step(ierr=ierr)
    call check_status(ierr, EFFORT_OK, 'a step of one process')
    call effort_finalize(ierr=ierr)
    call check_status(ierr, EFFORT_OK, 'finalize of one process')
  end subroutine

  subroutine all_ranks(path)
    character(*), intent(in) :: path
    type(effort_config) :: config
    type(notebook), target :: book
    integer(effort_region_id) :: solve
    integer :: ierr
    call effort_config_new(config)
    call effort_config_set(config, 'WINDOW', '5', ierr=ierr)
    call check_status(ierr, EFFORT_OK, 'config_set')
    call effort_init(MPI_COMM_WORLD, config=config, ierr=ierr)
    call check_status(ierr, EFFORT_OK, 'init with a communicator')
    call effort_config_free(config)
    call effort_init(MPI_COMM_WORLD, ierr=ierr)
    call check_status(ierr, EFFORT_ERR_ALREADY_INITIALIZED, 'two inits with a communicator')
    call names_and_nesting(solve)
    call amounts(solve)
    call steps(solve, book)
    call snapshots(path)
    call effort_finalize(ierr=ierr)
    call check_status(ierr, EFFORT_OK, 'finalize')
  end subroutine
end module

program host
  use host_checks
  implicit none
  integer :: ierr, all_failed
  character(512) :: path
  call get_command_argument(1, path)
  call before_init()
  call weights()
  call effort_init(MPI_COMM_WORLD, ierr=ierr)
  call check_status(ierr, EFFORT_ERR_MPI, 'init before MPI_Init')
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size_, ierr)
  call bad_settings()
  call one_process()
  call samples()
  if (rank == 0) call remove_file(trim(path))
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call all_ranks(trim(path))
  call MPI_Allreduce(failed, all_failed, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call MPI_Finalize(ierr)
  if (all_failed > 0) error stop 1

contains

  subroutine remove_file(name)
    character(*), intent(in) :: name
    integer :: unit, status
    open (newunit=unit, file=name, iostat=status)
    if (status == 0) close (unit, status='delete')
  end subroutine
end program
