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

export const limitedBy = (held: Omit<Reason, 'jobId'>): Reason => ({ ...held, jobId: null })
/** `asks`: inWords(shape). */
export const unsatisfiable = (asks: string) => because('UNSATISFIABLE', `No node of the pool could ever give ${asks}`)
export const blockedBy = (jobId: string) => because('CLASS_BLOCKED', `The job ${jobId} is ahead of it`, jobId)
export const noCapacity = (asks: string) => because('NO_CAPACITY', `Waits for ${asks} to become free`)
