import { expect, test } from 'vitest'
import { systemClock } from '../../src/platform/clock.ts'
import { stoppable } from '../../src/platform/stoppable.ts'

/** Yields its values, then waits for the signal like a feed; `ended` records how it ended. */
function feed(items: readonly number[]) {
  const state = { ended: false }
  const stream = stoppable(async function* (signal) {
    try {
      yield* items
      await systemClock.sleep(3_600_000, signal)
    } finally {
      state.ended = true
    }
  })
  return { stream, state }
}

test('the iterator yields the values of its source, and ends with it', async () => {
  const stream = stoppable(async function* () {
    yield 1
    yield 2
  })
  expect(await Array.fromAsync(stream)).toEqual([1, 2])
})

test('return() ends the current wait and the source', async () => {
  const { stream, state } = feed([1])
  expect(await stream.next()).toEqual({ done: false, value: 1 })
  const waiting = stream.next()
  await stream.return()
  expect(await waiting).toEqual({ done: true, value: undefined })
  expect(state.ended).toBe(true)
})

test('return() before the first next() does not start the source', async () => {
  let started = false
  const stream = stoppable(async function* () {
    started = true
    yield 1
  })
  await stream.return()
  expect(await stream.next()).toEqual({ done: true, value: undefined })
  expect(started).toBe(false)
})

test('leaving a for-await loop ends the source', async () => {
  const { stream, state } = feed([1, 2])
  for await (const item of stream) if (item === 1) break
  expect(state.ended).toBe(true)
})

test('an error of the source is thrown to the reader', async () => {
  const stream = stoppable(async function* () {
    yield 1
    throw new Error('broken')
  })
  await expect(Array.fromAsync(stream)).rejects.toThrow('broken')
})

test('throw() ends the source and throws the error again', async () => {
  const { stream, state } = feed([1])
  await stream.next()
  await expect(stream.throw(new Error('mine'))).rejects.toThrow('mine')
  expect(state.ended).toBe(true)
})

test('disposing the iterator ends the source', async () => {
  const { stream, state } = feed([1])
  {
    await using open = stream
    await open.next()
  }
  expect(state.ended).toBe(true)
})

test('a source that reads from memory does not block the event loop', async () => {
  const stream = stoppable(async function* () {
    for (;;) yield 0
  })
  let turns = 0
  const turn = () => setImmediate(() => ++turns && turn())
  turn()
  for (let n = 0; n < 160; n++) await stream.next()
  expect(turns).toBeGreaterThanOrEqual(9)
  await stream.return()
  turns = Number.NaN
})
