# Runs a program of a job, and tells on stderr how it ended, which not every way to a device does.
#   FOLDER NAME TOKEN PROGRAM ARGUMENTS...: the job's folder, the run's name, what marks our line.
cd "$1" || exit 1
name=$2 token=$3
shift 3
# The number is written before the program starts, so that nothing runs whose number is not known; who wants to stop the
# program says so before looking for the number.
start='echo $$ >"$0" && [ ! -e "${0%.pid}.stop" ] && exec "$@"'
if command -v setsid >/dev/null; then
  setsid sh -c "$start" "$name.pid" "$@" </dev/null &
else
  sh -c "$start" "$name.pid" "$@" </dev/null &
fi
wait $!
code=$?
rm -f "$name.pid"
echo "$token $code" >&2
