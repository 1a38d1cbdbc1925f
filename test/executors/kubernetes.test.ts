import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'vitest'
import { createKubernetesExecutor } from '../../src/executors/kubernetes/kubernetes.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createLog } from '../../src/platform/log.ts'
import { machineTime } from '../support/clock.ts'
import { until } from '../support/until.ts'
import { type Behaviour, contract } from './contract.ts'
import { resourcesOf, runOf } from './runs.ts'

/**
 * Real pods, where the environment names the kubeconfig of a cluster whose nodes see the directories of this machine and
 * have the image `localhost/bb:1` (busybox): `npm run test:executors` starts one. Elsewhere this file is skipped, and
 * says so.
 */
const kubeconfig = process.env['BERTH_TEST_KUBERNETES']
const image = 'localhost/bb:1'
if (kubeconfig === undefined)
  process.stderr.write('SKIPPED: the executor kubernetes; "npm run test:executors" runs it with a real cluster\n')

const open = (directory: string) =>
  createKubernetesExecutor({
    kubeconfig,
    installation: directory,
    environment: { PASSED: 'yes', SECRET: 'no' },
    inheritNames: ['PASSED'],
    deadlineSlackSeconds: 0,
    image,
    dataRoots: { data: directory },
    clock: systemClock,
    time: machineTime,
    log: createLog('warn'),
  })

async function clear(directory: string): Promise<void> {
  const executor = await open(directory)
  for (const { handle } of (await executor.list?.()) ?? []) await executor.forget?.(handle)
  await executor.close()
  await rm(directory, { recursive: true })
}

const small = resourcesOf({ cpu: 0.05, memoryBytes: 64 * 2 ** 20 })

function script({ lines = 0, exitCode = 0, endless = false, ignoresTerm = false }: Behaviour): string {
  return [
    'echo x >> /marks/$0',
    ignoresTerm ? "trap '' TERM" : '',
    `i=0; while [ $i -lt ${lines} ]; do i=$((i+1)); echo "line $i"; done`,
    endless ? (ignoresTerm ? 'while :; do sleep 600; done' : 'exec sleep 600') : `exit ${exitCode}`,
  ].join('\n')
}

describe.skipIf(kubeconfig === undefined)('with a cluster', { timeout: 60_000 }, () => {
  contract('kubernetes', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'berth-kubernetes-'))
    return {
      open: () => open(directory),
      run(behaviour) {
        const run = runOf({ data: ['data:/marks'], resources: small })
        return { ...run, spec: { ...run.spec, command: ['/bin/sh', '-c', script(behaviour), run.runId] } }
      },
      async starts({ runId }) {
        const mark = await until(() => readFile(join(directory, runId)).catch(() => null), {
          what: 'the command began',
        })
        return mark.toString().trim().split('\n').length
      },
      remove: () => clear(directory),
    }
  })
})
