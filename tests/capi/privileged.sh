#!/bin/sh
# privileged.sh PROGRAM PLUGIN [NOTE...]: runs a copy of PROGRAM with more privileges than the user who starts it.  That
# user sets variables that ask it to overwrite a file, to write elsewhere, and to load PLUGIN, which prints a line then.
# Each NOTE must be in the snapshot.  Exit code 77: such a copy cannot be made here.
skip() {
  echo "skipped: $1"
  exit 77
}
test "$(id -u)" = 0 || skip "only root can make a program that has more rights than its user"
command -v setpriv >/dev/null || skip "there is no setpriv (util-linux)"
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
chmod 755 "$dir"
mkdir "$dir/here" "$dir/elsewhere"
echo precious >"$dir/precious"
echo 'window = "no number"' >"$dir/settings.toml"
cd "$dir/here" || exit 1
cp "$1" "$dir/program"
mkdir "$dir/plugins"
cp "$2" "$dir/plugins/"
shift 2

run_as_nobody() {
  env EFFORT_REPORT="$dir/precious" EFFORT_SNAPSHOT_DIR="$dir/elsewhere" HWLOC_PLUGINS_PATH="$dir/plugins" "$@" \
    setpriv --reuid 65534 --regid 65534 --clear-groups "$dir/program" 2>"$dir/said"
}
run_as_nobody
case $? in
  3) ;;
  *) skip "an unprivileged user cannot run programs of this build" ;;
esac
chmod 4755 "$dir/program"
for more in EFFORT_DISABLE=0 EFFORT_DISABLE=1 EFFORT_CONFIG="$dir/settings.toml" EFFORT_WINDOW=none; do
  run_as_nobody "$more"
  code=$?
  test $code != 3 || skip "set-user-ID bits do not count on this file system"
  test $code = 0 || { echo "with $more: exit code $code"; exit 1; }
  cat "$dir/said"
  ! grep "the plug-in was loaded" "$dir/said" || { echo "HWLOC_PLUGINS_PATH was obeyed"; exit 1; }
  test "$(cat "$dir/precious")" = precious || { echo "EFFORT_REPORT was obeyed"; exit 1; }
  test -z "$(ls "$dir/elsewhere")" || { echo "EFFORT_SNAPSHOT_DIR was obeyed"; exit 1; }
  test -n "$(ls "$dir/here")" || { echo "with $more: no snapshot"; exit 1; }
  for note; do
    "$EFFORT_TEST_COMMAND" info --json "$dir/here/"*.effort | grep -q "$note" || { echo "no note: $note"; exit 1; }
  done
  rm -f "$dir/here/"*
done
