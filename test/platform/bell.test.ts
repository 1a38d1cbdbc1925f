import { expect, it } from 'vitest'
import { createBell } from '../../src/platform/bell.ts'
import { systemClock } from '../../src/platform/clock.ts'

it('ring ends the current waits in order, over several turns of the event loop, but not later waits', async () => {
  const bell = createBell(systemClock)
  const { signal } = new AbortController()
  const ended: number[] = []
  const wait = async (n: number) => {
    await bell.wait(600_000, signal)
    ended.push(n)
  }
  const waits = Array.from({ length: 1_000 }, (_, n) => wait(n))
  bell.ring()
  const late = new AbortController()
  const lateWait = bell.wait(600_000, late.signal)
  const countOfTurns = []
  while (ended.length < waits.length) {
    const before = ended.length
    await new Promise(setImmediate)
    countOfTurns.push(ended.length - before)
  }
  expect(Math.max(...countOfTurns)).toBeLessThan(500)
  expect(ended).toEqual(waits.map((_, n) => n))
  expect(bell.waiting).toBe(1)
  late.abort()
  await lateWait
  expect(bell.waiting).toBe(0)
})

it('a wait ends if its timeout passes while the other waits are ended by ring', async () => {
  const bell = createBell(systemClock)
  const { signal } = new AbortController()
  const waits = Array.from({ length: 1_000 }, () => bell.wait(1, signal))
  bell.ring()
  await Promise.all(waits)
  expect(bell.waiting).toBe(0)
})
