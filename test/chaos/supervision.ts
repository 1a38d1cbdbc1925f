import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Random } from '../../simulate/random.ts'
import type { Executor, RunSpec } from '../../src/executors/executor.ts'
import { Cgroups } from '../../src/executors/local/cgroups.ts'
import { createLocalExecutor } from '../../src/executors/local/local.ts'
import { listProcesses, startedWith } from '../../src/executors/local/processes.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createLog } from '../../src/platform/log.ts'
import { makeRun, observe } from '../executors/runs.ts'
import { machineTime } from '../support/clock.ts'
import { until } from '../support/until.ts'
import { type Scenario, Skipped, scaleByLoad } from './scenario.ts'

/**
 * Jobs that are hard to end, or that lose their supervisor, several at once, under servers that are killed and
 * restarted.
 */
export const supervision: readonly Scenario[] = [
  { name: 'stubborn-jobs-in-cgroups', run: (context) => runStubbornJobs(context, true) },
  { name: 'stubborn-jobs-without-cgroups', run: (context) => runStubbornJobs(context, false) },
]

type Context = Parameters<Scenario['run']>[0]

/** Most run forever unless they are stopped. */
const scripts = [
  'kill -STOP 0',
  'pkill -KILL -s $PPID -x cat; yes',
  'kill -KILL $PPID; sleep 600',
  'trap "" TERM USR1 USR2 ALRM PIPE; for s in USR1 USR2 ALRM PIPE TERM; do kill -$s 0; done; sleep 600 & wait; sleep 600',
  'setsid -f sh -c "trap \\"\\" TERM; sleep 600"; setsid sleep 600 & sleep 600',
  'i=0; while [ $i -lt 50 ]; do i=$((i+1)); setsid -f sleep 600; done; exit 3',
  'yes >/dev/stderr',
] as const
const jobsPerRound = 6
const logBytesMax = 1_000_000
const overMs = 30_000

async function runStubbornJobs({ seed, seconds, log }: Context, usesCgroups: boolean): Promise<void> {
  if (usesCgroups && new Cgroups(tmpdir()).base === null) throw new Skipped('no cgroup can be made here')
  const random = new Random(seed)
  const end = performance.now() + seconds * 1_000
  let jobs = 0
  while (performance.now() < end) {
    const directory = await mkdtemp(join(tmpdir(), 'berth-chaos-'))
    const spoolDir = join(directory, 'spool')
    await round(random, spoolDir, usesCgroups).finally(() =>
      rm(directory, { recursive: true, force: true, maxRetries: 5 }),
    )
    jobs += jobsPerRound
  }
  log(`${jobs} stubborn jobs are over`)
}

async function round(random: Random, spoolDir: string, usesCgroups: boolean): Promise<void> {
  const options = { spoolDir, logBytesMax, usesCgroups, environment: process.env }
  const open = () => createLocalExecutor({ ...options, clock: systemClock, time: machineTime, log: createLog('error') })
  let executor = await open()
  const runs: string[] = []
  while (runs.length < jobsPerRound) {
    runs.push(await executor.start(createStubbornRun(random)))
  }
  if (random.chance(0.5)) {
    await executor.close()
    executor = await open()
  }
  for (const runId of runs) await executor.stop(runId, random.of([0, 100, 500]))
  for (const runId of runs) await assertOver(executor, runId)
  for (const runId of runs) await executor.forget?.(runId)
  await executor.close()
}

function createStubbornRun(random: Random): RunSpec {
  const maxRunTimeSeconds = random.chance(0.3) ? 600 : 0
  const command = ['/bin/sh', '-c', random.of(scripts)]
  return makeRun({ command, workdir: '/tmp', maxRunTimeSeconds })
}

/** When the run is reported as over, none of its processes is alive. */
async function assertOver(executor: Executor, runId: string): Promise<void> {
  const isOver = async () => {
    const { state } = await observe(executor, runId)
    return state === 'ended' || state === 'gone'
  }
  await until(isOver, { what: `${runId} is over`, timeoutMs: scaleByLoad(overMs) })
  for (const { pid } of await listProcesses()) {
    assert(!(await startedWith(pid, `BERTH_RUN_ID=${runId}`)), `${pid} lives, but ${runId} is reported as over`)
  }
}
