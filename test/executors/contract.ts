import { readFile } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findTraits } from '../../src/domain/executors.ts'
import { type Executor, type Handle, isOver, type RunSpec } from '../../src/executors/executor.ts'
import { until } from '../support/until.ts'
import { testExec } from './exec-contract.ts'
import { testOutputs } from './outputs-contract.ts'
import { confirmedMsMax, observe, read, untilEnded, untilState } from './runs.ts'
import { testSecrets } from './secrets-contract.ts'
import { testSnapshot } from './snapshot-contract.ts'

/** The behaviour of a run, in terms that every backend can translate. */
export interface Behaviour {
  /** Prints lines `line 1` … on stdout at once. */
  lines?: number
  exitCode?: number
  /** Runs until it is stopped. */
  endless?: boolean
  ignoresTerm?: boolean
}

export interface Backend {
  /** Opens another executor over the same store, like a server that restarts. */
  open(): Promise<Executor>
  run(behaviour: Behaviour): RunSpec
  /** Number of starts of a run's command; null: unknown. */
  starts(run: RunSpec): Promise<number | null>
  /** Returns the description of a run that people without access to its secrets may read. */
  readDescription?(handle: Handle): Promise<string>
  /** Stops all traffic between the executor and the backend during the work, without closing connections. */
  freeze?(work: () => Promise<void>): Promise<void>
  /** Number of runs that are started at once; default: 20. */
  readonly atOnce?: number
  remove?(): Promise<void>
}

/** Translates the behaviour to a shell command, which appends a line to the file `mark` when it begins. */
export function makeCommand(behaviour: Behaviour, mark: string): string[] {
  const { lines = 0, exitCode = 0, endless = false, ignoresTerm = false } = behaviour
  const script = [
    'echo x >> "$0"',
    ignoresTerm ? "trap '' TERM" : '',
    `i=0; while [ $i -lt ${lines} ]; do i=$((i+1)); echo "line $i"; done`,
    endless ? (ignoresTerm ? 'while :; do sleep 600; done' : 'exec sleep 600') : `exit ${exitCode}`,
  ].join('\n')
  return ['/bin/sh', '-c', script, mark]
}

/** Counts the lines of the file, and so the starts of the command, when there is at least one. */
export async function startsAt(mark: string): Promise<number> {
  const lines = await until(() => readFile(mark, 'utf8').catch(() => null), { what: 'the command began' })
  return lines.trim().split('\n').length
}

const text = (lines: number) => Array.from({ length: lines }, (_, i) => `line ${i + 1}\n`).join('')
const graceMs = 60_000

export function contract(name: string, createBackend: () => Promise<Backend>): void {
  describe(`${name} keeps the contract`, () => {
    const suite = new Suite(createBackend)
    beforeEach(() => suite.setUp())
    afterEach(() => suite.tearDown())
    describe('start', () => testStart(suite))
    describe('find', () => testFind(suite))
    describe('inspect', () => testInspect(suite))
    describe('stop', () => testStop(suite))
    describe('logs', () => testLogs(suite))
    describe('watch', () => testWatch(suite))
    describe('sample', () => testSample(suite))
    describe('a snapshot', () => testSnapshot(suite))
    describe('outputs', () => testOutputs(suite))
    describe('a secret', () => testSecrets(suite))
    testForgetAndDescribe(suite)
  })
  describe(`${name}: a command in a run`, () => testExec(createBackend))
}

/**
 * The part that depends on the program of a run: how it ends, and what it prints. Used for a further program of an
 * executor that passes the whole contract with another program.
 */
export function programContract(name: string, createBackend: () => Promise<Backend>): void {
  describe(`${name} keeps the contract`, () => {
    const suite = new Suite(createBackend)
    beforeEach(() => suite.setUp())
    afterEach(() => suite.tearDown())
    describe('inspect', () => testInspect(suite))
    describe('stop', () => testStop(suite))
    describe('logs', () => testLogs(suite))
  })
}

/** The backend of one test, with the runs that the test starts. */
class Suite {
  readonly #createBackend: () => Promise<Backend>
  readonly #opened: Executor[] = []
  readonly begun: Handle[] = []
  backend!: Backend
  executor!: Executor

