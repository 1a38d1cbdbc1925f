import { hash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findViolations } from '../../src/domain/selfcheck/selfcheck.ts'
import { addresses, lab, labPath, machines, names } from '../executors/container/machine-lab.ts'
import { type Api, connectApi } from '../support/api.ts'
import { type BerthProcess, startBerthProcess } from '../support/berth-process.ts'
import { createDatabase, type TestDatabase } from '../support/database.ts'
import { makeDirectory } from '../support/directory.ts'
import { until } from '../support/until.ts'
import { isWhole } from '../support/whole.ts'

/**
 * Two servers over several machines behind ssh, whose connections are cut, and whose leader is killed.
 * `npm run test:executors -- machines` runs it, with BERTH_TEST_WHOLE=1 for a quarter of an hour.
 */
if (lab === undefined) process.stderr.write('SKIPPED: servers over several machines; see machines.test.ts\n')

/** Cuts of 40 s; with the whole load 2 min on one machine, and 10 min on the others. */
const cutSeconds = (node: string) => (isWhole ? (node === names[1] ? 120 : 600) : 40)
const killsInStarts = isWhole ? 10 : 2
const leadsMsMax = 10_000

interface Seen {
  state: string
  runs: { nodes: { number: number; state: string; stateReason: string | null; nodeNames: string[] }[] }
}
const jobQuery =
  'query ($id: ID!) { job(id: $id) { state runs(first: 20) { nodes { number state stateReason nodeNames } } } }'
const nodesQuery = `{ pools(first: 1) { nodes { nodes(first: 10) { nodes { name machine { silence silentSince } } } } } }`
const logQuery =
  'query ($id: ID!, $from: LogStart) { job(id: $id) { logs(first: 5000, from: $from) { text cursor isFinal } } }'

interface SeenNode {
  name: string
  machine: { silence: string | null; silentSince: string | null }
}

