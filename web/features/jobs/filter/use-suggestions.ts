import { CountKeysDocument } from '../../../generated/graphql.ts'
import { client } from '../../../ground/connection.ts'
import { useResource } from '../../../ground/resource.ts'
import {
  countedBy,
  type KnownValue,
  type LastTerm,
  readLastTerm,
  type Suggestion,
  suggestKeys,
  suggestValues,
} from './suggestions.ts'

const valuesMax = 100

async function readValues({ key }: LastTerm, signal: AbortSignal): Promise<readonly KnownValue[]> {
  const by = key === null ? undefined : countedBy[key]
  if (by === undefined) return []
  const { jobCounts } = await client.request(CountKeysDocument, { by, first: valuesMax }, { signal })
  const counted = jobCounts.rows.flatMap(({ key: value, user, count }) =>
    value === null ? [] : [{ value: user?.name ?? toWord(by, value), count }],
  )
  return by === 'USER' ? [{ value: 'me' }, ...counted] : counted
}

const toWord = (by: string, value: string) =>
  ['STATE', 'REASON', 'EXECUTOR'].includes(by) ? value.toLowerCase() : value

/** Keys, then values with the number of their jobs. */
export function useSuggestions(text: string, isOpen: boolean): readonly Suggestion[] {
  const term = readLastTerm(text)
  const values = useResource(`values of ${term.key}`, (signal) => readValues(term, signal), {
    isOff: !isOpen || term.key === null,
  })
  if (!isOpen) return []
  return term.key === null ? suggestKeys(term) : suggestValues(term, values.value ?? [])
}
