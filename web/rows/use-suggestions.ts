import { client } from '../app/connection.ts'
import { useResource } from '../app/resource.ts'
import { CountKeysDocument, UserNamesDocument } from '../generated/graphql.ts'
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
  const counted = jobCounts.rows.flatMap(({ key: value, count }) => (value === null ? [] : [{ value, count }]))
  if (by !== 'USER') return counted.map(({ value, count }) => ({ value: toWord(by, value), count }))
  const { users } = await client.request(UserNamesDocument, { first: valuesMax }, { signal })
  const counts = new Map(counted.map(({ value, count }) => [value, count]))
  return [{ value: 'me' }, ...users.nodes.map(({ id, name }) => ({ value: name, count: counts.get(id) ?? 0 }))]
}

const toWord = (by: string, value: string) => (by === 'STATE' || by === 'REASON' ? value.toLowerCase() : value)

/** Keys, then values with the number of their jobs. */
export function useSuggestions(text: string, isOpen: boolean): readonly Suggestion[] {
  const term = readLastTerm(text)
  const values = useResource(`values of ${term.key}`, (signal) => readValues(term, signal), {
    isOff: !isOpen || term.key === null,
  })
  if (!isOpen) return []
  return term.key === null ? suggestKeys(term) : suggestValues(term, values.value ?? [])
}
