import { mutate, type Person } from '../test/support/people.ts'

/** A server that is measured. */
export interface Measured {
  url: string
  pid: number
  /** File for the event-loop delays that the server measures. */
  delays: string
}

/** Inputs and scale of the parts of the live-stream benchmark. */
export interface Contest {
  berth: Measured
  bare: Measured & { tell(): void }
  databaseUrl: string
  /** The output that `tail` streams. */
  file: string
  size: Size
}

export const sizes = {
  quick: { sockets: 10, idleSeconds: 15, rounds: 3, stalled: 20, logBytes: 32 * 2 ** 20, jobs: 20, lines: 30 },
  full: { sockets: 50, idleSeconds: 30, rounds: 10, stalled: 100, logBytes: 256 * 2 ** 20, jobs: 100, lines: 200 },
} as const satisfies Record<string, Size>

interface Size {
  sockets: number
  /** A multiple of the heartbeat interval of 15 s; otherwise the number of heartbeats varies. */
  idleSeconds: number
  rounds: number
  /** Subscribers that never read. */
  stalled: number
  logBytes: number
  jobs: number
  /** Per job. */
  lines: number
}

export const secret = 'bootstrap-secret-of-the-benchmark'
export const mib = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`

export async function submit(person: Person, spec: object): Promise<string> {
  const answer = await mutate(person, 'submitJob', { input: { spec }, wanted: 'job { id }' })
  if (!answer.job) throw new Error(JSON.stringify(answer))
  return answer.job.id
}
