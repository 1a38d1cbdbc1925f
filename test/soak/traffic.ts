import { setTimeout as pause } from 'node:timers/promises'
import type { Member } from '../support/api-servers.ts'

/**
 * Clients that submit in every way there is, for a while, over several servers, and know what each answer must be: new
 * keys, keys again, keys with another payload, the same key everywhere at once, bulk, reserved slots, approvals,
 * retries and cancellations, and somebody whose quota is used up. Answers are counted by their codes; one that is not
 * what was expected is remembered.
 */
export interface Traffic {
  urls: readonly string[]
  members: readonly Member[]
  /** A person whose submissions are all refused with QUOTA_EXCEEDED. */
  limited: Member
  seconds: number
  clients: number
}

export interface Tally {
  /** Number of responses by code. */
  answers: Record<string, number>
  /** The first unexpected responses. */
  unexpected: string[]
}

const unexpectedMax = 20
const bulkMax = 200
const burst = 8

export async function drive(traffic: Traffic): Promise<Tally> {
  const tally: Tally = { answers: {}, unexpected: [] }
  const until = performance.now() + traffic.seconds * 1_000
  let keys = 0
  let turn = 0
  const client = async () => {
    while (performance.now() < until) {
      const caller = createCaller(traffic, tally, () => `soak-${keys++}`)
      try {
        await ways[turn++ % ways.length]?.(caller)
      } catch (error) {
        caller.expect(`failed: ${error instanceof Error ? error.message : error}`, 'an answer')
        await pause(100) // a server that is gone would be asked as fast as possible
      }
    }
  }
  await Promise.all(Array.from({ length: traffic.clients }, client))
  return tally
}

interface Caller {
  limited: Member
  newKey: () => string
  /**
   * Sends a mutation to any server, by default always as the same person. Returns the codes of its results, and the ids
   * of the jobs.
   */
  send(name: keyof typeof documents, input: object, member?: Member): Promise<Answered[]>
  expect(code: string, wanted: string): void
}

interface Answered {
  code: string
  id: string
}

const documents = {
  submitJob: mutation('submitJob', 'SubmitJobInput!', '... on SubmitJobSuccess { idempotentHit job { id } }'),
  submitJobs: `mutation ($input: SubmitJobsInput!) { submitJobs(input: $input) { ... on SubmitJobsSuccess { results {
    ... on SubmitJobSuccess { idempotentHit job { id } } ... on Problem { code } } } } }`,
  retryJob: mutation('retryJob', 'RetryJobInput!', '... on RetryJobSuccess { idempotentHit job { id } }'),
  cancelJob: mutation('cancelJob', 'CancelJobInput!', '... on CancelJobSuccess { job { id } }'),
  reserveSlot: mutation('reserveSlot', 'ReserveSlotInput!', '... on ReserveSlotSuccess { job: reservation { id } }'),
}

function mutation(name: string, type: string, success: string): string {
  return `mutation ($input: ${type}) { ${name}(input: $input) { ${success} ... on Problem { code } } }`
}

interface Result {
  code?: string
  idempotentHit?: boolean
  job?: { id: string }
}

const answered = ({ code, idempotentHit, job }: Result): Answered => ({
  code: code ?? (idempotentHit ? 'hit' : 'accepted'),
  id: job?.id ?? '',
})

function createCaller({ urls, members, limited }: Traffic, tally: Tally, newKey: () => string): Caller {
  const self = any(members)
  return {
    limited,
    newKey,
    async send(name, input, member = self) {
      const response = await fetch(`${any(urls)}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${member.token}` },
        body: JSON.stringify({ query: documents[name], variables: { input } }),
      })
      const { data, errors } = (await response.json()) as { data?: Record<string, unknown>; errors?: unknown }
      if (!data || errors) throw new Error(JSON.stringify(errors))
      const outcome = data[name] as Result & { results?: Result[] }
      return (outcome.results ?? [outcome]).map(answered)
    },
    expect(code, wanted) {
      tally.answers[code] = (tally.answers[code] ?? 0) + 1
      if (code !== wanted && tally.unexpected.length < unexpectedMax) tally.unexpected.push(`${code} for ${wanted}`)
    },
  }
}

const spec = (more: object = {}) => ({ command: ['true'], ...more })

/** Sends a mutation, and expects this code for all of its results. */
async function sent(
  caller: Caller,
  wanted: string,
  [name, input, member]: [keyof typeof documents, object, Member?],
): Promise<string> {
  const results = await caller.send(name, input, member)
  for (const { code } of results) caller.expect(code, wanted)
  return results[0]?.id ?? ''
}

const ways: readonly ((caller: Caller) => Promise<void>)[] = [
  plainly,
  plainly,
  withKey,
  withKey,
  withKey,
  atOnce,
  inBulk,
  withSlot,
  expensively,
  beyondQuota,
]

async function plainly(caller: Caller): Promise<void> {
  await sent(caller, 'accepted', ['submitJob', { spec: spec() }])
}

async function withKey(caller: Caller): Promise<void> {
  const input = { spec: spec({ name: 'keyed' }), idempotencyKey: caller.newKey() }
  await sent(caller, 'accepted', ['submitJob', input])
  await sent(caller, 'hit', ['submitJob', input])
  await sent(caller, 'IDEMPOTENCY_CONFLICT', ['submitJob', { ...input, spec: spec() }])
}

async function atOnce(caller: Caller): Promise<void> {
  const input = { spec: spec(), idempotencyKey: caller.newKey() }
  const all = (await Promise.all(Array.from({ length: burst }, () => caller.send('submitJob', input)))).flat()
  const [first, ...rest] = all.toSorted((a, b) => (a.code < b.code ? -1 : 1))
  caller.expect(first?.code ?? '', 'accepted')
  for (const { code, id } of rest) caller.expect(id === first?.id ? code : 'another job', 'hit')
}

async function inBulk(caller: Caller): Promise<void> {
  const length = 1 + Math.floor(Math.random() * bulkMax)
  const submissions = Array.from({ length }, (_, n) => ({
    spec: spec(),
    ...(n % 2 && { idempotencyKey: caller.newKey() }),
  }))
  await sent(caller, 'accepted', ['submitJobs', { submissions }])
}

async function withSlot(caller: Caller): Promise<void> {
  const slotReservationId = await sent(caller, 'accepted', ['reserveSlot', {}])
  await sent(caller, 'accepted', ['submitJob', { spec: spec(), slotReservationId }])
  await sent(caller, 'RESERVATION_EXPIRED', ['submitJob', { spec: spec(), slotReservationId }])
}

/** A rule requires an approval; the job is cancelled and retried instead. */
async function expensively(caller: Caller): Promise<void> {
  const jobId = await sent(caller, 'accepted', ['submitJob', { spec: spec({ estimatedCost: 60 }) }])
  await sent(caller, 'INVALID_STATE', ['retryJob', { jobId }])
  await sent(caller, 'accepted', ['cancelJob', { jobId }])
  await sent(caller, 'accepted', ['retryJob', { jobId, overrides: { estimatedCost: 1 } }])
}

async function beyondQuota(caller: Caller): Promise<void> {
  await sent(caller, 'QUOTA_EXCEEDED', ['submitJob', { spec: spec() }, caller.limited])
}

function any<T>(items: readonly T[]): T {
  const item = items[Math.floor(Math.random() * items.length)]
  if (item === undefined) throw new Error('Nothing to choose from')
  return item
}
