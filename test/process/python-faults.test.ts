import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type BerthProcess, startBerthProcess } from '../support/berth-process.ts'
import { freePort } from '../support/berth-server.ts'
import { makeDirectory } from '../support/directory.ts'
import { type CuttingProxy, startProxy } from '../support/proxy.ts'
import { findPython, pythonEnv, reportMissing } from '../support/python.ts'
import { until } from '../support/until.ts'
import { isWhole } from '../support/whole.ts'

/** Faults of the connection while a job prints a thousand lines a second. */
const { cuts, kills, lines, polledLines } = isWhole
  ? { cuts: 50, kills: 5, lines: 120_000, polledLines: 3_000 }
  : { cuts: 4, kills: 1, lines: 4_000, polledLines: 1_000 }

/** Calls in progress while the server, and once the client, is killed. */
const { calls, killsWhileCalling } = isWhole ? { calls: 200, killsWhileCalling: 4 } : { calls: 8, killsWhileCalling: 1 }

const python = findPython()
const dataDir = makeDirectory()
let port: number
let server: BerthProcess
let proxy: CuttingProxy

beforeAll(async () => {
  port = await freePort()
  server = await startBerthProcess({ dataDir, port })
  proxy = await startProxy(server.url)
})
afterAll(async () => {
  await proxy.close()
  await server.end()
})

async function restartServer(): Promise<void> {
  await server.end('SIGKILL')
  server = await startBerthProcess({ dataDir, port })
}

function startPython(url: string, program: string, args: readonly string[]) {
  const child: ChildProcess = spawn(python ?? '', ['-c', program, ...args], {
    env: pythonEnv(url, dataDir),
    cwd: dataDir,
  })
  let output = ''
  let remarks = ''
  child.stdout?.on('data', (data) => (output += data))
  child.stderr?.on('data', (data) => (remarks += data))
  return { child, ended: once(child, 'exit'), output: () => output, remarks: () => remarks }
}

/** Prints lines, at least as many as asked, until the file exists. Then writes their number to the file. */
const printing = `
import itertools, os, sys, time
begun = time.monotonic()
count, release = int(sys.argv[1]), sys.argv[2]
for number in itertools.count():
    if number >= count and number % 10 == 0 and os.path.exists(release):
        break
    print(f"line {number} \\u00e9", flush=number % 10 == 9)
    if number % 10 == 9:
        time.sleep(max(0, begun + number / 1000 - time.monotonic()))
with open(release, "w") as file:
    file.write(str(number))
`

/** A program that submits, prints the id, follows to the end, and prints hashes of text, lines and bytes. */
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

const releaseFile = join(dataDir, 'release')
const release = () => writeFile(releaseFile, '')

async function startFollower(count: number) {
  await writeFile(join(dataDir, 'printing.py'), printing)
  return startPython(proxy.url, following, [join(dataDir, 'printing.py'), String(count), releaseFile])
}

/** The last line of a follower that received everything. */
async function expectAll(output: string): Promise<void> {
  const count = Number(await readFile(releaseFile, 'utf8'))
  const text = Array.from({ length: count }, (_, number) => `line ${number} é\n`).join('')
  const hash = createHash('sha256').update(text).digest('hex')
  expect(output.split('\n')[1]).toBe(`SUCCEEDED [1, 2, 3, 4] ${hash} ${hash} ${hash}`)
}

it.skipIf(reportMissing('Python 3.9', python === null))(
  `at least ${lines} lines arrive complete through ${cuts} cuts and ${kills} kills of the server`,
  async () => {
    const { child, ended, output, remarks } = await startFollower(lines)
    const isSubmitted = () => output().includes('\n') || child.exitCode !== null
    await until(isSubmitted, { what: 'the job is submitted', seen: remarks })
    let passed = 0
    const isFollowing = () => proxy.passed.sse > passed || child.exitCode !== null
    for (let fault = 1; fault <= cuts; fault++) {
      await until(isFollowing, { what: 'it follows again', seen: remarks })
      // A client whose streams are cut before the first message polls for a minute.
      await sleep(lines / (cuts + kills) / 2)
      proxy.cut()
      passed = proxy.passed.sse
      if (fault % Math.ceil(cuts / kills) === 0) await restartServer()
    }
    await release()
    expect(await ended, remarks()).toEqual([0, null])
    await expectAll(output())
    expect(proxy.passed.sse).toBeGreaterThan(cuts)
  },
  600_000,
)

it.skipIf(python === null)('the Python client polls a job behind a proxy that blocks streams', async () => {
  proxy.blocked.add('sse')
  await release()
  try {
    const { ended, output, remarks } = await startFollower(polledLines)
    expect(await ended, remarks()).toEqual([0, null])
    await expectAll(output())
  } finally {
    proxy.blocked.delete('sse')
  }
})

/** A function that appends a line for each call, and returns the square. */
const called = `
def square(number):
    with open("calls.txt", "a") as file:
        file.write(f"{number}\\n")
    return number * number
`

const submitting = `
import sys
import berth, called

executor = berth.BerthExecutor(berth.Client(attempts=100), folder="results", cpu=0.25, memory="96MiB")
for number in range(int(sys.argv[1])):
    print(executor.submit(called.square, number).job_id, flush=True)
`

const attaching = `
import sys
import berth

executor = berth.BerthExecutor(berth.Client(attempts=100), folder="results")
futures = [executor.attach(job_id) for job_id in sys.argv[1:]]
print(*(future.result() for future in futures))
`

it.skipIf(python === null)(
  `each of ${calls} Python calls runs once and has its result, although server and client are killed`,
  async () => {
    await mkdir(join(dataDir, 'results'))
    await writeFile(join(dataDir, 'called.py'), called)
    const first = startPython(server.url, submitting, [String(calls)])
    const hasSubmitted = (count: number) => () => first.output().split('\n').length > count
    for (let kill = 1; kill <= killsWhileCalling; kill++) {
      const count = Math.floor((calls * kill) / (killsWhileCalling + 1))
      await until(hasSubmitted(count), { what: `${count} calls are submitted`, seen: first.remarks })
      await restartServer()
    }
    await until(hasSubmitted(calls), { what: 'all calls are submitted', timeoutMs: 300_000, seen: first.remarks })
    first.child.kill('SIGKILL')
    await first.ended

    const second = startPython(server.url, attaching, first.output().trim().split('\n'))
    await restartServer()
    expect(await second.ended, second.remarks()).toEqual([0, null])
    const squares = Array.from({ length: calls }, (_, number) => number * number)
    expect(second.output().trim().split(' ').map(Number)).toEqual(squares)
    const ran = (await readFile(join(dataDir, 'calls.txt'), 'utf8')).trim().split('\n').map(Number)
    expect(ran.toSorted((a, b) => a - b)).toEqual(squares.map((_, number) => number))
  },
  900_000,
)
