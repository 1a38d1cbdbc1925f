import { execFileSync, spawnSync } from 'node:child_process'
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, it } from 'vitest'
import { openStates } from '../../src/metrics/installation.ts'
import { adminToken, berth } from '../browser/support/stage.ts'
import { createDraws, pool, Storm } from '../browser/support/storm.ts'
import { connectApi, openServer } from '../support/api.ts'
import { freePort } from '../support/berth-server.ts'
import { listSeries, parseExposition } from '../support/exposition.ts'
import { until } from '../support/until.ts'

const gpus = [{ model: 'A100', memoryGib: 40, count: 8 }]
const metricsPort = await freePort()
const config = {
  server: { metrics: { port: metricsPort } },
  pools: [
    {
      name: pool,
      executor: 'simulated',
      limits: { maxConcurrent: 8, userMaxConcurrent: null },
      nodes: ['n1', 'n2', 'n3'].map((name) => ({ name, cpu: 64, memoryGib: 512, gpus })),
    },
  ],
  queues: [{ name: 'default', pool }],
}
const { server, database } = await openServer(JSON.stringify(config), { BERTH_BOOTSTRAP_TOKEN: adminToken })

const read = (path: string, headers: Record<string, string> = {}) =>
  fetch(`http://127.0.0.1:${metricsPort}${path}`, { headers })
const scrape = async () => parseExposition(await (await read('/metrics')).text())

const round = (series: Readonly<Record<string, number>>) =>
  Object.fromEntries(Object.entries(series).map(([labels, value]) => [labels, Number(value.toFixed(3))]))

/** Counts jobs and nodes directly in the rows of the database. */
async function countRows(): Promise<Record<string, Record<string, number>>> {
  const { sql } = database.db
  const jobs = await sql.query<{ state: string; count: number }>(
    'SELECT state::text, count(*) FROM job WHERE state::text = ANY($1) GROUP BY 1',
    [openStates],
  )
  const nodes = await sql.query<{ state: string; count: number }>('SELECT state::text, count(*) FROM node GROUP BY 1')
  const [amounts] = await sql.query<Record<string, number>>(`
    SELECT
      coalesce((SELECT sum(cpu_millis) FROM node WHERE state = 'READY'), 0)::float8 / 1000 AS capacity,
      (SELECT coalesce(sum(a.cpu_millis), 0) FROM allocation a)::float8 / 1000 AS allocated,
      (SELECT count(*) FROM device d JOIN node n ON n.id = d.node_id WHERE n.state = 'READY') AS gpus,
      (SELECT coalesce(sum((j.spec->'resources'->>'cpu')::float8), 0) FROM job j JOIN queue_entry q ON q.job_id = j.id AND q.open
        WHERE j.state = 'QUEUED') AS wanted`)
  const byState = (rows: readonly { state: string; count: number }[], states: readonly string[]) =>
    Object.fromEntries(
      states.map((state) => [
        `{pool="${pool}",state="${state}"}`,
        Number(rows.find((row) => row.state === state)?.count ?? 0),
      ]),
    )
  const ofPool = (value = 0) => round({ [`{pool="${pool}"}`]: value })
  return {
    berth_jobs: byState(jobs, openStates),
    berth_nodes: byState(nodes, ['READY', 'CORDONED', 'DRAINING', 'LOST']),
    berth_capacity_cpus: ofPool(amounts?.['capacity']),
    berth_capacity_gpus: ofPool(amounts?.['gpus']),
    berth_allocated_cpus: ofPool(amounts?.['allocated']),
    berth_wanted_cpus: ofPool(amounts?.['wanted']),
  }
}

async function waitingJobs(): Promise<number> {
  const [row] = await database.db.sql.query<{ count: number }>(
    `SELECT count(*) FROM job WHERE state IN ('QUEUED', 'BLOCKED')`,
  )
  return row?.count ?? 0
}

const long = {
  command: ['simulated'],
  resources: { cpu: 0.1 },
  environment: [{ name: 'SIM_RUN_SECONDS', value: '3600' }],
}

/** Ends the long jobs. */
async function freeSlots() {
  const rows = await database.db.sql.query<{ id: string }>(
    `SELECT id FROM job WHERE state IN ('QUEUED', 'RUNNING', 'STARTING')`,
  )
  await berth(server, ['cancel', '--yes', ...rows.map(({ id }) => id)], adminToken)
}

const sum = (series: Readonly<Record<string, number>>) => Object.values(series).reduce((a, b) => a + b, 0)

