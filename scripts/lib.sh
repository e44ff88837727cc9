# Shared by scripts/demo and scripts/test; sourced from the top of the checkout.
prefix="$PWD/build/install"
top=$PWD
. scripts/tmp.sh

say() { printf '\n== %s\n' "$*"; }

# Runs a command quietly; shows its output only if it fails.
quiet() {
  local log
  log=$(mktemp)
  if ! "$@" >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    return 1
  fi
  rm -f "$log"
}

# Configures build/NAME.  A new tree compiles by folder, which takes half the time from nothing.  An existing one is
# left as it was configured, because later, file by file, a change recompiles less.
configure() { # name arguments-of-cmake...
  local name=$1 by_folder=()
  shift
  [ -f "build/$name/CMakeCache.txt" ] || by_folder=(-DEFFORT_COMPILE_BY_FOLDER=ON)
  quiet cmake -B "build/$name" "${by_folder[@]}" "$@"
}

build_and_install() { # preset arguments-of-cmake...
  local preset=$1
  shift
  say "building"
  configure "$preset" --preset "$preset" "$@"
  quiet cmake --build --preset "$preset"
  quiet cmake --install "build/$preset" --prefix "$prefix"
}

# Builds against the installed package, as a user would.
build_example() { # fortran or c
  quiet cmake -S "examples/$1" -B "build/examples/$1" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$prefix"
  quiet cmake --build "build/examples/$1"
}

mpi() { # ranks command...
  local ranks=$1
  shift
  mpirun --allow-run-as-root --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 -np "$ranks" "$@"
}
