import type { Policy } from '../src/domain/lanes.ts'
import { windowSize } from '../src/scheduler/plan/lane-window.ts'
import type { LaneState, Waiting } from '../src/scheduler/plan/model.ts'
import { planPass } from '../src/scheduler/plan/plan.ts'
import { createWorld, type World } from '../src/scheduler/plan/world.ts'
import { gpus, node, v100 } from '../test/support/machines.ts'
import { followStarts, lane, makeReceivedChanges, settings, snapshot, waiting } from '../test/support/planning.ts'
import { range } from '../test/support/pool.ts'
import type { Contender } from './textbook.ts'
import type { Work } from './workload.ts'

/** The planner of Berth with the defaults of a policy. All jobs have the same priority; users are accounts. */
export class BerthContender implements Contender {
  readonly #world: World
  readonly #works = new Map<string, Work>()
  readonly #runs = new Map<Work, string>()
  readonly #lanes = new Map<string, Waiting[]>()

  constructor(policy: Policy, nodes: number) {
    const devices = () => gpus(v100)
    this.#world = createWorld(
      snapshot({
        settings: settings({ ...defaultsOf(policy) }),
        nodes: range(0, nodes).map((at) => node(`n${String(at).padStart(3, '0')}`, { devices: devices() })),
      }),
    )
  }

  arrive(works: readonly Work[], nowMs: number): void {
    const joined = works.map((work) => this.#join(work, nowMs))
    this.#world.hear(
      makeReceivedChanges(
        joined.map(({ entry }) => ({ kind: 'JOINED', entry })),
        { nowMs, lanes: joined.map(({ known }) => known) },
      ),
    )
  }

  #join(work: Work, nowMs: number): { entry: Waiting; known: Omit<LaneState, 'waiting' | 'first'> } {
    const { id, user, copies, gpus: gpu, limitMs } = work
    const laneId = `${user}/${copies}/${gpu}/${limitMs}`
    const entry = waiting(laneId, id + 1, { sinceMs: nowMs })
    this.#works.set(entry.jobId, work)
    this.#lanes.set(laneId, [...(this.#lanes.get(laneId) ?? []), entry])
    const of = lane(laneId, {
      userId: user,
      account: user,
      runSeconds: limitMs / 1_000,
      shape: { copies, gpu, cpuMillis: 1, memoryBytes: 0 },
    })
    return { entry, known: { lane: of, userName: user, team: null } }
  }

  end(works: readonly Work[], nowMs: number): void {
    const runIds = works.map((work) => this.#runs.get(work) ?? '')
    this.#world.hear(
      makeReceivedChanges(
        runIds.map((runId) => ({ kind: 'RUN', runId, running: null })),
        { nowMs },
      ),
    )
  }

  start(nowMs: number): Work[] {
    const started: Work[] = []
    for (;;) {
      const { starts, needs } = planPass(this.#world, { startsMax: 50 })
      if (needs.length > 0) this.#refill(needs)
      else if (starts.length === 0) return started
      for (const { entry } of starts) {
        const work = this.#works.get(entry.jobId)
        if (!work) throw new Error(`An unknown job ${entry.jobId} started`)
        this.#runs.set(work, entry.runId)
        started.push(work)
        const waits = this.#lanes.get(entry.laneId) ?? []
        waits.splice(
          waits.findIndex(({ jobId }) => jobId === entry.jobId),
          1,
        )
      }
      this.#world.hear(makeReceivedChanges(followStarts(this.#world, { starts }, nowMs), { nowMs }))
    }
  }

  #refill(laneIds: readonly string[]): void {
    const first = (id: string) => (this.#lanes.get(id) ?? []).slice(0, windowSize)
    this.#world.refill(new Map(laneIds.map((id) => [id, first(id)])))
  }
}

const defaultsOf = (policy: Policy) => ({ policy, nonPreemptableFraction: 1 })
