import { readFile } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { traitsOf } from '../../src/domain/executors.ts'
import { type Executor, type Handle, isOver, type RunSpec } from '../../src/executors/executor.ts'
import { until } from '../support/until.ts'
import { confirmedMsMax, observe, read, untilEnded, untilState } from './runs.ts'

/** What a run of the suite does, in words that every backend can translate. */
export interface Behaviour {
  /** Lines `line 1` … on stdout, at once. */
  lines?: number
  exitCode?: number
  /** Runs until it is stopped. */
  endless?: boolean
  ignoresTerm?: boolean
}

export interface Backend {
  /** Over the same store as before: what a server that starts again does. */
  open(): Promise<Executor>
  run(behaviour: Behaviour): RunSpec
  /** How often a run's command was really started; null: the backend cannot tell. */
  starts(run: RunSpec): Promise<number | null>
  remove(): Promise<void>
}

/** The behaviour as a command of a shell, which leaves a line in the file `mark` when it begins. */
export function commandOf(behaviour: Behaviour, mark: string): string[] {
  const { lines = 0, exitCode = 0, endless = false, ignoresTerm = false } = behaviour
  const script = [
    'echo x >> "$0"',
    ignoresTerm ? "trap '' TERM" : '',
    `i=0; while [ $i -lt ${lines} ]; do i=$((i+1)); echo "line $i"; done`,
    endless ? (ignoresTerm ? 'while :; do sleep 600; done' : 'exec sleep 600') : `exit ${exitCode}`,
  ].join('\n')
  return ['/bin/sh', '-c', script, mark]
}

/** How often a command that leaves lines in the file began, at least once. */
export async function startsAt(mark: string): Promise<number> {
  const lines = await until(() => readFile(mark, 'utf8').catch(() => null), { what: 'the command began' })
  return lines.trim().split('\n').length
}

const text = (lines: number) => Array.from({ length: lines }, (_, i) => `line ${i + 1}\n`).join('')
const graceMs = 60_000

