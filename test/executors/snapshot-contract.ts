import { expect, it } from 'vitest'
import { findTraits } from '../../src/domain/executors.ts'
import { type Executor, type Handle, isOver, type RunSpec, StartFailed } from '../../src/executors/executor.ts'
import { until } from '../support/until.ts'
import type { Backend, Behaviour } from './contract.ts'
import { confirmedMsMax, observe, read } from './runs.ts'
import { makeOpener } from './snapshot-files.ts'

interface Suite {
  backend: Backend
  executor: Executor
  start(behaviour: Behaviour, run: RunSpec): Promise<Handle>
}

/** The copy of a snapshot in which a run begins. */
export function testSnapshot(suite: Suite): void {
  const files = {
    'src/run': { mode: 0o750, text: '#!/bin/sh\ncat ../data/in.txt; pwd\n' },
    'data/in.txt': { mode: 0o640, text: 'as it was\n' },
    'data/a:b "c"': { text: '' },
    latest: { link: 'src/run' },
  }
  async function run(script: string, workdir: string | null = null): Promise<string | null> {
    const made = suite.backend.run({})
    const isFit = findTraits(suite.executor.name).honours.includes('snapshot') && made.spec.command?.[0] === '/bin/sh'
    if (!isFit) return null
    const spec = { ...made.spec, workdir, command: ['/bin/sh', '-c', script] }
    const handle = await suite.start({}, { ...made, spec, openSnapshot: makeOpener(files) })
    const { out, err } = await read(suite.executor, handle)
    const isEnd = async () => {
      const seen = await observe(suite.executor, handle)
      return isOver(seen) && seen
    }
    const seen = await until(isEnd, { what: 'the run is over', timeoutMs: confirmedMsMax })
    await suite.executor.forget?.(handle)
    if (seen.state === 'failed') throw new StartFailed(seen.reason, seen.message)
    return out + err
  }
  const unfit = 'the executor has no snapshots, or its jobs no commands'

  it('has the contents, modes and links of the files, and belongs to the account of the job', async (context) => {
    const foreign = 'find . ! -user "$(id -u)"'
    const out = await run(
      `find . | sort; cat data/in.txt; readlink latest; find . -type f -perm 750; find . -perm 640; ${foreign}`,
    )
    if (out === null) return context.skip(unfit)
    const listed = ['.', './data', './data/a:b "c"', './data/in.txt', './latest', './src', './src/run']
    expect(out.trim().split('\n')).toEqual([...listed, 'as it was', 'src/run', './src/run', './data/in.txt'])
  })

  it('is the folder to which workdir is relative', async (context) => {
    const out = await run('./run', 'src')
    if (out === null) return context.skip(unfit)
    expect(out).toMatch(/^as it was\n\/.*\/src\n$/)
    await expect(run('true', 'other')).rejects.toMatchObject({ reason: 'WORKDIR_NOT_FOUND' })
    await expect(run('true', 'src/run')).rejects.toMatchObject({ reason: 'WORKDIR_NOT_FOUND' })
  })

  it('is copied again for each run', async (context) => {
    const change = 'cat data/in.txt; ls new; echo changed >data/in.txt; echo >new; rm -r src; chmod 500 .'
    const first = await run(change)
    if (first === null) return context.skip(unfit)
    expect(first).toMatch(/^as it was\n.*new.*\n$/)
    expect(await run(change)).toBe(first)
  })
}
