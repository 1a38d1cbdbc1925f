import { JobCountsDocument } from '../../../generated/graphql.ts'
import { client } from '../../../ground/connection.ts'
import { useResource } from '../../../ground/resource.ts'
import {
  countedFields,
  type KnownValue,
  type LastTerm,
  readLastTerm,
  type Suggestion,
  suggestKeys,
  suggestValues,
} from './suggestions.ts'

const valuesMax = 100

/** Reads the keys of labels or, if `labelKey` is given, its values. */
async function readLabels(labelKey: string | undefined, signal: AbortSignal): Promise<readonly KnownValue[]> {
  const by = labelKey === undefined ? 'LABEL_KEY' : 'LABEL'
  const { jobCounts } = await client.request(JobCountsDocument, { by, labelKey, first: valuesMax }, { signal })
  return jobCounts.rows.flatMap(({ key, count }) =>
    key === null ? [] : [{ value: labelKey === undefined ? `${key}=` : `${labelKey}=${key}`, count }],
  )
}

async function readValues({ key }: LastTerm, labelKey: string | undefined, signal: AbortSignal) {
  if (key === 'label') return readLabels(labelKey, signal)
  const by = key === null ? undefined : countedFields[key]
  if (by === undefined) return []
  const { jobCounts } = await client.request(JobCountsDocument, { by, first: valuesMax }, { signal })
  const counted = jobCounts.rows.flatMap(({ key: value, user, team, count }) =>
    value === null ? [] : [{ value: (user ?? team)?.name ?? toWord(by, value), count }],
  )
  return by === 'USER' ? [{ value: 'me' }, ...counted] : counted
}

const toWord = (by: string, value: string) =>
  ['STATE', 'REASON', 'EXECUTOR'].includes(by) ? value.toLowerCase() : value

/** Suggests filter keys or, after a key, its values with the number of their jobs. */
export function useSuggestions(text: string, isOpen: boolean): readonly Suggestion[] {
  const term = readLastTerm(text)
  const [, labelKey] = (term.key === 'label' && term.value.match(/^(.+?)=/)) || []
  const values = useResource(`values of ${term.key} ${labelKey}`, (signal) => readValues(term, labelKey, signal), {
    isOff: !isOpen || term.key === null,
  })
  if (!isOpen) return []
  return term.key === null ? suggestKeys(term) : suggestValues(term, values.value ?? [])
}