describe('the metrics of a server', () => {
  it('are equal to the rows of the database after random changes', async () => {
    await berth(server, ['user', 'create', 'ben', '--level', 'RESEARCHER'], adminToken)
    const token = (await berth(server, ['token', 'create', 'test', '--user', 'ben'], adminToken)).split('\n').at(-1)
    const user = connectApi(server.url, token)
    const admin = connectApi(server.url, adminToken)
    const storm = new Storm(admin, user, createDraws(30))
    await storm.blow(150)
    // These jobs run first and do not end, so the numbers are constant after the others have ended.
    await admin.submitAll(Array.from({ length: 12 }, () => long))
    let seen: unknown
    const isEqual = async () => {
      const rows = await countRows()
      const waiting = await waitingJobs()
      const values = await scrape()
      const gauges = Object.fromEntries(Object.keys(rows).map((name) => [name, round(listSeries(values, name))]))
      const reasons = sum(listSeries(values, 'berth_waiting_jobs'))
      seen = { rows, gauges, waiting, reasons }
      return isDeepStrictEqual(gauges, rows) && waiting === reasons
    }
    await until(isEqual, { what: 'the gauges equal the rows', timeoutMs: 120_000, seen: () => seen })
    const values = await scrape()
    expect(values.get('berth_requests_total{kind="mutation",outcome="ok"}')).toBeGreaterThan(100)
    const [stored] = await database.db.sql.query<{ count: number }>('SELECT count(*) FROM job')
    expect(sum(listSeries(values, 'berth_submissions_total'))).toBeGreaterThanOrEqual(stored?.count ?? 0)
    const [starts] = await database.db.sql.query<{ count: number }>(
      `SELECT count(*) FROM event WHERE to_state = 'STARTING'`,
    )
    expect(values.get(`berth_job_wait_seconds_count{pool="${pool}"}`)).toBeGreaterThanOrEqual(starts?.count ?? 1)
    await user.close()
    await admin.close()
  })

  it('have the same number of series, however many users and jobs exist', async () => {
    await freeSlots()
    const before = [...(await scrape()).keys()]
    for (let i = 0; i < 20; i++) await berth(server, ['user', 'create', `user${i}`, '--level', 'VIEWER'], adminToken)
    const ben = connectApi(server.url, adminToken)
    await ben.submitAll(
      Array.from({ length: 200 }, (_, i) => ({
        name: `many ${i}`,
        command: ['true'],
        resources: { cpu: 1 },
        labels: [{ key: `label-${i}`, value: 'value' }],
      })),
    )
    await until(
      async () => ((await scrape()).get('berth_runs_total{executor="simulated",outcome="succeeded"}') ?? 0) > 100,
      {
        what: 'jobs end',
      },
    )
    // Outcomes, verbs and reasons are few. The first of each creates a series, and so does the first collection of a
    // kind.
    const isKnown = (series: string) =>
      before.includes(series) || !series.startsWith('berth_') || /[{,](outcome|verb|reason)="\w+"/.test(series)
    const fresh = [...(await scrape()).keys()].filter((series) => !isKnown(series))
    expect(fresh).toEqual([])
    expect(before.length).toBeLessThan(2_000)
    await ben.close()
  })

  it('require a token, even from loopback', async () => {
    const get = (token?: string) =>
      fetch(`${server.url}/metrics`, token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } })
    const refused = await get()
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
    expect(await refused.text()).not.toContain('berth_jobs')
    expect((await get('berth_wrong')).status).toBe(401)
    const reading = ['token', 'create', 'reading', '--user', 'ben', '--scopes', 'READ']
    const token = (await berth(server, reading, adminToken)).split('\n').at(-1)
    const answered = await get(token)
    expect([answered.status, answered.headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(await answered.text()).toContain('berth_jobs{')
  })

  it('are in the OpenMetrics format if the reader accepts it, otherwise in the text format', async () => {
    const open = await read('/metrics', { accept: 'application/openmetrics-text;version=1.0.0,text/plain;q=0.5' })
    expect(open.headers.get('content-type')).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8')
    const text = await open.text()
    expect(text.endsWith('\n# EOF\n')).toBe(true)
    expect(text).toContain('# TYPE berth_requests counter\n')
    expect(text).toContain('berth_requests_total{')
    expect(parseExposition(text).size).toBeGreaterThan(300)
    const plain = await (await read('/metrics')).text()
    expect(plain).toContain('# TYPE berth_requests_total counter\n')
    expect(parseExposition(plain).has('berth_requests_total{kind="mutation",outcome="ok"}')).toBe(true)
  })

  const hasPromtool = spawnSync('promtool', ['--version']).status === 0
  if (!hasPromtool) console.error('SKIPPED: promtool is missing; install prometheus to check the metrics with it.')
  it.skipIf(!hasPromtool)('are accepted by promtool', async () => {
    const input = (await (await read('/metrics')).text())
      .split('\n')
      // Node's own metrics have names that other dashboards expect, which do not follow all rules.
      .filter((line) => !/(nodejs|process)_/.test(line))
      .join('\n')
    expect(execFileSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' })).toBe('')
  })

  it('are served on a listener of their own, which serves only metrics and health', async () => {
    expect((await read('/healthz')).status).toBe(200)
    expect(await (await read('/readyz')).json()).toMatchObject({ ready: true })
    for (const path of ['/', '/graphql', '/jobs', '/download/jobs/x/log']) expect((await read(path)).status).toBe(404)
  })
})
