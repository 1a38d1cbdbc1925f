import type { ReceivedChanges } from './leader-store.ts'
import { isSamePlacement, makeRun, type RunMove } from './machines.ts'
import type { Change, Running, Start, Waiting } from './model.ts'
import type { PoolState } from './state.ts'

/**
 * Applies changes in the order of their commits. Applying a change twice is safe: a start that this leader decided
 * comes back as LEFT and RUN.
 */
export function applyChanges(state: PoolState, { nowMs, changes, lanes }: ReceivedChanges): void {
  state.nowMs = Math.max(state.nowMs, nowMs)
  state.machines.accounts.past.nowMs = state.nowMs
  // A hold is dropped with its job, and an undo cannot restore it any more.
  for (const jobId of state.left) if (!state.holds.has(jobId)) state.left.delete(jobId)
  for (const lane of lanes) if (!state.lanes.has(lane.lane.id)) state.addLane(lane)
  const moves = changes.flatMap((change) => moveIn(state, change) ?? [])
  for (const { known, running } of moves) if (known.leaving && !running.leaving) spare(state, known)
  state.moveRuns(moves)
  for (const change of changes) apply(state, change)
  for (const change of changes) if (change.kind === 'LEFT') state.forgetIfOver(change.laneId)
}

export function refill(state: PoolState, first: ReadonlyMap<string, readonly Waiting[]>): void {
  for (const [laneId, entries] of first) {
    state.lanes.get(laneId)?.refill(entries)
    state.reorder(laneId)
    state.forgetIfOver(laneId)
  }
}

export function applyStart(state: PoolState, start: Start, sinceMs: number): void {
  state.lanes.get(start.lane.id)?.takeUnseen(start.entry)
  state.startRun(makeRun(start, sinceMs))
}

function apply(state: PoolState, change: Change): void {
  switch (change.kind) {
    case 'JOINED':
      join(state, change.entry)
      return
    case 'LEFT':
      state.lanes.get(change.laneId)?.leave(change.jobId)
      state.left.add(change.jobId)
      // The change was the reason why its lane was parked, or its planned start is over.
      if (state.holds.has(change.jobId) || state.plans.has(change.jobId)) state.order.freed([])
      state.reorder(change.laneId)
      return
    case 'RUN':
      hearRun(state, change)
      return
    case 'NODES':
      state.setNodes(change.nodes)
      return
    case 'SETTINGS':
      state.setSettings(change.settings)
      return
    default:
      change satisfies never
  }
}

function join(state: PoolState, entry: Waiting): void {
  const window = state.lanes.get(entry.laneId)
  if (!window) throw new Error(`Job ${entry.jobId} joined lane ${entry.laneId}, which was never read`)
  // The LEFT of this entry was applied before, or the entry was never counted.
  if (state.running.has(entry.runId) && !window.hasTaken(entry)) return
  window.join(entry)
  if (window.head?.jobId === entry.jobId) state.order.unpark(window)
  state.left.delete(entry.jobId)
  const hold = state.holds.get(entry.jobId)
  if (hold) state.putHold(hold, window.lane)
  state.reorder(entry.laneId)
}

function moveIn(state: PoolState, change: Change): RunMove | null {
  if (change.kind !== 'RUN' || change.running === null) return null
  const known = state.running.get(change.runId)
  return known && !isSamePlacement(known, change.running) ? { known, running: change.running } : null
}

function hearRun(state: PoolState, { runId, running, isSpared = false }: Extract<Change, { kind: 'RUN' }>): void {
  const known = state.running.get(runId)
  if (known?.leaving && (running ? !running.leaving : isSpared)) spare(state, known)
  if (known && running && isSamePlacement(known, running)) {
    state.replaceRun(known, running)
    return
  }
  state.endRun(runId)
  if (running) state.addRun(running)
}

function spare(state: PoolState, { jobId }: Running): void {
  const at = state.preemptions.findLastIndex(({ victimJobId }) => victimJobId === jobId)
  state.preemptions = state.preemptions.filter((_, index) => index !== at)
}
