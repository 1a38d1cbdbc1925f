import { readTime } from '../../features/jobs/filter/filter-text.ts'
import type { AuditFilter, AuditItemFragment } from '../../generated/graphql.ts'

export const filterKeys = ['operation', 'actor', 'object', 'since', 'until'] as const

/** Suggested values of the filter for operations. */
export const operations = [
  'job.*',
  'job.submit',
  'job.retry',
  'job.cancel',
  'job.delete',
  'job.approve',
  'job.reject',
  'job.priority',
  'user.*',
  'user.create',
  'user.update',
  'user.disable',
  'team.*',
  'token.*',
  'token.create',
  'token.revoke',
  'rule.*',
  'quota.*',
  'limits.*',
  'reservation.*',
  'slot.*',
  'node.*',
  'pool.plan',
  'mode.*',
] as const

const split = (text: string | undefined) =>
  text
    ?.split(',')
    .map((each) => each.trim())
    .filter(Boolean) ?? []

/** Completes the beginning of an operation to a pattern: "job." → "job.*". */
const completeOperation = (text: string) =>
  text.endsWith('*') || (operations as readonly string[]).includes(text) ? text : `${text}*`

interface FilterContext {
  /** Ids of users by name. */
  users: ReadonlyMap<string, string>
  nowMs: number
}

/** Converts the search parameters to an `AuditFilter`, and returns a message for each invalid value. */
export function toAuditFilter(
  search: { [key in (typeof filterKeys)[number]]?: string | undefined },
  { users, nowMs }: FilterContext,
): { filter: AuditFilter; problems: readonly string[] } {
  const problems: string[] = []
  const times = (['since', 'until'] as const).map((key) => {
    const text = search[key]
    if (!text) return undefined
    const time = readTime(text, nowMs)
    if (time === null) problems.push(`${text} is not a time: write 24h, 7d or 2026-11-24.`)
    return time ?? undefined
  })
  const actors = split(search.actor).flatMap((name) => {
    const id = name.startsWith('user_') ? name : users.get(name)
    if (id === undefined) problems.push(`No user has the name ${name}.`)
    return id ?? []
  })
  const filter: AuditFilter = {
    ...(search.operation && { operations: split(search.operation).map(completeOperation) }),
    ...(actors.length > 0 && { actors }),
    ...(search.object && { objectIds: split(search.object) }),
    ...(times[0] && { since: times[0] }),
    ...(times[1] && { until: times[1] }),
  }
  return { filter, problems }
}

export type DetailLine = readonly [name: string, value: string]

const toText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Lists the fields of `detail`. Nested names are joined: `limits.maxConcurrent`. A `from` and its `to` make one line. */
export function listDetails(detail: Record<string, unknown> | null, prefix = ''): readonly DetailLine[] {
  const { from, to, ...rest } = detail ?? {}
  const fields = from === undefined || to === undefined || isObject(to) ? (detail ?? {}) : rest
  const change: DetailLine[] = fields === rest && detail ? [[`${prefix}change`, `${toText(from)} → ${toText(to)}`]] : []
  const lines = Object.entries(fields).flatMap(([name, value]): readonly DetailLine[] =>
    isObject(value) ? listDetails(value, `${prefix}${name}.`) : [[`${prefix}${name}`, toText(value)]],
  )
  return [...change, ...lines]
}

/** Returns the current name of the object, or the name in the entry, or its id. */
export const nameObject = (
  { detail, objectId }: Pick<AuditItemFragment, 'detail' | 'objectId'>,
  names: ReadonlyMap<string, string>,
): string => names.get(objectId ?? '') ?? (typeof detail?.['name'] === 'string' ? detail['name'] : (objectId ?? ''))
