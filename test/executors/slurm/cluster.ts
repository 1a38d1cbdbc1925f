import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll } from 'vitest'
import type { Executor } from '../../../src/executors/executor.ts'
import { createSlurmExecutor, type SlurmOptions } from '../../../src/executors/slurm/slurm.ts'
import { until } from '../../support/until.ts'
import { machineParts, makeResources, makeRun, read, untilEnded } from '../runs.ts'

/**
 * A real Slurm, if the environment names its slurm.conf: `npm run test:executors` starts one of two nodes with four
 * processors each. Otherwise the files that need it are skipped, and print that.
 */
export const conf = process.env['BERTH_TEST_SLURM']
if (conf === undefined)
  process.stderr.write('SKIPPED: the executor slurm; "npm run test:executors" runs it with a real cluster\n')

/** Slurm gives each job a cgroup. */
export const hasCgroups = conf !== undefined && existsSync(join(dirname(conf), 'cgroup.conf'))

export const openSlurm = (directory: string, more: Partial<SlurmOptions> = {}) =>
  createSlurmExecutor({
    sharedDir: join(directory, 'shared'),
    pool: 'cluster',
    hasRuns: async () => false,
    environment: { ...process.env, SLURM_CONF: conf },
    ...machineParts,
    ...more,
  })

export const small = makeResources({ memoryBytes: 16 * 2 ** 20 })
export const onMain = { queueNative: { partition: 'main' } }

export type Spec = Parameters<typeof makeRun>[0]
export type Run = Parameters<typeof makeRun>[1]
export const sh = (text: string, spec: Spec = {}): Spec => ({ command: ['/bin/sh', '-c', text], ...spec })
export const tasks = (amounts: Parameters<typeof makeResources>[0]) => makeResources({ ...small, ...amounts })

export const runSlurmCommand = (command: string, ...args: string[]) =>
  promisify(execFile)(command, args, { env: { ...process.env, SLURM_CONF: conf } })

/** The file in which the controller stores its jobs. */
export const storedJobs = () => join(dirname(conf ?? ''), 'state', 'job_state')

/** Runs `work` while the controller is stopped, and starts a new controller afterwards. */
export async function withoutController(
  work: () => Promise<void>,
  by: 'SIGTERM' | 'SIGKILL' = 'SIGTERM',
): Promise<void> {
  const file = join(dirname(conf ?? ''), 'slurmctld.pid')
  const pid = Number(await readFile(file, 'utf8'))
  process.kill(pid, by)
  await until(() => !existsSync(`/proc/${pid}`), { what: 'the controller has ended' })
  try {
    await work()
  } finally {
    const { pid: next } = spawn('slurmctld', ['-D', '-i', '-f', conf ?? ''], { detached: true, stdio: 'ignore' })
    await writeFile(file, String(next))
  }
}

/** Opens an executor for all tests of a block, with functions that use it. */
export function useSlurm() {
  let directory = ''
  let executor: Executor

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'berth-slurm-'))
    await chmod(directory, 0o711)
    await mkdir(join(directory, 'shared'))
    executor = await openSlurm(directory)
  })
  afterAll(async () => {
    await executor.close()
    await rm(directory, { recursive: true })
  })

  const start = (spec: Spec, run: Run = {}, on = executor) =>
    on.start(makeRun({ resources: small, workdir: '/', ...spec }, { ...onMain, ...run }))
  return {
    get directory() {
      return directory
    },
    get executor() {
      return executor
    },
    start,
    async finish(spec: Spec, run: Run = {}) {
      const handle = await start(spec, run)
      const output = await read(executor, handle)
      return { handle, ...output, ...(await untilEnded(executor, handle)) }
    },
    /** Starts the run, and waits until it prints that it is up. */
    async up(spec: Spec, run: Run = {}) {
      const handle = await start(spec, run)
      await read(executor, handle, { enough: ({ out }) => out === 'up\n' })
      return handle
    },
    /** Opens an executor with scripts instead of the commands of Slurm with these names. */
    async openWith(commands: Readonly<Record<string, string>>): Promise<Executor> {
      const bin = await mkdtemp(join(directory, 'bin-'))
      for (const [name, text] of Object.entries(commands))
        await writeFile(join(bin, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
      return openSlurm(directory, { environment: { SLURM_CONF: conf, PATH: `${bin}:${process.env['PATH']}` } })
    },
  }
}
