type Described<Value extends string> = { [Each in Value]: { description: string } }

/**
 * The values of an enum from their descriptions; with `satisfies Record<…>` a new value fails to compile without one.
 */
export const described = <Value extends string>(words: Readonly<Record<Value, string>>): Described<Value> => {
  const entries = Object.entries<string>(words).map(([value, description]) => [value, { description }])
  return Object.fromEntries(entries) as Described<Value>
}
