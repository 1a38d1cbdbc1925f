import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Random } from '../../simulate/random.ts'
import type { Executor, RunSpec } from '../../src/executors/executor.ts'
import { openCgroups } from '../../src/executors/local/cgroups.ts'
import { createLocalExecutor } from '../../src/executors/local/local.ts'
import { beganWith, seeAll } from '../../src/executors/local/processes.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createLog } from '../../src/platform/log.ts'
import { observe, runOf } from '../executors/runs.ts'
import { machineTime } from '../support/clock.ts'
import { until } from '../support/until.ts'
import { here, type Scenario, Skipped } from './scenario.ts'

/** Jobs that attack their supervision, several at once, under servers that come and go. */
export const supervision: readonly Scenario[] = [
  { name: 'attacks-from-cgroups', run: (context) => attack(context, true) },
  { name: 'attacks-without-cgroups', run: (context) => attack(context, false) },
]

type Context = Parameters<Scenario['run']>[0]

/** What a job of the server's own account may try; each goes on for ever unless it is stopped. */
const attacks = [
  'kill -STOP $PPID; kill -STOP 0',
  'while :; do kill -STOP $PPID; done',
  'pkill -KILL -s $PPID -x sleep; sleep 600',
  'pkill -KILL -s $PPID -x cat; yes',
  'kill -KILL $PPID; sleep 600',
  'trap "" TERM USR1 USR2 ALRM PIPE; for s in USR1 USR2 ALRM PIPE TERM; do kill -$s 0; done; sleep 600 & wait; sleep 600',
  'setsid -f sh -c "trap \\"\\" TERM; sleep 600"; setsid sleep 600 & sleep 600',
  'i=0; while [ $i -lt 50 ]; do i=$((i+1)); setsid -f sleep 600; done; exit 3',
  'rm -rf "$0/runs"; sleep 600',
  'rm -rf "$0/runs"; exit 0',
  'printf "exit 0 1\\n" >>/proc/$PPID/fd/3; kill -STOP $PPID; sleep 600',
  'yes >/dev/stderr',
] as const
const jobsPerRound = 6
const logBytesMax = 1_000_000
const overMs = 30_000
const restoreMs = 50

async function attack({ seed, seconds, log }: Context, usesCgroups: boolean): Promise<void> {
  if (usesCgroups && openCgroups(tmpdir()) === null) throw new Skipped('no cgroup can be made here')
  const random = new Random(seed)
  const end = performance.now() + seconds * 1_000
  let jobs = 0
  while (performance.now() < end) {
    const directory = await mkdtemp(join(tmpdir(), 'berth-chaos-'))
    const spoolDir = join(directory, 'spool')
    // Without the folder of the runs the executor waits until an operator puts it back.
    const restore = () => mkdir(join(spoolDir, 'runs'), { recursive: true, mode: 0o700 }).catch(() => {})
    const operator = setInterval(restore, restoreMs)
    await round(random, spoolDir, usesCgroups).finally(async () => {
      clearInterval(operator)
      await rm(directory, { recursive: true, force: true, maxRetries: 5 })
    })
    jobs += jobsPerRound
  }
  log(`${jobs} jobs attacked, and are over`)
}

async function round(random: Random, spoolDir: string, usesCgroups: boolean): Promise<void> {
  const options = { spoolDir, logBytesMax, usesCgroups, environment: process.env }
  const create = () =>
    createLocalExecutor({ ...options, clock: systemClock, time: machineTime, log: createLog('error') })
  // A job that removes the folder at this moment makes a start fail.
  const open = () => until(() => create().catch(() => null), { what: 'the executor opens' })
  let executor = await open()
  const runs: string[] = []
  while (runs.length < jobsPerRound) {
    const run = attackOf(random, spoolDir)
    // A job may remove the spool at this moment: then the start fails, or a look at the run.
    if (await succeeds(() => executor.start(run))) runs.push(run.runId)
    else await systemClock.sleep(restoreMs)
  }
  if (random.chance(0.5)) {
    await executor.close()
    executor = await open()
  }
  for (const runId of runs) {
    const graceMs = random.of([0, 100, 500])
    await until(() => succeeds(() => executor.stop(runId, graceMs)), { what: `${runId} was told to stop` })
  }
  for (const runId of runs) await demandOver(executor, runId)
  for (const runId of runs) await executor.forget?.(runId)
  await executor.close()
}

function attackOf(random: Random, spoolDir: string): RunSpec {
  const maxRunTimeSeconds = random.chance(0.3) ? 600 : 0
  const command = ['/bin/sh', '-c', random.of(attacks), spoolDir]
  return runOf({ command, workdir: '/tmp', maxRunTimeSeconds })
}

const succeeds = (work: () => Promise<unknown>) =>
  work().then(
    () => true,
    () => false,
  )

/** It is said to be over, and then nothing of it lives. */
async function demandOver(executor: Executor, runId: string): Promise<void> {
  const isOver = async () => {
    const seen = await observe(executor, runId).catch(() => null)
    return seen?.state === 'ended' || seen?.state === 'gone'
  }
  await until(isOver, { what: `${runId} is over`, timeoutMs: here(overMs) })
  const marks = { variable: `BERTH_RUN_ID=${runId}` }
  const alive = (await seeAll()).filter(({ pid }) => beganWith(pid, marks))
  assert.deepEqual(alive, [], `${runId} is said to be over`)
}
