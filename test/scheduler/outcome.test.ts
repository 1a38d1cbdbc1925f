import { describe, expect, test } from 'vitest'
import type { ReportedJob } from '../../src/domain/jobs/runs.ts'
import type { JobSpec } from '../../src/domain/spec.ts'
import { mayMove } from '../../src/domain/state.ts'
import type { Ended, Observation, StartFailed } from '../../src/executors/executor.ts'
import { planSteps, type Report } from '../../src/scheduler/outcome.ts'

const spec = (more: Partial<JobSpec> = {}) =>
  ({ restartable: false, retry: null, maxRunTimeSeconds: 2, resources: { memoryBytes: 2 ** 30 }, ...more }) as JobSpec

const job = (more: Partial<ReportedJob> = {}): ReportedJob => ({
  heldSeconds: 0,
  jobId: 'job_1',
  state: 'RUNNING',
  run: 1,
  spec: spec(),
  expired: false,
  endsWithReservation: false,
  leaving: null,
  preempted: false,
  tier: null,
  startFailures: 0,
  exits: 0,
  hasClosure: false,
  ...more,
})

const end = (more: Partial<Ended> = {}): Ended => ({
  state: 'ended',
  exitCode: 0,
  signal: null,
  stopped: false,
  ...more,
})
const killed = end({ exitCode: 143, signal: 15, stopped: true })
const lost = end({ exitCode: 137, signal: 9, cause: 'SUPERVISOR_KILLED' })
const seen = (observation: Observation): Report => ({ kind: 'seen', observation })
const way = (of: ReportedJob, report: Report) =>
  planSteps(of, report, 3).map(({ to, reason }) => (reason ? `${to} ${reason}` : to))

test.each([
  [1, undefined],
  [2, true],
])('whether a victim of the preemption tier %i is queued behind the waiting jobs: %s', (tier, losesTurn) => {
  const victim = job({ preempted: true, tier, spec: spec({ restartable: true }) })
  expect(planSteps(victim, seen(killed), 3).map((step) => step.losesTurn)).toEqual([losesTurn])
})

describe('a job that exceeds its memory limit', () => {
  const resources = { memoryBytes: 2 ** 30, cpu: 1, gpu: 0, replicas: 1 } as JobSpec['resources']
  const whole = {
    ...resources,
    nodeCount: null,
    processCount: null,
    processesPerNode: null,
    cpuCoresPerProcess: null,
    gpuCoresPerProcess: null,
  }
  const infoOf = (spec: Partial<JobSpec>, more: Partial<Ended>) =>
    planSteps(job({ spec: { ...job().spec, ...spec } }), seen(end({ cause: 'OOM_KILLED', ...more })), 3)[0]?.info

  test('reports its limit and how to retry', () => {
    expect(infoOf({ executor: 'local', resources: whole }, { exitCode: 137, signal: 9 })).toBe(
      'Killed at its memory limit of 1 GiB; retry with --mem 2',
    )
    expect(infoOf({ executor: 'local', resources: whole }, { exitCode: 3 })).toBe(
      'The command exited with code 3; one of its processes was killed at its memory limit of 1 GiB; retry with --mem 2',
    )
  })

  test('reports the limit that was enforced: the sum over replicas on one machine, or the limit per replica in a cluster', () => {
    const copies = { ...whole, replicas: 4 }
    const told = ['container', 'slurm'].map((executor) =>
      infoOf({ executor, resources: copies }, { exitCode: 137, signal: 9, info: 'Node n1' }),
    )
    expect(told).toEqual(
      [
        'Killed at its memory limit of 4 GiB; retry with --mem 2',
        'Killed at its memory limit of 1 GiB; retry with --mem 2',
      ].map((text) => `${text}. Node n1`),
    )
  })
})

test.each([
  [1, 'The command exited with code 1'],
  [126, 'The command exited with code 126 (usually: the command is not executable)'],
  [127, 'The command exited with code 127 (usually: the command was not found)'],
])('exit code %i is reported as "%s"', (exitCode, info) => {
  expect(planSteps(job(), seen(end({ exitCode })), 3)).toMatchObject([{ to: 'FAILED', reason: 'EXIT_CODE', info }])
})

