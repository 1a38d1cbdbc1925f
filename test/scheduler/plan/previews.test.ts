import { expect, test } from 'vitest'
import { Random } from '../../../simulate/random.ts'
import { planPass } from '../../../src/scheduler/plan/plan.ts'
import { createWorld } from '../../../src/scheduler/plan/world.ts'
import {
  lane,
  makeLaneState,
  makeReceivedChanges,
  n8,
  settings,
  snapshot,
  startedJobs,
  waiting,
} from '../../support/planning.ts'
import { range } from '../../support/pool.ts'

const people = ['ann', 'bob', 'cyd'] as const

/** Jobs of three people, some of which run, and one job more. */
function randomPool(seed: number) {
  const random = new Random(seed)
  const policy = random.of(['PRIORITY', 'FAIR_SHARE'] as const)
  const lanes = range(0, 8).map((at) =>
    lane(`l${at}`, {
      userId: random.of(people),
      account: random.of(['ml', 'ml.nlp', 'bio']),
      runSeconds: random.of([600, 3_600]),
      priority: random.of([0, 10, 20]),
      shape: { gpu: random.of([1, 2, 4, 8]), copies: random.of([1, 1, 1, 2]), cpuMillis: 1, memoryBytes: 0 },
    }),
  )
  const world = createWorld(
    snapshot({
      settings: settings({ policy, nonPreemptableFraction: 1 }),
      nodes: [n8('n1'), n8('n2'), n8('n3')],
      lanes: lanes.slice(0, 7).map((of, at) => makeLaneState(of, range(10 * at, 10 * at + random.between(0, 3)))),
    }),
  )
  // Some jobs run, and others wait.
  planPass(world, { startsMax: random.between(0, 6) })
  return { world, of: random.of([lanes[7], lanes[0], lanes[3]]) ?? lane('none') }
}

test('100 previews agree with the starts that follow', () => {
  const wrong = range(1, 101).flatMap((seed) => {
    const { world, of } = randomPool(seed)
    const entry = waiting(of.id, 1_000)
    const known = { lane: of, userName: of.userId, team: null }
    const { start } = world.tryOut({ ...known, entry })
    world.hear(makeReceivedChanges([{ kind: 'JOINED', entry }], { lanes: [known] }))
    const started: string[] = []
    for (let more = true; more; ) {
      const decisions = planPass(world, { startsMax: 50 })
      started.push(...startedJobs(decisions))
      more = decisions.starts.length > 0
    }
    const isRight = started.includes(entry.jobId) === (start !== null)
    return isRight ? [] : [`seed ${seed}: ${start ? 'would start' : 'would wait'}, and did not`]
  })
  expect(wrong).toEqual([])
})