  constructor(createBackend: () => Promise<Backend>) {
    this.#createBackend = createBackend
  }

  async setUp(): Promise<void> {
    this.backend = await this.#createBackend()
    this.executor = await this.open()
  }

  async tearDown(): Promise<void> {
    const left = this.begun.splice(0)
    for (const handle of left) await this.executor.stop(handle, 0)
    // A run that is still ending would write into the directory that is being removed.
    const areOver = async () => (await this.executor.inspect(left)).every(isOver)
    await until(areOver, { what: 'all runs are over', timeoutMs: confirmedMsMax })
    for (const each of this.#opened.splice(0)) await each.close()
    await this.backend.remove?.()
  }

  async open(): Promise<Executor> {
    const next = await this.backend.open()
    this.#opened.push(next)
    return next
  }

  async start(behaviour: Behaviour, run = this.backend.run(behaviour)): Promise<Handle> {
    const handle = await this.executor.start(run)
    this.begun.push(handle)
    return handle
  }

  /** Closes the executor and opens it again. */
  async restart(): Promise<void> {
    await this.executor.close()
    this.#opened.splice(this.#opened.indexOf(this.executor), 1)
    this.executor = await this.open()
  }
}

function testStart(suite: Suite): void {
  it('starts a run once when called twice', async () => {
    const run = suite.backend.run({ endless: true })
    const handle = await suite.start({}, run)
    expect(await suite.start({}, run)).toBe(handle)
    await suite.restart()
    expect(await suite.start({}, run)).toBe(handle)
    expect((await untilState(suite.executor, handle, 'running')).state).toBe('running')
    expect(await suite.backend.starts(run)).toBeOneOf([1, null])
  })

  it('starts a run once when several servers start it at the same time', async () => {
    const run = suite.backend.run({ endless: true })
    const servers = [suite.executor, await suite.open(), await suite.open()]
    const handles = await Promise.all([...servers, ...servers].map((server) => server.start(run)))
    suite.begun.push(...handles)
    expect(new Set(handles).size).toBe(1)
    await untilState(suite.executor, handles[0] ?? '', 'running')
    expect(await suite.backend.starts(run)).toBeOneOf([1, null])
  })

  it('does not start a run again after its end', async () => {
    const run = suite.backend.run({ exitCode: 3 })
    const handle = await suite.start({}, run)
    await untilEnded(suite.executor, handle)
    expect(await suite.start({}, run)).toBe(handle)
    expect(await observe(suite.executor, handle)).toMatchObject({ state: 'ended', exitCode: 3 })
    expect(await suite.backend.starts(run)).toBeOneOf([1, null])
  })

  it('starts many runs at once', async () => {
    const { atOnce = 20 } = suite.backend
    const handles = await Promise.all(Array.from({ length: atOnce }, (_, i) => suite.start({ exitCode: i, lines: i })))
    const outputs = await Promise.all(handles.map((handle) => read(suite.executor, handle)))
    expect(outputs.map(({ out }) => out)).toEqual(handles.map((_, i) => text(i)))
    const seen = await suite.executor.inspect(handles)
    expect(seen).toEqual(handles.map((_, i) => expect.objectContaining({ state: 'ended', exitCode: i })))
  })
}

function testFind(suite: Suite): void {
  it('finds running and ended runs of another server', async () => {
    const [goesOn, ended] = [suite.backend.run({ endless: true }), suite.backend.run({ exitCode: 3 })]
    const handle = await suite.start({}, goesOn)
    const other = await suite.start({}, ended)
    await untilEnded(suite.executor, other)
    await suite.restart()
    expect(await suite.executor.find(goesOn.runId)).toBe(handle)
    expect(await suite.executor.find(ended.runId)).toBe(other)
    expect((await untilState(suite.executor, handle, 'running')).state).toBe('running')
  })

  it('returns null for a forgotten run, and does not start it', async () => {
    expect(await suite.executor.find(suite.backend.run({}).runId)).toBeNull()
    const run = suite.backend.run({})
    const handle = await suite.start({}, run)
    await untilEnded(suite.executor, handle)
    await suite.executor.forget?.(handle)
    expect(await suite.executor.find(run.runId)).toBeNull()
  })
}

function testInspect(suite: Suite): void {
  it('returns states in the order of the handles', async () => {
    const gone = await suite.start({})
    const ended = await suite.start({ exitCode: 7 })
    const running = await suite.start({ endless: true })
    await untilEnded(suite.executor, gone)
    await suite.executor.forget?.(gone)
    await untilEnded(suite.executor, ended)
    await untilState(suite.executor, running, 'running')
    const states = (await suite.executor.inspect([gone, running, ended, 'no such handle'])).map(({ state }) => state)
    expect(states).toEqual(['gone', 'running', 'ended', 'gone'])
  })

  it.each([0, 1, 77, 255])('reports exit code %i of the command', async (exitCode) => {
    const handle = await suite.start({ exitCode })
    expect(await untilEnded(suite.executor, handle)).toMatchObject({ exitCode, signal: null, stopped: false })
  })

  it('reports a finish that is not before the start', async () => {
    const handle = await suite.start({})
    const { startedAt, finishedAt } = await untilEnded(suite.executor, handle)
    expect(finishedAt?.getTime()).toBeGreaterThanOrEqual(startedAt?.getTime() ?? Number.NaN)
  })

  it('reports the same native id during the run and at its end', async () => {
    const handle = await suite.start({ endless: true })
    const running = await untilState(suite.executor, handle, 'running')
    const name = 'nativeId' in running ? running.nativeId : undefined
    expect(name).toMatch(/./)
    await suite.executor.stop(handle, graceMs)
    expect((await untilEnded(suite.executor, handle)).nativeId).toBe(name)
  })

  it('reports the same state after a restart of the server', async () => {
    const running = await suite.start({ endless: true })
    const ended = await suite.start({ exitCode: 5 })
    await untilEnded(suite.executor, ended)
    await suite.restart()
    await untilState(suite.executor, running, 'running')
    expect(await observe(suite.executor, ended)).toMatchObject({ state: 'ended', exitCode: 5, stopped: false })
  })
}

function testStop(suite: Suite): void {
  it('ends a run by TERM', async () => {
    const handle = await suite.start({ endless: true })
    await untilState(suite.executor, handle, 'running')
    await suite.executor.stop(handle, graceMs)
    expect(await untilEnded(suite.executor, handle)).toMatchObject({ exitCode: 143, signal: 15, stopped: true })
  })

  it('ends a run by KILL if the grace period is 0', async () => {
    const handle = await suite.start({ endless: true, ignoresTerm: true })
    await untilState(suite.executor, handle, 'running')
    await suite.executor.stop(handle, 0)
    expect(await untilEnded(suite.executor, handle)).toMatchObject({ exitCode: 137, signal: 9, stopped: true })
  })

  it('kills a run that ignores TERM after the grace period, also by another server', async () => {
    const handle = await suite.start({ endless: true, ignoresTerm: true, lines: 1 })
    await read(suite.executor, handle, { enough: ({ out }) => out === text(1) })
    await suite.executor.stop(handle, 300)
    await suite.restart()
    expect(await untilEnded(suite.executor, handle)).toMatchObject({ exitCode: 137, signal: 9, stopped: true })
  })

  it('ends a run immediately after its start', async () => {
    const handle = await suite.start({ endless: true })
    await suite.executor.stop(handle, graceMs)
    expect(await untilEnded(suite.executor, handle)).toMatchObject({ exitCode: 143, signal: 15, stopped: true })
  })

  it('may be repeated, and the earlier KILL applies', async () => {
    const handle = await suite.start({ endless: true, ignoresTerm: true, lines: 1 })
    await read(suite.executor, handle, { enough: ({ out }) => out === text(1) })
    await suite.executor.stop(handle, graceMs)
    await suite.executor.stop(handle, graceMs)
    expect((await observe(suite.executor, handle)).state).toBe('running')
    await suite.executor.stop(handle, 100)
    expect(await untilEnded(suite.executor, handle)).toMatchObject({ exitCode: 137, stopped: true })
    await suite.executor.stop(handle, 0)
    expect(await observe(suite.executor, handle)).toMatchObject({ exitCode: 137, stopped: true })
  })

  it('does not change the end of an ended run', async () => {
    const handle = await suite.start({ exitCode: 4 })
    await untilEnded(suite.executor, handle)
    await suite.executor.stop(handle, graceMs)
    await suite.executor.stop(handle, 0)
    expect(await observe(suite.executor, handle)).toMatchObject({ exitCode: 4, signal: null, stopped: false })
  })

  it('ignores an unknown run', async () => {
    await expect(suite.executor.stop('no such handle', 0)).resolves.toBeUndefined()
  })
}

function testLogs(suite: Suite): void {
  it('start at the beginning and end with the run', async () => {
    const handle = await suite.start({ lines: 2_000 })
    const { out, err } = await read(suite.executor, handle)
    expect(out === text(2_000)).toBe(true)
    expect(err).toBe('')
    expect((await observe(suite.executor, handle)).state).toBe('ended')
  })

  it('arrive during the run, and end when it is stopped', async () => {
    const handle = await suite.start({ lines: 3, endless: true })
    const reading = read(suite.executor, handle)
    await read(suite.executor, handle, { enough: ({ out }) => out === text(3) })
    await suite.executor.stop(handle, graceMs)
    expect((await reading).out).toBe(text(3))
  })

  it('resume at a stored position, also after a restart of the server', async () => {
    const handle = await suite.start({ lines: 30_000 })
    const first = await read(suite.executor, handle, { enough: ({ out }) => out.length > 100_000 })
    await suite.restart()
    const second = await read(suite.executor, handle, { from: first.next })
    expect(first.out + second.out === text(30_000)).toBe(true)
    expect((await read(suite.executor, handle, { from: second.next })).out).toBe('')
  })

  it('can be aborted at any time', async () => {
    const handle = await suite.start({ endless: true })
    const abort = new AbortController()
    const next = suite.executor.logs(handle, null, abort.signal)[Symbol.asyncIterator]().next()
    abort.abort()
    expect((await next).done).toBe(true)
  })

  it('of an unknown run are empty', async () => {
    expect((await read(suite.executor, 'no such handle')).out).toBe('')
  })
}

function testWatch(suite: Suite): void {
  it('yields the handles of runs that end', async (context) => {
    if (!suite.executor.watch) return context.skip('the executor does not push')
    const abort = new AbortController()
    const named = new Set<Handle>()
    const watching = (async () => {
      for await (const handle of suite.executor.watch?.(abort.signal) ?? []) named.add(handle)
    })()
    const ends = await suite.start({})
    const isStopped = await suite.start({ endless: true })
    await untilEnded(suite.executor, ends)
    await suite.executor.stop(isStopped, 0)
    await until(() => named.has(ends) && named.has(isStopped), { what: 'both ends were named' })
    abort.abort()
    await watching
  })

  it('ends when it is aborted', async (context) => {
    if (!suite.executor.watch) return context.skip('the executor does not push')
    const abort = new AbortController()
    const next = suite.executor.watch?.(abort.signal)[Symbol.asyncIterator]().next()
    abort.abort()
    expect((await next)?.done).toBe(true)
  })
}

function testSample(suite: Suite): void {
  it('measures running runs, and omits values that it cannot measure', async () => {
    const handle = await suite.start({ endless: true })
    await untilState(suite.executor, handle, 'running')
    const runs = [
      { handle: 'unknown', gpuIds: [] },
      { handle, gpuIds: [] },
    ]
    const samples = (await suite.executor.sample?.(runs)) ?? []
    expect(samples).toHaveLength(2)
    for (const amount of samples.flatMap((sample) => Object.values(sample))) expect(amount).toBeGreaterThanOrEqual(0)
  })
}

function testForgetAndDescribe(suite: Suite): void {
  it('forgets a run, also when repeated', async () => {
    const handle = await suite.start({ lines: 1 })
    await untilEnded(suite.executor, handle)
    await suite.executor.forget?.(handle)
    await suite.executor.forget?.(handle)
    expect(await observe(suite.executor, handle)).toMatchObject({ state: 'gone' })
  })

  it('describes itself', async () => {
    // A slow backend describes itself only in a later call.
    const { version } = await until(
      async () => {
        const description = await suite.executor.describe()
        return description.available && description
      },
      { what: 'the backend is described' },
    )
    expect(version === null).toBe(findTraits(suite.executor.name).version === null)
  })
}
