import type { z } from 'zod'
import { InvalidInput, type Violation } from './errors.ts'

/** Throws InvalidInput with all violations. `at`: the path of `input` in the input of the caller. */
export function parseInput<Output>(schema: z.ZodType<Output>, input: unknown, at: readonly string[] = []): Output {
  const forbidden = findForbiddenText(input, at)
  if (forbidden.length > 0) throw new InvalidInput(forbidden)
  const parsed = schema.safeParse(input, { reportInput: true })
  if (parsed.success) return parsed.data
  throw new InvalidInput(
    parsed.error.issues.map((issue) => ({
      path: [...at, ...issue.path.map(String)],
      message: `${capitalise(issue.message)}${quoteInput(issue)}`,
    })),
  )
}

const shownMax = 64
export const isShownText = (value: unknown): value is string => typeof value === 'string' && value.length <= shownMax

/** Quotes a number, or a short text of the wrong form, for a message. Other texts may be long or secret. */
function quoteInput({ code, input }: z.core.$ZodIssue): string {
  if (typeof input === 'number') return ` (given: ${input})`
  const isForm = code === 'invalid_format' || code === 'invalid_value'
  return isForm && input !== '' && isShownText(input) ? ` (given: ${JSON.stringify(input)})` : ''
}

export const capitalise = (message: string) => message.charAt(0).toUpperCase() + message.slice(1)

/** PostgreSQL's text and jsonb refuse NUL and lone surrogates, also in keys of JSON. */
export function findForbiddenText(value: unknown, at: readonly string[]): Violation[] {
  if (typeof value === 'string') return textViolation(value, at)
  if (typeof value !== 'object' || value === null || value instanceof Date) return []
  return Object.entries(value).flatMap(([key, inner]) => [
    ...textViolation(key, at),
    ...findForbiddenText(inner, [...at, key]),
  ])
}

function textViolation(value: string, path: readonly string[]): Violation[] {
  if (value.includes('\0')) return [{ path, message: 'Must not contain the character NUL' }]
  if (!value.isWellFormed()) return [{ path, message: 'Must be well-formed Unicode: it has a lone surrogate' }]
  return []
}
