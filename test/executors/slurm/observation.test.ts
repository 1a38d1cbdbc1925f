import { describe, expect, it } from 'vitest'
import { concludeState, type Facts } from '../../../src/executors/slurm/observation.ts'
import type { Records } from '../../../src/executors/slurm/run-files.ts'
import type { SlurmJob } from '../../../src/executors/slurm/squeue-output.ts'

/** The state of a run, from its records and its Slurm jobs. */

describe('the observed state of a Slurm run', () => {
  const records = (more: Partial<Records> = {}): Records => ({
    uid: 0,
    claim: { by: 'job', id: '7', node: 'n1' },
    begun: { atMs: 1_000, nodeMs: 9_000, nodes: ['n1'], gpuIds: [] },
    exit: null,
    again: false,
    failed: null,
    losses: [],
    ...more,
  })
  const job = (state: string, more: Partial<SlurmJob> = {}): SlurmJob => ({
    id: '7',
    runId: 'run_a',
    uid: 0,
    state,
    reason: 'None',
    nodes: ['n1'],
    status: 0,
    startMs: 9_000,
    endMs: 13_000,
    restarts: 0,
    held: { cpus: 1, memoryBytes: 0, gpus: 0 },
    ...more,
  })
  const exit = (code: number, why: 'term' | 'late' | null = null, usage = {}) => ({ atMs: 2_000, code, why, usage })
  const base: Facts = {
    records: records(),
    jobs: [job('RUNNING')],
    stopped: false,
    isSettled: true,
    hadBegun: true,
    isRemoved: false,
    toTime: (ms) => new Date(ms),
  }

  it.each<[string, Partial<Facts>, object]>([
    ['that runs', {}, { state: 'running', nativeId: '7' }],
    ['while Slurm is silent', { jobs: null }, { state: 'running' }],
    [
      'that waits',
      { records: records({ claim: null, begun: null }), jobs: [job('PENDING', { reason: 'Priority' })] },
      { state: 'starting', info: 'Slurm: Priority' },
    ],
    ['without a trace', { records: records({ claim: null, begun: null }), jobs: [] }, { state: 'unsubmitted' }],
    [
      'voided by a stop',
      { records: records({ claim: { by: 'void' } }), jobs: [], stopped: true },
      { state: 'ended', exitCode: 143, stopped: true },
    ],
    [
      'that ended',
      { records: records({ exit: exit(7) }), jobs: [job('FAILED', { status: 7 << 8 })] },
      { state: 'ended', exitCode: 7, signal: null },
    ],
    [
      'that ended, and Slurm still cleans up',
      { records: records({ exit: exit(7) }), jobs: [job('COMPLETING')] },
      { state: 'ended', exitCode: 7 },
    ],
    ['with a record of its end, whose job runs', { records: records({ exit: exit(0) }) }, { state: 'running' }],
    [
      'with a record of its end, while Slurm is unreachable',
      { records: records({ exit: exit(0) }), jobs: null },
      { state: 'running' },
    ],
    [
      'with a record of its end, whose second job runs',
      { records: records({ exit: exit(0) }), jobs: [job('COMPLETED'), job('RUNNING', { id: '8' })] },
      { state: 'running' },
    ],
    [
      'with a record of a failed start, whose job runs',
      { records: records({ failed: { reason: 'START_FAILED', message: 'no' } }) },
      { state: 'running' },
    ],
    ['with a forged claim, whose job runs', { records: records({ claim: { by: 'void' } }) }, { state: 'running' }],
    [
      'with the claim of a job that Slurm does not have, whose job runs',
      { records: records({ claim: { by: 'job', id: '999', node: 'n1' }, exit: exit(0) }) },
      { state: 'running' },
    ],
    [
      'that recorded 0 while Slurm reports 3',
      { records: records({ exit: exit(0) }), jobs: [job('FAILED', { status: 3 << 8 })] },
      { state: 'ended', exitCode: 3, info: 'The job recorded exit code 0; Slurm reports 3' },
    ],
    [
      'that recorded 3 while Slurm reports 0',
      { records: records({ exit: exit(3) }), jobs: [job('COMPLETED')] },
      { state: 'ended', exitCode: 0 },
    ],
    [
      'cancelled after the record of its end',
      { records: records({ exit: exit(0) }), jobs: [job('CANCELLED', { status: 15 })] },
      { state: 'ended', exitCode: 0 },
    ],
    [
      'that recorded its usage',
      { records: records({ exit: exit(0, null, { cpuSeconds: 2 }) }), jobs: [job('COMPLETED')] },
      { state: 'ended', usage: { cpuSeconds: 2 } },
    ],
    ['forgotten by Slurm', { records: records({ exit: exit(7) }), jobs: [] }, { state: 'ended', exitCode: 7 }],
    ['that ended by a TERM of Slurm', { records: records({ exit: exit(143, 'term') }) }, { state: 'running' }],
    [
      'preempted',
      { records: records({ exit: exit(143, 'term') }), jobs: [job('PREEMPTED')] },
      { state: 'gone', cause: 'PREEMPTED' },
    ],
    [
      'preempted, and over before its script got the signal',
      { records: records({ exit: exit(143) }), jobs: [job('PREEMPTED')] },
      { state: 'gone', cause: 'PREEMPTED' },
    ],
    ['whose node failed in the middle of its end', { records: records({ exit: exit(143) }) }, { state: 'running' }],
    [
      'whose node failed before its script got the signal',
      { records: records({ exit: exit(137) }), jobs: [job('NODE_FAIL')] },
      { state: 'gone', info: 'Slurm lost its node (n1): NODE_FAIL' },
    ],
    [
      'whose command ran out of memory',
      { records: records({ exit: exit(137) }), jobs: [job('OUT_OF_MEMORY')] },
      { state: 'ended', exitCode: 137, cause: 'OOM_KILLED' },
    ],
    [
      'preempted, but done',
      { records: records({ exit: exit(0, 'term') }), jobs: [job('PREEMPTED')] },
      { state: 'ended', exitCode: 0 },
    ],
    [
      'over its time',
      { records: records({ exit: exit(143, 'late') }), jobs: [] },
      { state: 'ended', cause: 'MAX_RUN_TIME' },
    ],
    [
      'killed for its time',
      { jobs: [job('TIMEOUT', { status: 15 })] },
      { state: 'ended', exitCode: 143, cause: 'MAX_RUN_TIME', info: 'Slurm ended the job at its time limit' },
    ],
    [
      'out of memory',
      { jobs: [job('OUT_OF_MEMORY', { status: 9 })] },
      { state: 'ended', exitCode: 137, cause: 'OOM_KILLED' },
    ],
    ['that Slurm has requeued', { jobs: [job('PENDING', { restarts: 1 })] }, { state: 'gone', cause: 'PREEMPTED' }],
    [
      'whose job was requeued, and ended at once when it began again',
      { jobs: [job('COMPLETED', { restarts: 1 })] },
      { state: 'gone', cause: 'PREEMPTED' },
    ],
    [
      'that got TERM before its job was requeued',
      { records: records({ exit: exit(143, 'term') }), jobs: [job('PENDING', { restarts: 1 })] },
      { state: 'gone', cause: 'PREEMPTED' },
    ],
    [
      'that ended before its job was requeued',
      { records: records({ exit: exit(0, 'term') }), jobs: [job('PENDING', { restarts: 1 })] },
      { state: 'ended', exitCode: 0 },
    ],
    [
      'that Slurm forgot, and ended',
      { records: records({ exit: exit(143, 'term') }), jobs: [] },
      { state: 'gone', info: 'The controller of Slurm lost the job, and ended it' },
    ],
    [
      'whose begin Slurm has forgotten',
      { jobs: [job('PENDING', { nodes: [], startMs: null })] },
      { state: 'gone', cause: 'PREEMPTED' },
    ],
    [
      'that began during the query',
      { hadBegun: false, jobs: [job('PENDING', { nodes: [], startMs: null })] },
      { state: 'running' },
    ],
    [
      'whose job Slurm began again',
      { records: records({ again: true, exit: exit(143, 'term') }), jobs: [job('COMPLETED')] },
      { state: 'gone', cause: 'PREEMPTED' },
    ],
    [
      'whose job Slurm began again, and whose node refused that',
      { records: records({ exit: exit(143, 'term') }), jobs: [job('CANCELLED', { startMs: 12_000 })] },
      { state: 'gone', cause: 'PREEMPTED' },
    ],
    [
      'that ended before its job began again',
      { records: records({ again: true, exit: exit(0) }), jobs: [job('COMPLETED')] },
      { state: 'ended', exitCode: 0 },
    ],
    ['whose processes still end', { jobs: [job('COMPLETING', { restarts: 1 })] }, { state: 'running' }],
    [
      'whose job was requeued, without a mounted folder',
      { records: null, jobs: [job('COMPLETED', { restarts: 1 })] },
      { state: 'gone', cause: 'PREEMPTED' },
    ],
    ['whose node failed', { jobs: [job('NODE_FAIL')] }, { state: 'gone' }],
    ['killed by a stop', { jobs: [job('CANCELLED')], stopped: true }, { state: 'ended', exitCode: 137, stopped: true }],
    ['cancelled by another', { jobs: [job('CANCELLED')] }, { state: 'ended', signal: 9, stopped: false }],
    ['whose end is not seen yet', { jobs: [job('COMPLETED')], isSettled: false }, { state: 'running' }],
    ['whose end is never seen', { jobs: [job('FAILED', { status: 1792 })] }, { state: 'ended', exitCode: 7 }],
    ['in an unknown state', { jobs: [job('NEW_IN_99')] }, { state: 'running' }],
    ['without a mounted folder', { records: null }, { state: 'running' }],
    [
      'without a mounted folder, that Slurm does not show',
      { records: null, jobs: [] },
      { state: 'starting', info: 'The directory of the run cannot be read now, and Slurm does not show its job' },
    ],
    ['that was forgotten', { records: null, isRemoved: true, jobs: [job('COMPLETED')] }, { state: 'gone' }],
    [
      'that left no trace',
      { records: records({ claim: null, begun: null }), jobs: [job('FAILED', { status: 97 << 8 })] },
      { state: 'failed', reason: 'START_FAILED' },
    ],
    [
      'whose prolog failed',
      { records: records({ claim: null, begun: null }), jobs: [job('CANCELLED')] },
      { state: 'failed', reason: 'START_FAILED' },
    ],
    [
      'cancelled by another while it waited',
      { records: records({ claim: null, begun: null }), jobs: [job('CANCELLED', { nodes: [] })] },
      { state: 'ended', signal: 15, info: 'The job was cancelled in Slurm' },
    ],
  ])('is derived from the records of the run and the queue of Slurm: %s', (_, facts, observation) => {
    expect(concludeState({ ...base, ...facts })).toMatchObject(observation)
  })

  it.each<[string, Partial<Facts>, number | undefined]>([
    ['that recorded its end', { records: records({ exit: exit(7) }), jobs: [job('FAILED')] }, 2_000],
    ['that Slurm killed', { jobs: [job('CANCELLED')] }, 5_000],
    ['whose node was lost', { jobs: [job('NODE_FAIL')] }, 5_000],
    ['that was preempted', { jobs: [job('PREEMPTED')] }, 5_000],
    ['that ended before its node was lost', { records: records({ exit: exit(143) }), jobs: [job('NODE_FAIL')] }, 2_000],
    ['of which Slurm does not know the end', { jobs: [job('CANCELLED', { endMs: null })] }, undefined],
    ['that never began', { records: records({ begun: null }), jobs: [job('CANCELLED')] }, undefined],
  ])('has times converted from the clock of the file system, for a run %s', (_, facts, finishedMs) => {
    const observation = concludeState({ ...base, ...facts })
    const finishedAt = 'finishedAt' in observation ? observation.finishedAt : undefined
    expect(finishedAt?.getTime()).toBe(finishedMs)
  })
})
