echo 'reading the data'
sleep 2
printf '\033[1;31merror:\033[0m data.csv: no such file\n' >&2
exit 3