test('a run that its backend ended reports the limit that it exceeded', () => {
  const info = 'The process exceeded its limit'
  const told = seen(end({ exitCode: 143, signal: 15, cause: 'MAX_RUN_TIME', info }))
  const noMaximum = job({ spec: spec({ maxRunTimeSeconds: 0 }) })
  expect(planSteps(noMaximum, told, 3)).toMatchObject([{ to: 'FAILED', reason: 'MAX_RUN_TIME', info }])
})

describe('a start that fails after the backend accepted it', () => {
  test.each<[Partial<ReportedJob>, StartFailed['reason'], string[]]>([
    [{ state: 'STARTING' }, 'WORKDIR_NOT_FOUND', ['FAILED WORKDIR_NOT_FOUND']],
    [{ state: 'CANCELLING' }, 'WORKDIR_NOT_FOUND', ['CANCELLED CANCELLED']],
    // The backend reported the run as running before its command began.
    [{ state: 'RUNNING' }, 'WORKDIR_NOT_FOUND', ['FAILED WORKDIR_NOT_FOUND']],
    [{ state: 'RUNNING' }, 'BAD_SPEC', ['FAILED BAD_SPEC']],
    // The job may have forged this report.
    [{ state: 'RUNNING' }, 'START_FAILED', ['INTERRUPTED NODE_LOST']],
  ])('in the state %o with the reason %s leads to the expected state', (of, reason, steps) => {
    const failed: Observation = { state: 'failed', reason, message: 'There is no /nowhere' }
    expect(way(job(of), seen(failed))).toEqual(steps)
  })
})

describe('a run that ended', () => {
  test.each<[string, Partial<ReportedJob>, Ended, string[]]>([
    ['exit 0', {}, end(), ['SUCCEEDED']],
    ['exit 3', {}, end({ exitCode: 3 }), ['FAILED EXIT_CODE']],
    ['a signal that it sent itself', {}, end({ exitCode: 139, signal: 11 }), ['FAILED SIGNAL']],
    ['killed with its supervisor', {}, lost, ['INTERRUPTED NODE_LOST']],
    ['killed with its supervisor, and restartable', { spec: spec({ restartable: true }) }, lost, ['QUEUED NODE_LOST']],
    ['killed with its supervisor, and resumable', { spec: spec({ resumable: true }) }, lost, ['INTERRUPTED NODE_LOST']],
    [
      'killed with its supervisor, and resumable with a closure',
      { spec: spec({ resumable: true }), hasClosure: true },
      lost,
      ['QUEUED NODE_LOST'],
    ],
    ['killed with its supervisor, with a closure', { hasClosure: true }, lost, ['INTERRUPTED NODE_LOST']],
    ['killed with its supervisor while it was cancelled', { state: 'CANCELLING' }, lost, ['CANCELLED NODE_LOST']],
    [
      'killed with its supervisor after its stop',
      { state: 'CANCELLING' },
      { ...lost, stopped: true },
      ['CANCELLED CANCELLED'],
    ],
    ['killed with its supervisor when its time was over', { expired: true }, lost, ['FAILED MAX_RUN_TIME']],
    ['out of memory', {}, end({ exitCode: 137, signal: 9, cause: 'OOM_KILLED' }), ['FAILED OOM_KILLED']],
    ['seen only at its end', { state: 'STARTING' }, end(), ['RUNNING', 'SUCCEEDED']],
    ['cancelled, and the signal came first', { state: 'CANCELLING' }, killed, ['CANCELLED CANCELLED']],
    ['cancelled, exit 0 after the signal', { state: 'CANCELLING' }, end({ stopped: true }), ['CANCELLED CANCELLED']],
    ['cancelled, but it had ended before', { state: 'CANCELLING' }, end(), ['SUCCEEDED']],
    ['cancelled, but it had failed before', { state: 'CANCELLING' }, end({ exitCode: 2 }), ['FAILED EXIT_CODE']],
    ['its time was over', { expired: true }, killed, ['FAILED MAX_RUN_TIME']],
    ['its time was over, exit 0 after the signal', { expired: true }, end({ stopped: true }), ['FAILED MAX_RUN_TIME']],
    ['it ended by itself just in time', { expired: true }, end(), ['SUCCEEDED']],
    ['preempted', { preempted: true }, killed, ['INTERRUPTED PREEMPTED']],
    [
      'preempted, resumable with a closure',
      { preempted: true, spec: spec({ resumable: true }), hasClosure: true },
      killed,
      ['QUEUED PREEMPTED'],
    ],
    ['preempted, restartable', { preempted: true, spec: spec({ restartable: true }) }, killed, ['QUEUED PREEMPTED']],
    [
      'preempted, exit 0',
      { preempted: true, spec: spec({ restartable: true }) },
      end({ stopped: true }),
      ['SUCCEEDED'],
    ],
    [
      'retry of this code',
      { spec: spec({ retry: { maxAttempts: 3, onExitCodes: [3] } }) },
      end({ exitCode: 3 }),
      ['QUEUED EXIT_CODE'],
    ],
    [
      'retry of another code',
      { spec: spec({ retry: { maxAttempts: 3, onExitCodes: [4] } }) },
      end({ exitCode: 3 }),
      ['FAILED EXIT_CODE'],
    ],
    [
      'no retry left',
      { exits: 2, spec: spec({ retry: { maxAttempts: 3, onExitCodes: null } }) },
      end({ exitCode: 3 }),
      ['FAILED EXIT_CODE'],
    ],
  ])('leads to the expected state after %s', (_what, of, observation, expected) => {
    expect(way(job(of), seen(observation))).toEqual(expected)
  })
})

