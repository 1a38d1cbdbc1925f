import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readUnsent } from '../../../src/executors/local/unsent-closures.ts'
import { until } from '../../support/until.ts'
import { contract } from '../contract.ts'
import { makeRun, read, untilEnded } from '../runs.ts'
import { makeOpener } from '../snapshot-files.ts'
import { openHandlerExecutor, testContract } from './module-runs.ts'

/** A module that appends a mark when it begins, and behaves as its input says. */
const behaving = `
import { appendFileSync } from 'node:fs'
export default {
  async run({ mark, lines = 0, exitCode = 0, endless, ignoresTerm }, { log, signal }) {
    appendFileSync(mark, 'x\\n')
    for (let i = 1; i <= lines; i++) log('line ' + i)
    if (endless) await new Promise((_, reject) => {
      setInterval(() => undefined, 60_000)
      if (!ignoresTerm) signal.addEventListener('abort', () => reject(signal.reason))
    })
    process.exit(exitCode)
  },
}`

testContract(contract, 'behaving.mjs', behaving)

const own = openHandlerExecutor('job.mjs')
const { runModule } = own

const resuming = `export default {
  run: (input, { log }) => log('run ' + JSON.stringify(input)),
  onResume: ({ step, fails }, { log, closure }) => {
    log('resume at ' + step + ' ' + (closure.step === step))
    if (fails) throw new Error('the closure is stale')
  },
}`

it('a module reads its input and its closure from files that only its account can read', async () => {
  expect(await runModule(resuming, { input: { a: [1] } })).toMatchObject({ out: 'run {"a":[1]}\n', exitCode: 0 })
  expect(await runModule(resuming, { closure: { step: 3 } })).toMatchObject({ out: 'resume at 3 true\n', exitCode: 0 })
  const modes = `import { statSync } from 'node:fs'
    export default { run: (_, { log }) => log((statSync(process.env.BERTH_CLOSURE).mode & 0o777).toString(8)) }`
  expect(await runModule(modes, { closure: {} })).toMatchObject({ out: '600\n', exitCode: 0 })
})

it('a module of a snapshot is found in its workdir, with the modules and files beside it', async () => {
  const source = `import { readFileSync } from 'node:fs'
    import { word } from '../words.mjs'
    export default { run: ({ name }, { log }) => log(word + name + readFileSync('end.txt', 'utf8')) }`
  const openSnapshot = makeOpener({
    'src/job.mjs': { text: source },
    'src/end.txt': { text: '!' },
    'words.mjs': { text: "export const word = 'hello '" },
  })
  const run = makeRun({ handler: 'job.mjs', workdir: 'src', input: { name: 'world' } }, { openSnapshot })
  const handle = await own.executor.start(run)
  expect(await read(own.executor, handle)).toMatchObject({ out: 'hello world!\n', err: '' })
  expect(await untilEnded(own.executor, handle)).toMatchObject({ exitCode: 0 })
  await own.executor.forget?.(handle)
})

it('an error of a handler is logged, and an error in onResume ends the job as RESUME_FAILED', async () => {
  const thrown = await runModule(`export default { async run() { throw new Error('no such table') } }`)
  expect(thrown).toMatchObject({ exitCode: 1, cause: undefined, err: expect.stringContaining('Error: no such table') })
  const stale = await runModule(resuming, { closure: { step: 3, fails: true } })
  expect(stale).toMatchObject({ cause: 'RESUME_FAILED', err: expect.stringContaining('the closure is stale') })
})

it('a module that is not a handler fails with a message', async () => {
  expect(await runModule('export const run = 1')).toMatchObject({
    exitCode: 126,
    err: expect.stringContaining('defineJob'),
  })
  expect(await runModule('syntax error')).toMatchObject({ exitCode: 126, err: expect.stringContaining('SyntaxError') })
  const missing = { exitCode: 127, err: expect.stringContaining('module not found') }
  expect(await runModule(null, { name: 'missing.mjs' })).toMatchObject(missing)
})

it('a TypeScript module runs without a build', async () => {
  const run = makeRun({ handler: join(import.meta.dirname, '../../../examples/count.handler.ts'), input: { to: 0 } })
  const handle = await own.executor.start({
    ...run,
    injected: { BERTH_URL: 'http://127.0.0.1:1', BERTH_TOKEN: 'none' },
  })
  await until(async () => (await own.executor.inspect([handle]))[0]?.state === 'running', { what: 'it runs' })
  await own.executor.stop(handle, 0)
  expect((await read(own.executor, handle)).err).toBe('')
})

