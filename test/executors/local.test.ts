import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLocalExecutor } from '../../src/executors/local/local.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createLog } from '../../src/platform/log.ts'
import { machineTime } from '../support/clock.ts'
import { until } from '../support/until.ts'
import { type Behaviour, contract } from './contract.ts'
import { runOf } from './runs.ts'

/** Real processes; each leaves a mark when it begins. */
function script({ lines = 0, exitCode = 0, endless = false, ignoresTerm = false }: Behaviour): string {
  return [
    'echo x >> "$0"',
    ignoresTerm ? "trap '' TERM" : '',
    `i=0; while [ $i -lt ${lines} ]; do i=$((i+1)); echo "line $i"; done`,
    endless ? (ignoresTerm ? 'while :; do sleep 600; done' : 'exec sleep 600') : `exit ${exitCode}`,
  ].join('\n')
}

contract('local', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'berth-local-'))
  const marks = new Map<string, string>()
  const options = {
    spoolDir: join(directory, 'spool'),
    environment: process.env,
    clock: systemClock,
    time: machineTime,
  }
  return {
    open: () => createLocalExecutor({ ...options, log: createLog('warn') }),
    run(behaviour) {
      const mark = join(directory, `mark-${marks.size}`)
      const run = runOf({ command: ['/bin/sh', '-c', script(behaviour), mark] })
      marks.set(run.runId, mark)
      return run
    },
    async starts({ runId }) {
      const mark = await until(() => readFile(marks.get(runId) ?? '').catch(() => null), { what: 'the command began' })
      return mark.toString().trim().split('\n').length
    },
    remove: () => rm(directory, { recursive: true }),
  }
})
