import type { WorkloadEntryFragment, WorkloadRowFragment } from '../../client/generated/graphql.ts'
import { applyStyle, sanitizeText, type Terminal } from '../frame/terminal.ts'
import { formatWorkload } from './workload-view.ts'

/** A key press, as `node:readline` reports it. */
export interface KeyPress {
  name?: string | undefined
  sequence?: string | undefined
  ctrl?: boolean | undefined
}

type Job = WorkloadEntryFragment

/** The step that the caller of `TopView` must take after a key. */
export type Effect = { kind: 'QUIT' } | { kind: 'OPEN' | 'LOG' | 'CANCEL'; job: Job }

const nameOf = ({ id, name }: Job): string => name ?? id
const orders: readonly { title: string; textOf: ((job: Job) => string) | null }[] = [
  { title: 'queue order', textOf: null },
  { title: 'user', textOf: ({ user }) => user.name },
  { title: 'state', textOf: ({ state }) => state },
  { title: 'name', textOf: nameOf },
]

/** Lines around the list: numbers, a blank line, titles, and keys. */
const otherLines = 4

/** The live queue with a selected job. It converts keys to effects, and formats itself as text. */
export class TopView {
  #queue: WorkloadRowFragment | null = null
  #selected: string | null = null
  #filter = ''
  #mode: 'BROWSE' | 'FILTER' | 'CANCEL' = 'BROWSE'
  #order = 0
  #note = ''

  show(queue: WorkloadRowFragment): void {
    this.#queue = queue
  }

  /** Shows a text in the line of keys until the next key press. */
  note(text: string): void {
    this.#note = text
  }

  press(key: KeyPress): Effect | null {
    this.#note = ''
    if (key.ctrl && key.name === 'c') return { kind: 'QUIT' }
    if (this.#mode === 'FILTER') return this.#typeFilter(key)
    if (this.#mode === 'CANCEL') return this.#confirm(key)
    return this.#browse(key)
  }

  draw(terminal: Terminal): string {
    if (!this.#queue) return ''
    const jobs = this.#jobs()
    const selected = this.#selectedJob()
    const shown = chooseAround(jobs, selected, Math.max(1, terminal.rows - otherLines))
    const queue = { ...this.#queue, entries: { ...this.#queue.entries, nodes: shown } }
    return `${formatWorkload(terminal, queue, ({ id }) => id === selected?.id)}${applyStyle(terminal, 'dim', this.#foot(selected))}\n`
  }

  #foot(selected: Job | null): string {
    if (this.#note !== '') return sanitizeText(this.#note)
    if (this.#mode === 'FILTER') return `filter: ${sanitizeText(this.#filter)}█  enter keeps it, esc clears it`
    if (this.#mode === 'CANCEL' && selected) return `cancel ${sanitizeText(nameOf(selected))} (${selected.id})? y/N`
    const filter = this.#filter === '' ? '' : ` (${sanitizeText(this.#filter)})`
    return `j k move  enter open  l log  c cancel  / filter${filter}  s sort: ${orders[this.#order]?.title}  q quit`
  }

  #jobs(): readonly Job[] {
    const jobs = this.#queue?.entries.nodes ?? []
    const wanted = this.#filter.toLowerCase()
    const found = jobs.filter(({ id, name, user }) => `${id} ${name ?? ''} ${user.name}`.toLowerCase().includes(wanted))
    const textOf = orders[this.#order]?.textOf
    return textOf ? found.toSorted((a, b) => textOf(a).localeCompare(textOf(b))) : found
  }

  #selectedJob(): Job | null {
    const jobs = this.#jobs()
    return jobs.find(({ id }) => id === this.#selected) ?? jobs[0] ?? null
  }

  #browse({ name, sequence }: KeyPress): Effect | null {
    const job = this.#selectedJob()
    if (name === 'q') return { kind: 'QUIT' }
    if (sequence === '/') this.#mode = 'FILTER'
    else if (name === 'escape') this.#filter = ''
    else if (name === 's') this.#order = (this.#order + 1) % orders.length
    else if (name === 'j' || name === 'down') this.#move(1)
    else if (name === 'k' || name === 'up') this.#move(-1)
    else if (job && name === 'c') this.#choose(job)
    else if (job && (name === 'return' || name === 'o')) return { kind: 'OPEN', job }
    else if (job && name === 'l') return { kind: 'LOG', job }
    return null
  }

  #move(by: number): void {
    const jobs = this.#jobs()
    const index = jobs.findIndex(({ id }) => id === this.#selectedJob()?.id)
    this.#selected = jobs[Math.max(0, Math.min(jobs.length - 1, index + by))]?.id ?? null
  }

  /** Fixes the job of the question, because the queue may change before the answer. */
  #choose({ id }: Job): void {
    this.#selected = id
    this.#mode = 'CANCEL'
  }

  #confirm({ name }: KeyPress): Effect | null {
    this.#mode = 'BROWSE'
    const job = this.#selectedJob()
    if (name !== 'y' || job?.id !== this.#selected) return null
    return { kind: 'CANCEL', job }
  }

  #typeFilter({ name, sequence = '' }: KeyPress): null {
    if (name === 'return') this.#mode = 'BROWSE'
    else if (name === 'escape') {
      this.#filter = ''
      this.#mode = 'BROWSE'
    } else if (name === 'backspace') this.#filter = [...this.#filter].slice(0, -1).join('')
    else if (sanitizeText(sequence) === sequence) this.#filter += sequence
    return null
  }
}

/** Returns up to `count` jobs, including the selected one. */
function chooseAround(jobs: readonly Job[], selected: Job | null, count: number): Job[] {
  const index = selected ? jobs.indexOf(selected) : 0
  const start = Math.max(0, Math.min(index - Math.floor(count / 2), jobs.length - count))
  return jobs.slice(start, start + count)
}
