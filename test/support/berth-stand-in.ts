import { execFileSync } from 'node:child_process'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { runCommand } from '../../src/cli/frame/run-command.ts'

/**
 * A command `berth` for shell sessions of tests that runs in the test process, because a separate process takes half a
 * second of processor time to start. `cli/launcher.test.ts` tests the real command.
 */
export interface BerthStandIn extends AsyncDisposable {
  /** The folder that contains the command. */
  readonly folder: string
}

/** Each call has a folder with its arguments and environment, and pipes for its input, output and exit code. */
const script = (folder: string) => `#!/bin/sh
call=$(mktemp -d '${folder}/call.XXXXXX')
mkfifo "$call/stdin" "$call/stdout" "$call/stderr" "$call/code"
printf '%s\\0' "$PWD" "$@" > "$call/words"
env -0 > "$call/env"
exec 3<&0
cat <&3 > "$call/stdin" &
input=$!
cat "$call/stdout" &
output=$!
cat "$call/stderr" >&2 &
errors=$!
echo "$call" > '${folder}/calls'
read -r code < "$call/code"
wait $output $errors
kill $input 2> /dev/null
exit "$code"
`

export async function createBerthStandIn(): Promise<BerthStandIn> {
  const folder = await mkdtemp(join(tmpdir(), 'berth-stand-in-'))
  execFileSync('mkfifo', [join(folder, 'calls')])
  await writeFile(join(folder, 'berth'), script(folder), { mode: 0o755 })
  const calls = createReadStream(join(folder, 'calls'), { flags: 'r+' })
  createInterface(calls).on('line', (call) => void answer(call))
  return {
    folder,
    async [Symbol.asyncDispose]() {
      calls.destroy()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function answer(call: string): Promise<void> {
  const read = async (name: string) => (await readFile(join(call, name), 'utf8')).split('\0').slice(0, -1)
  const [cwd = '', ...words] = await read('words')
  const env = Object.fromEntries((await read('env')).map((line) => line.split(/=(.*)/s)))
  const [stdout, stderr] = [open(call, 'stdout'), open(call, 'stderr')]
  const code = await runCommand(words, {
    ...{ env, cwd, stdout, stderr, readKeys: null, ask: null, askSecret: null },
    ...{ onExit: () => undefined, onInterrupt: () => undefined },
    stdio: () => ({
      ...{ stdin: createReadStream(join(call, 'stdin')), stdout, stderr },
      ...{ terminal: null, onInterrupt: () => () => undefined },
    }),
    readStdin: () => text(createReadStream(join(call, 'stdin'))),
    becomeProgram: () => {
      throw new Error(`berth ${words.join(' ')} needs a process of its own`)
    },
  })
  for (const stream of [stdout, stderr]) stream.end()
  await writeFile(join(call, 'code'), `${code}\n`)
}

/** The reader may have ended, like `| head`. */
function open(call: string, name: string) {
  return createWriteStream(join(call, name)).on('error', () => undefined)
}
