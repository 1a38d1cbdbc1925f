import { lutimes, mkdir, readdir, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { ForgottenRuns } from '../../../src/executors/slurm/forgotten.ts'
import { Layout } from '../../../src/executors/slurm/layout.ts'
import { Observer } from '../../../src/executors/slurm/observer.ts'
import { removeDrafts } from '../../../src/executors/slurm/run-files.ts'
import type { Queue, QueueSnapshot } from '../../../src/executors/slurm/squeue.ts'
import { parseQueue } from '../../../src/executors/slurm/squeue-output.ts'
import type { Time } from '../../../src/platform/clock.ts'
import { createLog } from '../../../src/platform/log.ts'
import { createFakeClock, type FakeClock } from '../../support/clock.ts'
import { makeDirectory } from '../../support/directory.ts'

/** Observations of runs while Slurm and the clocks misbehave. */

let sharedDir: string
let layout: Layout
let clock: FakeClock
let observer: Observer
let forgotten: ForgottenRuns
/** null: Slurm is unreachable. */
let snapshot: QueueSnapshot | null
const cancelled: string[] = []
const changed: string[] = []
const queue: Pick<Queue, 'read' | 'last'> = {
  get last() {
    return snapshot
  },
  read: async () => snapshot,
}
const nothing: QueueSnapshot = { beganMs: 0, byRun: new Map() }
/** The clock of the file system is ahead by this time. */
const skewMs = 3_600_000
const time = { nowMs: () => Date.now() - skewMs } as Time

beforeEach(async () => {
  sharedDir = makeDirectory()
  layout = new Layout(sharedDir, 'cluster', async () => false)
  await layout.checkReadable()
  clock = createFakeClock()
  snapshot = null
  forgotten = new ForgottenRuns(layout, queue, clock)
  observer = new Observer({
    layout,
    queue,
    forgotten,
    stopper: {
      stops: { isRequested: async () => false, cancelKill: () => undefined },
      cancel: async (handle) => void cancelled.push(handle),
    },
    clock,
    time,
    log: createLog('silent'),
    onChange: (handle) => void changed.push(handle),
  })
})

async function begun(runId: string): Promise<string> {
  const directory = join(layout.runs, runId)
  await mkdir(directory)
  await symlink('job 7 n1', join(directory, 'claim'))
  await symlink('n1  1', join(directory, 'begun'))
  return runId
}

it('concurrent inspections of runs share one comparison of clocks', async () => {
  const handles = await Promise.all(['run_a', 'run_b', 'run_c'].map(begun))
  const seen = await Promise.all(handles.map((handle) => observer.inspect([handle])))
  for (const [observation] of seen) {
    const startedAt = observation?.state === 'running' ? observation.startedAt : undefined
    expect(Math.abs((startedAt?.getTime() ?? 0) - time.nowMs())).toBeLessThan(60_000)
  }
})

it('a run has no start time before the clocks were compared', async () => {
  const handle = await begun('run_a')
  await rm(layout.own, { recursive: true })
  const [observation] = await observer.inspect([handle])
  expect(observation?.state).toBe('running')
  expect(observation).not.toHaveProperty('startedAt')
})

it('a change of state is reported once', async () => {
  const handle = await begun('run_a')
  changed.length = 0
  await observer.inspect([handle])
  expect(changed).toEqual([handle])
  await observer.inspect([handle])
  expect(changed).toEqual([handle])
})

/** Slurm reports one job, of run_a, in this state. */
function shows(state: string): void {
  const [job] = parseQueue(`7\x1frun_a\x1f0\x1f${state}\x1fNone\x1fn1\x1f0\x1f\x1f\x1f0\x1fcpu=1\x1f`)
  snapshot = { beganMs: clock.monotonicMs(), byRun: new Map(job && [['run_a', [job]]]) }
}

it.each([
  ['exit', '0 - - -', 'ended'],
  ['exit', 'failed START_FAILED forged', 'failed'],
])(
  'a run with the record %s "%s" is not over while its Slurm job runs, and the Slurm job is cancelled',
  async (name, text, state) => {
    const handle = await begun('run_a')
    await symlink(text, join(layout.runs, handle, name))
    const inspect = async () => (await observer.inspect([handle]))[0]
    cancelled.length = 0
    shows('RUNNING')
    expect(await inspect()).toMatchObject({ state: 'running' })
    await clock.advance(9_000)
    expect(await inspect()).toMatchObject({ state: 'running' })
    expect(cancelled).toEqual([])
    await clock.advance(2_000)
    expect(await inspect()).toMatchObject({ state: 'running' })
    expect(cancelled).toEqual([handle])
    shows('CANCELLED')
    expect(await inspect()).toMatchObject({ state })
  },
)

it('a removed run that still runs in Slurm is listed after 30 s, also by the next server', async () => {
  await forgotten.add('run_a', 0)
  for (const forgetful of [forgotten, new ForgottenRuns(layout, queue, clock)]) {
    shows('RUNNING')
    expect(await forgetful.listRunning()).toEqual([])
    await clock.advance(30_000)
    expect(await forgetful.listRunning()).toEqual([])
    shows('COMPLETING')
    expect(await forgetful.listRunning()).toEqual([])
    shows('RUNNING')
    expect(await forgetful.listRunning()).toEqual(['run_a'])
  }
  await lutimes(join(layout.own, 'run_a.over'), 0, 0)
  await removeDrafts(layout)
  expect(await readdir(layout.own)).toEqual(['run_a.over'])
  shows('CANCELLED')
  expect(await forgotten.listRunning()).toEqual([])
  expect(await readdir(layout.own)).toEqual([])
})

it('a run is gone only after several responses of Slurm without it', async () => {
  const handle = await begun('run_a')
  const inspectAfter = async (ms: number) => {
    await clock.advance(ms)
    return (await observer.inspect([handle]))[0]?.state
  }
  snapshot = nothing
  expect(await inspectAfter(2_000)).toBe('running')
  snapshot = null
  expect(await inspectAfter(10_000)).toBe('running')
  snapshot = nothing
  expect(await inspectAfter(10_000)).toBe('running')
  expect(await inspectAfter(10_000)).toBe('running')
  expect(await inspectAfter(10_000)).toBe('gone')
})
