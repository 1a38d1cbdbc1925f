import type { PoolLimitsFragment } from '../../generated/graphql.ts'
import { formatCount, plural } from '../../parts/format.ts'

/** Limits of a pool that are numbers of jobs or GPUs. */
export type LimitName = Exclude<
  keyof PoolLimitsFragment,
  'id' | 'version' | 'scopes' | 'enableFairShare' | 'starvationThresholdSeconds'
>

interface LimitText {
  title: string
  /** What the limit counts, or what happens beyond it. */
  counts: string
  /** true: applies only if the limit of teams is switched on. */
  needsFairShare?: boolean
}

export const limitTexts: Readonly<Record<LimitName, LimitText>> = {
  maxConcurrent: { title: 'Running jobs', counts: 'Running jobs of the pool; 0 pauses it' },
  userMaxConcurrent: { title: 'Running jobs of each user', counts: 'Further jobs wait' },
  teamMaxConcurrent: {
    title: 'Running jobs of each team',
    counts: 'Applies only with the limit of teams switched on',
    needsFairShare: true,
  },
  localJobMaxConcurrent: { title: 'Running jobs with GPUs', counts: 'Further jobs with GPUs wait' },
  localGpuMaxConcurrent: { title: 'GPUs in use', counts: 'Further jobs with GPUs wait' },
  userMaxActive: { title: 'Unfinished jobs of each user', counts: 'Further submissions are refused' },
  userMaxBlocked: {
    title: 'Jobs of each user that wait for an approval',
    counts: 'Further submissions are refused',
  },
}

export const limitNames = Object.keys(limitTexts) as LimitName[]

/** Number of jobs of each user or team, by name. */
type ByName = ReadonlyMap<string, number>

export interface LimitUse {
  running: number
  waiting: number
  gpus: number
  runningByUser: ByName
  runningByTeam: ByName
  unfinishedByUser: ByName
  blockedByUser: ByName
}

const namesMax = 4

/** "ann is at 9 of 8, ben at 10 of 8"; empty: no user or team exceeds the limit. */
export function listExceeding(use: ByName, limit: number): string {
  const over = [...use].filter(([, count]) => count > limit).toSorted(([, one], [, other]) => other - one)
  const shown = over.slice(0, namesMax).map(([name, count], i) => {
    return `${name} ${i === 0 ? 'is ' : ''}at ${formatCount(count)} of ${formatCount(limit)}`
  })
  return [...shown, ...(over.length > namesMax ? [`${over.length - namesMax} more`] : [])].join(', ')
}

/** Returns the numbers of each user or team that the limit applies to; null: it applies to the whole pool. */
function chooseUse(name: LimitName, use: LimitUse): ByName | null {
  if (name === 'userMaxConcurrent') return use.runningByUser
  if (name === 'teamMaxConcurrent') return use.runningByTeam
  if (name === 'userMaxActive') return use.unfinishedByUser
  if (name === 'userMaxBlocked') return use.blockedByUser
  return null
}

const isOfSubmissions = (name: LimitName) => name === 'userMaxActive' || name === 'userMaxBlocked'

/** Describes the current use of a limit for a table: the number or, for limits of each user, the highest one. */
export function describeUse(name: LimitName, use: LimitUse): string {
  if (name === 'maxConcurrent') return formatCount(use.running)
  if (name === 'localGpuMaxConcurrent') return formatCount(use.gpus)
  const [most] = [...(chooseUse(name, use) ?? [])].toSorted(([, one], [, other]) => other - one)
  return most && most[1] > 0 ? `${most[0]} ${formatCount(most[1])}` : ''
}

/** Describes the effect of a new limit on current jobs. `limit`: null for unlimited. */
export function describeLimitEffect(name: LimitName, limit: number | null, use: LimitUse): string {
  if (limit === null) return 'No limit.'
  if (name === 'maxConcurrent') return describePool(limit, use)
  if (name === 'localGpuMaxConcurrent')
    return use.gpus > limit
      ? `${plural(use.gpus, 'GPU')} are in use: their jobs continue, further ones wait.`
      : `${plural(use.gpus, 'GPU')} in use.`
  const byName = chooseUse(name, use)
  if (!byName) return ''
  const exceeding = listExceeding(byName, limit)
  if (exceeding === '') return 'Within the limit now.'
  return isOfSubmissions(name)
    ? `${exceeding}: their jobs stay, further submissions are refused.`
    : `${exceeding}: their running jobs continue, further ones wait.`
}

function describePool(limit: number, { running, waiting }: LimitUse): string {
  if (limit === 0)
    return `Pauses the pool: ${plural(running, 'running job')} continue${running === 1 ? 's' : ''}, ${plural(waiting, 'waiting job')} do${waiting === 1 ? 'es' : ''} not start.`
  if (running > limit)
    return `${formatCount(running)} run now: they continue, and none starts until fewer than ${formatCount(limit)} run.`
  return `${formatCount(running)} of ${formatCount(limit)} run; ${plural(limit - running, 'more job')} could start.`
}
