! The command line.
module options
  use parameters, only: nb
  implicit none
  private
  public :: read_options, print_usage

  integer, parameter, public :: balance_none = 0, balance_own = 1, balance_hints = 2

  type, public :: options_t
    integer :: balance = balance_none
    integer :: interval = 20        ! steps between rebalances of `own`
    integer :: steps = 1200
    integer :: cells = 1024         ! finest cells per side of the vessel
    integer :: finest = 6           ! level of the finest blocks, from `cells`
    integer :: base = 3             ! level of the coarsest blocks
    integer :: adapt_every = 8      ! steps between changes of the mesh
    integer :: average = 20         ! first and last steps whose imbalance is reported
  end type options_t

contains

  ! Options from the command line; `error` is empty if all are valid.
  subroutine read_options(opt, error)
    type(options_t), intent(out) :: opt
    character(len=:), allocatable, intent(out) :: error
    character(len=:), allocatable :: key, text
    integer :: i
    error = ''
    i = 1
    do while (i <= command_argument_count() .and. error == '')
      key = argument(i)
      text = argument(i + 1)
      select case (key)
      case ('--balance');     call read_balance(text, opt%balance, error)
      case ('--interval');    call read_count(key, text, 1, opt%interval, error)
      case ('--steps');       call read_count(key, text, 1, opt%steps, error)
      case ('--size');        call read_count(key, text, 2 * nb, opt%cells, error)
      case ('--base');        call read_count(key, text, 0, opt%base, error)
      case ('--adapt-every'); call read_count(key, text, 1, opt%adapt_every, error)
      case ('--average');     call read_count(key, text, 1, opt%average, error)
      case default;           error = 'unknown option ' // key
      end select
      i = i + 2
    end do
    if (error == '') call complete(opt, error)
  end subroutine read_options

  subroutine print_usage(unit)
    integer, intent(in) :: unit
    write (unit, '(a)') 'usage: flame [--balance none|own|hints] [--interval N] [--steps N] [--size CELLS]', &
      '             [--base LEVEL] [--adapt-every N] [--average N]'
  end subroutine print_usage

  ! Derives settings from the options, and checks that they are consistent.
  subroutine complete(opt, error)
    type(options_t), intent(inout) :: opt
    character(len=:), allocatable, intent(inout) :: error
    opt%finest = 0
    do while (nb * 2**opt%finest < opt%cells)
      opt%finest = opt%finest + 1
    end do
    if (opt%cells > 16384 .or. nb * 2**opt%finest /= opt%cells) then
      error = '--size must be 16 times a power of two, at most 16384'
    else if (opt%base > opt%finest) then
      error = '--base must not exceed the level of the finest blocks (--size)'
    end if
    opt%average = min(opt%average, opt%steps)
  end subroutine complete

  subroutine read_balance(text, balance, error)
    character(len=*), intent(in) :: text
    integer, intent(inout) :: balance
    character(len=:), allocatable, intent(inout) :: error
    select case (text)
    case ('none');  balance = balance_none
    case ('own');   balance = balance_own
    case ('hints'); balance = balance_hints
    case default;   error = '--balance takes none, own or hints, not "' // text // '"'
    end select
  end subroutine read_balance

  subroutine read_count(key, text, least, number, error)
    character(len=*), intent(in) :: key, text
    integer, intent(in) :: least
    integer, intent(inout) :: number
    character(len=:), allocatable, intent(inout) :: error
    integer :: value, status
    read (text, *, iostat=status) value
    if (status /= 0) then
      error = key // ' takes a whole number, not "' // text // '"'
    else if (value < least) then
      error = key // ' ' // text // ' is too small'
    else
      number = value
    end if
  end subroutine read_count

  function argument(i) result(text)
    integer, intent(in) :: i
    character(len=:), allocatable :: text
    integer :: length
    call get_command_argument(i, length=length)
    allocate (character(len=length) :: text)
    if (length > 0) call get_command_argument(i, value=text)
  end function argument
end module options
