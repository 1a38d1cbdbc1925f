import type { Lane } from '../../src/domain/lanes.ts'
import type { FreeNode, Placement } from '../../src/domain/machines/placement.ts'
import { mergeSettings } from '../../src/domain/scheduling.ts'
import type { ReceivedChanges } from '../../src/scheduler/plan/leader-store.ts'
import type {
  Change,
  Decisions,
  LaneState,
  PoolSettings,
  Running,
  Snapshot,
  Start,
  Waiting,
} from '../../src/scheduler/plan/model.ts'
import type { World } from '../../src/scheduler/plan/world.ts'
import { gpus, node, shape, v100 } from './machines.ts'

/** Worlds for tests of the planner, without a database. */
export type LaneAsks = Partial<Omit<Lane, 'shape'>> & { shape?: Parameters<typeof shape>[0] }

export function lane(id: string, { shape: asks, ...more }: LaneAsks = {}): Lane {
  return {
    id,
    pool: 'p',
    userId: id,
    teamId: null,
    account: id,
    project: null,
    queue: 'default',
    executor: 'simulated',
    priority: 10,
    overridden: false,
    interactive: false,
    preemptable: false,
    restartable: false,
    reservationId: null,
    runSeconds: null,
    shape: shape(asks),
    ...more,
  }
}

export const waiting = (laneId: string, sequence: number, more: Partial<Waiting> = {}): Waiting => ({
  jobId: `j${sequence}`,
  runId: `r${sequence}`,
  laneId,
  run: 1,
  bid: 0,
  sequence,
  sinceMs: 0,
  ...more,
})

/** A lane with jobs of these sequences, all in the window. */
export const makeLaneState = (of: Lane, sequences: readonly number[]): LaneState => ({
  lane: of,
  userName: of.userId,
  team: of.teamId,
  waiting: sequences.length,
  first: sequences.map((sequence) => waiting(of.id, sequence)),
})

export const n8 = (name = 'n1'): FreeNode => node(name, { devices: gpus(v100) })

export const settings = (more: Partial<PoolSettings> = {}): PoolSettings => ({
  ...mergeSettings(more.policy ?? 'PRIORITY', {}),
  pool: 'p',
  policy: 'PRIORITY',
  revision: 1,
  starvationThresholdMs: 3_600_000,
  rules: [],
  weights: new Map(),
  reservations: [],
  ...more,
})

export const snapshot = (more: Partial<Snapshot> = {}): Snapshot => ({
  nowMs: 0,
  settings: settings(),
  nodes: [n8()],
  lanes: [],
  running: [],
  holds: [],
  preemptions: [],
  served: [],
  decayedUse: new Map(),
  ...more,
})

export const makeReceivedChanges = (
  changes: ReceivedChanges['changes'],
  more: Partial<ReceivedChanges> = {},
): ReceivedChanges => ({
  nowMs: 0,
  changes,
  lanes: [],
  nextDueMs: null,
  more: false,
  ...more,
})

export const startedJobs = ({ starts }: Decisions): string[] => starts.map(({ entry }) => entry.jobId)

/** A placement of one copy on a node. */
export const placedOn = (name: string, given: Partial<Placement> = {}): Placement => ({
  nodeId: name,
  node: name,
  replica: 0,
  cpuMillis: 1_000,
  memoryBytes: 1,
  gpuIds: [],
  infiniband: false,
  interactive: false,
  ...given,
})

/** Returns the changes that a leader reads after its starts. Their commands begin at once. */
export const followStarts = ({ state }: World, { starts }: Pick<Decisions, 'starts'>, nowMs: number): Change[] =>
  starts.flatMap(({ entry: { jobId, laneId, runId } }): Change[] => {
    const run = state.running.get(runId)
    if (!run) throw new Error(`The job ${jobId} did not start`)
    const running: Running = { ...run, state: 'RUNNING', startedMs: nowMs }
    return [
      { kind: 'LEFT', jobId, laneId },
      { kind: 'RUN', runId, running },
    ]
  })

/** The run of a job whose command began at 0. */
export const makeRunning = (
  of: Lane,
  entry: Pick<Running, 'jobId' | 'runId' | 'run'>,
  more: Partial<Running> = {},
): Running => ({
  ...entry,
  lane: of,
  state: 'RUNNING',
  placements: [],
  sinceMs: 0,
  startedMs: 0,
  leaving: false,
  backfilledOn: null,
  wonTier: null,
  lostMs: 0,
  ...more,
})

type Started = Pick<Start, 'lane' | 'entry' | 'placements'> & Partial<Start>

/** The run of a start after its commit. */
export const makeCommittedRun = (
  { lane: of, entry, placements, backfilledOn = null, wonTier = null }: Started,
  nowMs = 0,
) => makeRunning(of, entry, { state: 'STARTING', placements, sinceMs: nowMs, startedMs: null, backfilledOn, wonTier })
