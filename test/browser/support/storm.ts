import type { Api } from '../../support/api.ts'

/** Random changes by other users over the API. */

interface Job {
  id: string
  version: number
  state: string
  stateCategory: 'WAITING' | 'ACTIVE' | 'FINAL'
}

const document = (field: string, input: string) =>
  `mutation ($input: ${input}!) { ${field}(input: $input) { __typename } }`

const mutations = {
  submit: document('submitJob', 'SubmitJobInput'),
  cancel: document('cancelJob', 'CancelJobInput'),
  retry: document('retryJob', 'RetryJobInput'),
  remove: document('deleteJob', 'DeleteJobInput'),
  prioritize: document('setJobPriority', 'SetJobPriorityInput'),
  approve: document('approveJob', 'ApproveJobInput'),
  reject: document('rejectJob', 'RejectJobInput'),
  limit: document('updateLimits', 'UpdateLimitsInput'),
  node: document('updateNode', 'UpdateNodeInput'),
}
export type Mutation = keyof typeof mutations

/** How often each mutation is chosen, of a hundred draws. */
const shares: readonly (readonly [Mutation, number])[] = [
  ['submit', 36],
  ['cancel', 14],
  ['retry', 8],
  ['remove', 12],
  ['prioritize', 10],
  ['approve', 5],
  ['reject', 4],
  ['limit', 6],
  ['node', 5],
]

export const pool = 'sim'
const gpus = [{ model: 'A100', memoryGib: 40, count: 8 }]
/** Settings of a server for the storm. */
export const stormSettings = {
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
const nodeStates = ['READY', 'READY', 'CORDONED', 'DRAINING']

/** Draws from 0 to below 1 (mulberry32). */
export function createDraws(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const lookEvery = 20
const atOnce = 5

export class Storm {
  readonly #admin: Api
  /** The API as the owner of the jobs. */
  readonly #user: Api
  readonly #draw: () => number
  #jobs: readonly Job[] = []
  #nodeIds: readonly string[] = []
  #submitted = 0
  readonly succeeded = new Map<Mutation, number>()
  /** A job that is never removed by chance. */
  keptJobId: string | undefined

  constructor(admin: Api, user: Api, draw: () => number) {
    this.#admin = admin
    this.#user = user
    this.#draw = draw
  }

  get total(): number {
    return this.succeeded.values().reduce((sum, count) => sum + count, 0)
  }

  /** Makes a number of changes, several at a time; refusals do not count. */
  async blow(count: number): Promise<void> {
    const end = this.total + count
    while (this.total < end) {
      await this.#look()
      for (let i = 0; i < lookEvery && this.total < end; i += atOnce) {
        const kinds = Array.from({ length: atOnce }, () => this.#choose())
        await Promise.all(kinds.map((kind) => this.#actAtRandom(kind)))
      }
    }
  }

  async #actAtRandom(kind: Mutation) {
    const input = this.#createInput(kind)
    if (input) await this.act(kind, input)
  }

  /** Makes a change. The server may refuse it, because the job may have changed meanwhile. */
  async act(kind: Mutation, input: object): Promise<void> {
    const api = kind === 'submit' || kind === 'retry' ? this.#user : this.#admin
    const answer = await api.ask<Record<string, { __typename: string }>>(mutations[kind], { input })
    const [outcome] = Object.values(answer)
    if (outcome?.__typename.endsWith('Success')) this.succeeded.set(kind, (this.succeeded.get(kind) ?? 0) + 1)
  }

  async #look() {
    const query = `{ jobs(first: 100) { nodes { id version state stateCategory } }
      pool(name: "${pool}") { nodes(first: 10) { nodes { id } } } }`
    const { jobs, pool: seen } = await this.#admin.ask<{
      jobs: { nodes: Job[] }
      pool: { nodes: { nodes: { id: string }[] } }
    }>(query)
    this.#jobs = jobs.nodes
    this.#nodeIds = seen.nodes.nodes.map(({ id }) => id)
  }

  #choose(): Mutation {
    let left = this.#draw() * 100
    for (const [kind, share] of shares) {
      left -= share
      if (left < 0) return kind
    }
    return 'submit'
  }

  #pick<Item>(items: readonly Item[]): Item | undefined {
    return items[Math.floor(this.#draw() * items.length)]
  }

  /** Chooses a job, and removes it from those that the next change may choose. */
  #takeJob(matches: (job: Job) => boolean): Job | undefined {
    const job = this.#pick(this.#jobs.filter(matches))
    this.#jobs = this.#jobs.filter((each) => each !== job)
    return job
  }

  /** Makes the input of a mutation; undefined: no job is in a suitable state. */
  #createInput(kind: Mutation): object | undefined {
    if (kind === 'submit') return { spec: this.#createSpec(), requiresApproval: this.#draw() < 0.25 }
    if (kind === 'limit') return { pool, maxConcurrent: 4 + Math.floor(this.#draw() * 8) }
    if (kind === 'node') return { nodeId: this.#pick(this.#nodeIds), state: this.#pick(nodeStates) }
    const isFinal = kind === 'retry' || kind === 'remove'
    const isDecision = kind === 'approve' || kind === 'reject'
    const job = this.#takeJob(({ id, state, stateCategory }) => {
      if (kind === 'remove' && id === this.keptJobId) return false
      if (isFinal) return stateCategory === 'FINAL'
      if (isDecision) return state === 'BLOCKED'
      return kind === 'cancel' ? stateCategory !== 'FINAL' : stateCategory === 'WAITING'
    })
    if (!job) return undefined
    const jobId = job.id
    if (kind === 'prioritize') return { jobId, priority: Math.floor(this.#draw() * 50) }
    if (kind === 'approve') return { jobId, expectedVersion: job.version }
    if (kind === 'reject') return { jobId, expectedVersion: job.version, reason: 'too big' }
    return { jobId }
  }

  #createSpec(): object {
    const seconds = 2 + Math.floor(this.#draw() * 40)
    return {
      name: `storm-${++this.#submitted}`,
      command: ['simulated'],
      maxRunTimeSeconds: 3_600,
      resources: { cpu: 0.1, memoryBytes: 1, gpu: 1 + Math.floor(this.#draw() * 2) },
      environment: [
        { name: 'SIM_RUN_SECONDS', value: String(seconds) },
        { name: 'SIM_EXIT_CODE', value: this.#draw() < 0.2 ? '3' : '0' },
      ],
    }
  }
}
