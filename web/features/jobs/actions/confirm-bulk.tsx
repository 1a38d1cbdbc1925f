import { createIdempotencyKey } from '@berth-jobs/berth/client'
import { CountStatesDocument, type JobFilter } from '../../../generated/graphql.ts'
import { client } from '../../../ground/connection.ts'
import { openLayer, type PartialResult } from '../../../ground/layer-store.ts'
import { serverNowMs } from '../../../ground/server-clock.ts'
import { formatCount, plural } from '../../../parts/format.ts'
import { nameJob } from '../../../parts/server-text.ts'
import { showToast } from '../../../parts/toasts.tsx'
import { type JobRow, jobStore } from '../rows/job-store.ts'
import {
  actOnIds,
  actOnMatching,
  type BulkAction,
  type BulkRequest,
  type BulkResult,
  countMatching,
} from './act-on-jobs.ts'
import {
  bulkVerbs,
  describeDone,
  describeEffect,
  describeLost,
  describeMatching,
  toBerthCommand,
} from './bulk-words.ts'
import { PriorityField } from './priority-field.tsx'

/** Returns the buttons and fields of a dialog for an action on `count` jobs. */
function listControls(request: BulkRequest, count: number) {
  const { action } = request
  const isPriority = action === 'SET_PRIORITY'
  return {
    confirmText: isPriority ? 'Set priority' : `${bulkVerbs[action]} ${plural(count, 'job')}`,
    hasReason: action === 'CANCEL',
    // A retry is not dangerous, because the user can cancel the new jobs.
    isDangerous: action === 'CANCEL' || action === 'DELETE',
    form: isPriority && <PriorityField request={request} />,
  }
}

const nameJobs = (jobs: readonly JobRow[]) => {
  const [job] = jobs
  return job && jobs.length === 1 ? nameJob(job) : plural(jobs.length, 'job')
}

/** Opens the dialog for an action on the given jobs. It shows their names, the effect, and the `berth` command. */
export function confirmBulk(action: BulkAction, jobs: readonly JobRow[], onDone?: () => void): void {
  const ids = jobs.map(({ id }) => id)
  const verb = bulkVerbs[action]
  const request: BulkRequest = { action, idempotencyKey: createIdempotencyKey() }
  if (action === 'SET_PRIORITY') request.priority = readCommonPriority(jobs)
  openLayer({
    kind: 'CONFIRM',
    confirmation: {
      title: `${verb} ${nameJobs(jobs)}?`,
      effect: describeEffect(action, jobs, serverNowMs()),
      jobs,
      command: toBerthCommand(action, ids),
      // The dialog names the jobs, and a cancelled job can be submitted again.
      untypedMax: action === 'CANCEL' ? 50 : 20,
      ...listControls(request, jobs.length),
      run: async (reason, onProgress) => {
        const report = (done: number) => onProgress(`${formatCount(done)} of ${formatCount(ids.length)}`)
        const result = await actOnIds(client, { ...request, reason: reason.trim() }, ids, report)
        return finish(action, result, { lost: describeLost(action, jobs, serverNowMs()), onDone })
      },
    },
  })
}

const readCommonPriority = ([first, ...rest]: readonly JobRow[]): number | null =>
  first && rest.every(({ priorityOverride }) => priorityOverride === first.priorityOverride)
    ? first.priorityOverride
    : null

/** Opens the dialog for an action on all jobs that match the filter. The server counts them. */
export async function confirmMatching(
  action: BulkAction,
  filter: JobFilter,
  onDone: () => void,
  earlierCount?: number,
): Promise<void> {
  // Without this bound a retry would also match the jobs that it creates.
  const bounded = action === 'RETRY' ? { createdBefore: new Date(serverNowMs()).toISOString(), ...filter } : filter
  const request: BulkRequest = { action, idempotencyKey: createIdempotencyKey() }
  // Counts with a priority that no job has, because only jobs whose priority differs are counted.
  if (action === 'SET_PRIORITY') request.priority = unusedPriority
  const [{ jobCounts }, found] = await Promise.all([
    client.request(CountStatesDocument, { filter: bounded }, { attempts: 4 }),
    countMatching(client, request, bounded),
  ])
  if ('refusal' in found) return showToast(found.refusal, { isTrouble: true })
  const { count } = found
  const verb = bulkVerbs[action]
  if (count === 0) return showToast(`No job that matches can change: ${verb.toLowerCase()} does not apply`)
  const counts = new Map(jobCounts.rows.map((row) => [row.key ?? '', row.count]))
  const changed =
    earlierCount === undefined ? '' : `The number changed from ${formatCount(earlierCount)} to ${formatCount(count)}. `
  request.priority = null
  openLayer({
    kind: 'CONFIRM',
    confirmation: {
      title: `${verb} all ${plural(count, 'job')} that match?`,
      effect: changed + describeMatching(action, count, counts),
      jobs: [],
      count,
      command: null,
      ...listControls(request, count),
      run: async (reason, onProgress) => {
        const report = (done: number) => onProgress(`${formatCount(done)} of ${formatCount(count)}`)
        const expectedCount = await readExpected(request, bounded, count)
        const wanted = { ...request, reason: reason.trim() }
        const result = await actOnMatching(client, wanted, { filter: bounded, expectedCount }, report)
        if (result.kind !== 'MISMATCH') return finish(action, result, { onDone })
        // Opens the dialog again with the new number.
        setTimeout(() => void confirmMatching(action, filter, onDone, count))
        return null
      },
    },
  })
}

const unusedPriority = -1

/** Counts again for SET_PRIORITY, because jobs that already have the chosen priority are not counted. */
async function readExpected(request: BulkRequest, filter: JobFilter, count: number): Promise<number> {
  if (request.action !== 'SET_PRIORITY') return count
  const found = await countMatching(client, request, filter)
  return 'count' in found ? Math.min(found.count, count) : count
}

interface Finish {
  lost?: string
  onDone?: (() => void) | undefined
}

function finish(action: BulkAction, result: BulkResult, { lost = '', onDone }: Finish): string | PartialResult | null {
  const done = describeDone(action, result.done) + lost
  if (result.kind === 'REFUSED') return result.done === 0 ? result.message : `${done}. Then: ${result.message}`
  if (result.kind === 'MISMATCH') return `${formatCount(result.actualCount)} jobs match now`
  onDone?.()
  if (result.refused.length > 0)
    return {
      done,
      refused: result.refused.map(({ id, message }) => ({ id, message, name: jobStore.get(id)?.name ?? id })),
    }
  showToast(done)
  return null
}
