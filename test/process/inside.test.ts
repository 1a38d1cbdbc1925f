import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { type Api, openServerBy } from '../support/api.ts'
import { type BerthProcess, startBerthProcess } from '../support/berth-process.ts'
import { personWith } from '../support/people.ts'
import { root } from '../support/sources.ts'
import { until } from '../support/until.ts'

/** Reports of jobs, with real processes: by the command line, by a handler, and while the server is unreachable. */
const config = 'pools: [{ name: here, executors: [local, handler], nodes: [{ name: n1, cpu: 8, memoryGib: 8 }] }]\n'
const { server: first, api, database, dataDir } = await openServerBy(startBerthProcess, config)
const berth = join(root, 'berth')
let again: BerthProcess | undefined
afterAll(async () => void (await again?.end()))

interface Seen {
  state: string
  stateReason: string | null
  nativeId: string | null
  attempt: number
  version: number
  closure: unknown
  progress: { fraction: number | null; message: string | null } | null
  artifacts: { nodes: { name: string; run: { number: number }; body: string | null }[] }
  events: { nodes: { to: string | null; detail: { nativeId?: string | null } | null }[] }
  logs: { text: string }
}

async function look(id: string, by: Api = api): Promise<Seen> {
  const query = `query ($id: ID!) { job(id: $id) { state stateReason nativeId attempt version closure
    progress { fraction message } artifacts { nodes { name run { number } body } }
    events(first: 100) { nodes { to detail { ... on StateChangeDetail { nativeId } } } } logs(first: 5000) { text } } }`
  return (await by.ask<{ job: Seen }>(query, { id })).job
}

/** The parent of the command. Killing it loses the run; a signal to the command would end the job. */
const supervisorOf = ({ nativeId }: Seen) => Number(readFileSync(`/proc/${nativeId}/stat`, 'utf8').split(' ')[3])

const untilSeen = (id: string, is: (job: Seen) => boolean, what: string) =>
  until(
    async () => {
      const job = await look(id)
      return is(job) && job
    },
    { what, timeoutMs: 90_000 },
  )
const isFinal = ({ state }: Seen) => ['SUCCEEDED', 'FAILED', 'INTERRUPTED', 'CANCELLED'].includes(state)

const saving = 'mutation { saveClosure(input: { closure: {} }) { __typename } }'

test('a job reports through the command line with its token, which expires with its run', async () => {
  const script = `set -e
    env
    '${berth}' progress 0.5 -m 'half way'
    echo 'all is well' | '${berth}' artifact report --media-type text/plain --file - --metadata '{"lines":1}'
    echo '{"next":7}' | '${berth}' closure
    '${berth}' closure --show || echo "show: $?"
    '${berth}' closure missing.json || echo "missing: $?"
    BERTH_TOKEN=berth_run_forged '${berth}' progress 1 || echo "forged: $?"
    BERTH_URL=http://127.0.0.1:1 '${berth}' progress 1 --patience 0 || echo "away: $?"
    env -u BERTH_TOKEN '${berth}' progress 1 || echo "outside: $?"
    tr '\\0' '\\n' < /proc/$PPID/cmdline | grep -c "$BERTH_TOKEN" || true`
  const id = await api.submit({ command: ['/bin/sh', '-c', script], environment: [{ name: 'MINE', value: '1' }] })
  const job = await untilSeen(id, isFinal, 'the job is over')
  const { text } = job.logs
  expect(job).toMatchObject({
    state: 'SUCCEEDED',
    closure: { next: 7 },
    progress: { fraction: 0.5, message: 'half way' },
    artifacts: { nodes: [{ name: 'report', run: { number: 1 }, body: 'all is well\n' }] },
  })
  expect(text).toMatch(/show: 5[\s\S]*missing: 2[\s\S]*forged: 6[\s\S]*away: 4[\s\S]*outside: 2[\s\S]*^0$/m)
  expect(text).not.toMatch(/^(DATABASE_URL|PG|BERTH_CONFIG|BERTH_DATA_DIR|BERTH_PORT)/m)
  const token = text.match(/^BERTH_TOKEN=(.*)$/m)?.[1] ?? ''
  expect(token).toMatch(/^berth_run_/)
  expect((await personWith(first.url, token).ask(saving)).status).toBe(401)
  const { job: told } = await api.ask<{ job: unknown }>(
    'query ($id: ID!) { job(id: $id) { spec { environment { name value } command } events { nodes { message detail { ... on StateChangeDetail { nativeId } } } } } }',
    { id },
  )
  expect(JSON.stringify(told)).not.toContain(token)
})

