# find_reset: sets `reset` to a prefix for commands that restores the default of all signals. Background commands of a shell
# ignore INT and QUIT. bash, the shell whose `[` has -v, can undo that by `trap -`; other shells need `env` of coreutils 8.31.
# busybox has neither. The command waits for this, so a program is started only where it may help.
find_reset() {
  reset=
  [ -v reset ] || [ /usr/bin/env -ef /bin/busybox ] || ! /usr/bin/env --default-signal=INT >/dev/null ||
    reset='/usr/bin/env --default-signal'
}

# await PID: waits for the child, and puts its exit code into `code`. A trap that sets `caught` may end a wait early, with the
# code of its signal, or leave that code for the next wait; so the last of two waits without a signal counts. A shell
# returns the code of a child as often as it is queried, bash only outside of its POSIX mode. (bash sometimes forgets a
# child that ends while a signal arrives, and returns -1.)
await() {
  (set +o posix) && set +o posix
  code=255 calm=0
  while [ "$calm" -lt 2 ]; do
    caught=
    wait "$1"
    status=$?
    [ "$status" -lt 0 ] || code=$status
    calm=$((calm + 1))
    [ -z "$caught" ] || calm=0
  done
}
