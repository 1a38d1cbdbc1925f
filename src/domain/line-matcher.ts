import { BadPattern, compileLinePattern, type PatternStep } from './pattern.ts'

/**
 * Finds the lines of UTF-8 text that match a pattern, in time linear in the text. It builds a deterministic automaton
 * over characters, computing a transition when the text first needs it. Computing transitions is limited to `workMax`
 * operations; a pattern that needs more is refused during the search, so every search ends soon.
 */

const statesMax = 512
/** Maximum cached transitions by characters that are not ASCII, over all states. */
const wideMax = 65_536
/** Maximum steps that are visited to compute transitions. */
const workMax = 4_000_000
/** Maximum characters that are read to find the ranges of the matches in one line. */
const followedMax = 50_000
const ascii = 128
const asciiBits = 7
const newline = 10
const unknown = -1

interface State {
  /** Pattern steps that are active after the text so far. */
  steps: readonly number[]
  /** true: a match ends here, or ends here if the line does. */
  matches: boolean
  matchesAtEnd: boolean
}

export interface Span {
  start: number
  end: number
}

export class LineMatcher {
  readonly #search: Automaton
  readonly #anchored: Automaton

  /** Throws BadPattern, as all methods do. */
  constructor(query: string, options: { regex: boolean; ignoreCase: boolean }) {
    const steps = compileLinePattern(query, options)
    this.#search = new Automaton(steps, 'ANYWHERE')
    this.#anchored = new Automaton(steps, 'HERE')
  }

  /** Begins a line. */
  reset(): void {
    this.#search.reset(true)
  }

  /**
   * Continues the search in `bytes` from `at` to `to`, or to the end of the character there. Returns a position in the
   * first line that matches (at most that of its newline) and begins a new line; -1: no match so far.
   */
  find(bytes: Uint8Array, at: number, to: number): number {
    return this.#search.find(bytes, at, to)
  }

  /** Returns whether a line that ends here matches; call it if `find` found nothing. */
  matchesAtEnd(): boolean {
    return this.#search.state.matchesAtEnd
  }

  /**
   * The ranges of the matches in a line, each the leftmost and longest after the previous one. Omits empty matches, and
   * those beyond `followedMax` read characters: a pattern may read most of the line again at each character.
   */
  ranges(line: string, rangesMax: number): Span[] {
    const found: Span[] = []
    this.#anchored.followed = 0
    for (let start = 0; start < line.length && found.length < rangesMax; ) {
      if (this.#anchored.followed > followedMax) break
      const end = this.#anchored.findLongest(line, start)
      if (end > start) found.push({ start, end })
      start = Math.max(end, start + charactersOf(line.codePointAt(start) ?? 0))
    }
    return found
  }
}

/** Length of a character in UTF-16 code units. */
const charactersOf = (code: number) => (code > 0xffff ? 2 : 1)

/** ANYWHERE: a match may begin at each character. HERE: it begins at the first character. */
type Begin = 'ANYWHERE' | 'HERE'

/** A transition is encoded as twice the id of its target state, plus 1 if a match ends there. */
class Automaton {
  readonly #steps: readonly PatternStep[]
  readonly #begin: Begin
  readonly #table = new Int32Array(statesMax * ascii)
  readonly #wide = new Map<number, number>()
  readonly #ids = new Map<string, number>()
  readonly #states: State[] = []
  /** Number of characters that `findLongest` has read. */
  followed = 0
  #at = 0
  #work = 0

  constructor(steps: readonly PatternStep[], begin: Begin) {
    this.#steps = steps
    this.#begin = begin
    this.#drop()
    this.reset(true)
  }

  get state(): State {
    return this.#states[this.#at] as State
  }

  reset(isLineStart: boolean): void {
    this.#at = this.#intern(this.#reach([0], isLineStart ? ['START'] : []))
  }

  find(bytes: Uint8Array, from: number, to: number): number {
    if (this.state.matches && from < to) return from
    const table = this.#table
    let state = this.#at
    for (let at = from; at < to; ) {
      const byte = bytes[at] as number
      const here = at
      let next: number
      if (byte < ascii) {
        next = table[(state << asciiBits) | byte] as number
        if (next === unknown) next = this.#compute(state, byte)
        at++
      } else {
        const character = decode(bytes, at)
        next = this.#follow(state, character & codeMask)
        at += character >> sizeShift
      }
      if ((next & 1) === 1) {
        this.reset(true)
        return here
      }
      state = next >> 1
    }
    this.#at = state
    return -1
  }

