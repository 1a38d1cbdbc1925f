import { expect, test } from 'vitest'
import { followSpool, type Loss, type Spool } from '../../../src/executors/backend/spool-reader.ts'
import type { LogChunk } from '../../../src/executors/executor.ts'

/** A reader of two files in memory. */
function openRun() {
  const files = { out: Buffer.alloc(0), err: Buffer.alloc(0) }
  const losses: Loss[] = []
  const counts = { reads: 0, sizes: 0 }
  let isOver = false
  let news = Promise.withResolvers<void>()
  let waits = Promise.withResolvers<void>()
  const spool: Spool = {
    async read(stream, buffer, at) {
      counts.reads += 1
      return files[stream].subarray(at).copy(buffer)
    },
    async size(stream) {
      counts.sizes += 1
      return files[stream].length
    },
  }
  const chunks: LogChunk[] = []
  const reader = async () => {
    const output = followSpool({
      spool,
      from: null,
      losses: () => [...losses],
      signal: new AbortController().signal,
      isOver: async () => isOver,
      wait: async () => {
        waits.resolve()
        await news.promise
      },
    })
    for await (const chunk of output) chunks.push(chunk)
  }
  const done = reader()
  const look = () => {
    const [last, next] = [news, Promise.withResolvers<void>()]
    waits = Promise.withResolvers<void>()
    news = next
    last.resolve()
    return waits.promise
  }
  return {
    counts,
    losses,
    files,
    chunks,
    texts: () =>
      chunks.map((chunk) => ('gap' in chunk ? chunk.gap : `${chunk.stream} ${Buffer.from(chunk.bytes).toString()}`)),
    write(stream: 'out' | 'err', text: string) {
      files[stream] = Buffer.concat([files[stream], Buffer.from(text)])
    },
    idle: () => waits.promise,
    look,
    async end() {
      isOver = true
      void look()
      await done
    },
  }
}

test('the spool reader reads each file once per line', async () => {
  const run = openRun()
  await run.idle()
  Object.assign(run.counts, { reads: 0, sizes: 0 })
  run.write('out', 'one\n')
  await run.look()
  expect(run.texts()).toEqual(['STDOUT one\n'])
  expect(run.counts).toEqual({ reads: 2, sizes: 1 })
  await run.end()
})

test('the spool reader reads output written between the last read and the end of the run', async () => {
  const run = openRun()
  await run.idle()
  run.write('out', 'one\ntwo')
  run.write('err', 'oh')
  await run.end()
  expect(run.texts()).toEqual(['STDOUT one\n', 'STDOUT two', 'STDERR oh'])
})

test('the spool reader switches between streams after complete lines, and continues an incomplete line first', async () => {
  const run = openRun()
  await run.idle()
  run.write('out', 'one\ntw')
  run.write('err', 'bad\n')
  await run.look()
  expect(run.texts()).toEqual(['STDOUT one\n', 'STDERR bad\n', 'STDOUT tw'])
  run.write('err', 'worse\n')
  run.write('out', 'o\n')
  await run.end()
  expect(run.texts().slice(3)).toEqual(['STDOUT o\n', 'STDERR worse\n'])
})

test('the spool reader reports a truncated file as a gap, and reads the file from its beginning', async () => {
  const run = openRun()
  run.write('out', 'one\n')
  await run.idle()
  run.files.out = Buffer.from('2\n')
  await run.look()
  expect(run.texts()).toEqual(['STDOUT one\n', 'LOST', 'STDOUT 2\n'])
  await run.end()
})

test('the spool reader reports lost output once, at its position', async () => {
  const run = openRun()
  run.write('out', 'one\n')
  await run.idle()
  run.losses.push({ stream: 'stdout', gap: 'DISK_FULL', after: 4, bytes: 7 })
  run.write('out', 'two\n')
  await run.look()
  await run.end()
  expect(run.texts()).toEqual(['STDOUT one\n', 'DISK_FULL', 'STDOUT two\n'])
})
