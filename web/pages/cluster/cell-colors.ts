import { otherColor, rankColors } from '../../parts/chart-series.ts'
import { stateWords } from '../../parts/states.ts'
import type { MapNode } from './node-changes.ts'

export type ColorBy = 'state' | 'account' | 'age'
/** Ways to colour the cells; the first is the default. */
export const colorings: readonly ColorBy[] = ['account', 'state', 'age']

type Gpu = MapNode['gpus'][number]

export interface Paint {
  /** The text in the legend. */
  key: string
  color: string
}

const hourMs = 3_600_000
const ages: readonly (readonly [maxMs: number, text: string])[] = [
  [hourMs, 'under 1 h'],
  [6 * hourMs, 'under 6 h'],
  [24 * hourMs, 'under 1 d'],
  [Number.POSITIVE_INFINITY, '1 d and more'],
]

const hidden: Paint = { key: 'in use', color: otherColor }

/** The colours of GPUs on the map, and the legend with the number of GPUs of each colour. */
export class CellColors {
  readonly #by: ColorBy
  readonly #nowMs: number
  /** Colours of the accounts that hold most GPUs. */
  readonly #colors: ReadonlyMap<string, string>

  constructor(by: ColorBy, nodes: readonly MapNode[], nowMs: number) {
    this.#by = by
    this.#nowMs = nowMs
    this.#colors = rankColors(by === 'account' ? listAccounts(nodes) : [])
  }

  /** Returns the colour of a GPU; null: the GPU is free. */
  paint({ allocated, job, run }: Gpu): Paint | null {
    if (!allocated) return null
    if (!job) return hidden
    if (this.#by === 'state') return { key: stateWords[job.state], color: `var(--state-${job.state.toLowerCase()})` }
    if (this.#by === 'account') {
      const color = this.#colors.get(job.account)
      return color === undefined ? { key: 'other accounts', color: otherColor } : { key: job.account, color }
    }
    const ageMs = run?.startedAt ? this.#nowMs - Date.parse(run.startedAt) : 0
    const index = ages.findIndex(([maxMs]) => ageMs < maxMs)
    return { key: ages[index]?.[1] ?? '', color: `var(--heat-${index + 1})` }
  }

  legend(nodes: readonly MapNode[]): readonly (Paint & { count: number })[] {
    const counts = new Map<string, Paint & { count: number }>()
    for (const { gpus } of nodes)
      for (const gpu of gpus) {
        const paint = this.paint(gpu) ?? { key: 'free', color: 'transparent' }
        const known = counts.get(paint.key)
        if (known) known.count++
        else counts.set(paint.key, { ...paint, count: 1 })
      }
    const entries = [...counts.values()]
    return this.#by === 'age'
      ? entries.toSorted((a, b) => a.color.localeCompare(b.color))
      : entries.toSorted((a, b) => b.count - a.count)
  }
}

const listAccounts = (nodes: readonly MapNode[]) =>
  nodes.flatMap(({ gpus }) => gpus.flatMap(({ job }) => (job ? [[job.account, 1] as const] : [])))