test('a run that starts after its eviction was ordered is still evicted', () => {
  const info = 'Being preempted by job_2'
  expect(planSteps(job({ state: 'STARTING', leaving: info }), seen({ state: 'running' }), 3)).toEqual([
    { to: 'RUNNING', reason: 'PREEMPTING', info },
  ])
  expect(way(job({ state: 'STARTING', leaving: info, preempted: true }), seen(killed))).toEqual([
    'RUNNING PREEMPTING',
    'INTERRUPTED PREEMPTED',
  ])
})

test('a run that never began is queued again if its node is lost, unless its job is cancelled', () => {
  const lost: Report = { kind: 'lost', info: 'silent', neverBegan: true }
  expect(way(job({ state: 'STARTING' }), lost)).toEqual(['QUEUED NODE_LOST'])
  expect(way(job({ state: 'CANCELLING' }), lost)).toEqual(['CANCELLED NODE_LOST'])
})

describe('a run that is gone from its backend', () => {
  test.each<[string, Partial<ReportedJob>, string[]]>([
    ['running', {}, ['INTERRUPTED NODE_LOST']],
    ['starting', { state: 'STARTING' }, ['INTERRUPTED NODE_LOST']],
    ['restartable', { spec: spec({ restartable: true }) }, ['QUEUED NODE_LOST']],
    ['being cancelled', { state: 'CANCELLING' }, ['CANCELLED NODE_LOST']],
  ])('leads to the expected state if it was %s', (_what, of, expected) => {
    expect(way(job(of), seen({ state: 'gone' }))).toEqual(expected)
  })

  test.each<[string, Partial<ReportedJob>, string[]]>([
    ['running', {}, ['INTERRUPTED PREEMPTED']],
    ['starting', { state: 'STARTING' }, ['INTERRUPTED PREEMPTED']],
    ['restartable', { spec: spec({ restartable: true }) }, ['QUEUED PREEMPTED']],
    ['being cancelled', { state: 'CANCELLING' }, ['CANCELLED CANCELLED']],
  ])('that was preempted there leads to the expected state if it was %s', (_what, of, expected) => {
    expect(way(job(of), seen({ state: 'gone', cause: 'PREEMPTED' }))).toEqual(expected)
  })
})

