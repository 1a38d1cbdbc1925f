import { isDeepStrictEqual } from 'node:util'
import { isKnown } from './expected-ends.ts'
import { toNumber } from './fractions.ts'
import type { AccountRow, LaneRow, PlanRow, ViewChanges } from './leader-store.ts'
import { isAccount } from './share-tree.ts'
import type { PoolState } from './state.ts'

/** The published rows. Finds the rows that changed since. */
export class PublishedRows {
  private readonly lanes = new Map<string, LaneRow>()
  private readonly plans = new Map<string, PlanRow>()
  private readonly accounts = new Map<string, AccountRow>()

  changes(state: PoolState): ViewChanges {
    state.order.touchSwitched()
    const touched = state.touched.take()
    const lanes = touched?.lanes ?? new Set([...this.lanes.keys(), ...state.lanes.keys()])
    const accounts =
      touched?.accounts ??
      new Set(
        [...this.accounts.keys(), ...state.lanes.ofAccount.keys(), ...state.machines.runsOf.keys()].filter(isAccount),
      )
    const changes = {
      lanes: findChanges(this.lanes, lanes, (id) => makeLaneRow(state, id)),
      plans: findChanges(this.plans, new Set([...this.plans.keys(), ...state.plans.keys()]), (id) =>
        makePlanRow(state, id),
      ),
      accounts: findChanges(this.accounts, accounts, (account) => makeAccountRow(state, account)),
    }
    return {
      lanes: changes.lanes.rows,
      plans: changes.plans.rows,
      accounts: changes.accounts.rows,
      isNews: Object.values(changes).some(({ isNews }) => isNews),
    }
  }
}

interface Changed<T> {
  rows: Map<string, T | null>
  isNews: boolean
}

function findChanges<K extends string, T extends object>(
  before: Map<string, T>,
  keys: Iterable<K>,
  rowOf: (key: K) => T | null,
): Changed<T> {
  const rows = new Map<string, T | null>()
  let isNews = false
  for (const key of keys) {
    const known = before.get(key)
    const row = rowOf(key)
    if (row ? isSame(known, row) : !known) continue
    isNews ||= !row || !known || !hasSameContent(known, row)
    rows.set(key, row)
    if (row) before.set(key, row)
    else before.delete(key)
  }
  return { rows, isNews }
}

/** Compares by content, because a reason that is found again is a new object. */
const hasSameContent = (one: object, other: object) =>
  isDeepStrictEqual({ ...one, consideredMs: null }, { ...other, consideredMs: null })

function isSame<T extends object>(a: T | undefined, b: T): boolean {
  const known: Partial<T> = a ?? {}
  return (Object.keys(b) as (keyof T)[]).every((key) => isDeepStrictEqual(known[key], b[key]))
}

/** Omits the reason if it is outdated because the lane will be considered again. */
function makeLaneRow({ order, lanes }: PoolState, id: string): LaneRow | null {
  const window = lanes.get(id)
  if (!window?.head) return null
  const { waiting, head, effective, consideredMs } = window
  const reason = order.isParked(window) ? window.reason : null
  const { jobId, bid, sequence } = head
  return { waiting, headJobId: jobId, headBid: bid, headSequence: sequence, priority: effective, reason, consideredMs }
}

function makePlanRow({ plans }: PoolState, jobId: string): PlanRow | null {
  const plan = plans.get(jobId)
  return plan ? { placements: plan.placements, expectedMs: isKnown(plan.atMs) ? plan.atMs : null } : null
}

function makeAccountRow(state: PoolState, account: string): AccountRow | null {
  const { machines } = state
  const lanes = state.lanes.ofAccount.get(account)
  const running = machines.runsOf.get(account)
  if (!lanes && !running) return null
  let queued = 0
  for (const { waiting } of lanes ?? []) queued += waiting
  const { accounts } = machines
  const past = accounts.decayedUse(account)
  return {
    occupancy: toNumber(state.occupancy(account)),
    decayedUse: past && toNumber(past),
    share: toNumber(state.share(account)),
    weight: accounts.weightOf(account),
    running: running ?? 0,
    queued,
  }
}
