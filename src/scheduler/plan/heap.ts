export class Heap<T extends object> {
  private readonly items: T[] = []
  private readonly indexes = new Map<T, number>()
  private readonly before: (a: T, b: T) => boolean

  constructor(before: (a: T, b: T) => boolean) {
    this.before = before
  }

  get size(): number {
    return this.items.length
  }

  get first(): T | undefined {
    return this.items[0]
  }

  has(item: T): boolean {
    return this.indexes.has(item)
  }

  all(): readonly T[] {
    return this.items
  }

  put(item: T): void {
    const at = this.indexes.get(item) ?? this.items.push(item) - 1
    this.indexes.set(item, at)
    this.down(this.up(at, item), item)
  }

  remove(item: T): void {
    const at = this.indexes.get(item)
    if (at === undefined) return
    this.indexes.delete(item)
    const last = this.items.pop()
    if (last === undefined || last === item) return
    this.items[at] = last
    this.down(this.up(at, last), last)
  }

  private up(from: number, item: T): number {
    let at = from
    while (at > 0) {
      const above = (at - 1) >> 1
      const other = this.items[above]
      if (!other || !this.before(item, other)) break
      this.set(at, other)
      at = above
    }
    this.set(at, item)
    return at
  }

  private down(from: number, item: T): void {
    let at = from
    for (;;) {
      const below = this.firstBelow(at)
      const other = this.items[below]
      if (!other || !this.before(other, item)) break
      this.set(at, other)
      at = below
    }
    this.set(at, item)
  }

  private firstBelow(at: number): number {
    const [left, right] = [this.items[2 * at + 1], this.items[2 * at + 2]]
    return left && right && this.before(right, left) ? 2 * at + 2 : 2 * at + 1
  }

  private set(at: number, item: T): void {
    this.items[at] = item
    this.indexes.set(item, at)
  }
}