describe('a failed start', () => {
  const failure = (reason: StartFailed['reason']): Report => ({
    kind: 'startFailed',
    reason,
    message: 'why',
  })

  test('is retried after 1, 2, 4 … s up to the maximum of attempts', () => {
    const tries = [0, 1, 2].map(
      (startFailures) => planSteps(job({ state: 'STARTING', startFailures }), failure('START_FAILED'), 3)[0],
    )
    expect(tries.map((step) => [step?.to, step?.eligibleInMs])).toEqual([
      ['QUEUED', 1000],
      ['QUEUED', 2000],
      ['FAILED', undefined],
    ])
  })

  test('is retried without limit if the backend is unreachable, and leaves the node to other jobs', () => {
    const [step] = planSteps(job({ state: 'STARTING', startFailures: 2 }), failure('BACKEND_AWAY'), 3)
    expect(step).toMatchObject({ to: 'QUEUED', reason: 'NODE_TROUBLE', info: 'why', runEnds: 'FAILED' })
    expect(step?.eligibleInMs).toBeGreaterThanOrEqual(30_000)
  })

  describe('of a run that the backend placed only in part', () => {
    const failed: Report = seen({ state: 'failed', reason: 'NOT_TOGETHER', message: '2 of 3 pods' })
    const back = (more: Partial<ReportedJob> = {}) =>
      planSteps(job({ state: 'STARTING', startFailures: 2, ...more }), failed, 3)[0]
    const pauseOf = (more: Partial<ReportedJob>) => back(more)?.eligibleInMs ?? 0

    test('returns the job to the queue, regardless of earlier start failures', () => {
      expect(back()).toMatchObject({ to: 'QUEUED', reason: 'NOT_TOGETHER', runEnds: 'FAILED' })
      expect(back()?.info).toBe('The parts of the run could not start together: 2 of 3 pods')
      expect(mayMove('STARTING', 'QUEUED', 'NOT_TOGETHER')).toBe(true)
    })

    test('waits for 30 s to 5 min, with a random part for each job and each run', () => {
      const jobs = Array.from({ length: 100 }, (_, index) => ({ jobId: `job_${index}` }))
      const runs = Array.from({ length: 100 }, (_, index) => ({ run: index + 1 }))
      for (const pauses of [jobs.map(pauseOf), runs.map(pauseOf)]) {
        expect(Math.min(...pauses)).toBeGreaterThanOrEqual(30_000)
        expect(Math.min(...pauses)).toBeLessThan(60_000)
        expect(Math.max(...pauses)).toBeLessThanOrEqual(300_000)
        expect(Math.max(...pauses)).toBeGreaterThan(240_000)
      }
    })
  })

  test('is final when a retry cannot succeed', () => {
    expect(way(job({ state: 'STARTING' }), failure('WORKDIR_NOT_FOUND'))).toEqual(['FAILED WORKDIR_NOT_FOUND'])
  })

  test('cancels the job if it was being cancelled', () => {
    expect(way(job({ state: 'CANCELLING' }), failure('START_FAILED'))).toEqual(['CANCELLED CANCELLED'])
  })
})

test('transitions contain the times, the native id and the usage that the backend reported', () => {
  const usage = { cpuSeconds: 1.5, maxMemoryBytes: 4096 }
  const [running, ended] = planSteps(
    job({ state: 'STARTING' }),
    seen(end({ startedAt: new Date(1), finishedAt: new Date(2), nativeId: '7', usage })),
    3,
  )
  expect(running).toEqual({ to: 'RUNNING', reason: null, startedAt: new Date(1), nativeId: '7' })
  expect(ended).toMatchObject({ to: 'SUCCEEDED', finishedAt: new Date(2), nativeId: '7', usage })
  const facts = { ip: '10.0.0.7', imageDigest: 'sha256:1' }
  expect(planSteps(job({ state: 'STARTING' }), seen({ state: 'running', ...facts }), 3)).toMatchObject([facts])
})

test('every planned step is a legal transition', () => {
  const observations: Observation[] = [
    end(),
    end({ exitCode: 1 }),
    killed,
    { state: 'gone' },
    { state: 'gone', cause: 'PREEMPTED' },
    { state: 'running' },
    { state: 'starting' },
  ]
  for (const state of ['STARTING', 'RUNNING', 'CANCELLING'] as const)
    for (const restartable of [true, false])
      for (const flags of [{}, { expired: true }, { preempted: true }])
        for (const observation of observations) {
          let from: ReportedJob['state'] = state
          for (const { to, reason } of planSteps(
            job({ state, spec: spec({ restartable }), ...flags }),
            seen(observation),
            3,
          )) {
            expect(mayMove(from, to, reason ?? null), `${from} → ${to} ${reason}`).toBe(true)
            from = to
          }
        }
})
