import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'vitest'
import { createSlurmExecutor, type SlurmOptions } from '../../src/executors/slurm/slurm.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createLog } from '../../src/platform/log.ts'
import { machineTime } from '../support/clock.ts'
import { until } from '../support/until.ts'
import { type Behaviour, contract } from './contract.ts'
import { resourcesOf, runOf } from './runs.ts'

/**
 * A real Slurm, where the environment names its slurm.conf: `npm run test:executors` starts one of two nodes with four
 * processors each. Elsewhere this file is skipped, and says so.
 */
const conf = process.env['BERTH_TEST_SLURM']
if (conf === undefined)
  process.stderr.write('SKIPPED: the executor slurm; "npm run test:executors" runs it with a real cluster\n')

const open = (directory: string, more: Partial<SlurmOptions> = {}) =>
  createSlurmExecutor({
    sharedDir: join(directory, 'shared'),
    pool: 'cluster',
    environment: { ...process.env, SLURM_CONF: conf },
    clock: systemClock,
    time: machineTime,
    log: createLog('warn'),
    ...more,
  })

const small = resourcesOf({ memoryBytes: 16 * 2 ** 20 })
const onMain = { queueNative: { partition: 'main' } }

function script({ lines = 0, exitCode = 0, endless = false, ignoresTerm = false }: Behaviour): string {
  return [
    'echo x >> "$0"',
    ignoresTerm ? "trap '' TERM" : '',
    `i=0; while [ $i -lt ${lines} ]; do i=$((i+1)); echo "line $i"; done`,
    endless ? (ignoresTerm ? 'while :; do sleep 600; done' : 'exec sleep 600') : `exit ${exitCode}`,
  ].join('\n')
}

describe.skipIf(conf === undefined)(`with ${conf}`, () => {
  contract('slurm', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'berth-slurm-'))
    await mkdir(join(directory, 'marks'))
    return {
      open: () => open(directory),
      run(behaviour) {
        const run = runOf({ resources: small }, onMain)
        const command = ['/bin/sh', '-c', script(behaviour), join(directory, 'marks', run.runId)]
        return { ...run, spec: { ...run.spec, command } }
      },
      async starts({ runId }) {
        const path = join(directory, 'marks', runId)
        const mark = await until(() => readFile(path).catch(() => null), { what: 'the command began' })
        return mark.toString().trim().split('\n').length
      },
      remove: () => rm(directory, { recursive: true }),
    }
  })
})
