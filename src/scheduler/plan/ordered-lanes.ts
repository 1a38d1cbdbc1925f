import { Heap } from './heap.ts'
import type { LaneWindow } from './lane-window.ts'
import type { OrderingPolicy } from './ordering-policies.ts'

/** Lanes of one node of the tree of shares, sorted by the policy: lanes of the node itself, or the nodes below it. */
class Branch {
  readonly lanes: Heap<LaneWindow>
  readonly below: Heap<Branch>
  readonly byName = new Map<string, Branch>()
  readonly name: string
  private readonly policy: OrderingPolicy

  constructor(name: string, policy: OrderingPolicy) {
    this.name = name
    this.policy = policy
    this.lanes = new Heap((a, b) => policy.compare(a, b) < 0)
    this.below = new Heap((a, b) => {
      const [left, right] = [a.first, b.first]
      return left !== undefined && right !== undefined && policy.compare(left, right) < 0
    })
  }

  get first(): LaneWindow | undefined {
    return this.lanes.first ?? this.below.first?.first
  }

  get all(): LaneWindow[] {
    return [...this.lanes.all(), ...this.below.all().flatMap(({ all }) => all)]
  }

  /** Returns the branches along the path, from this one on. `adds`: creates missing branches. */
  along(path: readonly string[], adds = false): Branch[] {
    const found: Branch[] = [this]
    for (const name of path) {
      const above = found[found.length - 1] ?? this
      const known = above.byName.get(name)
      if (!known && !adds) break
      const branch = known ?? new Branch(name, this.policy)
      above.byName.set(name, branch)
      found.push(branch)
    }
    return found
  }

  settle(branch: Branch): void {
    if (branch.first) this.below.put(branch)
    else {
      this.below.remove(branch)
      this.byName.delete(branch.name)
    }
  }
}

/** Lanes sorted by the policy, in a tree: when the share of a node changes, the node moves as a whole. */
export class OrderedLanes {
  private readonly policy: OrderingPolicy
  private readonly root: Branch

  constructor(policy: OrderingPolicy) {
    this.policy = policy
    this.root = new Branch('', policy)
  }

  get first(): LaneWindow | undefined {
    return this.root.first
  }

  hasGroup(name: string): boolean {
    return this.root.byName.has(name)
  }

  all(): LaneWindow[] {
    return this.root.all
  }

  put(lane: LaneWindow): void {
    const branches = this.root.along(this.policy.pathOf(lane), true)
    branches.at(-1)?.lanes.put(lane)
    settleUpwards(branches)
  }

  remove(lane: LaneWindow): void {
    const path = this.policy.pathOf(lane)
    const branches = this.root.along(path)
    if (branches.length <= path.length) return
    branches.at(-1)?.lanes.remove(lane)
    settleUpwards(branches)
  }

  /** Call this after the shares of nodes of the path changed. */
  move(path: readonly string[]): void {
    settleUpwards(this.root.along(path))
  }
}

function settleUpwards(branches: readonly Branch[]): void {
  for (let at = branches.length - 1; at > 0; at--) {
    const [above, branch] = [branches[at - 1], branches[at]]
    if (above && branch) above.settle(branch)
  }
}
