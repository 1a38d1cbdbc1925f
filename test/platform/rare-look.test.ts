import { expect, test } from 'vitest'
import { createRareLook } from '../../src/platform/rare-look.ts'

function begin() {
  let nowMs = 0
  const look = createRareLook({ clock: { monotonicMs: () => nowMs }, everyMs: 1_000, pauseMsMax: 30_000 })
  const pass = (ms: number) => {
    nowMs += ms
  }
  return { look, pass }
}

test('a full query is due at first, and then after its pause', async () => {
  const { look, pass } = begin()
  expect(look.isDue()).toBe(true)
  expect(await look.run(async () => pass(10))).toBeUndefined()
  expect(look.isDue()).toBe(false)
  pass(980)
  expect(look.isDue()).toBe(false)
  pass(10)
  expect(look.isDue()).toBe(true)
})

test('slow full queries use at most a twentieth of the time', async () => {
  const { look, pass } = begin()
  await look.run(async () => pass(300))
  pass(5_690)
  expect(look.isDue()).toBe(false)
  pass(10)
  expect(look.isDue()).toBe(true)
})

test('a full query is due when requested, also while another one runs', async () => {
  const { look } = begin()
  await look.run(async () => undefined)
  look.ask()
  expect(look.isDue()).toBe(true)
  await look.run(async () => look.ask())
  expect(look.isDue()).toBe(true)
})

test('a query that failed quickly is due at once, and one that failed slowly after a pause in proportion', async () => {
  const { look, pass } = begin()
  await expect(look.run(() => Promise.reject(new Error('away')))).rejects.toThrow('away')
  expect(look.isDue()).toBe(true)
  const fails = async () => {
    pass(500)
    throw new Error('too slow')
  }
  await expect(look.run(fails)).rejects.toThrow('too slow')
  pass(9_490)
  expect(look.isDue()).toBe(false)
  pass(10)
  expect(look.isDue()).toBe(true)
})

test('the pauses have a maximum', async () => {
  const { look, pass } = begin()
  await look.run(async () => pass(6_000))
  pass(23_990)
  expect(look.isDue()).toBe(false)
  pass(10)
  expect(look.isDue()).toBe(true)
})
