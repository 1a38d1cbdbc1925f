import { because } from '../../domain/reason.ts'
import { block, goesOn } from './block.ts'
import { consider, type Outcome } from './consider.ts'
import { isVoid } from './holds.ts'
import type { LaneWindow, Turn } from './lanes.ts'
import type { Decisions } from './model.ts'
import { lots } from './order.ts'
import type { Pass } from './passing.ts'
import type { PoolState } from './state.ts'
import { lookAgainMs, soonest } from './timing.ts'

/**
 * One pass: the first of those who may start, again and again, until nobody is left who could or `startsMax` did. It ends
 * early at a lane whose next entries must be read (`needs`), for they might be first. What is found out about the others
 * (parked, or closing their class) lasts until it changes: a pass in which nothing changed looks at nobody.
 */
export function plan(state: PoolState, { startsMax }: { startsMax: number }): Decisions {
  const pass = newPass(state)
  state.age()
  state.order.reopen()
  dropOverHolds(state, pass.decisions)
  for (const turn of state.dueHolders()) settle(pass, turn, consider(state, turn))
  return run(pass, { startsMax, before: null })
}

/** The same for those before a lane, but nobody has to leave, gets nodes held, or is refused. To be taken back. */
export function rehearse(
  state: PoolState,
  { startsMax, before }: { startsMax: number; before: LaneWindow },
): Decisions {
  return run({ ...newPass(state), isRehearsal: true }, { startsMax, before })
}

function run(pass: Pass, { startsMax, before }: { startsMax: number; before: LaneWindow | null }): Decisions {
  const { state, decisions } = pass
  while (decisions.starts.length < startsMax && state.order.dry.size === 0) {
    const window = state.order.next()
    if (!window?.head || (before && state.order.isBefore(before, window))) break
    decisions.considered++
    const turn = { window, entry: window.head }
    settle(pass, turn, consider(state, turn))
  }
  decisions.needs = state.order.needs
  state.lookAgainMs = lookAgainMs(state)
  decisions.nextMs = goesOn(pass) ? state.nowMs : soonest([state.order.nextMs, state.lookAgainMs])
  return decisions
}

function settle(pass: Pass, turn: Turn, outcome: Outcome): void {
  const { state, decisions } = pass
  const { window } = turn
  switch (outcome.kind) {
    case 'start':
      state.start(decisions, turn, outcome.start)
      return
    case 'refused':
      if (pass.isRehearsal) state.park(window, lots.capacity, because('INTERACTIVE_QUOTA', outcome.info))
      else state.refuse(decisions, turn, outcome.info)
      return
    case 'limited':
      giveUpHold(pass, turn)
      state.parkOnLimit(window, outcome.held, outcome.reason)
      return
    case 'unsatisfiable':
      giveUpHold(pass, turn)
      state.park(window, lots.unsatisfiable, outcome.reason)
      return
    case 'waiting':
      giveUpHold(pass, turn)
      state.park(window, lots.capacity, outcome.reason)
      return
    case 'part':
    case 'capacity':
      block(pass, turn, outcome)
      return
    default:
      outcome satisfies never
  }
}

/** Nodes are not drained for a job that could not start on them. What others left for it stays its own: they are gone. */
function giveUpHold({ state, decisions }: Pass, { entry }: Turn): void {
  if (state.holds.get(entry.jobId)?.kind === 'DRAIN') state.dropHold(decisions, entry.jobId)
}

function dropOverHolds(state: PoolState, decisions: Decisions): void {
  const over = new Set(state.overHolds)
  for (const [jobId, hold] of state.holds)
    if (hold.kind === 'PREEMPTION' && isVoid(state, hold, state.machines.ownerOf(jobId))) over.add(jobId)
  for (const jobId of over) state.dropHold(decisions, jobId)
}

const newPass = (state: PoolState): Pass => ({
  state,
  decisions: noDecisions(),
  evicting: new Set(),
  backfills: new Map(),
  isRehearsal: false,
})

const noDecisions = (): Decisions => ({
  starts: [],
  evictions: [],
  holds: { put: [], drop: [] },
  refused: [],
  needs: [],
  considered: 0,
  nextMs: null,
})
