import { expect, it } from 'vitest'
import { createPacer } from '../../src/platform/pacer.ts'

it('only a limited number of callers continue in each turn of the event loop, in order', async () => {
  const pace = createPacer(2, { monotonicMs: () => 0 })
  const passed: number[] = []
  const all = [1, 2, 3, 4].map(async (number) => {
    await pace()
    passed.push(number)
  })
  await Promise.resolve()
  expect(passed).toEqual([1, 2])
  await Promise.all(all)
  expect(passed).toEqual([1, 2, 3, 4])
})

it('callers whose work takes long let other work run between them', async () => {
  let nowMs = 0
  const pace = createPacer(200, { monotonicMs: () => nowMs })
  let turns = 0
  const count = () => {
    turns += 1
    if (turns < 1_000) setImmediate(count)
  }
  setImmediate(count)
  for (let events = 0; events < 100; events++) {
    await pace()
    nowMs += 20
  }
  expect(turns).toBeGreaterThan(90)
  turns = 1_000
})
