# Says what is known of the machine: a name, a tab and a value in each line. What cannot be read is left out.
tell() { [ -z "$2" ] || printf '%s\t%s\n' "$1" "$2"; }
text() { [ -r "$1" ] && tr '\0' ' ' <"$1"; }

tell machine "$(uname -m)"
tell system "$(uname -sr)"
tell cores "$(grep -c '^processor' /proc/cpuinfo)"
tell features "$(sed -n -e 's/^\(Features\|flags\)[[:space:]]*: *//p' /proc/cpuinfo | head -n 1)"
tell memory "$(sed -n 's/^MemTotal: *\([0-9]*\).*/\1/p' /proc/meminfo)"
tell free "$(sed -n 's/^MemAvailable: *\([0-9]*\).*/\1/p' /proc/meminfo)"
here=${TMPDIR:-/tmp}
[ -d /data/local/tmp ] && here=/data/local/tmp
tell space "$(df -Pk "$here" | sed -n '2s/^.* \([0-9][0-9]*\)  *[0-9]*%.*/\1/p')"
tell tools "$(for tool in sh flock setsid gdbserver; do command -v $tool >/dev/null && printf '%s ' $tool; done)"
if command -v getprop >/dev/null; then
  tell model "$(getprop ro.product.model)"
  tell soc "$(getprop ro.soc.model)"
  tell soc "$(getprop ro.board.platform)"
  tell abis "$(getprop ro.product.cpu.abilist)"
  tell android "$(getprop ro.build.version.release)"
else
  tell model "$(text /sys/firmware/devicetree/base/model || text /sys/class/dmi/id/product_name)"
  tell soc "$(text /sys/firmware/devicetree/base/compatible || sed -n 's/^model name[[:space:]]*: *//p' /proc/cpuinfo | head -n 1)"
fi
for cpu in /sys/devices/system/cpu/cpu[0-9]*; do
  tell governor "$(text "$cpu/cpufreq/scaling_governor")"
  tell capacity "$(text "$cpu/cpu_capacity")"
  tell frequency "$(text "$cpu/cpufreq/cpuinfo_max_freq")"
done
for zone in /sys/class/thermal/thermal_zone*; do
  heat=$(text "$zone/temp") && tell thermal "$(text "$zone/type") $heat"
done
exit 0
