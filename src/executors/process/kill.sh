# Sends the signal $1 to all processes that began with the variable $0.
for each in /proc/[0-9]*; do
  grep -qs "$0" "$each/environ" && kill "-$1" "${each#/proc/}"
done
