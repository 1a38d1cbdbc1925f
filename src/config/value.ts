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

export const notAMap = ({ input }: { input?: unknown }) =>
  formatProblem(`${shown(input)} is not a YAML mapping`, 'write it as { key: value }')

export const map = <Item extends z.ZodType>(item: Item) => z.record(z.string(), item, { error: notAMap })
