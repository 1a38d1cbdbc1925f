import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type BerthProcess, freePort, startBerth } from '../support/berth-process.ts'
import { type CuttingProxy, startProxy } from '../support/proxy.ts'
import { findPython, pythonEnv, reportMissing } from '../support/python.ts'
import { until } from '../support/until.ts'
import { isWhole } from '../support/whole.ts'

/** Faults while a job prints a thousand lines a second. */
const { cuts, kills, lines } = isWhole ? { cuts: 50, kills: 5, lines: 120_000 } : { cuts: 8, kills: 1, lines: 10_000 }

const python = findPython()
let dataDir: string
let port: number
let server: BerthProcess
let proxy: CuttingProxy

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'berth-python-follow-'))
  port = await freePort()
  server = await startBerth({ dataDir, port })
  proxy = await startProxy(server.url)
})
afterAll(async () => {
  await proxy.close()
  await server.end()
  await rm(dataDir, { recursive: true, force: true })
})

const printing = `
import sys, time
begun = time.monotonic()
for number in range(int(sys.argv[1])):
    print(f"line {number} \\u00e9", flush=number % 10 == 9)
    if number % 10 == 9:
        time.sleep(max(0, begun + number / 1000 - time.monotonic()))
`

/** Submits, prints the id, follows to the end, and prints the hashes of the text, the lines and the bytes that arrived. */
const following = `
import hashlib, sys, threading
import berth

client = berth.Client(attempts=100)
job = client.submit([sys.executable, *sys.argv[1:]], cpu=0.1, memory="256MiB", env={"PYTHONUNBUFFERED": ""})
print(job.id, flush=True)
hashes = {}

def follow(name, pieces):
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece if isinstance(piece, bytes) else piece.encode())
    hashes[name] = digest.hexdigest()

followers = [
    threading.Thread(target=follow, args=("text", client.log_text(job))),
    threading.Thread(target=follow, args=("lines", (line + "\\n" for line in client.logs(job)))),
]
for each in followers:
    each.start()
events = [event.seq for event in client.events(job)]
state = client.wait(job).state
for each in followers:
    each.join()
follow("bytes", client.log_bytes(job))
print(state, events, *(hashes[name] for name in ("text", "lines", "bytes")), flush=True)
`

function startFollower(count: number) {
  const args = ['-c', following, join(dataDir, 'printing.py'), String(count)]
  const client = spawn(python ?? '', args, { env: pythonEnv(proxy.url, dataDir), cwd: dataDir })
  let output = ''
  let remarks = ''
  client.stdout.on('data', (data) => (output += data))
  client.stderr.on('data', (data) => (remarks += data))
  return {
    ended: once(client, 'exit'),
    output: () => output,
    remarks: () => remarks,
    isSubmitted: () => output.includes('\n') || client.exitCode !== null,
  }
}

/** The last line of a follower that has everything. */
function expectAll(output: string, count: number): void {
  const text = Array.from({ length: count }, (_, number) => `line ${number} é\n`).join('')
  const hash = createHash('sha256').update(text).digest('hex')
  expect(output.split('\n')[1]).toBe(`SUCCEEDED [1, 2, 3, 4] ${hash} ${hash} ${hash}`)
}

it.skipIf(reportMissing('Python 3.9', python === null))(
  `${lines} lines arrive complete through ${cuts} cuts and ${kills} kills of the server`,
  async () => {
    await writeFile(join(dataDir, 'printing.py'), printing)
    const follower = startFollower(lines)
    await until(follower.isSubmitted, { what: 'the job is submitted', seen: follower.remarks })
    for (let fault = 1; fault <= cuts; fault++) {
      await sleep(lines / (cuts + kills) / 2)
      proxy.cut()
      if (fault % Math.ceil(cuts / kills) !== 0) continue
      await server.end('SIGKILL')
      server = await startBerth({ dataDir, port })
    }
    expect(await follower.ended, follower.remarks()).toEqual([0, null])
    expectAll(follower.output(), lines)
    expect(proxy.passed.sse).toBeGreaterThan(cuts)
  },
  600_000,
)

it.skipIf(python === null)('a job is followed by queries behind a proxy that blocks streams', async () => {
  await writeFile(join(dataDir, 'printing.py'), printing)
  proxy.blocked.add('sse')
  try {
    const follower = startFollower(3_000)
    expect(await follower.ended, follower.remarks()).toEqual([0, null])
    expectAll(follower.output(), 3_000)
  } finally {
    proxy.blocked.delete('sse')
  }
})
