for i in 1 2 3 4 5 6; do
  printf '\033[1;3%sm●\033[0m colour %s of 6\n' "$i" "$i"
  sleep 1
done
