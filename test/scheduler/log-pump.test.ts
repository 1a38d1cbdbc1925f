import { expect, test } from 'vitest'
import type { Executor, LogChunk } from '../../src/executors/executor.ts'
import type { Appender } from '../../src/logs/append.ts'
import { pumpLog } from '../../src/scheduler/log-pump.ts'
import { until } from '../support/until.ts'

const chunkBytes = 262_144
const chunks = 16
const bytesMax = 2 ** 40

test('log output is read while a write is under way, up to a limit, and written in large pieces', async () => {
  let given = 0
  async function* logs(): AsyncGenerator<LogChunk> {
    for (; given < chunks; given++) yield { stream: 'STDOUT', bytes: Buffer.alloc(chunkBytes, 'x'), next: given }
  }
  const writes: { pieces: number; end: () => void }[] = []
  const append: Appender = async (head, { pieces }) => {
    await new Promise<void>((end) => writes.push({ pieces: pieces.length, end }))
    return { ...head, end: head.end + pieces.length * chunkBytes }
  }
  const pumping = pump(append, logs)
  // The first chunk is written at once, then four at a time, while four more are buffered.
  for (const [write, read] of [4, 8, 12, chunks].entries()) {
    await until(() => given === read && writes.length === write + 1, { what: `write ${write} runs, ${read} are read` })
    writes[write]?.end()
  }
  await until(() => writes.length === 5, { what: 'the rest is written' })
  writes[4]?.end()
  await pumping
  expect(writes.map(({ pieces }) => pieces)).toEqual([1, 4, 4, 4, 3])
})

test('a failed write ends the pump, even while no output arrives', async () => {
  async function* logs(_handle: string, _after: unknown, signal: AbortSignal): AsyncGenerator<LogChunk> {
    yield { stream: 'STDOUT', bytes: Buffer.from('a line'), next: 1 }
    await new Promise<void>((end) => signal.addEventListener('abort', () => end()))
  }
  const append: Appender = () => Promise.reject(new Error('the disk is slow'))
  await expect(pump(append, logs)).rejects.toThrow('the disk is slow')
})

test('all pumps together buffer a limited number of bytes, also after some of them failed', async () => {
  const pumps = 200
  let given = 0
  async function* logs(): AsyncGenerator<LogChunk> {
    for (let n = 0; n < chunks; n++) {
      given += 1
      yield { stream: 'STDOUT', bytes: Buffer.alloc(chunkBytes, 'x'), next: n }
    }
  }
  const failing: Appender = () => Promise.reject(new Error('the disk is slow'))
  for (let n = 0; n < pumps; n++) await expect(pump(failing, logs)).rejects.toThrow()
  given = 0
  const ends: (() => void)[] = []
  const append: Appender = async (head, { pieces }) => {
    await new Promise<void>((end) => ends.push(end))
    return { ...head, end: head.end + pieces.length * chunkBytes }
  }
  const pumping = Promise.all(Array.from({ length: pumps }, () => pump(append, logs)))
  await until(() => ends.length === pumps, { what: 'each of them writes' })
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(given).toBeGreaterThanOrEqual(pumps)
  expect(given).toBeLessThanOrEqual(64 * 4 + 2 * pumps)
  const working = setInterval(() => {
    for (const end of ends.splice(0)) end()
  }, 1)
  await pumping
  clearInterval(working)
  expect(given).toBe(pumps * chunks)
})

const pump = (append: Appender, logs: Executor['logs']) =>
  pumpLog(
    {
      sql: { query: async () => [] },
      append,
      executor: { logs },
      runId: 'run_1',
      isFresh: true,
      handle: 'run_1',
      bytesMax,
      onStored: () => undefined,
    },
    new AbortController().signal,
  )
