import { expect, test } from 'vitest'
import { createDescriber } from '../../../src/executors/backend/description.ts'
import { BackendUnreachable } from '../../../src/executors/backend/unreachable.ts'

/** A backend whose responses and clock the test controls. */
function slowBackend() {
  let nowMs = 0
  const readings: PromiseWithResolvers<{ version: string; available: true; message: null }>[] = []
  const describe = createDescriber({
    clock: { monotonicMs: () => nowMs, sleep: async () => {} },
    name: 'Engine',
    address: 'here',
    read() {
      const reading = Promise.withResolvers<{ version: string; available: true; message: null }>()
      readings.push(reading)
      return reading.promise
    },
  })
  const later = async (ms: number) => {
    nowMs += ms
    await new Promise(setImmediate)
  }
  return { describe, readings, later, answer: { version: '5', available: true, message: null } as const }
}

test('a backend is not queried again while a query is running', async () => {
  const { describe, readings, later, answer } = slowBackend()
  for (let call = 0; call < 5; call++) expect(await describe()).toMatchObject({ available: false })
  expect(readings).toHaveLength(1)
  readings[0]?.resolve(answer)
  await later(0)
  expect(await Promise.all([describe(), describe()])).toHaveLength(2)
  expect(readings).toHaveLength(2)
})

test('a backend that responds slowly is queried less often', async () => {
  const { describe, readings, later, answer } = slowBackend()
  await describe()
  await later(2_000)
  readings[0]?.resolve(answer)
  await later(0)
  await later(19_000)
  expect(await describe()).toEqual(answer)
  expect(readings).toHaveLength(1)
  await later(1_000)
  await describe()
  expect(readings).toHaveLength(2)
  readings[1]?.reject(new BackendUnreachable('no answer'))
  await later(0)
  expect(await describe()).toMatchObject({ available: false })
})
