type Described<Value extends string> = { [Each in Value]: { description: string } }

/** Declares enum values by their descriptions; with `satisfies Record<…>` a value without description does not compile. */
export const describeValues = <Value extends string>(words: Readonly<Record<Value, string>>): Described<Value> => {
  const entries = Object.entries<string>(words).map(([value, description]) => [value, { description }])
  return Object.fromEntries(entries) as Described<Value>
}
