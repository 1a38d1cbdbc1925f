import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { RequestFailed } from '@berth-jobs/berth/client'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { type Load, type Reader, ResourceCache } from '../../web/ground/resource-cache.ts'
import { root } from '../support/sources.ts'

/** The cache of the console: shared reads, kept values, and retries. */
const page = { isHidden: false }
const cache = new ResourceCache({ isHidden: () => page.isHidden, noteRepeated: () => undefined })

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

let keys = 0
/** Creates a value whose reads return 1, 2, 3 …, or fail if `failing` is set. */
function createFact() {
  const key = `fact ${keys++}`
  const fact = { key, reads: 0, failing: null as RequestFailed | null, signal: null as AbortSignal | null }
  const load: Load<unknown> = async (signal) => {
    fact.signal = signal
    fact.reads++
    if (fact.failing) throw fact.failing
    return fact.reads
  }
  const show = (options: Partial<Reader<unknown>> = {}) =>
    cache.use(key, { load, everyMs: undefined, pauseMs: 250, ...options }, () => undefined)
  return { fact, show, state: () => cache.state(key) }
}
const settle = () => vi.advanceTimersByTimeAsync(0)

it('a value is read once even if two views show it', async () => {
  const { fact, show, state } = createFact()
  show()
  show()
  await settle()
  expect([fact.reads, state()]).toEqual([1, { value: 1, failure: null, isLoading: false }])
})

it('a view that is mounted again has the cached value at once, which is then read again', async () => {
  const { fact, show, state } = createFact()
  const leave = show()
  await settle()
  leave()
  await settle()
  show()
  expect(state().value).toBe(1)
  await settle()
  expect([fact.reads, state().value]).toEqual([2, 2])
})

it('a read is aborted when its last view is removed, unless a view is added in the same step', async () => {
  const { fact, show } = createFact()
  const leave = show()
  leave()
  const leaveAgain = show()
  await settle()
  expect([fact.reads, fact.signal?.aborted]).toEqual([1, false])
  leaveAgain()
  show()()
  await settle()
  expect(fact.signal?.aborted).toBe(true)
})

it('a change during a read causes another read, after a pause', async () => {
  const { fact, show } = createFact()
  show()
  const read = () => cache.read(fact.key)
  read()
  read()
  await settle()
  expect(fact.reads).toBe(1)
  await vi.advanceTimersByTimeAsync(250)
  expect(fact.reads).toBe(2)
  read()
  await vi.advanceTimersByTimeAsync(249)
  expect(fact.reads).toBe(2)
  await vi.advanceTimersByTimeAsync(1)
  expect(fact.reads).toBe(3)
})

it('periodic reads pause while the page is hidden, and resume when it is shown', async () => {
  const { fact, show } = createFact()
  show({ everyMs: 1_000 })
  show({ everyMs: 5_000 })
  await vi.advanceTimersByTimeAsync(2_000)
  expect(fact.reads).toBe(3)
  page.isHidden = true
  await vi.advanceTimersByTimeAsync(60_000)
  expect([fact.reads, vi.getTimerCount()]).toEqual([3, 0])
  page.isHidden = false
  cache.resume()
  expect(fact.reads).toBe(4)
})

it('a retryable failure keeps the value, and is retried at once when the server is reachable again', async () => {
  const { fact, show, state } = createFact()
  show()
  await settle()
  fact.failing = new RequestFailed('UNREACHABLE', 'away')
  cache.read(fact.key)
  await vi.advanceTimersByTimeAsync(250)
  expect(state()).toEqual({ value: 1, failure: fact.failing, isLoading: false })
  await vi.advanceTimersByTimeAsync(1_000)
  expect(fact.reads).toBe(3)
  fact.failing = null
  cache.hurry()
  await settle()
  expect(state()).toEqual({ value: 4, failure: null, isLoading: false })
})

it('a stream writes its values into the cache, and later views share the stream', async () => {
  let put: (value: unknown) => void = () => undefined
  let streams = 0
  const load: Load<unknown> = (_, show) => {
    streams++
    put = show
    return new Promise(() => undefined)
  }
  const reader = { load, everyMs: undefined, pauseMs: 250 }
  cache.use('stream', reader, () => undefined)
  put('first')
  cache.use('stream', { ...reader }, () => undefined)
  put('second')
  expect([streams, cache.state('stream').value]).toEqual([1, 'second'])
})

it('the cache drops the values that no view has used for the longest time', async () => {
  const facts = Array.from({ length: 70 }, createFact)
  for (const { show } of facts) {
    const leave = show()
    await settle()
    leave()
    await settle()
  }
  expect(facts.map(({ state }) => state().value ?? null).filter((value) => value === null).length).toBeGreaterThan(5)
  expect(facts.at(-1)?.state().value).toBe(1)
})

it('each key of the cache begins with a unique prefix', () => {
  const paths = globSync('web/**/*.{ts,tsx}', { cwd: root, exclude: ['web/dist/**', 'web/generated/**'] })
  const found = paths.flatMap((path) => [
    ...readFileSync(join(root, path), 'utf8').matchAll(/\buseResource(?:<[^(]+>)?\(\s*([`'])([^`'$]*)/g),
  ])
  const words = found.map((match) => match[2])
  expect(words.length).toBeGreaterThan(30)
  expect(words.filter((each, at) => each === '' || words.indexOf(each) !== at)).toEqual([])
})
