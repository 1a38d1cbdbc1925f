import { join } from 'node:path'
import { createLocalExecutor } from '../../../src/executors/local/local.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { createLog } from '../../../src/platform/log.ts'
import { machineTime } from '../../support/clock.ts'
import { makeDirectory } from '../../support/directory.ts'
import { contract, makeCommand, startsAt } from '../contract.ts'
import { makeRun } from '../runs.ts'

contract('local', async () => {
  const directory = makeDirectory()
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
      const run = makeRun({ command: makeCommand(behaviour, mark) })
      marks.set(run.runId, mark)
      return run
    },
    starts: ({ runId }) => startsAt(marks.get(runId) ?? ''),
  }
})
