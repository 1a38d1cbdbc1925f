import { describe, expect, test } from 'vitest'
import { makeTypedId } from '../../src/platform/ids.ts'

/** Later than the ids of other tests in this process. */
let nowMs = Date.UTC(2100, 0, 1)
const ids = (count: number) => Array.from({ length: count }, () => makeTypedId('job', nowMs))

/** Returns the milliseconds of an id: its first ten characters. */
const msOf = (id: string) =>
  [...id.slice(4, 14)].reduce((ms, char) => ms * 32 + '0123456789abcdefghjkmnpqrstvwxyz'.indexOf(char), 0)

describe('ids made by one process', () => {
  test('sort in order of creation, for any number per millisecond', () => {
    nowMs += 10_000
    const made = ids(10_000)
    expect(made).toEqual(made.toSorted())
    expect(new Set(made).size).toBe(made.length)
  })

  test('contain the time of their creation', () => {
    nowMs += 10_000
    expect(msOf(ids(1)[0] ?? '')).toBe(nowMs)
  })

  test('sort after all earlier ids, even if the clock was set back', () => {
    nowMs += 10_000
    const made = ids(1)
    nowMs -= 999
    made.push(...ids(1))
    expect(made).toEqual(made.toSorted())
    nowMs -= 5_000
    expect(msOf(ids(1)[0] ?? '')).toBe(nowMs)
  })
})
