import { createHash } from 'node:crypto'
import { idAlphabet } from '../../platform/ids.ts'
import type { JobEventType } from '../jobs/job-change.ts'
import type { JobState, StateReason } from '../state.ts'
import { toWebhookEventType } from './event-types.ts'

/** Bodies of webhooks. They never hold a command, a variable, or a text that a person or a process wrote into an event. */

export interface JobEventRow {
  jobId: string
  seq: number
  position: number
  at: Date
  type: JobEventType
  from: JobState | null
  to: JobState | null
  /** State of the job right after the event. */
  state: JobState
  reason: StateReason | null
  exitCode: number | null
  run: number | null
  name: string | null
  labels: Readonly<Record<string, string>>
  user: string
  team: string | null
  account: string
  project: string | null
  pool: string
  queue: string
}

export const bodyBytesMax = 20_000

/** `publicUrl`: the address of the console; null: bodies have no URL. */
export function buildJobBody(event: JobEventRow, publicUrl: string | null): string {
  const { jobId, seq, at, type, from, to, state, reason, exitCode, run, name, user, team, account, project } = event
  const write = (labels: Readonly<Record<string, string>> | null) =>
    JSON.stringify({
      type: toWebhookEventType(type, to),
      timestamp: at.toISOString(),
      data: {
        jobId,
        seq,
        name,
        state,
        previousState: from,
        reason,
        exitCode,
        run,
        user,
        team,
        account,
        project,
        pool: event.pool,
        queue: event.queue,
        labels,
        url: publicUrl === null ? null : `${publicUrl.replace(/\/+$/, '')}/jobs/${jobId}`,
      },
    })
  const body = write(withoutSecrets(event.labels))
  return Buffer.byteLength(body) <= bodyBytesMax ? body : write(null)
}

const secretKey = /secret|token|passw|credential|private|api[-_.]?key/i
const secretValue = /whsec_|eyJ[\w-]{10,}\.|AKIA[0-9A-Z]{12}|gh[a-z]_\w{20}|xox[a-z]-|-----BEGIN/

const withoutSecrets = (labels: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).filter(([key, value]) => !secretKey.test(key) && !secretValue.test(value)))

/** A character of base 32 has 5 bits, so an id has 130 bits of the hash. */
const idCharacters = 26

/** Derives the id of a message from endpoint and event, so that a receiver recognises a repeated message. */
export function toMessageId(endpoint: string, ...event: readonly (string | number)[]): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([endpoint, ...event]))
    .digest()
  return `msg_${Array.from(hash.subarray(0, idCharacters), (byte) => idAlphabet[byte & 31]).join('')}`
}
