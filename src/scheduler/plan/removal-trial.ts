import { none, type ResourceAmounts } from '../../domain/machines/amounts.ts'
import {
  createFitting,
  type Fitting,
  type FreeNode,
  freeResources,
  type Placement,
  type PlaceOptions,
  place,
  takeResources,
} from '../../domain/machines/placement.ts'
import type { Shape } from '../../domain/shape.ts'
import type { Running, WorldView } from './model.ts'

/** Removes runs from the pool on trial, to find victims. Works on the nodes of the world; `close` restores them. */

export interface Wanted extends Pick<PlaceOptions, 'budget'> {
  shape: Shape
  interactive: boolean
  view: (node: FreeNode) => FreeNode | null
}

export class RemovalTrial {
  private readonly fitting: Fitting
  private readonly nodes: readonly FreeNode[]
  private readonly wanted: Wanted
  private readonly copies: Int32Array
  private readonly gone = new Set<Running>()
  private total = 0

  constructor({ nodes }: Pick<WorldView, 'nodes'>, wanted: Wanted) {
    this.nodes = nodes
    this.wanted = wanted
    this.fitting = createFitting(wanted.shape, nodes, wanted)
    this.copies = new Int32Array(nodes.length)
    for (const at of nodes.keys()) this.count(at)
  }

  get fits(): boolean {
    return this.total >= this.wanted.shape.copies
  }

  fitsOn(nodeId: string): boolean {
    return (this.copies[this.fitting.indexOf(nodeId) ?? -1] ?? 0) > 0
  }

  fitsWith({ placements }: Running): boolean {
    return placements.some(({ nodeId }) => this.fitsOn(nodeId))
  }

  remove(running: Running): void {
    if (this.gone.has(running)) return
    this.gone.add(running)
    this.move(running, freeResources)
  }

  putBack(running: Running): void {
    if (this.gone.delete(running)) this.move(running, takeResources)
  }

  removeAll(runs: readonly Running[]): void {
    const leaving = runs.filter((running) => !this.gone.has(running))
    for (const running of leaving) this.gone.add(running)
    this.moveAll(leaving, freeResources)
  }

  putAllBack(): void {
    this.moveAll(this.gone, takeResources)
    this.gone.clear()
  }

  placements(): Placement[] | null {
    const { shape, ...options } = this.wanted
    return place(shape, this.nodes, options)
  }

  lacksOn(nodeId: string): ResourceAmounts {
    const { shape, view } = this.wanted
    const node = this.fitting.nodes[this.fitting.indexOf(nodeId) ?? -1]
    const seen = node && view(node)
    if (!seen) return none
    const { cpuMillis, memoryBytes } = shape.exclusive ? seen : shape
    return {
      cpu: cpuMillis - seen.freeCpu,
      memory: memoryBytes - seen.freeMemory,
      gpu: shape.gpu - seen.devices.filter(({ free }) => free).length,
    }
  }

  close(): void {
    if (this.gone.size > 0) this.putAllBack()
  }

  private moveAll(runs: Iterable<Running>, how: typeof takeResources): void {
    const touched = new Set<number>()
    for (const running of runs) this.shift(running, how, (at) => touched.add(at))
    for (const at of touched) this.count(at)
  }

  private move(running: Running, how: typeof takeResources): void {
    this.shift(running, how, this.count)
  }

  private shift({ placements }: Running, how: typeof takeResources, touched: (at: number) => void): void {
    for (const placement of placements) {
      const at = this.fitting.indexOf(placement.nodeId)
      const node = at === undefined ? undefined : this.fitting.nodes[at]
      if (at === undefined || !node) continue
      how(node, placement)
      touched(at)
    }
  }

  private readonly count = (at: number): void => {
    const copies = this.fitting.copiesAt(at)
    this.total += copies - (this.copies[at] ?? 0)
    this.copies[at] = copies
  }
}
