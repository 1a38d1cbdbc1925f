import { GraphQLScalarType } from 'graphql'
import { describe, expect, it } from 'vitest'
import { schema } from '../../../src/graphql/schema/schema.ts'

const dateTime = schema.getType('DateTime')
const parse = (value: string) => {
  if (!(dateTime instanceof GraphQLScalarType)) throw new Error('DateTime is not a scalar')
  return dateTime.parseValue(value)
}

describe('DateTime', () => {
  it.each([
    '2027-02-30T00:00:00Z',
    '2027-02-29T12:00:00Z',
    '2027-04-31T00:00:00+02:00',
    '2027-13-01T00:00:00Z',
    '2027-00-10T00:00:00Z',
    '2027-01-00T00:00:00Z',
    '2027-01-01T24:00:00Z',
    '2027-01-01T10:60:00Z',
    '2027-01-01',
    '2027-01-01T00:00:00',
  ])('refuses %s', (text) => {
    expect(() => parse(text)).toThrow(`DateTime must be RFC 3339 with a day that exists, e.g.`)
  })

  it.each([
    ['2028-02-29T23:59:59Z', '2028-02-29T23:59:59.000Z'],
    ['2027-01-01t00:30:00.25+01:00', '2026-12-31T23:30:00.250Z'],
  ])('reads %s', (text, moment) => {
    expect(parse(text)).toEqual(new Date(moment))
  })
})
