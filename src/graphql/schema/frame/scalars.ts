import { GraphQLError } from 'graphql'
import { hasInfiniteNumber, isDeeperThan, jsonDepthMax } from '../../../domain/closure.ts'
import { isShownText } from '../../../domain/parse.ts'
import { builder } from './builder.ts'

const rfc3339 = /^(\d{4}-\d\d-\d\d)[Tt]([01]\d|2[0-3]):\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/

/** Parses a time; null: invalid. Stricter than `Date`, which reads 2027-02-30 as March 2. */
function parseDateTime(text: string): Date | null {
  const day = rfc3339.exec(text)?.[1]
  if (day === undefined) return null
  const [date, midnight] = [new Date(text), new Date(`${day}T00:00:00Z`)]
  if (Number.isNaN(date.getTime()) || Number.isNaN(midnight.getTime())) return null
  return midnight.toISOString().startsWith(day) ? date : null
}

/** Formats a refused value for a message if it is short. */
const showValue = (value: unknown): string =>
  typeof value === 'number' || isShownText(value) ? `, not ${JSON.stringify(value)}` : ''

builder.scalarType('DateTime', {
  description: 'RFC 3339 timestamp of a day that exists. Returned in UTC with milliseconds.',
  serialize: (value) => value.toISOString(),
  parseValue(value) {
    const date = typeof value === 'string' ? parseDateTime(value) : null
    if (!date)
      throw new GraphQLError(
        `DateTime must be RFC 3339 with a day that exists, e.g. 2026-01-31T12:00:00Z${showValue(value)}`,
      )
    return date
  },
})

builder.scalarType('UInt53', {
  description: 'Integer 0 … 2^53 − 1, as a JSON number.',
  serialize: (value) => Number(value),
  parseValue(value) {
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
      throw new GraphQLError(`UInt53 must be a whole number 0 … 2^53 − 1${showValue(value)}`)
    return value
  },
})

builder.scalarType('JSONObject', {
  description: 'A JSON object, stored unchanged; its numbers are doubles.',
  serialize: (value) => value,
  parseValue(value) {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new GraphQLError('JSONObject must be an object')
    if (isDeeperThan(value, jsonDepthMax))
      throw new GraphQLError(`JSONObject may be at most ${jsonDepthMax} levels deep`)
    if (hasInfiniteNumber(value)) throw new GraphQLError('JSONObject must not contain numbers beyond ±1.8e308')
    return Object.fromEntries(Object.entries(value))
  },
})

builder.scalarType('Cursor', {
  description: 'Opaque position in a list or stream; valid across processes, restarts and transports.',
  serialize: (value) => value,
  parseValue(value) {
    if (typeof value !== 'string') throw new GraphQLError('Cursor must be a string')
    return value
  },
})
