import { compileLinePattern } from './pattern.ts'
import { countUnits, type PatternStep, StepRunner, type StepSet } from './pattern-steps.ts'

/**
 * Finds the lines of UTF-8 text that match a pattern, in time linear in the text. It builds a deterministic automaton
 * over characters, computing a transition when the text first needs it. A pattern may need a new transition for each
 * character; so all work is counted, and the caller says when to stop. A byte is one unit.
 */

const statesMax = 512
/** Maximum cached transitions by characters that are not ASCII, over all states. */
const wideMax = 65_536
/** Work of a step of the pattern, a call, a computed transition, and a look-up of a character that is not ASCII. */
const stepWork = 2
const callWork = 20
const transitionWork = 100
const wideWork = 10
/** A character of a string costs more than a byte. */
const characterWork = 6
/** Maximum work to find the ranges of the matches in one line. */
const rangesWorkMax = 100_000
const ascii = 128
const asciiBits = 7
const newline = 10
const lineBeginId = 0
const unknown = -1

interface State {
  /** Steps of the pattern at which a match may continue. */
  set: StepSet
  matches: boolean
  isDead: boolean
}

export interface Span {
  start: number
  end: number
}

export class LineMatcher {
  readonly #search: Automaton
  readonly #anchored: Automaton

  /** Throws BadPattern. */
  constructor(query: string, options: { regex: boolean; ignoreCase: boolean }) {
    const steps = compileLinePattern(query, options)
    this.#search = new Automaton(steps, 'ANYWHERE')
    this.#anchored = new Automaton(steps, 'HERE')
  }

  /** Work so far; the search of one byte is the unit. */
  get work(): number {
    return this.#search.work + this.#anchored.work
  }

  reset(): void {
    this.#search.reset(true)
  }

  /**
   * Continues the search in `bytes` at `at` until a line matches, `to` (or the end of the character there) is reached,
   * or the work exceeds `workMax`. Returns the index where it stopped. If a line matches, the index is at most that of
   * its newline, and the next call begins a new line.
   */
  find(bytes: Uint8Array, at: number, to: number, workMax: number): { at: number; matches: boolean } {
    return this.#search.find(bytes, at, to, workMax)
  }

  /** After `find` found no match: whether the line matches if it ends here. */
  matchesAtEnd(): boolean {
    return this.#search.matchesAtEnd
  }

  /**
   * The ranges of the matches in a line, each the leftmost and longest after the previous one. Omits empty matches, and
   * those beyond `rangesWorkMax`: a pattern may read most of the line again at each character.
   */
  ranges(line: string, rangesMax: number): Span[] {
    const found: Span[] = []
    const workMax = this.#anchored.work + rangesWorkMax
    for (let start = 0; start < line.length && found.length < rangesMax; ) {
      const end = this.#anchored.findLongest(line, start, workMax)
      if (end === null) break
      if (end > start) found.push({ start, end })
      start = Math.max(end, start + countUnits(line.codePointAt(start) ?? 0))
    }
    return found
  }
}

/** ANYWHERE: a match may begin at each character. HERE: it begins at the first character. */
type Begin = 'ANYWHERE' | 'HERE'

/** A transition is encoded as twice the id of its target state, plus 1 if a match ends there. */
class Automaton {
  readonly #runner: StepRunner
  readonly #lineBegin: StepSet
  readonly #begin: StepSet
  readonly #isAnywhere: boolean
  readonly #table = new Int32Array(statesMax * ascii)
  readonly #wide = new Map<number, number>()
  readonly #ids = new Map<number, number>()
  readonly #states: State[] = []
  #at = 0
  #work = 0

  constructor(steps: readonly PatternStep[], begin: Begin) {
    this.#runner = new StepRunner(steps)
    this.#lineBegin = this.#runner.begin('START')
    this.#begin = this.#runner.begin(null)
    this.#isAnywhere = begin === 'ANYWHERE'
    this.#drop()
    this.reset(true)
  }

  get work(): number {
    return this.#work + stepWork * this.#runner.work
  }

  get state(): State {
    return this.#states[this.#at] as State
  }

  get matchesAtEnd(): boolean {
    return this.#runner.isMatchAtEnd(this.state.set)
  }

  reset(isLineStart: boolean): void {
    this.#at = isLineStart ? lineBeginId : this.#intern(this.#begin)
  }

