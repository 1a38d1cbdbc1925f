# Runs under the account of the job: checks that it can read stdinPath ($1) and write stdoutPath ($2) and stderrPath ($3).
# Prints one line with the file that it cannot use and the reason. Creates missing files, but truncates none: the run may
# already be writing.

refuse() {
  printf 'Cannot %s: %s\n' "$1" "${2##*: }"
  exit 1
}

# Opening a named pipe would block.
if [ -d "$1" ]; then
  refuse "read stdinPath $1" "it is a directory"
elif [ "$1" ] && ! [ -p "$1" ]; then
  remark=$( (: <"$1") 2>&1) || refuse "read stdinPath $1" "$remark"
fi
if [ "$2" ] && ! [ -p "$2" ]; then
  remark=$( (: >>"$2") 2>&1) || refuse "write stdoutPath $2" "$remark"
fi
if [ "$3" ] && ! [ -p "$3" ]; then
  remark=$( (: >>"$3") 2>&1) || refuse "write stderrPath $3" "$remark"
fi
