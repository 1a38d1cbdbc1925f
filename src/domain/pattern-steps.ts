/**
 * A compiled pattern: steps, numbered from 0. A match ends behind the last one. Running it follows all alternatives at
 * once, so the time is linear in the text and in the number of steps.
 */

/** A character with its other cases; -1: that case has several characters. */
export interface Cased {
  code: number
  lower: number
  upper: number
}

/** The edges that `^` and `$` match in a line pattern. */
export type Edge = 'START' | 'END'

/**
 * A step reads a character and goes to the next step, passes an edge of the line and goes to the next step, or goes to
 * several steps at once.
 */
export type PatternStep = { test(character: Cased): boolean } | { edge: Edge } | { to: readonly number[] }

/** A bit per step: a match may continue at the step. */
export type StepSet = Uint32Array

/** Length of a character in UTF-16 code units. */
export const countUnits = (code: number): number => (code > 0xffff ? 2 : 1)

export class StepRunner {
  readonly #steps: readonly PatternStep[]
  readonly #tests: readonly (((character: Cased) => boolean) | null)[]
  /** The steps that a set keeps: all except those that only go to other steps. */
  readonly #kept: StepSet
  readonly #stack: number[] = []
  work = 0

  constructor(steps: readonly PatternStep[]) {
    this.#steps = steps
    this.#tests = steps.map((step) => ('test' in step ? step.test : null))
    this.#kept = this.#empty()
    for (const [at, step] of steps.entries()) if (!('to' in step)) add(this.#kept, at)
    add(this.#kept, steps.length)
  }

  begin(edge: Edge | null): StepSet {
    return this.#keep(this.#reach(this.#empty(), 0, edge))
  }

  /** Returns the steps that follow `from` after the character `code`, and the steps of `more`. */
  move(from: StepSet, code: number, more?: StepSet): StepSet {
    const character = toCased(code)
    const next = more ? more.slice() : this.#empty()
    for (let word = 0; word < from.length; word++)
      for (let bits = from[word] as number; bits !== 0; bits &= bits - 1) {
        const at = (word << 5) + lowestBit(bits)
        this.work++
        if (this.#tests[at]?.(character)) this.#reach(next, at + 1, null)
      }
    return this.#keep(next)
  }

  isMatch(set: StepSet): boolean {
    return has(set, this.#steps.length)
  }

  isMatchAtEnd(set: StepSet): boolean {
    const reached = set.slice()
    for (const [at, step] of this.#steps.entries())
      if ('edge' in step && step.edge === 'END' && has(set, at)) this.#reach(reached, at + 1, 'END')
    return this.isMatch(reached)
  }

  /** Adds a step, and all steps that follow it without reading a character. */
  #reach(set: StepSet, from: number, edge: Edge | null): StepSet {
    const stack = this.#stack
    stack.push(from)
    for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
      this.work++
      if (has(set, at)) continue
      add(set, at)
      const step = this.#steps[at]
      if (step && 'to' in step) stack.push(...step.to)
      else if (step && 'edge' in step && step.edge === edge) stack.push(at + 1)
    }
    return set
  }

  #keep(set: StepSet): StepSet {
    for (let word = 0; word < set.length; word++) set[word] = (set[word] as number) & (this.#kept[word] as number)
    return set
  }

  #empty(): StepSet {
    return new Uint32Array((this.#steps.length >> 5) + 1)
  }
}

const has = (set: StepSet, at: number): boolean => ((set[at >> 5] as number) & (1 << (at & 31))) !== 0

function add(set: StepSet, at: number): void {
  set[at >> 5] = (set[at >> 5] as number) | (1 << (at & 31))
}

const lowestBit = (bits: number): number => 31 - Math.clz32(bits & -bits)

function toCased(code: number): Cased {
  const character = String.fromCodePoint(code)
  return { code, lower: onlyCode(character.toLowerCase()), upper: onlyCode(character.toUpperCase()) }
}

function onlyCode(text: string): number {
  const code = text.codePointAt(0) ?? -1
  return text.length === countUnits(code) ? code : -1
}
