import { mutate, type Person } from '../test/support/people.ts'

/** A server that is measured. */
export interface Measured {
  url: string
  pid: number
  /** The file to which it writes how late its event loop is. */
  delays: string
}

/** Inputs and scale of the parts of the live-stream benchmark. */
export interface Contest {
  berth: Measured
  bare: Measured & { tell(): void }
  databaseUrl: string
  /** Output that `tail` sends. */
  file: string
  size: Size
}

export const sizes = {
  quick: { sockets: 10, idleSeconds: 15, rounds: 3, stalled: 20, logBytes: 32 * 2 ** 20, jobs: 20, lines: 30 },
  full: { sockets: 50, idleSeconds: 30, rounds: 10, stalled: 100, logBytes: 256 * 2 ** 20, jobs: 100, lines: 200 },
} as const satisfies Record<string, Size>

interface Size {
  sockets: number
  /** Whole heartbeats, which are 15 s apart: else their share depends on when they are due. */
  idleSeconds: number
  rounds: number
  /** Readers that take nothing. */
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
