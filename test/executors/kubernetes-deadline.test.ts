import { describe, expect, test } from 'vitest'
import type { Pod } from '../../src/executors/kubernetes/objects.ts'
import { partOf } from '../../src/executors/kubernetes/part.ts'

const toldAt = '2026-01-01T01:00:00Z'

/** The kubelet has said that it is out of time, and never said that its container ended. */
const pod: Pod = {
  metadata: {
    name: 'p',
    uid: 'uid',
    resourceVersion: '1',
    managedFields: [{ time: '2026-01-01T00:00:00Z' }, { time: toldAt }],
  },
  spec: { nodeName: 'n1', containers: [], terminationGracePeriodSeconds: 30 },
  status: {
    phase: 'Failed',
    reason: 'DeadlineExceeded',
    startTime: '2026-01-01T00:00:00Z',
    containerStatuses: [{ name: 'job', state: { running: { startedAt: '2026-01-01T00:00:01Z' } } }],
  },
}

const known = (seconds: number, silent: readonly string[] = []) => ({
  toTime: (iso: string) => new Date(iso),
  nowMs: Date.parse(toldAt) + seconds * 1_000,
  silent: new Set(silent),
  doing: new Map<string, string>(),
})

describe('the end of a command', () => {
  const ended = (said: string): Pod => {
    const times = { startedAt: '2026-01-01T00:00:01Z', finishedAt: '2026-01-01T00:00:05Z' }
    const terminated = { exitCode: 143, reason: 'Error', message: said, ...times }
    return { ...pod, status: { phase: 'Failed', containerStatuses: [{ name: 'job', state: { terminated } }] } }
  }
  const second = Date.parse('2026-01-01T00:00:05Z') / 1_000

  test.each([
    ['tells it', `MAX_RUN_TIME\nENDED ${second}.250999`, '05.250Z'],
    ['has a comma', `ENDED ${second}.1\nENDED ${second},7501`, '05.750Z'],
    ['says it before the container ends', `ENDED ${second - 1}.999`, '05.000Z'],
    ['says another time, as a job could', `ENDED ${second - 3600}.250`, '05.000Z'],
    ['says a later time', `ENDED ${second + 3600}.250`, '06.000Z'],
    ['knows whole seconds', `ENDED ${second}.%N`, '06.000Z'],
    ['says nothing', '', '06.000Z'],
  ])('is within the second that the kubelet tells if its supervisor %s', (_, said, moment) => {
    const toTime = (iso: string, partMs = 1_000) => new Date(Date.parse(iso) + partMs)
    const part = partOf(ended(said), { ...known(0), toTime })
    expect(part).toMatchObject({ kind: 'over', ended: { finishedAt: new Date(`2026-01-01T00:00:${moment}`) } })
  })
})

describe('a container of which the kubelet never says that it ended', () => {
  test('runs while it may still be ended', () => {
    expect(partOf(pod, known(39))).toMatchObject({ kind: 'runs' })
  })

  test('is over after its grace', () => {
    expect(partOf(pod, known(41))).toMatchObject({ kind: 'over', ended: { exitCode: 137, cause: 'MAX_RUN_TIME' } })
  })

  test('is not over on a node that does not answer', () => {
    expect(partOf(pod, known(41, ['n1']))).toMatchObject({ kind: 'unreachable' })
  })

  test('is not over when it is not known since when it should end', () => {
    const { managedFields: _, ...metadata } = pod.metadata
    expect(partOf({ ...pod, metadata }, known(41))).toMatchObject({ kind: 'runs' })
  })
})
