import { expect, test } from 'vitest'
import { planPass } from '../../../src/scheduler/plan/plan.ts'
import { createWorld } from '../../../src/scheduler/plan/world.ts'
import { gpus, h100, node, v100 } from '../../support/machines.ts'
import { lane, makeLaneState, settings, snapshot, startedJobs } from '../../support/planning.ts'

/** A head that would not start even if runs ended keeps no resources from the jobs behind it. */

const hourMs = 3_600_000
const big = node('big', { devices: gpus(h100) })
const old = node('old', { devices: gpus(v100) })
const cordoned = { state: 'CORDONED' } as const
const forH100 = lane('x', { shape: { gpu: 2, gpuModel: ['h100'] } })
const forV100 = lane('y', { shape: { gpu: 2, gpuModel: ['v100'] }, runSeconds: 600 })

test.each(['PRIORITY', 'FAIR_SHARE'] as const)('%s: jobs start behind a head whose only node is cordoned', (policy) => {
  const world = createWorld(
    snapshot({
      settings: settings({ policy, nonPreemptableFraction: 1 }),
      nodes: [{ ...big, ...cordoned }, old],
      lanes: [makeLaneState(forH100, [1]), makeLaneState(forV100, [2])],
    }),
  )
  expect(startedJobs(planPass(world, { startsMax: 10 }))).toEqual(['j2'])
  expect(world.views().lanes.get('x')).toMatchObject({
    reason: { code: 'NO_CAPACITY', message: expect.stringMatching(/: big is cordoned$/) },
  })
})

test.each(['PRIORITY', 'FAIR_SHARE'] as const)(
  '%s: jobs start behind a head with several copies if a copy fits on no node',
  (policy) => {
    const world = createWorld(
      snapshot({
        settings: settings({ policy, nonPreemptableFraction: 1 }),
        nodes: [{ ...node('a', { devices: gpus(v100) }), ...cordoned }, old],
        lanes: [makeLaneState(lane('x', { shape: { gpu: 8, copies: 2 } }), [1]), makeLaneState(forV100, [2])],
      }),
    )
    expect(startedJobs(planPass(world, { startsMax: 10 }))).toEqual(['j2'])
  },
)

test.each(['PRIORITY', 'FAIR_SHARE'] as const)('%s: jobs start behind a head whose node is reserved', (policy) => {
  const reservation = { id: 'r', project: 'p', nodes: ['big'], startsMs: -1, endsMs: hourMs, hard: false }
  const world = createWorld(
    snapshot({
      settings: settings({ policy, nonPreemptableFraction: 1, reservations: [reservation] }),
      nodes: [big, old],
      lanes: [makeLaneState(forH100, [1]), makeLaneState(forV100, [2])],
    }),
  )
  expect(startedJobs(planPass(world, { startsMax: 10 }))).toEqual(['j2'])
})

test.each(['PRIORITY', 'FAIR_SHARE'] as const)(
  '%s: short jobs start before a reservation window if the head is too long to end before it',
  (policy) => {
    const window = {
      id: 'r',
      project: 'p',
      nodes: ['big', 'old'],
      startsMs: 2 * hourMs,
      endsMs: 3 * hourMs,
      hard: true,
    }
    const world = createWorld(
      snapshot({
        settings: settings({ policy, nonPreemptableFraction: 1, reservations: [window] }),
        nodes: [big, old],
        lanes: [makeLaneState(lane('x', { shape: { gpu: 2 }, runSeconds: 172_800 }), [1]), makeLaneState(forV100, [2])],
      }),
    )
    expect(startedJobs(planPass(world, { startsMax: 10 }))).toEqual(['j2'])
  },
)
