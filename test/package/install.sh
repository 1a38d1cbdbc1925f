#!/usr/bin/env bash
# Packs Berth, installs the package into an empty project, and uses it there: the types under TypeScript 6 and 7, the
# client, the command, a server with a job, the link for Apollo and the exchange for urql, and the client again where the
# packages of the server were left out. Needs the npm registry or a filled cache: bash test/package/install.sh
set -euo pipefail
root=$(cd "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
project=$(mktemp -d)
light=$(mktemp -d)
chmod 711 "$project"
server=
leave() {
  if [ -n "$server" ]; then kill "$server" && wait "$server" || true; fi
  rm -rf "$project" "$light"
}
trap leave EXIT

(cd "$root" && npm pack --silent --pack-destination "$project")
cd "$project"
echo '{ "name": "empty", "private": true, "type": "module" }' > package.json
npm install --prefer-offline @types/node@24 ./berth-jobs-berth-*.tgz typescript-6@npm:typescript@6 typescript-7@npm:typescript@7
cp "$root/test/package/program.ts" program.ts
for version in 6 7; do
  node "node_modules/typescript-$version/bin/tsc" --noEmit --strict --module nodenext --target es2022 \
    --lib es2025,dom --types node program.ts
  echo "types: TypeScript $version accepts them"
done
npx berth --version

port=$((20000 + RANDOM % 20000))
export BERTH_PORT=$port BERTH_URL=http://127.0.0.1:$port BERTH_DATA_DIR=$project/data
node_modules/.bin/berth up > server.log 2>&1 &
server=$!
for _ in $(seq 600); do
  if node -e "fetch('$BERTH_URL/readyz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"; then break; fi
  kill -0 "$server" || { cat server.log; exit 1; }
  sleep 0.2
done
[ "$(npx berth submit --follow -- echo packed)" = packed ]
echo "command: a job of the installed server printed its line"
node --input-type=module -e "
  const { createClient } = await import('@berth-jobs/berth/client')
  const { Job, JobExecutor, JobSpec } = await import('@berth-jobs/berth/psij')
  const client = createClient({ url: process.env.BERTH_URL })
  const jex = new JobExecutor(undefined, { client })
  const job = new Job(new JobSpec({ executable: 'echo', arguments: ['hello'] }))
  await jex.submit(job)
  let text = ''
  for await (const part of client.tail(job.nativeId)) if (part.__typename === 'LogBatch') text += part.text
  if (text !== 'hello\n' || (await job.wait()).state.name !== 'COMPLETED') throw new Error(text)
  await client.close()
"
echo "client: submit, tail and wait work"

# Only now, for the entries before need none of them.
peers=$(node -p "
  const { peerDependencies, devDependencies } = require('$root/package.json');
  [...Object.keys(peerDependencies), 'rxjs'].map((name) => name + '@' + devDependencies[name]).join(' ')")
# shellcheck disable=SC2086 # several words
npm install --prefer-offline $peers
cp "$root/test/package/pages.ts" pages.ts
for version in 6 7; do
  # As bundlers resolve: the declarations of Apollo's dependencies are wrong for Node.
  node "node_modules/typescript-$version/bin/tsc" --noEmit --strict --module esnext --moduleResolution bundler \
    --target es2022 --lib es2025,dom --types node pages.ts
done
node --input-type=module -e "for (const entry of ['apollo', 'urql', 'handler']) await import('@berth-jobs/berth/' + entry)"
echo "pages: TypeScript 6 and 7 accept the link and the exchange, and they load"

# Beside the other project, for a folder within it would find its packages.
cd "$light"
echo '{ "name": "light", "private": true, "type": "module" }' > package.json
npm install --prefer-offline --omit=optional @types/node@24 "$project"/berth-jobs-berth-*.tgz typescript@6
[ ! -e node_modules/node ] && [ ! -e node_modules/graphql-yoga ]
cp "$root/test/package/program.ts" program.ts
npx tsc --noEmit --strict --module nodenext --target es2022 --lib es2025,dom --types node program.ts
[ "$(npx berth submit --follow -- echo light)" = light ]
if npx berth serve 2> serve.log; then exit 1; fi
grep -q 'npm install --include=optional' serve.log
echo "light: the client and the command work without the packages of the server"

# A folder of PATH, as `npm install -g` and a link make it.
npm install --prefer-offline --prefix "$light/global" -g "$project"/berth-jobs-berth-*.tgz
cd /
[ "$(PATH="$light/global/bin:$PATH" berth submit --follow -- echo global --env-file x)" = 'global --env-file x' ]
echo "global: the command is found through PATH"