  find(bytes: Uint8Array, from: number, to: number, workMax: number): { at: number; matches: boolean } {
    this.#work += callWork
    if (this.state.matches && from < to) return { at: from, matches: true }
    const table = this.#table
    const computedMax = this.work + workMax
    let state = this.#at
    let at = from
    while (at < to) {
      const byte = bytes[at] as number
      const here = at
      let next = byte < ascii ? (table[(state << asciiBits) | byte] as number) : unknown
      if (next === unknown) {
        if (this.work > computedMax) break
        const character = byte < ascii ? byte | (1 << sizeShift) : decode(bytes, at)
        next = this.#follow(state, character & codeMask)
        at += character >> sizeShift
      } else at++
      if ((next & 1) === 1) {
        this.#work += at - from
        this.reset(true)
        return { at: here, matches: true }
      }
      state = next >> 1
    }
    this.#work += at - from
    this.#at = state
    return { at, matches: false }
  }

  /**
   * The end of the longest match that begins at `from`. Returns `from` if only the empty match begins there, -1 if none
   * does, null if that takes too much work.
   */
  findLongest(line: string, from: number, workMax: number): number | null {
    this.#work += callWork
    this.reset(from === 0)
    let end = this.state.matches ? from : -1
    for (let at = from; at < line.length && !this.state.isDead; ) {
      if (this.work > workMax) return null
      const code = line.codePointAt(at) ?? 0
      this.#work += characterWork
      this.#at = this.#follow(this.#at, code) >> 1
      at += countUnits(code)
      if (this.state.matches || (at === line.length && this.matchesAtEnd)) end = at
    }
    return end
  }

  #follow(state: number, code: number): number {
    if (code >= ascii) this.#work += wideWork
    const known = code < ascii ? this.#table[(state << asciiBits) | code] : this.#wide.get(code * statesMax + state)
    return known === undefined || known === unknown ? this.#compute(state, code) : known
  }

  #compute(from: number, code: number): number {
    const { set } = this.#states[from] as State
    this.#work += transitionWork
    const before = this.#states.length
    const next =
      code === newline && this.#isAnywhere
        ? 2 * lineBeginId + Number(this.#runner.isMatchAtEnd(set))
        : this.#move(set, code)
    // When the cache was emptied, the id `from` is no longer valid.
    if (this.#states.length >= before) this.#remember(from, code, next)
    return next
  }

  #move(set: StepSet, code: number): number {
    const next = this.#intern(this.#runner.move(set, code, this.#isAnywhere ? this.#begin : undefined))
    return 2 * next + Number(this.#states[next]?.matches)
  }

  #remember(from: number, code: number, next: number): void {
    if (code < ascii) this.#table[(from << asciiBits) | code] = next
    else if (this.#wide.size < wideMax) this.#wide.set(code * statesMax + from, next)
  }

  /** Returns the id of the state with this set. If two sets have the same hash, a set may get several ids. */
  #intern(set: StepSet): number {
    const hash = hashSet(set)
    const known = this.#ids.get(hash)
    if (known !== undefined && isSame(set, this.#states[known]?.set)) return known
    if (this.#states.length === statesMax) this.#drop()
    const id = this.#states.length
    this.#states.push({ set, matches: this.#runner.isMatch(set), isDead: set.every((bits) => bits === 0) })
    this.#ids.set(hash, id)
    return id
  }

  /** Empties the cache; the state at the beginning of a line keeps its id. */
  #drop(): void {
    this.#states.length = 0
    this.#ids.clear()
    this.#wide.clear()
    this.#table.fill(unknown)
    this.#intern(this.#lineBegin)
  }
}

function hashSet(set: StepSet): number {
  let hash = 0
  for (let word = 0; word < set.length; word++)
    hash = Math.imul(hash ^ (set[word] as number), 0x9e3779b1) ^ (hash >>> 15)
  return hash
}

function isSame(set: StepSet, other: StepSet | undefined): boolean {
  for (let word = 0; word < set.length; word++) if (set[word] !== other?.[word]) return false
  return true
}

const sizeShift = 21
const codeMask = 0x1f_ffff
const replacement = 0xfffd | (1 << sizeShift)

/** Decodes a character into its code and its length in bytes. An invalid byte becomes U+FFFD. */
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
