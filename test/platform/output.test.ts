import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { appendFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { createOutput } from '../../src/platform/output.ts'
import { makeDirectory } from '../support/directory.ts'
import { mountSmallDisk } from '../support/small-disk.ts'
import { root } from '../support/sources.ts'

/** Larger than a pipe, a terminal and the limit of waiting output together. */
const lines = 4_000
const logModule = JSON.stringify(pathToFileURL(join(root, 'src/platform/log.ts')).href)
const outputModule = JSON.stringify(pathToFileURL(join(root, 'src/platform/output.ts')).href)
/** A program that logs much, continues its work, reports that by a file descriptor other than stderr, and ends. */
const program = `
  import { createLog } from ${logModule}
  import { exitWritten } from ${outputModule}
  import { writeSync } from 'node:fs'
  const log = createLog('info')
  for (let line = 0; line < ${lines}; line++) log.info({ line, filler: 'x'.repeat(1000) }, 'much')
  setTimeout(() => {
    log.info('last')
    writeSync(3, 'it goes on')
    setTimeout(() => exitWritten(0), 100)
  }, 100)`
const argv = ['--input-type=module', '-e', program]

async function outcome(child: ReturnType<typeof spawn>) {
  const said = text(child.stdio[3] as NodeJS.ReadableStream)
  const [code] = await once(child, 'exit')
  return { code, said: await said }
}

const goesOn = { code: 0, said: 'it goes on' }

describe('a process that logs much output keeps running', () => {
  test('when the reader of its log stalls', async () => {
    const child = spawn(process.execPath, argv, { stdio: ['ignore', 'ignore', 'pipe', 'pipe'] })
    expect(await outcome(child)).toEqual(goesOn)
    child.stderr?.destroy()
  })

  test('when the reader of its log has ended', async () => {
    const child = spawn(process.execPath, argv, { stdio: ['ignore', 'ignore', 'pipe', 'pipe'] })
    child.stderr?.destroy()
    expect(await outcome(child)).toEqual(goesOn)
  })

  test('when the disk of its log is full', async ({ skip }) => {
    await using disk = await mountSmallDisk(1)
    if (!disk) return skip('no file system can be mounted here')
    const path = join(disk.path, 'log')
    const file = openSync(path, 'a')
    const child = spawn(process.execPath, argv, { stdio: ['ignore', 'ignore', file, 'pipe'] })
    closeSync(file)
    expect(await outcome(child)).toEqual(goesOn)
    expect(await readFile(path, 'utf8')).toContain('"line":0')
  })

  test('when its terminal is stopped by Ctrl-S', async ({ skip }) => {
    if (process.platform !== 'linux') return skip('the command script is another one here')
    const folder = makeDirectory()
    const [script, result] = [join(folder, 'program.mjs'), join(folder, 'result')]
    await appendFile(
      script,
      program
        .replace('writeSync(3, ', `writeFileSync(${JSON.stringify(result)}, `)
        .replace('{ writeSync }', '{ writeFileSync }'),
    )
    // The terminal has no reader, because no process reads the output of `script`.
    const terminal = spawn('script', ['-qc', `${process.execPath} ${script}`, '/dev/null'], {
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    await expect.poll(() => readFile(result, 'utf8').catch(() => ''), { timeout: 90_000 }).toBe('it goes on')
    terminal.stdout.resume()
    await once(terminal, 'exit')
  })
})

test('an error log that was written too fast states how many lines were dropped', async () => {
  const loses = `
    import { createLog } from ${logModule}
    const log = createLog('error')
    for (let line = 0; line < ${lines}; line++) log.error({ line, filler: 'x'.repeat(1000) }, 'much')
    process.stdout.write('it goes on')
    const timer = setInterval(() => {
      if (process.stderr.writableLength > 0) return
      clearInterval(timer)
      log.error('last')
    }, 10)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', loses], { stdio: ['ignore', 'pipe', 'pipe'] })
  await once(child.stdout, 'data')
  const written = (await text(child.stderr)).trim().split('\n')
  const [told, last] = written.slice(-2).map((line) => JSON.parse(line))
  expect(told).toMatchObject({ msg: 'lines were dropped: the reader of the log was too slow' })
  expect(last).toMatchObject({ msg: 'last' })
  expect(told.lines + written.length - 2).toBe(lines)
})

test('a log whose reader was slow states how many lines were dropped', async () => {
  const taken: string[] = []
  let take: (() => void) | undefined
  const stream = new Writable({
    decodeStrings: false,
    highWaterMark: 1,
    write(chunk, _, done) {
      taken.push(String(chunk))
      take = done
    },
  })
  const counts: number[] = []
  const output = createOutput(stream, { waitingCharsMax: 3, onDropped: (count) => counts.push(count) })
  for (const each of ['a', 'b', 'c', 'd', 'e', 'f']) output.write(each)
  while (stream.writableLength > 0) {
    take?.()
    await new Promise(setImmediate)
  }
  output.write('g')
  expect(counts).toEqual([2])
  expect(taken).toEqual(['a', 'b', 'c', 'd', 'g'])
})