const saving = `export default {
  async run(_, { log, saveClosure }) {
    for (let step = 1; step <= 3; step++) saveClosure({ step })
    log('saved')
    await new Promise(() => setInterval(() => undefined, 60_000))
  },
}`

it('a closure that was saved while the server was unreachable is kept after a kill', async () => {
  await writeFile(join(own.directory, 'saving.mjs'), saving)
  const run = makeRun({ handler: 'saving.mjs', workdir: own.directory })
  const handle = await own.executor.start({
    ...run,
    injected: { BERTH_URL: 'http://127.0.0.1:1', BERTH_TOKEN: 'none' },
  })
  const file = join(own.directory, 'spool/runs', run.runId, 'unsent')
  await until(async () => (await readFile(file, 'utf8')).includes('"step":3'), { what: 'it saved' })
  const [seen] = await own.executor.inspect([handle])
  expect(seen).not.toHaveProperty('unsentClosure')
  await own.executor.stop(handle, 0)
  expect(await untilEnded(own.executor, handle)).toMatchObject({ signal: 9, unsentClosure: '{"step":3}' })
  await own.executor.forget?.(handle)
  expect(await readdir(join(own.directory, 'spool/runs'))).not.toContain(run.runId)
})

/** Returns an object with this number of levels. */
const nested = (depth: number) => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`

it.each([65, 100_000])('a closure with %i levels is ignored, and the run ends normally', async (depth) => {
  const forging = `import { appendFileSync } from 'node:fs'
    export default { async run() { appendFileSync(process.env.BERTH_UNSENT_CLOSURE, '${nested(depth)}\\n') } }`
  await writeFile(join(own.directory, 'forging.mjs'), forging)
  const run = makeRun({ handler: 'forging.mjs', workdir: own.directory })
  const handle = await own.executor.start({
    ...run,
    injected: { BERTH_URL: 'http://127.0.0.1:1', BERTH_TOKEN: 'none' },
  })
  const ended = await untilEnded(own.executor, handle)
  expect(ended).toMatchObject({ exitCode: 0 })
  expect(ended).not.toHaveProperty('unsentClosure')
})

it.each([
  ['a line that was cut off', '{"a":1}\n{"a":2', '{"a":1}'],
  ['lines that are not closures', '{"a":1}\n[2]\nx\n"\n', '{"a":1}'],
  ['a closure that the database cannot store', '{"a":1}\n{"a":"\\u0000"}\n{"\\ud800":1}\n', '{"a":1}'],
  ['a closure that is too large', `{"a":1}\n{"a":"${'x'.repeat(256 * 1024)}"}\n`, '{"a":1}'],
  ['a large closure before the newest', `{"a":"${'x'.repeat(900_000)}"}\n{"a":2}\n`, '{"a":2}'],
  ['a closure that is nested too deeply', `{"a":1}\n${nested(65)}\n${nested(100_000)}\n`, '{"a":1}'],
  ['the deepest object that the API accepts', `${nested(64)}\n`, nested(64)],
  ['a value that another of the same name replaces', `{"a":${nested(10_000)},"a":2}\n`, '{"a":2}'],
  ['no lines', '', null],
])('the newest valid unsent closure is read from a file with %s', async (_, text, closure) => {
  const unsentFile = join(own.directory, 'unsent')
  await writeFile(unsentFile, text)
  expect(readUnsent({ unsentFile })).toBe(closure)
})

it('a module that only waits for its signal runs until the signal', async () => {
  const waiting = `export default { run: (_, { log, signal }) => new Promise((resolve) => {
    signal.addEventListener('abort', resolve)
    log('up')
  }) }`
  await writeFile(join(own.directory, 'waiting.mjs'), waiting)
  const handle = await own.executor.start(makeRun({ handler: 'waiting.mjs', workdir: own.directory }))
  await until(async () => (await own.executor.inspect([handle]))[0]?.state === 'running', { what: 'it runs' })
  await read(own.executor, handle, { enough: ({ out }) => out === 'up\n' })
  await own.executor.stop(handle, 60_000)
  expect(await untilEnded(own.executor, handle)).toMatchObject({ exitCode: 0, stopped: true })
})

it('a run without a file of unsent closures has no unsent closure', () => {
  expect(readUnsent({ unsentFile: join(own.directory, 'nothing') })).toBeNull()
})
