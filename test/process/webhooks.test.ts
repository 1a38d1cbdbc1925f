import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../src/platform/clock.ts'
import { type BerthProcess, startBerthProcess } from '../support/berth-process.ts'
import { freePort } from '../support/berth-server.ts'
import { data } from '../support/client.ts'
import { openDatabase } from '../support/database.ts'
import { makeDirectory } from '../support/directory.ts'
import { root } from '../support/sources.ts'
import { until } from '../support/until.ts'
import { type ReceivedMessage, startReceiver } from '../support/webhook-receiver.ts'
import { isWhole } from '../support/whole.ts'

/**
 * Two servers are killed in turn while jobs run and the receiver fails 30 % of all requests. Meanwhile a secret is
 * replaced. `npm run test:whole` does it with 2,500 jobs, 10 s between two kills, and for four minutes with the
 * pauses and leases of production; longer pauses are skipped.
 */
const jobs = isWhole ? 2_500 : 200
const killEveryMs = isWhole ? 10_000 : 3_000
const leaseMs = 60_000
const productionPausesMs = 240_000
const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`
const secrets = { old: newSecret(), new: newSecret() }

const dataDir = makeDirectory()
const servers: BerthProcess[] = []
const ports = [0, 0]

const database = await openDatabase()
beforeAll(async () => {
  for (const index of ports.keys()) ports[index] = await freePort()
})
afterAll(async () => {
  for (const server of servers) await server.end('SIGKILL')
})

async function start(
  index: number,
  webhook: { url: string; hanging: string; secret: string | string[] },
): Promise<void> {
  const { url, hanging, secret } = webhook
  const path = join(dataDir, `${index}.yaml`)
  const pool = { name: 'sim', executor: 'simulated', nodes: [{ name: 'n1', cpu: 64, memoryGib: 64 }] }
  const webhooks = [
    { name: 'ci', url, secret },
    { name: 'hangs', url: hanging, secret: secrets.old },
  ]
  await writeFile(path, JSON.stringify({ pools: [pool], webhooks }), { mode: 0o600 })
  const env = { DATABASE_URL: database.url, BERTH_CONFIG: path }
  servers[index] = await startBerthProcess({ dataDir, port: ports[index] ?? 0, env })
}

const submitDocument = `mutation ($input: SubmitJobsInput!) { submitJobs(input: $input) { __typename } }`

async function submit(server: BerthProcess | undefined, count: number): Promise<void> {
  const spec = {
    command: ['simulated'],
    resources: { cpu: 0.1, memoryBytes: 1 },
    environment: [{ name: 'SIM_RUN_SECONDS', value: '0.1' }],
  }
  const submissions = Array.from({ length: count }, () => ({ spec }))
  const { submitJobs } = await data(server?.url ?? '', submitDocument, { input: { submissions } })
  expect(submitJobs).toEqual({ __typename: 'SubmitJobsSuccess' })
}

const count = async (from: string): Promise<number> =>
  Number((await database.db.sql.query<{ n: string }>(`SELECT count(*) AS n FROM ${from}`))[0]?.n)

/** Shortens pauses that exceed a lease. Returns the number of deliveries with such pauses. */
async function skipPauses(): Promise<number> {
  const skipped = await database.db.sql.query(
    `UPDATE webhook_delivery SET due_at = berth_now() WHERE endpoint = 'ci' AND state = 'PENDING' AND due_at > berth_now() + $1 * interval '1 ms' RETURNING 1`,
    [leaseMs + 1_000],
  )
  return skipped.length
}

/** The loss of a leader is a condition, which is sent too. */
const isOfJob = ({ content: { type } }: ReceivedMessage) => type.startsWith('job.')
const nameEvent = ({ content: { data: event } }: ReceivedMessage) => `${event['jobId']} ${event['seq']}`

/** Verifies a message as docs/webhooks.md does with bash and openssl. */
async function verifyWithOpenssl(messages: readonly ReceivedMessage[], secret: string): Promise<string[]> {
  const [, verify = ''] =
    /```bash\n([^`]*verify\(\)[^`]*)```/.exec(await readFile(join(root, 'docs/webhooks.md'), 'utf8')) ?? []
  return Promise.all(
    messages.map(async ({ headers, body }, index) => {
      const directory = join(dataDir, `message-${index}`)
      execFileSync('mkdir', [directory])
      await writeFile(join(directory, 'body.json'), body)
      const env = {
        PATH: process.env['PATH'] ?? '',
        SECRET: secret,
        ID: headers['webhook-id'],
        TIMESTAMP: headers['webhook-timestamp'],
        SIGNATURE: headers['webhook-signature'],
      }
      const script = `${verify}\nverify && echo valid || echo refused`
      return execFileSync('bash', ['-c', script], {
        cwd: directory,
        env,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      }).trim()
    }),
  )
}

/** Returns the same message with a valid but too old signature. */
function age({ headers, ...message }: ReceivedMessage): ReceivedMessage {
  const seconds = Number(headers['webhook-timestamp']) - 301
  const signature = new Webhook(secrets.new).sign(headers['webhook-id'] ?? '', new Date(seconds * 1_000), message.body)
  return {
    ...message,
    headers: { ...headers, 'webhook-timestamp': String(seconds), 'webhook-signature': signature },
  }
}

test('each event is delivered at least once, signed and always with the same id', {
  timeout: isWhole ? 1_200_000 : 180_000,
}, async () => {
  const accepted: ReceivedMessage[] = []
  let requests = 0
  await using receiver = await startReceiver(secrets.old, (message) => {
    requests += 1
    // Every third or fourth request fails, regardless of its event.
    if (requests % 10 < 3) return isWhole ? { status: 500 } : { status: 503, headers: { 'retry-after': '1' } }
    accepted.push(message)
    return { status: 204 }
  })
  await using hanging = await startReceiver(secrets.old, () => null)
  const urls = { url: receiver.url, hanging: hanging.url }
  await Promise.all([0, 1].map((index) => start(index, { ...urls, secret: secrets.old })))

  // The secret is replaced during the restarts. The receiver gets the new one in the middle.
  const both = [secrets.new, secrets.old]
  const turns = isWhole ? [both, both, ...Array(8).fill(secrets.new)] : [both, both]
  let killAtMs = Date.now()
  const killedAtMs: number[] = []
  for (const [turn, secret] of turns.entries()) {
    const victim = turn % 2
    await submit(servers[1 - victim], jobs / turns.length)
    killAtMs = Math.max(killAtMs + killEveryMs, Date.now())
    await systemClock.sleep(killAtMs - Date.now())
    await servers[victim]?.end('SIGKILL')
    killedAtMs.push(Date.now())
    if (!isWhole)
      await database.db.sql.query(
        `UPDATE webhook_delivery SET due_at = due_at - $1 * interval '1 ms' WHERE state = 'PENDING' AND due_at > berth_now() + interval '2 s'`,
        [leaseMs],
      )
    await start(victim, { ...urls, secret })
    if (turn === 1) receiver.secret = secrets.new
  }
  await until(async () => (await count(`job WHERE state = 'SUCCEEDED'`)) === jobs, {
    what: 'all jobs end',
    timeoutMs: 300_000,
  })
  const expected = await count('event')
  expect(expected).toBeGreaterThanOrEqual(jobs * 4)
  const seen = () => new Set(accepted.filter(isOfJob).map(nameEvent))
  if (isWhole) await systemClock.sleep(productionPausesMs)
  let skipped = 0
  const isComplete = async () => {
    skipped += await skipPauses()
    return seen().size === expected
  }
  await until(isComplete, {
    what: 'each event was accepted',
    timeoutMs: 90_000,
    seen: () => ({ seen: seen().size, expected }),
  })

  expect(receiver.refused).toEqual([])
  const ids = new Map(receiver.messages.filter(isOfJob).map((message) => [message.id, nameEvent(message)]))
  expect(ids.size).toBe(expected)
  expect(new Set(ids.values()).size).toBe(expected)
  const last = receiver.messages.filter(isOfJob).slice(-20)
  expect(await verifyWithOpenssl(last, secrets.new)).toEqual(last.map(() => 'valid'))
  const changed = last.map((message) => ({ ...message, body: message.body.replace('"jobId":"j', '"jobId":"J') }))
  const postponed = last.map(({ headers, ...message }) => ({
    ...message,
    headers: { ...headers, 'webhook-timestamp': String(Number(headers['webhook-timestamp']) + 1) },
  }))
  const wrong = [...changed, ...postponed, ...last.map(age)]
  for (const { body, headers } of wrong) expect(() => new Webhook(secrets.new).verify(body, headers)).toThrow()
  await rm(dataDir, { recursive: true, force: true }).then(() => execFileSync('mkdir', ['-p', dataDir]))
  expect(await verifyWithOpenssl(wrong, secrets.new)).toEqual(wrong.map(() => 'refused'))
  process.stdout.write(
    `webhooks: ${expected} events, ${receiver.messages.length} requests, ${accepted.length} accepted, ${skipped} pauses skipped; kills after ${killedAtMs.slice(1).map((at, i) => Math.round((at - (killedAtMs[i] ?? at)) / 1_000))} s\n`,
  )
})
