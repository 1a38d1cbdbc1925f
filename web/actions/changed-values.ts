/** The values of an object that a form changes, as a person reads them. */
export type Values = Readonly<Record<string, string>>

/** "limit was 8 and is 12". */
export function describeChanges(before: Values, now: Values): string {
  const changed = Object.keys(now).filter((name) => before[name] !== now[name])
  return changed.map((name) => `${name} was ${before[name] || 'empty'} and is ${now[name] || 'empty'}`).join('; ')
}
