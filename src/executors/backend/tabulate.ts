/** A table of the words of a backend: each row has a meaning, and the words for it. */
export const tabulate = <Meaning>(rows: readonly (readonly [Meaning, string])[]): ReadonlyMap<string, Meaning> =>
  new Map(rows.flatMap(([meaning, words]) => words.split(' ').map((word) => [word, meaning] as const)))
