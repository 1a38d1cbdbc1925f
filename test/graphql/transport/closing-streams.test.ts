import { expect, test } from 'vitest'
import { closeGradually, computeClosingMs } from '../../../src/graphql/transport/closing-streams.ts'
import { createFakeClock } from '../../support/clock.ts'

/** Returns the number of closed streams after each of the times. */
async function endedAfter(streams: number, timesMs: readonly number[]): Promise<number[]> {
  const clock = createFakeClock()
  const ended: number[] = []
  const all = closeGradually([...Array(streams).keys()], clock, (stream) => ended.push(stream))
  const counts: number[] = []
  for (const [index, ms] of timesMs.entries()) {
    await clock.advance(ms - (timesMs[index - 1] ?? 0))
    counts.push(ended.length)
  }
  await all
  expect(new Set(ended).size).toBe(streams)
  return counts
}

test('thousands of streams are closed at an even pace over ten seconds', async () => {
  const [early, half, end] = await endedAfter(6_000, [2_000, 5_000, 10_000])
  expect(early).toBeGreaterThan(1_000)
  expect(early).toBeLessThan(1_500)
  expect(half).toBeGreaterThan(2_800)
  expect(half).toBeLessThan(3_200)
  expect(end).toBe(6_000)
  expect(computeClosingMs(6_000)).toBe(10_000)
})

test('a few streams are closed without delay', async () => {
  expect(await endedAfter(10, [0])).toEqual([10])
  expect(computeClosingMs(10)).toBe(20)
  await endedAfter(0, [])
})
