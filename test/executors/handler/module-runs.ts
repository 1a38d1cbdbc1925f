import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import type { Executor } from '../../../src/executors/executor.ts'
import { createHandlerExecutor } from '../../../src/executors/handler/handler.ts'
import { makeDirectory } from '../../support/directory.ts'
import { type contract, startsAt } from '../contract.ts'
import { finishRun, machineParts, makeRun } from '../runs.ts'

const open = (directory: string) =>
  createHandlerExecutor({ spoolDir: join(directory, 'spool'), environment: process.env, ...machineParts })

/** Runs a contract of executors with a module that appends a mark when it begins, and behaves as its input says. */
export const testContract = (keepsContract: typeof contract, fileName: string, source: string): void =>
  keepsContract('handler', async () => {
    const directory = makeDirectory()
    const module = join(directory, fileName)
    await writeFile(module, source)
    const marks = new Map<string, string>()
    return {
      open: () => open(directory),
      run(behaviour) {
        const mark = join(directory, `mark-${marks.size}`)
        const run = makeRun({ handler: module, input: { ...behaviour, mark } })
        marks.set(run.runId, mark)
        return run
      },
      starts: ({ runId }) => startsAt(marks.get(runId) ?? ''),
      // An interpreter is expensive, and starts are those of local processes, whose test starts more.
      atOnce: 5,
    }
  })

interface HandlerExecutor {
  directory: string
  executor: Executor
  /** Runs a module with this source; null: the file exists already. */
  runModule(
    source: string | null,
    more?: { input?: object; closure?: object; name?: string },
  ): Promise<{ out: string; err: string; exitCode: number; cause: string | undefined }>
}

/** Opens an executor for the tests of a file. `module` is the default name of the module. */
export function openHandlerExecutor(module: string): HandlerExecutor {
  const own: HandlerExecutor = {
    directory: '',
    executor: undefined as unknown as Executor,
    async runModule(source, { input = null, closure = null, name = module } = {}) {
      if (source !== null) await writeFile(join(own.directory, name), source)
      const run = makeRun({ handler: name, workdir: own.directory, input: input as Record<string, unknown> | null })
      const ended = await finishRun(own.executor, { ...run, closure: closure && JSON.stringify(closure) })
      await own.executor.forget?.(ended.handle)
      return { ...ended, cause: ended.cause }
    },
  }
  beforeAll(async () => {
    own.directory = makeDirectory()
    own.executor = await open(own.directory)
  })
  afterAll(() => own.executor.close())
  return own
}
