report() {
  echo "authorization: Bearer $BERTH_TOKEN" |
    curl -sS -o /dev/null -H @- -H 'content-type: application/json' -d "$1" "$BERTH_URL/graphql"
}
for i in 1 2 3 4 5 6 7 8 9; do
  report "{\"query\": \"mutation { reportProgress(input: { fraction: 0.$i, message: \\\"epoch $i of 9\\\" }) { __typename } }\"}"
  printf 'epoch %s  \033[2mloss\033[0m \033[36m0.%s\033[0m\n' "$i" "$((10 - i))31"
  sleep 2
done
