import type { Clock } from '../../platform/clock.ts'
import type { ExecutorDescription } from '../executor.ts'
import { isBackendError } from './unreachable.ts'

/** Maximum wait for a frozen backend when the server starts. */
const answerMsMax = 5_000

interface Describing {
  clock: Clock
  name: string
  address: string
  read(): Promise<ExecutorDescription>
}

/** Describes the backend; an unreachable one is described as unavailable. */
export async function describeBackend({ clock, name, address, read }: Describing): Promise<ExecutorDescription> {
  const late = new AbortController()
  const unavailable = (why: string) => ({ version: null, available: false, message: `${name} unreachable: ${why}` })
  const timeout = clock
    .sleep(answerMsMax, late.signal)
    .then(() => unavailable(`no answer from ${address} within ${answerMsMax / 1000} s`))
  try {
    return await Promise.race([read(), timeout])
  } catch (error) {
    if (!isBackendError(error)) throw error
    return unavailable(error.message)
  } finally {
    late.abort()
  }
}