describe.skipIf(lab === undefined)('servers that run jobs on several machines', () => {
  const folder = makeDirectory()
  const marks = join(folder, 'marks')
  const servers: BerthProcess[] = []
  let database: TestDatabase
  let api: Api

  async function start(): Promise<void> {
    const dataDir = join(folder, `server-${servers.length}`)
    await mkdir(dataDir, { recursive: true })
    const env = { DATABASE_URL: database.url, BERTH_CONFIG: join(folder, 'berth.yaml'), PATH: labPath }
    servers.push(await startBerthProcess({ dataDir, env }))
    api = connectApi(servers.at(-1)?.url ?? '')
  }

  beforeAll(async () => {
    await mkdir(marks)
    const nodes = addresses.map(([name, engine]) => `{ name: ${name}, engine: '${engine}', cpu: 8, memoryGib: 8 }`)
    await writeFile(
      join(folder, 'berth.yaml'),
      `server: { publicUrl: 'http://127.0.0.1:1' }
container: { image: 'localhost/bb:1' }
data: { roots: { marks: '${marks}' } }
pools: [{ name: lab, executor: container, scheduling: { nodeLostAfterSeconds: 3600 }, nodes: [${nodes}] }]
`,
    )
    database = await createDatabase()
    await start()
    await start()
    await until(async () => (await readNodes()).every(({ machine }) => machine.silence === null), {
      what: 'all answer',
    })
  })
  afterAll(async () => {
    for (const server of servers) await server.end()
    await database.close()
  })

  async function readNodes(): Promise<SeenNode[]> {
    type Answer = { pools: { nodes: { nodes: { nodes: SeenNode[] } }[] } }
    return (await api.ask<Answer>(nodesQuery)).pools.nodes[0]?.nodes.nodes ?? []
  }

  /** Prints numbered lines, and writes each to a file of the job first, which all machines share. */
  const count = (lines: number, pauseSeconds: number, more: object = {}) => ({
    command: [
      '/bin/sh',
      '-c',
      `i=0; while [ $i -lt ${lines} ]; do i=$((i+1)); echo "$BERTH_RUN $i" >>/marks/$BERTH_JOB_ID; echo "line $i"; sleep ${pauseSeconds}; done`,
    ],
    data: ['marks:/marks'],
    resources: { cpu: 0.05, memoryBytes: 64 * 2 ** 20 },
    restartable: true,
    ...more,
  })
  const halfMachine = { cpu: 0.05, memoryBytes: 3.5 * 2 ** 30 }
  const linesTo = (lines: number) => Array.from({ length: lines }, (_, i) => `line ${i + 1}\n`).join('')

  const look = async (id: string) => (await api.ask<{ job: Seen }>(jobQuery, { id })).job
  const untilSucceeded = (ids: readonly string[], timeoutMs = 300_000) =>
    until(
      async () => {
        const [row] = await database.db.sql.query<{ n: number; ended: number }>(
          `SELECT count(*) FILTER (WHERE state = 'SUCCEEDED') AS n,
             count(*) FILTER (WHERE state IN ('SUCCEEDED', 'FAILED', 'CANCELLED', 'INTERRUPTED')) AS ended FROM job WHERE id = ANY($1)`,
          [ids],
        )
        return row?.ended === ids.length && row
      },
      { what: 'all jobs have ended', timeoutMs },
    ).then((row) => expect(row).toEqual({ n: ids.length, ended: ids.length }))

  async function readWholeLog(id: string): Promise<string> {
    type Page = { text: string; cursor: string; isFinal: boolean }
    let text = ''
    for (let page: Page = { text: '', cursor: '', isFinal: false }; !page.isFinal; text += page.text)
      page = (
        await api.ask<{ job: { logs: Page } }>(logQuery, { id, from: page.cursor ? { cursor: page.cursor } : null })
      ).job.logs
    return text
  }

  /**
   * Checks that each run wrote its lines in order, and that no run wrote after a later one had begun. Returns the
   * numbers of the runs.
   */
  async function readRuns(id: string): Promise<number[]> {
    const written = (await readFile(join(marks, id), 'utf8')).trim().split('\n')
    const runs = Map.groupBy(written, (line) => Number(line.split(' ')[0]))
    const expected = [...runs].flatMap(([run, lines]) => lines.map((_, i) => `${run} ${i + 1}`))
    expect(written, `the marks of ${id}`).toEqual(expected)
    return [...runs.keys()]
  }

  async function killLeader(): Promise<void> {
    const leading = async () => {
      const [row] = await database.db.sql.query<{ holder: string | null; epoch: number }>(
        'SELECT holder, epoch FROM scheduler_leader',
      )
      const server = servers.find(({ pid }) => row?.holder?.includes(`:${pid}:`))
      return server && row ? { server, epoch: row.epoch } : null
    }
    const { server, epoch } = await until(leading, { what: 'a server leads' })
    await server.end('SIGKILL')
    servers.splice(servers.indexOf(server), 1)
    api = connectApi(servers[0]?.url ?? '')
    const beganMs = performance.now()
    await until(async () => ((await leading())?.epoch ?? epoch) > epoch, { what: 'another server leads' })
    const tookMs = performance.now() - beganMs
    process.stdout.write(`another server leads after ${Math.round(tookMs)} ms\n`)
    expect(tookMs).toBeLessThan(leadsMsMax)
    await start()
  }

  test('are replaced within 10 s if the leader is killed during starts, and no job starts twice', {
    timeout: killsInStarts * 240_000,
  }, async () => {
    for (let kill = 0; kill < killsInStarts; kill++) {
      const ids = await api.submitAll(Array.from({ length: 12 }, () => count(3, 1)))
      const begun = async () => {
        const rows = await database.db.sql.query<{ state: string }>('SELECT state FROM run WHERE job_id = ANY($1)', [
          ids,
        ])
        const states = Map.groupBy(rows, ({ state }) => state)
        return (states.get('RUNNING')?.length ?? 0) > kill % 3 && states.get('STARTING')
      }
      const starting = await until(begun, { what: 'some jobs start' })
      await killLeader()
      await untilSucceeded(ids)
      for (const id of ids) {
        expect(await readRuns(id)).toEqual([1])
        expect(await readWholeLog(id)).toBe(linesTo(3))
      }
      process.stdout.write(`kill ${kill + 1}: ${starting.length} jobs were starting\n`)
    }
    expect(await findViolations(database.db.sql)).toEqual([])
  })

  test('keep runs going while ssh is cut, and lose or double no line', { timeout: 1_500_000 }, async () => {
    const longest = Math.max(...names.map(cutSeconds))
    // One job of each machine ends during its cut, one after it.
    const plans = names.flatMap(() => [Math.ceil(longest / 4), longest + 20])
    const ids: string[] = []
    for (const seconds of plans) ids.push(await api.submit(count(seconds * 2, 0.5, { resources: halfMachine })))
    await until(async () => (await Promise.all(ids.map(look))).every(({ state }) => state === 'RUNNING'), {
      what: 'all run',
    })
    const placed = (await Promise.all(ids.map(look))).flatMap(({ runs }) => runs.nodes[0]?.nodeNames ?? [])
    expect(new Set(placed)).toEqual(new Set(names))
    const cutAtMs = Date.now()
    for (const name of names) machines('cut', name)
    const mending = names.map(async (name) => {
      await setTimeout(cutSeconds(name) * 1_000 - (Date.now() - cutAtMs))
      machines('mend', name)
    })
    const listSilent = async () => (await readNodes()).filter(({ machine }) => machine.silence !== null)
    const silent = await until(
      async () => {
        const found = await listSilent()
        return found.length === names.length && found
      },
      { what: 'all are silent', timeoutMs: 300_000 },
    )
    for (const { machine } of silent)
      expect(Math.abs(Date.parse(machine.silentSince ?? '') - cutAtMs)).toBeLessThan(20_000)
    process.stdout.write(`${JSON.stringify({ cutAt: new Date(cutAtMs), silent })}\n`)
    await Promise.all(mending)
    await untilSucceeded(ids, 600_000)
    for (const [at, id] of ids.entries()) {
      expect((await look(id)).runs.nodes).toMatchObject([{ number: 1, state: 'SUCCEEDED' }])
      expect(await readRuns(id)).toEqual([1])
      expect(hash('sha256', await readWholeLog(id))).toBe(hash('sha256', linesTo((plans[at] ?? 0) * 2)))
    }
    await until(async () => (await listSilent()).length === 0, { what: 'all answer again' })
  })
})
