import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type BerthProcess, freePort, startBerth } from '../support/berth-process.ts'
import { findPython, pythonEnv, reportMissing } from '../support/python.ts'
import { until } from '../support/until.ts'
import { isWhole } from '../support/whole.ts'

/** Calls in flight while the server, and once the client, are killed. */
const { calls, kills } = isWhole ? { calls: 200, kills: 4 } : { calls: 24, kills: 1 }

const python = findPython()
let dataDir: string
let port: number
let server: BerthProcess

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'berth-python-futures-'))
  port = await freePort()
  server = await startBerth({ dataDir, port })
})
afterAll(async () => {
  await server.end()
  await rm(dataDir, { recursive: true, force: true })
})

/** Leaves a line for each call, and returns the square. */
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

function startPython(program: string, args: readonly string[]): ChildProcess & { seen(): string } {
  const child = spawn(python ?? '', ['-c', program, ...args], { env: pythonEnv(server.url, dataDir), cwd: dataDir })
  let output = ''
  let remarks = ''
  child.stdout.on('data', (data) => (output += data))
  child.stderr.on('data', (data) => (remarks += data))
  child.once('exit', (code) => code && process.stderr.write(remarks))
  return Object.assign(child, { seen: () => output })
}

async function restartServer(): Promise<void> {
  await server.end('SIGKILL')
  server = await startBerth({ dataDir, port })
}

it.skipIf(reportMissing('Python 3.9', python === null))(
  `each of ${calls} calls runs once and has its result, though server and client are killed`,
  async () => {
    await mkdir(join(dataDir, 'results'))
    await writeFile(join(dataDir, 'called.py'), called)
    const client = startPython(submitting, [String(calls)])
    for (let kill = 1; kill <= kills; kill++) {
      const submitted = Math.floor((calls * kill) / (kills + 1))
      await until(() => client.seen().split('\n').length > submitted, { what: `${submitted} calls are submitted` })
      await restartServer()
    }
    await until(() => client.seen().split('\n').length > calls, { what: 'all calls are submitted', timeoutMs: 300_000 })
    client.kill('SIGKILL')
    await once(client, 'exit')

    const second = startPython(attaching, client.seen().trim().split('\n'))
    const ended = once(second, 'exit')
    await restartServer()
    expect(await ended).toEqual([0, null])
    const squares = Array.from({ length: calls }, (_, number) => number * number)
    expect(second.seen().trim().split(' ').map(Number)).toEqual(squares)
    const ran = (await readFile(join(dataDir, 'calls.txt'), 'utf8')).trim().split('\n').map(Number)
    expect(ran.toSorted((a, b) => a - b)).toEqual(squares.map((_, number) => number))
  },
  900_000,
)
