/** Why a job waits; `scope`, `limit` and `used` where a limit holds it back. */
export interface Reason {
  code: string
  message: string
  jobId: string | null
  scope: string | null
  limit: number | null
  used: number | null
}

export const because = (code: string, message: string, jobId: string | null = null): Reason => ({
  code,
  message,
  jobId,
  scope: null,
  limit: null,
  used: null,
})

export const limitedBy = ({ code, message, scope, limit, used }: Omit<Reason, 'jobId'>): Reason => ({
  code,
  message,
  jobId: null,
  scope,
  limit,
  used,
})
/** `asks`: inWords(shape). */
/** `reservationId`: of the capacity reservation on whose nodes alone it may run. */
export const unsatisfiable = (asks: string, reservationId: string | null) =>
  because(
    'UNSATISFIABLE',
    `No node of ${reservationId === null ? 'the pool' : `reservation ${reservationId}`} can ever provide ${asks}`,
  )
export const blockedBy = (jobId: string) => because('CLASS_BLOCKED', `Waiting behind ${jobId}`, jobId)
interface Troubled {
  untilMs: number
  /** Since `untilMs` one run at a time is tried. */
  isOver: boolean
  because: string
}

export const troubled = (node: string, { untilMs, isOver, because: why }: Troubled) =>
  because(
    'NODE_BACKS_OFF',
    isOver
      ? `Node ${node} could not start a run, and another one is tried there first: ${why}`
      : `Node ${node} could not start a run and is not used before ${new Date(untilMs).toISOString()}: ${why}`,
  )
export const noCapacity = (asks: string) => because('NO_CAPACITY', `Waiting for free resources: ${asks}`)

/** The same for somebody who may not see the job that it waits for: they learn that there is one, and nothing of it. */
export const unnamed = (reason: Reason): Reason =>
  reason.jobId === null
    ? reason
    : { ...reason, jobId: null, message: unnamedMessages[reason.code] ?? 'Waiting for another job' }

const unnamedMessages: Readonly<Record<string, string>> = {
  CLASS_BLOCKED: 'Waiting behind another job',
  HOLD: 'The free resources are held for another job',
}
