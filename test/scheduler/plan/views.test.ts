import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { LimitRule } from '../../../src/domain/limits/limit-reached.ts'
import type { Views } from '../../../src/scheduler/plan/leader-store.ts'
import { planPass } from '../../../src/scheduler/plan/plan.ts'
import { PublishedRows } from '../../../src/scheduler/plan/views.ts'
import { createWorld, type World } from '../../../src/scheduler/plan/world.ts'
import { lane, makeLaneState, makeReceivedChanges, n8, settings, snapshot, waiting } from '../../support/planning.ts'
import { tries } from '../../support/whole.ts'

/** The rows that readers see after every change equal the rows of a full publication. */
type Step =
  | { kind: 'join'; at: number }
  | { kind: 'leave' | 'end'; which: number }
  | { kind: 'pass' | 'undone' | 'show' | 'nodes' }
  | { kind: 'limit'; max: number }

const lanes = ['a', 'b', 'c', 'd', 'e', 'f'].map((name, at) =>
  lane(name, {
    account: at < 3 ? 'first' : name,
    userId: at % 2 === 0 ? 'ada' : 'bob',
    preemptable: at === 5,
    shape: { gpu: [0, 1, 4, 9, 8, 1][at] ?? 0 },
  }),
)

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('join' as const), at: fc.nat(lanes.length - 1) }),
  fc.record({ kind: fc.constantFrom('leave' as const, 'end' as const), which: fc.nat(20) }),
  fc.record({
    kind: fc.constantFrom('pass' as const, 'pass' as const, 'undone' as const, 'show' as const, 'nodes' as const),
  }),
  fc.record({ kind: fc.constant('limit' as const), max: fc.nat(4) }),
)

const rules = (max: number): LimitRule[] => [
  { code: 'USER_LIMIT', on: 'user:', each: true, counts: 'jobs', model: null, max },
]

/** All rows, without the times at which they were considered. */
const said = (shown: Watched['shown']) =>
  JSON.stringify(
    Object.values(shown).map((rows) => [...rows].sort(([a], [b]) => (a < b ? -1 : 1))),
    (key, value) => (key === 'consideredMs' ? null : value),
  )

class Watched {
  readonly world: World
  readonly shown: { [kind in keyof Views]: Map<string, unknown> } = {
    lanes: new Map(),
    plans: new Map(),
    accounts: new Map(),
  }
  private nowMs = 0
  private sequence = 0
  private queued: { jobId: string; laneId: string }[] = []
  private readonly policy: 'PRIORITY' | 'FAIR_SHARE'

  constructor(policy: 'PRIORITY' | 'FAIR_SHARE') {
    this.policy = policy
    this.world = createWorld(snapshot({ settings: this.settings(2), nodes: [n8('n1')] }))
  }

  show(): void {
    const before = said(this.shown)
    const views = this.world.views()
    for (const kind of ['lanes', 'plans', 'accounts'] as const)
      for (const [key, row] of views[kind])
        if (row) this.shown[kind].set(key, row)
        else this.shown[kind].delete(key)
    expect(views.isNews).toBe(said(this.shown) !== before)
  }

  do(of: Step): void {
    this.nowMs += 700
    switch (of.kind) {
      case 'join':
        this.join(of.at)
        return
      case 'leave': {
        const [gone] = this.queued.splice(of.which, 1)
        if (gone) this.hear({ kind: 'LEFT', ...gone })
        return
      }
      case 'end': {
        const runId = [...this.world.state.running.keys()][of.which]
        if (runId !== undefined) this.hear({ kind: 'RUN', runId, running: null })
        return
      }
      case 'pass':
        this.pass()
        return
      case 'undone':
        this.world.ledger.undo(planPass(this.world, { startsMax: 2 }))
        return
      case 'show':
        this.show()
        return
      case 'nodes':
        this.hear({ kind: 'NODES', nodes: [n8('n1'), ...(this.sequence % 2 === 0 ? [n8('n2')] : [])] })
        return
      case 'limit':
        this.hear({ kind: 'SETTINGS', settings: this.settings(of.max) })
        return
      default:
        of satisfies never
    }
  }

  private settings(max: number) {
    return settings({
      policy: this.policy,
      rules: rules(max),
      nonPreemptableFraction: 1,
      starvationThresholdMs: 5000,
      shareHalfLifeMs: null,
    })
  }

  private join(at: number): void {
    const of = lanes[at] ?? lane('none')
    const entry = waiting(of.id, ++this.sequence, { sinceMs: this.nowMs })
    this.queued.push(entry)
    this.world.hear(
      makeReceivedChanges([{ kind: 'JOINED', entry }], {
        nowMs: this.nowMs,
        lanes: [{ lane: of, userName: of.userId, team: null }],
      }),
    )
  }

  private pass(): void {
    const started = new Set(planPass(this.world, { startsMax: 2 }).starts.map(({ entry }) => entry.jobId))
    for (const { jobId, laneId } of this.queued) if (started.has(jobId)) this.hear({ kind: 'LEFT', jobId, laneId })
    this.queued = this.queued.filter(({ jobId }) => !started.has(jobId))
  }

  private hear(change: Parameters<typeof makeReceivedChanges>[0][number]): void {
    this.world.hear(makeReceivedChanges([change], { nowMs: this.nowMs }))
  }
}

test('a lane that is considered again without changes is published, and readers are not woken', () => {
  const held = settings({ rules: rules(0) })
  const world = createWorld(snapshot({ settings: held, lanes: [makeLaneState(lane('a'), [1])] }))
  const looked = (change: Parameters<typeof makeReceivedChanges>[0][number], nowMs: number) => {
    world.hear(makeReceivedChanges([change], { nowMs }))
    planPass(world, { startsMax: 2 })
    return world.views()
  }
  expect(looked({ kind: 'SETTINGS', settings: held }, 0).isNews).toBe(true)
  const again = looked({ kind: 'SETTINGS', settings: held }, 700)
  expect(again.lanes.get('a')).toMatchObject({ reason: { code: 'USER_LIMIT' }, consideredMs: 700 })
  expect(again.isNews).toBe(false)
  const more = looked({ kind: 'JOINED', entry: waiting('a', 2) }, 1_400)
  expect(more.lanes.get('a')).toMatchObject({ waiting: 2 })
  expect(more.isNews).toBe(true)
})

test.each(['PRIORITY', 'FAIR_SHARE'] as const)(
  'the incremental changes of the published views add up to the full set of rows (policy: %s)',
  (policy) => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const of = new Watched(policy)
        for (const one of steps) of.do(one)
        of.show()
        of.world.state.touched.everything()
        const anew = new PublishedRows().changes(of.world.state)
        expect(of.shown).toEqual({ lanes: anew.lanes, plans: anew.plans, accounts: anew.accounts })
      }),
      { numRuns: tries(400) },
    )
  },
)
