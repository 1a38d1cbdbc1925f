import { z } from 'zod'
import { type ConfigProblem, formatProblem, notAMap } from './value.ts'

/** A map that rejects unknown keys, and suggests the most similar known key. */
export function section<Shape extends z.ZodRawShape>(shape: Shape): z.ZodObject<Shape, z.core.$strict> {
  const known = Object.keys(shape)
  const unknown = z.custom<never>(() => false, {
    error: ({ path }) => formatProblem('is not a known key', suggestion(String(path?.at(-1)), known)),
  })
  // Cast to a strict object: the catch-all refuses unknown keys at run time, but its type allows every key.
  return z.object(shape, { error: notAMap }).catchall(unknown) as unknown as z.ZodObject<Shape, z.core.$strict>
}

function suggestion(key: string, known: readonly string[]): string {
  const nearest = findNearest(key, known)
  return nearest === undefined ? `the keys here are ${known.join(', ')}` : `did you mean ${nearest}?`
}

export function findDuplicates(path: string, items: readonly { name: string }[]): ConfigProblem[] {
  return items.flatMap(({ name }, i) => {
    if (items.findIndex((other) => other.name === name) === i) return []
    const reason = `${JSON.stringify(name)} is defined twice`
    return [{ path: `${path}[${i}].name`, reason, remedy: 'give it another name' }]
  })
}

/** Returns the most similar known word, or undefined if none is close. */
export function findNearest(word: string, known: readonly string[]): string | undefined {
  const [nearest] = known
    .map((candidate) => ({ candidate, distance: distance(word.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance)
  return nearest && nearest.distance <= Math.max(2, word.length / 3) ? nearest.candidate : undefined
}

/** The Levenshtein distance. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1]
    for (const [j, other] of [...b].entries())
      next.push(Math.min((row[j] ?? 0) + (letter === other ? 0 : 1), (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    row = next
  }
  return row[b.length] ?? 0
}