export function contract(name: string, createBackend: () => Promise<Backend>) {
  describe(`${name} keeps the contract`, () => {
    let backend: Backend
    let executor: Executor
    const opened: Executor[] = []
    const begun: Handle[] = []

    const open = async () => {
      const next = await backend.open()
      opened.push(next)
      return next
    }
    const start = async (behaviour: Behaviour, run = backend.run(behaviour)) => {
      const handle = await executor.start(run)
      begun.push(handle)
      return handle
    }
    const restart = async () => {
      await executor.close()
      opened.splice(opened.indexOf(executor), 1)
      executor = await open()
    }

    beforeEach(async () => {
      backend = await createBackend()
      executor = await open()
    })

    afterEach(async () => {
      const left = begun.splice(0)
      for (const handle of left) await executor.stop(handle, 0)
      // A run that still ends would write into what is removed now.
      const areOver = async () => (await executor.inspect(left)).every(isOver)
      await until(areOver, { what: 'all runs are over', timeoutMs: confirmedMsMax })
      for (const each of opened.splice(0)) await each.close()
      await backend.remove()
    })

    describe('start', () => {
      it('twice starts once', async () => {
        const run = backend.run({ endless: true })
        const handle = await start({}, run)
        expect(await start({}, run)).toBe(handle)
        await restart()
        expect(await start({}, run)).toBe(handle)
        expect((await untilState(executor, handle, 'running')).state).toBe('running')
        expect(await backend.starts(run)).toBeOneOf([1, null])
      })

      it('by several servers at once starts once', async () => {
        const run = backend.run({ endless: true })
        const servers = [executor, await open(), await open()]
        const handles = await Promise.all([...servers, ...servers].map((server) => server.start(run)))
        begun.push(...handles)
        expect(new Set(handles).size).toBe(1)
        await untilState(executor, handles[0] ?? '', 'running')
        expect(await backend.starts(run)).toBeOneOf([1, null])
      })

      it('after the end does not run again', async () => {
        const run = backend.run({ exitCode: 3 })
        const handle = await start({}, run)
        await untilEnded(executor, handle)
        expect(await start({}, run)).toBe(handle)
        expect(await observe(executor, handle)).toMatchObject({ state: 'ended', exitCode: 3 })
        expect(await backend.starts(run)).toBeOneOf([1, null])
      })

      it('twenty at once are twenty runs', async () => {
        const handles = await Promise.all(Array.from({ length: 20 }, (_, i) => start({ exitCode: i, lines: i })))
        const outputs = await Promise.all(handles.map((handle) => read(executor, handle)))
        expect(outputs.map(({ out }) => out)).toEqual(handles.map((_, i) => text(i)))
        const seen = await executor.inspect(handles)
        expect(seen).toEqual(handles.map((_, i) => expect.objectContaining({ state: 'ended', exitCode: i })))
      })
    })

    describe('find', () => {
      it('finds what another server started, whatever became of it', async () => {
        const [goesOn, ended] = [backend.run({ endless: true }), backend.run({ exitCode: 3 })]
        const handle = await start({}, goesOn)
        const other = await start({}, ended)
        await untilEnded(executor, other)
        await restart()
        expect(await executor.find(goesOn.runId)).toBe(handle)
        expect(await executor.find(ended.runId)).toBe(other)
        expect((await untilState(executor, handle, 'running')).state).toBe('running')
      })

      it('starts nothing, and forgets with the rest', async () => {
        expect(await executor.find(backend.run({}).runId)).toBeNull()
        const run = backend.run({})
        const handle = await start({}, run)
        await untilEnded(executor, handle)
        await executor.forget?.(handle)
        expect(await executor.find(run.runId)).toBeNull()
      })
    })

    describe('inspect', () => {
      it('answers in the order of the handles: running, ended, gone', async () => {
        const gone = await start({})
        const ended = await start({ exitCode: 7 })
        const running = await start({ endless: true })
        await untilEnded(executor, gone)
        await executor.forget?.(gone)
        await untilEnded(executor, ended)
        await untilState(executor, running, 'running')
        const states = (await executor.inspect([gone, running, ended, 'no such handle'])).map(({ state }) => state)
        expect(states).toEqual(['gone', 'running', 'ended', 'gone'])
      })

      it.each([0, 1, 77, 255])('reports exit code %i as the command’s own', async (exitCode) => {
        const handle = await start({ exitCode })
        expect(await untilEnded(executor, handle)).toMatchObject({ exitCode, signal: null, stopped: false })
      })

      it('tells times that make sense', async () => {
        const handle = await start({})
        const { startedAt, finishedAt } = await untilEnded(executor, handle)
        expect(finishedAt?.getTime()).toBeGreaterThanOrEqual(startedAt?.getTime() ?? Number.NaN)
      })

      it('tells the backend’s own name of a run while it runs, and at its end', async () => {
        const handle = await start({ endless: true })
        const running = await untilState(executor, handle, 'running')
        const name = 'nativeId' in running ? running.nativeId : undefined
        expect(name).toMatch(/./)
        await executor.stop(handle, graceMs)
        expect((await untilEnded(executor, handle)).nativeId).toBe(name)
      })

      it('says the same after a restart', async () => {
        const running = await start({ endless: true })
        const ended = await start({ exitCode: 5 })
        await untilEnded(executor, ended)
        await restart()
        await untilState(executor, running, 'running')
        expect(await observe(executor, ended)).toMatchObject({ state: 'ended', exitCode: 5, stopped: false })
      })
    })

    describe('stop', () => {
      it('ends a run by TERM', async () => {
        const handle = await start({ endless: true })
        await untilState(executor, handle, 'running')
        await executor.stop(handle, graceMs)
        expect(await untilEnded(executor, handle)).toMatchObject({ exitCode: 143, signal: 15, stopped: true })
      })

      it('without a grace ends it by KILL', async () => {
        const handle = await start({ endless: true, ignoresTerm: true })
        await untilState(executor, handle, 'running')
        await executor.stop(handle, 0)
        expect(await untilEnded(executor, handle)).toMatchObject({ exitCode: 137, signal: 9, stopped: true })
      })

      it('kills after the grace what ignores TERM, with another server too', async () => {
        const handle = await start({ endless: true, ignoresTerm: true, lines: 1 })
        await read(executor, handle, { enough: ({ out }) => out === text(1) })
        await executor.stop(handle, 300)
        await restart()
        expect(await untilEnded(executor, handle)).toMatchObject({ exitCode: 137, signal: 9, stopped: true })
      })

      it('right after the start ends it, whatever it had begun', async () => {
        const handle = await start({ endless: true })
        await executor.stop(handle, graceMs)
        expect(await untilEnded(executor, handle)).toMatchObject({ exitCode: 143, signal: 15, stopped: true })
      })

      it('twice is fine, and the earlier end counts', async () => {
        const handle = await start({ endless: true, ignoresTerm: true, lines: 1 })
        await read(executor, handle, { enough: ({ out }) => out === text(1) })
        await executor.stop(handle, graceMs)
        await executor.stop(handle, graceMs)
        expect((await observe(executor, handle)).state).toBe('running')
        await executor.stop(handle, 100)
        expect(await untilEnded(executor, handle)).toMatchObject({ exitCode: 137, stopped: true })
        await executor.stop(handle, 0)
        expect(await observe(executor, handle)).toMatchObject({ exitCode: 137, stopped: true })
      })

      it('after the end changes nothing', async () => {
        const handle = await start({ exitCode: 4 })
        await untilEnded(executor, handle)
        await executor.stop(handle, graceMs)
        await executor.stop(handle, 0)
        expect(await observe(executor, handle)).toMatchObject({ exitCode: 4, signal: null, stopped: false })
      })

      it('of an unknown run is fine', async () => {
        await expect(executor.stop('no such handle', 0)).resolves.toBeUndefined()
      })
    })

    describe('logs', () => {
      it('come from the beginning and end with the run', async () => {
        const handle = await start({ lines: 2_000 })
        const { out, err } = await read(executor, handle)
        expect(out === text(2_000)).toBe(true)
        expect(err).toBe('')
        expect((await observe(executor, handle)).state).toBe('ended')
      })

      it('come while the run goes on, and end when it is stopped', async () => {
        const handle = await start({ lines: 3, endless: true })
        const reading = read(executor, handle)
        await read(executor, handle, { enough: ({ out }) => out === text(3) })
        await executor.stop(handle, graceMs)
        expect((await reading).out).toBe(text(3))
      })

      it('go on at a stored position, after a restart too', async () => {
        const handle = await start({ lines: 30_000 })
        const first = await read(executor, handle, { enough: ({ out }) => out.length > 100_000 })
        await restart()
        const second = await read(executor, handle, { from: first.next })
        expect(first.out + second.out === text(30_000)).toBe(true)
        expect((await read(executor, handle, { from: second.next })).out).toBe('')
      })

      it('can be left at any moment', async () => {
        const handle = await start({ endless: true })
        const abort = new AbortController()
        const next = executor.logs(handle, null, abort.signal)[Symbol.asyncIterator]().next()
        abort.abort()
        expect((await next).done).toBe(true)
      })

      it('of an unknown run end', async () => {
        expect((await read(executor, 'no such handle')).out).toBe('')
      })
    })

    describe('watch', () => {
      it('names the handles of runs that end', async (context) => {
        if (!executor.watch) return context.skip('it does not push')
        const abort = new AbortController()
        const named = new Set<Handle>()
        const watching = (async () => {
          for await (const handle of executor.watch?.(abort.signal) ?? []) named.add(handle)
        })()
        const ends = await start({})
        const isStopped = await start({ endless: true })
        await untilEnded(executor, ends)
        await executor.stop(isStopped, 0)
        await until(() => named.has(ends) && named.has(isStopped), { what: 'both ends were named' })
        abort.abort()
        await watching
      })

      it('ends when it is left', async (context) => {
        if (!executor.watch) return context.skip('it does not push')
        const abort = new AbortController()
        const next = executor.watch?.(abort.signal)[Symbol.asyncIterator]().next()
        abort.abort()
        expect((await next)?.done).toBe(true)
      })
    })

    it('forgets a run, twice if need be', async () => {
      const handle = await start({ lines: 1 })
      await untilEnded(executor, handle)
      await executor.forget?.(handle)
      await executor.forget?.(handle)
      expect(await observe(executor, handle)).toMatchObject({ state: 'gone' })
    })

    it('describes itself', async () => {
      const { available, version } = await executor.describe()
      expect(available).toBe(true)
      expect(version === null).toBe(traitsOf(executor.name).version === null)
    })
  })
}
