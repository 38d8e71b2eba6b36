# Keeps a job on a device for whoever started this script and sends it lines: one device, one job at a time.
#   ROOT JOB OWNER PATIENCE PERIOD: folder of all jobs, name of this one, who it is for, seconds to wait for the device,
#   seconds between two looks for lines.
# Says "busy OWNER" while another job has the device, "ready FOLDER" when it is ours, then every line that it hears.
# When nothing comes any more, or four looks found nothing new, it ends what runs in the folder and removes it.
root=$1 job=$2 owner=$3 patience=$4 period=$5
fail() { echo "failed $*"; exit 1; }

# Programs stand in the folder of their job; the number of one that is gone may be another's by now.
end() {
  for file in "$1"/*.pid; do
    [ -s "$file" ] || continue
    pid=$(cat "$file")
    [ "$(readlink "/proc/$pid/cwd")" = "$1" ] && { kill -KILL "-$pid" || kill -KILL "$pid"; }
  done 2>/dev/null
  rm -rf "$1"
}

umask 077
case $root in "~"/*) root=$HOME/${root#??} ;; esac
said=$(mkdir -p "$root/cache" "$root/jobs" 2>&1) || fail "$said"
root=$(cd "$root" && pwd -P) || fail "cannot enter the folder of the jobs"

# The lock is everybody's, in a folder where anybody may say who has it.
shared=${TMPDIR:-/tmp}
{ [ -d "$shared" ] && [ -w "$shared" ]; } || shared=$root
locks=$shared/lathe-device
[ -d "$locks" ] || (umask 0; mkdir "$locks") 2>/dev/null
[ -e "$locks/lock" ] || (umask 0; : >"$locks/lock") 2>/dev/null
exec 9<"$locks/lock" || fail "cannot open $locks/lock"
if command -v flock >/dev/null; then
  waited=0
  until flock -n 9; do
    echo "busy $(cat "$locks/owner" 2>/dev/null)"
    [ "$waited" -lt "$patience" ] || exit 75
    waited=$((waited + 1))
    sleep 1
  done
  # Whoever left a folder had the lock, and has ended without a chance to clean up.
  for old in "$root"/jobs/*; do [ -d "$old" ] && end "$old"; done
fi
(umask 0; rm -f "$locks/owner"; echo "$owner" >"$locks/owner") 2>/dev/null
find "$root/cache" -type f -mtime +7 -exec rm -f {} + 2>/dev/null

here=$root/jobs/$job
said=$(mkdir "$here" 2>&1) || fail "$said"
: >"$here/.heard"
(
  exec 9<&- </dev/null >/dev/null 2>&1
  silent=0
  while sleep "$period"; do
    if mv "$here/.heard" "$here/.quiet"; then
      silent=0
    elif silent=$((silent + 1)) && [ "$silent" -ge 4 ]; then
      end "$here"
      kill -KILL $$
      exit
    fi
  done
) &
watcher=$!
trap '' HUP PIPE
trap 'kill "$watcher"; end "$here"; rm -f "$locks/owner"' EXIT
trap 'exit 1' TERM INT
echo "ready $here"
while read -r line; do
  mv "$here/.quiet" "$here/.heard" 2>/dev/null
  echo "$line" || break
done
