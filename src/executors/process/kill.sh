# Sends the signal $1 to all processes that began with the variable $0. While a process replaces its program, it shows no
# variables: then they are read again.
for each in /proc/[0-9]*; do
  for _ in 1 2 3; do
    variables=$(tr '\0' '\n' 2>/dev/null <"$each/environ") && [ -z "$variables" ] || break
  done
  case $variables in *"$0"*) kill "-$1" "${each#/proc/}" ;; esac
done
