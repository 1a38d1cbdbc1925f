import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createBatcher } from '../../src/platform/batch.ts'
import { Unavailable } from '../../src/platform/tx.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

function create() {
  const batches: { items: readonly number[]; end: () => void }[] = []
  const add = createBatcher<number, number>({
    max: 10,
    mayBeOneItem: () => false,
    run: (items) => new Promise((resolve) => batches.push({ items, end: () => resolve(items) })),
  })
  return { add, batches }
}

test('items that wait behind a hanging batch are rejected after a timeout, and are not executed later', async () => {
  const { add, batches } = create()
  const first = add(1)
  await turn()
  const behind = expect(add(2)).rejects.toThrow(Unavailable)
  await vi.advanceTimersByTimeAsync(5_000)
  await behind
  await expect(add(3)).rejects.toThrow(Unavailable)
  batches[0]?.end()
  expect(await first).toBe(1)
  await turn()
  const next = add(4)
  await turn()
  batches[1]?.end()
  expect(await next).toBe(4)
  expect(batches.map(({ items }) => items)).toEqual([[1], [4]])
})

test('many items that fill several slow batches all succeed', async () => {
  const { add, batches } = create()
  const items = Array.from({ length: 40 }, (_, index) => add(index))
  for (let n = 0; n < 4; n++) {
    await turn()
    await vi.advanceTimersByTimeAsync(4_000)
    batches[n]?.end()
    await turn()
  }
  expect(await Promise.all(items)).toHaveLength(40)
})
