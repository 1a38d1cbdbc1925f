import { RequestFailed } from '../connection/failure.ts'
import { retryWaitMs } from '../connection/retry.ts'
import type { Connection } from '../connection/transport.ts'
import type { PublishArtifactInput } from '../generated/graphql.ts'
import { PublishArtifactDocument, ReportProgressDocument, SaveClosureDocument } from '../generated/graphql.ts'

/**
 * Calls of a job about itself, with the URL and token in its environment. All three are idempotent, so each is retried for
 * `patienceMs` while the server is unreachable; then the last failure is thrown.
 */

export interface Inside {
  reportProgress(report: ProgressReport): Promise<void>
  /** Returns the id of the artifact. */
  publishArtifact(artifact: PublishArtifactInput): Promise<string>
  saveClosure(closure: Record<string, unknown>): Promise<void>
}

/** A field that is left out stays as it is, null removes it. */
export interface ProgressReport {
  fraction?: number | null
  message?: string | null
}

export interface Patience {
  patienceMs: number
  sleep(ms: number): Promise<unknown>
  /** Milliseconds since an arbitrary moment. */
  monotonicMs(): number
}

/** Caps the backoff at this step, so that a job notices a restarted server soon. */
const stepMax = 2

export function createInside(connection: Connection, patience: Patience): Inside {
  const { patienceMs, sleep, monotonicMs } = patience

  async function patiently<T>(work: () => Promise<T>): Promise<T> {
    const untilMs = monotonicMs() + patienceMs
    for (let failures = 0; ; failures++)
      try {
        return await work()
      } catch (error) {
        const waitMs = retryWaitMs(Math.min(failures, stepMax))
        const isLast = monotonicMs() + waitMs > untilMs
        if (isLast || !(error instanceof RequestFailed) || !error.retryable) throw error
        await sleep(waitMs)
      }
  }

  return {
    reportProgress: async (report) => void (await patiently(() => connection.request(ReportProgressDocument, report))),
    async publishArtifact(input) {
      const { publishArtifact } = await patiently(() => connection.request(PublishArtifactDocument, { input }))
      return publishArtifact.id
    },
    saveClosure: async (closure) => void (await patiently(() => connection.request(SaveClosureDocument, { closure }))),
  }
}
