import type { LimitName } from '../../features/policies/limit-effects.ts'
import { plural } from '../../parts/format.ts'
import type { LineRow, WorkloadPanel } from './use-workload.ts'

interface Facts {
  panel: Pick<WorkloadPanel, 'running' | 'byReason'>
  rows: readonly LineRow[]
}

const unlimited = Number.POSITIVE_INFINITY

/** Describes the effect of setting the limit `key` to `value`: "3 more jobs could start". */
export function describeEffect(key: LimitName, value: number | null, { panel, rows }: Facts): string {
  const limit = value ?? unlimited
  if (key === 'maxConcurrent')
    return compare(limit, panel.running, countReasons(panel, ['GLOBAL_LIMIT', 'POOL_PAUSED']))
  if (key === 'userMaxConcurrent') return describeUsers(limit, rows)
  if (key === 'localJobMaxConcurrent') {
    const running = rows.filter((row) => isRunning(row) && gpusOf(row) > 0).length
    return compare(limit, running, countReasons(panel, ['LOCAL_JOB_LIMIT']))
  }
  if (key === 'localGpuMaxConcurrent') return describeGpus(limit, rows)
  if (key === 'teamMaxConcurrent') {
    const waiting = countReasons(panel, ['TEAM_LIMIT'])
    return waiting === 0 ? 'No job waits for this limit now.' : `${plural(waiting, 'job')} ${waitFor(waiting)} it now.`
  }
  return 'Applies to new submissions; jobs that were submitted stay.'
}

const countReasons = ({ byReason }: Facts['panel'], codes: readonly string[]) =>
  byReason.filter(({ code }) => codes.includes(code)).reduce((sum, { count }) => sum + count, 0)

const isRunning = ({ stateCategory }: LineRow) => stateCategory === 'ACTIVE'
const gpusOf = ({ resources }: LineRow) => (resources ? resources.gpu * resources.replicas : 0)
const waitFor = (count: number) => (count === 1 ? 'waits for' : 'wait for')
const reasonOf = ({ scheduling }: LineRow) => scheduling?.reasons[0]?.code

function compare(limit: number, running: number, waiting: number): string {
  const more = Math.min(Math.max(0, limit - running), waiting)
  if (more > 0) return `${plural(more, 'more job')} could start, as far as resources and other limits allow.`
  if (running > limit)
    return `${plural(running - limit, 'job')} over the limit ${running - limit === 1 ? 'continues' : 'continue'}; new ones wait.`
  return waiting === 0
    ? 'No job waits for this limit now.'
    : `No more jobs could start; ${waiting} still ${waitFor(waiting)} it.`
}

function describeUsers(limit: number, rows: readonly LineRow[]): string {
  const users = Map.groupBy(rows, ({ user }) => user.id)
  let more = 0
  let over = 0
  let waiting = 0
  for (const jobs of users.values()) {
    const running = jobs.filter(isRunning).length
    const held = jobs.filter((row) => reasonOf(row) === 'USER_LIMIT').length
    more += Math.min(Math.max(0, limit - running), held)
    over += Math.max(0, running - limit)
    waiting += held
  }
  return more > 0 || over === 0 ? compare(more, 0, waiting) : compare(0, over, waiting)
}

function describeGpus(limit: number, rows: readonly LineRow[]): string {
  let free = limit - rows.filter(isRunning).reduce((sum, row) => sum + gpusOf(row), 0)
  const waiting = rows.filter((row) => reasonOf(row) === 'LOCAL_GPU_LIMIT')
  if (free < 0) return `${plural(-free, 'GPU')} over the limit stay in use until their jobs end.`
  let more = 0
  for (const row of waiting) {
    if (gpusOf(row) > free) continue
    free -= gpusOf(row)
    more++
  }
  return compare(more, 0, waiting.length)
}