  /**
   * The end of the longest match that begins at `from`. Returns `from` if only the empty match begins there, -1 if none
   * does.
   */
  findLongest(line: string, from: number): number {
    this.reset(from === 0)
    let end = this.state.matches ? from : -1
    for (let at = from; at < line.length && this.state.steps.length > 0; ) {
      const code = line.codePointAt(at) ?? 0
      this.followed++
      this.#at = this.#follow(this.#at, code) >> 1
      at += charactersOf(code)
      if (this.state.matches || (this.state.matchesAtEnd && at === line.length)) end = at
    }
    return end
  }

  #follow(state: number, code: number): number {
    const known = code < ascii ? this.#table[(state << asciiBits) | code] : this.#wide.get(code * statesMax + state)
    return known === undefined || known === unknown ? this.#compute(state, code) : known
  }

  #compute(from: number, code: number): number {
    const { steps, matchesAtEnd } = this.#states[from] as State
    this.#work += steps.length
    if (this.#work > workMax) throw new BadPattern('The search takes too long on this output; use fewer repetitions')
    const before = this.#states.length
    const next =
      code === newline && this.#begin === 'ANYWHERE'
        ? 2 * this.#intern(this.#reach([0], ['START'])) + Number(matchesAtEnd)
        : this.#move(steps, String.fromCodePoint(code))
    // When the cache was emptied, the id `from` is no longer valid.
    if (this.#states.length >= before) this.#remember(from, code, next)
    return next
  }

  #move(steps: readonly number[], character: string): number {
    const moved = steps.flatMap((at) => {
      const step = this.#steps[at]
      return step && 'test' in step && step.test(character) ? [at + 1] : []
    })
    const next = this.#intern(this.#reach(this.#begin === 'ANYWHERE' ? [...moved, 0] : moved, []))
    return 2 * next + Number(this.#states[next]?.matches)
  }

  #remember(from: number, code: number, next: number): void {
    if (code < ascii) this.#table[(from << asciiBits) | code] = next
    else if (this.#wide.size < wideMax) this.#wide.set(code * statesMax + from, next)
  }

  /** All steps that can be reached from these without reading a character. */
  #reach(from: readonly number[], edges: readonly ('START' | 'END')[]): readonly number[] {
    const found = new Set(from)
    for (const at of found) {
      const step = this.#steps[at]
      if (step && 'to' in step) for (const to of step.to) found.add(to)
      else if (step && 'edge' in step && edges.includes(step.edge)) found.add(at + 1)
    }
    return [...found].sort((a, b) => a - b)
  }

  #intern(steps: readonly number[]): number {
    const key = steps.join()
    const known = this.#ids.get(key)
    if (known !== undefined) return known
    if (this.#states.length === statesMax) this.#drop()
    const end = this.#steps.length
    const id = this.#states.length
    this.#states.push({
      steps: steps.filter((at) => at < end),
      matches: steps.includes(end),
      matchesAtEnd: this.#reach(steps, ['END']).includes(end),
    })
    this.#ids.set(key, id)
    return id
  }

  #drop(): void {
    this.#states.length = 0
    this.#ids.clear()
    this.#wide.clear()
    this.#table.fill(unknown)
  }
}

const sizeShift = 21
const codeMask = 0x1f_ffff
const replacement = 0xfffd | (1 << sizeShift)

/** Decodes a character: its code and its length in bytes. An invalid byte is U+FFFD. */
function decode(bytes: Uint8Array, at: number): number {
  const first = bytes[at] as number
  const size =
    first >= 0xc2 && first < 0xe0 ? 2 : first >= 0xe0 && first < 0xf0 ? 3 : first >= 0xf0 && first < 0xf5 ? 4 : 0
  if (size === 0) return replacement
  let code = first & (0xff >> (size + 1))
  for (let next = at + 1; next < at + size; next++) {
    const byte = bytes[next] ?? 0
    if ((byte & 0xc0) !== 0x80) return replacement
    code = (code << 6) | (byte & 0x3f)
  }
  return code > 0x10_ffff ? replacement : code | (size << sizeShift)
}