/** A job that fails until a run finds a closure. */
const resuming = `
if [ "$BERTH_CLOSURE" ]; then echo "resumed $(cat "$BERTH_CLOSURE")"; exit 0; fi
echo '{"step":3}' | '${berth}' closure
echo saved
sleep 600`

test('a resumable job whose run is lost continues from its closure', async () => {
  const spec = { command: ['/bin/sh', '-c', resuming], restartable: false, resumable: true }
  const id = await api.submit(spec)
  const running = await untilSeen(id, ({ logs }) => logs.text.includes('saved'), 'it saved its closure')
  process.kill(-supervisorOf(running), 'SIGKILL')
  const job = await untilSeen(id, isFinal, 'the job is over')
  expect(job).toMatchObject({ state: 'SUCCEEDED', attempt: 2 })
  expect(job.logs.text).toContain('resumed {"step":3}')
})

const handler = `
export default {
  async run({ steps }, { log, progress, saveClosure, artifact }) {
    for (let step = 1; step <= steps; step++) {
      log('step ' + step)
      progress(step / steps, 'step ' + step)
      saveClosure({ step })
      if (step % 10 === 0) artifact({ name: 'part ' + step, mediaType: 'text/plain', body: String(step) })
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  },
  onResume() { throw new Error('stale') },
}`

test('the reports of handlers are stored although the server is killed and restarted', {
  timeout: 180_000,
}, async () => {
  const module = join(dataDir, 'steps.mjs')
  await writeFile(module, handler)
  // One handler sends all its reports before a server runs again, the other continues to work.
  const jobs = await Promise.all(
    [50, 150].map(async (steps) => ({ steps, id: await api.submit({ handler: module, input: { steps } }) })),
  )
  for (const { id } of jobs)
    await untilSeen(id, ({ artifacts }) => artifacts.nodes.length > 0, 'it published its first part')
  await first.end('SIGKILL')
  await new Promise((resolve) => setTimeout(resolve, 5_000))
  const env = { DATABASE_URL: database.url, BERTH_CONFIG: join(dataDir, 'berth.yaml') }
  again = await startBerthProcess({ dataDir, port: Number(new URL(first.url).port), env })
  for (const { id, steps } of jobs) {
    const job = await untilSeen(id, isFinal, 'the job is over')
    const done = Array.from({ length: steps }, (_, at) => at + 1)
    const parts = done.filter((step) => step % 10 === 0)
    expect(job).toMatchObject({
      state: 'SUCCEEDED',
      attempt: 1,
      closure: { step: steps },
      progress: { fraction: 1, message: `step ${steps}` },
      artifacts: { nodes: parts.map((step) => ({ name: `part ${step}`, body: String(step), run: { number: 1 } })) },
    })
    for (const state of ['RUNNING', 'SUCCEEDED'])
      expect(job.events.nodes.find(({ to }) => to === state)?.detail?.nativeId).toMatch(/^[1-9]\d*$/)
    expect(job.logs.text).toBe(done.map((step) => `step ${step}\n`).join(''))
  }
})

test('a job whose handler cannot resume is FAILED with the reason', async () => {
  const endless = { handler: join(dataDir, 'steps.mjs'), input: { steps: 6_000 }, resumable: true }
  const id = await api.submit(endless)
  const running = await untilSeen(id, ({ closure }) => closure !== null, 'it saved a closure')
  process.kill(-supervisorOf(running), 'SIGKILL')
  const job = await untilSeen(id, isFinal, 'the job is over')
  expect(job).toMatchObject({ state: 'FAILED', stateReason: 'RESUME_FAILED', attempt: 2 })
  expect(job.logs.text).toContain('Error: stale')
})
