import { z } from 'zod'

/** A problem of the configuration. The message of a zod issue has the reason and the remedy as its two lines. */
export interface ConfigProblem {
  readonly path: string
  readonly reason: string
  readonly remedy: string
}

export class ConfigError extends Error {
  override name = 'ConfigError'
  readonly problems: readonly ConfigProblem[]
  constructor(problems: readonly ConfigProblem[]) {
    super(problems.map(({ path, reason, remedy }) => `${path}: ${reason}; ${remedy}`).join('\n'))
    this.problems = problems
  }
}

const shownMax = 200

function shown(input: unknown): string {
  const written = typeof input === 'number' ? String(input) : (JSON.stringify(input) ?? 'nothing')
  const text = written.replace(/whsec_[^"\s]*/g, 'whsec_…')
  return text.length > shownMax ? `${text.slice(0, shownMax)}…` : text
}

export const formatProblem = (reason: string, remedy: string) => `${reason}\n${remedy}`

export function toProblems(error: z.ZodError): ConfigProblem[] {
  return error.issues.map((issue) => {
    const [reason = issue.message, remedy = 'correct it'] = issue.message.split('\n')
    return { path: pathText(issue.path) || 'the file', reason, remedy }
  })
}

const pathText = (path: readonly PropertyKey[]) =>
  path.map((key, i) => (typeof key === 'number' ? `[${key}]` : `${i > 0 ? '.' : ''}${String(key)}`)).join('')

interface Expected {
  /** The end of the sentence "… is not". */
  what: string
  example: string
  secret?: boolean
}

export function value<T>({ what, example, secret }: Expected, test: (input: unknown) => boolean) {
  return z.custom<T>(test, {
    error: ({ input }) =>
      formatProblem(
        input === undefined ? 'is missing' : `${secret ? 'the value' : shown(input)} is not ${what}`,
        `for example ${example}`,
      ),
  })
}

export function word<const Words extends readonly string[]>(words: Words) {
  return z.custom<Words[number]>((input) => words.some((known) => known === input), {
    error: ({ input }) => formatProblem(`${shown(input)} is not a known value`, `use ${words.join(' or ')}`),
  })
}

export const configUserLevels = ['VIEWER', 'RESEARCHER', 'LEAD', 'ADMIN'] as const
export const level = word(configUserLevels)

export const isInRange = (input: unknown, min: number, max: number): input is number =>
  typeof input === 'number' && input >= min && input <= max
export const wholeNumber = (min: number, max: number, example: string) =>
  value<number>(
    { what: `a whole number from ${min} to ${max}`, example },
    (input) => Number.isInteger(input) && isInRange(input, min, max),
  )
export const parseAmount = (unit: string, [min, max]: readonly [number, number], example: string) =>
  value<number>({ what: `a number of ${unit} from ${min} to ${max}`, example }, (input) => isInRange(input, min, max))
export const flag = value<boolean>(
  { what: 'true or false', example: 'true, without quotes' },
  (input) => typeof input === 'boolean',
)
export const matching = (what: string, pattern: RegExp, example: string) =>
  value<string>({ what, example }, (input) => typeof input === 'string' && pattern.test(input))
export const text = (example: string) => matching('a text', /\S/, example)
export const shortText = (example: string) =>
  matching('a string of 1 to 255 characters', /^(?=.*\S).{1,255}$/s, example)
export const name = (example: string) =>
  matching('a name: a letter or digit, then up to 62 of these and ". _ -"', /^[a-z0-9][\w.-]{0,62}$/i, example)
export const url = (protocols: readonly string[], expected: Expected) =>
  value<string>(expected, (input) => typeof input === 'string' && protocols.includes(URL.parse(input)?.protocol ?? ''))

export const isMap = (input: unknown): input is Record<string, unknown> =>
  typeof input === 'object' && input !== null && !Array.isArray(input)

export const list = <Item extends z.ZodType>(item: Item) =>
  z.array(item, { error: ({ input }) => formatProblem(`${shown(input)} is not a list`, 'write it as [a, b]') })

const notAMap = ({ input }: { input?: unknown }) =>
  formatProblem(`${shown(input)} is not a YAML mapping`, 'write it as { key: value }')

export const map = <Item extends z.ZodType>(item: Item) => z.record(z.string(), item, { error: notAMap })

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
