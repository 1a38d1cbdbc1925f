import { Heap } from './heap.ts'
import type { LaneWindow } from './lane-window.ts'
import type { OrderingPolicy } from './policy.ts'

interface Group {
  name: string
  lanes: Heap<LaneWindow>
}

/**
 * Lanes sorted by the policy in two levels: groups, and lanes inside a group. When the use of an account changes, its
 * group moves as a whole.
 */
export class OrderedLanes {
  private readonly policy: OrderingPolicy
  private readonly groups: Heap<Group>
  private readonly byName = new Map<string, Group>()

  constructor(policy: OrderingPolicy) {
    this.policy = policy
    this.groups = new Heap((a, b) => this.isBefore(a, b))
  }

  get first(): LaneWindow | undefined {
    return this.groups.first?.lanes.first
  }

  hasGroup(name: string): boolean {
    return this.byName.has(name)
  }

  all(): LaneWindow[] {
    return this.groups.all().flatMap(({ lanes }) => [...lanes.all()])
  }

  put(lane: LaneWindow): void {
    const name = this.policy.groupOf(lane)
    const group = this.byName.get(name) ?? { name, lanes: new Heap((a, b) => this.policy.compare(a, b) < 0) }
    group.lanes.put(lane)
    this.byName.set(name, group)
    this.groups.put(group)
  }

  remove(lane: LaneWindow): void {
    const group = this.byName.get(this.policy.groupOf(lane))
    if (!group) return
    group.lanes.remove(lane)
    if (group.lanes.size > 0) this.groups.put(group)
    else {
      this.groups.remove(group)
      this.byName.delete(group.name)
    }
  }

  move(name: string): void {
    const group = this.byName.get(name)
    if (group) this.groups.put(group)
  }

  private isBefore(a: Group, b: Group): boolean {
    const [left, right] = [a.lanes.first, b.lanes.first]
    return left !== undefined && right !== undefined && this.policy.compare(left, right) < 0
  }
}
