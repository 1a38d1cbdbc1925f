/** Maps each word of a backend to its meaning. A row is `[meaning, 'word1 word2 …']`. */
export const mapWords = <Meaning>(rows: readonly (readonly [Meaning, string])[]): ReadonlyMap<string, Meaning> =>
  new Map(rows.flatMap(([meaning, words]) => words.split(' ').map((word) => [word, meaning] as const)))
