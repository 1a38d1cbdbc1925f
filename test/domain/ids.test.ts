import { expect, test } from 'vitest'
import { newId } from '../../src/domain/ids.ts'

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

/** The 128 bits behind an id. */
const bits = (id: string) =>
  [...id.slice(id.indexOf('_') + 1)].reduce((value, digit) => value * 32n + BigInt(alphabet.indexOf(digit)), 0n)

const nowMs = Date.UTC(2026, 10, 21, 12, 34, 56, 789)

test('an id is a UUIDv7: a time in milliseconds, version 7 and variant 10', () => {
  for (let n = 0; n < 1_000; n++) {
    const value = bits(newId('job', nowMs))
    expect(value < 1n << 128n).toBe(true)
    expect(value >> 80n).toBe(BigInt(nowMs))
    expect((value >> 76n) & 0xfn).toBe(7n)
    expect((value >> 62n) & 3n).toBe(2n)
  }
})

test('all 62 random bits of an id vary between ids', () => {
  let ones = 0n
  let zeros = 0n
  for (let n = 0; n < 1_000; n++) {
    const value = bits(newId('run', nowMs))
    ones |= value
    zeros |= ~value
  }
  const random = (1n << 62n) - 1n
  expect(ones & zeros & random).toBe(random)
})

test('ids sort by the millisecond of their creation', () => {
  const ids = Array.from({ length: 2_000 }, (_, n) => newId('job', nowMs + n * 7))
  expect([...ids].sort()).toEqual(ids)
})

test('ids of the same millisecond differ', () => {
  const ids = Array.from({ length: 20_000 }, () => newId('job', nowMs))
  expect(new Set(ids).size).toBe(ids.length)
})

test('an id begins with the kind of its object', () => {
  expect(newId('job', nowMs)).toMatch(/^job_[0-9a-hjkmnp-tv-z]{26}$/)
})
