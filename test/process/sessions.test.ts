import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type BerthProcess, startBerthProcess } from '../support/berth-process.ts'
import { freePort } from '../support/berth-server.ts'
import { CommandLine } from '../support/command-line.ts'
import { openDatabase } from '../support/database.ts'
import { makeDirectory } from '../support/directory.ts'
import { until } from '../support/until.ts'
import { isWhole } from '../support/whole.ts'

/** Sessions in jobs of a server that is killed. */

const dataDir = makeDirectory()
const database = await openDatabase()
const port = await freePort()
let server: BerthProcess
const commandLine = new CommandLine(dataDir, { BERTH_URL: `http://127.0.0.1:${port}` })
const { berth } = commandLine

const start = () =>
  startBerthProcess({ dataDir, port, env: { DATABASE_URL: database.url, BERTH_CONFIG: join(dataDir, 'berth.yaml') } })

beforeAll(async () => {
  await writeFile(
    join(dataDir, 'berth.yaml'),
    'pools: [{ name: local, executor: local, jobsAsRoot: true, nodes: [{ name: here, cpu: 64, memoryGib: 64 }] }]\n',
  )
  server = await start()
})
afterAll(() => server.end())

const lines = 200

// The client retries for half a minute.
it.runIf(isWhole)('after a kill of the server a session ends with a clear message, and the job continues', async () => {
  const count = `i=0; while [ $i -lt ${lines} ]; do i=$((i+1)); echo "line $i"; sleep 0.3; done`
  const job = (await berth('submit', '--mem', '1', '--', 'sh', '-c', count)).stdout.trim()
  await berth('wait', job, '--state', 'running')
  const typing = commandLine.startOnTerminal(['exec', job, '--', 'sh', '-c', '"echo begun; exec cat"'])
  const piped = commandLine.start(['exec', job, '--', 'sh', '-c', 'echo begun; exec sleep 4321'])
  for (const each of [typing, piped]) await each.find(/begun/)
  await server.end('SIGKILL')
  for (const { ended } of [typing, piped]) {
    const { code, stdout, stderr } = await ended
    expect(code).toBe(1)
    expect(stdout + stderr).toContain('The connection was cut for more than 30 s, so the session is over')
  }
  server = await start()
  await until(async () => /COMPLETED|SUCCEEDED/.test((await berth('info', job, '--json', 'state')).stdout), {
    what: 'the job is over',
    timeoutMs: 180_000,
  })
  const expected = Array.from({ length: lines }, (_, i) => `line ${i + 1}\n`).join('')
  expect((await berth('logs', job)).stdout).toBe(expected)
  expect((await berth('sessions', 'ls', job)).stdout).not.toContain('open')
})
