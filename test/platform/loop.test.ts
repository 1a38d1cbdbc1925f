import { expect, test } from 'vitest'
import { systemClock } from '../../src/platform/clock.ts'
import { createLog } from '../../src/platform/log.ts'
import { createLoop } from '../../src/platform/loop.ts'
import { Unavailable } from '../../src/platform/tx.ts'
import { createFakeClock } from '../support/clock.ts'
import { recordLines } from '../support/recorded-lines.ts'
import { until } from '../support/until.ts'

const pollMs = 1_000

function create(runOnce: (signal: AbortSignal) => Promise<unknown>) {
  const clock = createFakeClock()
  const loop = createLoop({ name: 'test', pollMs, runOnce, clock, log: createLog('silent') })
  return { clock, loop, atRest: () => until(() => clock.sleeping === 1, { what: 'the loop is at rest' }) }
}

test('a loop runs at the start, then once per poll', async () => {
  let passes = 0
  const { clock, loop, atRest } = create(async () => passes++)
  loop.start()
  loop.start()
  await atRest()
  expect(passes).toBe(1)
  await clock.advance(pollMs - 1)
  expect(passes).toBe(1)
  await clock.advance(1)
  expect(passes).toBe(2)
  await loop.stop()
})

test('a wake-up ends the pause of a loop', async () => {
  let passes = 0
  const { loop, atRest } = create(async () => passes++)
  loop.start()
  await atRest()
  loop.wake()
  await until(() => passes === 2, { what: 'it ran again' })
  await loop.stop()
})

test('wake-ups during a pass cause one more pass in total', async () => {
  let passes = 0
  const pass = Promise.withResolvers<void>()
  const { loop, atRest } = create(async () => {
    passes += 1
    if (passes === 1) await pass.promise
  })
  loop.start()
  for (let n = 0; n < 5; n++) loop.wake()
  pass.resolve()
  await atRest()
  expect(passes).toBe(2)
  await loop.stop()
})

test('a pass that fails in an outage is logged as a warning, and one with an unexpected error as an error', async () => {
  const { destination, lines } = recordLines()
  const failures = [new Unavailable('The database is not available'), new Error('a defect')]
  const runOnce = async () => {
    const failure = failures.shift()
    if (failure) throw failure
  }
  const loop = createLoop({
    name: 'test',
    pollMs,
    runOnce,
    clock: systemClock,
    log: createLog('warn', { destination }),
  })
  loop.start()
  await until(() => lines.length === 2, { what: 'both are notified' })
  await loop.stop()
  expect(lines).toMatchObject([
    { level: 40, trouble: 'The database is not available' },
    { level: 50, err: { message: 'a defect' } },
  ])
})

test('a pass that throws is retried after growing pauses, which wake-ups do not shorten', async () => {
  let passes = 0
  const { clock, loop, atRest } = create(async () => {
    passes += 1
    if (passes < 4) throw new Error('not yet')
  })
  loop.start()
  for (const [pauseMs, soFar] of [
    [200, 1],
    [400, 2],
    [800, 3],
  ] as const) {
    await atRest()
    loop.wake()
    await clock.advance(pauseMs - 1)
    expect(passes).toBe(soFar)
    await clock.advance(1)
  }
  await until(() => passes >= 4, { what: 'it ran without failure' })
  await loop.stop()
})

test('stop aborts the signal of the current pass, and waits for the end of the pass', async () => {
  const pass = Promise.withResolvers<void>()
  let told = false
  let finished = false
  const { loop } = create(async (signal) => {
    signal.addEventListener('abort', () => {
      told = true
    })
    await pass.promise
    finished = true
  })
  loop.start()
  const stopped = loop.stop()
  expect(told).toBe(true)
  expect(finished).toBe(false)
  pass.resolve()
  await stopped
  expect(finished).toBe(true)
})

test('stop returns if the loop was not started or is already stopped', async () => {
  const { loop } = create(async () => undefined)
  await loop.stop()
  await loop.stop()
})
