/** The editable values of an object, formatted, by the names of their fields. */
export type Values = Readonly<Record<string, string>>

/** "limit was 8 and is 12". */
export function describeChanges(before: Values, now: Values): string {
  const changed = Object.keys(now).filter((name) => before[name] !== now[name])
  return changed.map((name) => `${name} was ${before[name] || 'empty'} and is ${now[name] || 'empty'}`).join('; ')
}

export const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

/** Rebases a draft: fields that were edited since `before` keep their value, and the other fields get the value of `now`. */
export function mergeDraft<Draft extends object>(draft: Draft, before: Draft, now: Draft): Draft {
  const keys = Object.keys(draft) as (keyof Draft)[]
  return {
    ...now,
    ...Object.fromEntries(keys.filter((key) => !isSame(draft[key], before[key])).map((key) => [key, draft[key]])),
  }
}
