/**
 * Patterns for short texts: a glob (`*`, `?`), or a regular expression between `^` and `$` with literals, `.`,
 * `[classes]`, `\d \w \s \D \W \S`, groups, `|`, `*`, `+`, `?` and `{m,n}`. Any other syntax is refused. Matching
 * follows all alternatives at once, in time linear in the text, so no pattern can block a submission.
 */

export interface Pattern {
  matches(text: string): boolean
}

export class BadPattern extends Error {
  override name = 'BadPattern'
}

export const patternCharactersMax = 255
/** Maximum steps of a compiled pattern; `{m,n}` repeats its part n times. */
const stepsMax = 2_000

type Test = (character: string) => boolean
type Widen = (test: Test) => Test
type Tree =
  | { kind: 'one'; test: Test }
  | { kind: 'edge'; edge: Edge }
  | { kind: 'sequence' | 'choice'; parts: readonly Tree[] }
  | { kind: 'repeat'; part: Tree; least: number; most: number }

/** The edges that `^` and `$` match in a line pattern. */
type Edge = 'START' | 'END'

/**
 * A step reads a character and goes to the next step, passes an edge of the line and goes to the next step, or goes to
 * several steps at once. A match ends behind the last step.
 */
export type PatternStep = { test: Test } | { edge: Edge } | { to: readonly number[] }

export const parsePattern = (text: string): Pattern => patternOf(text, (test) => test)

/** The pattern ignores case. */
export function parsePatternOfAnyCase(text: string): Pattern {
  const folded = patternOf(isExpression(text) ? text : text.toLowerCase(), anyCase)
  return { matches: (subject) => folded.matches(subject.toLowerCase()) }
}

const anyCase =
  (test: Test): Test =>
  (character) =>
    test(character) || test(character.toUpperCase())

function patternOf(text: string, widen: Widen): Pattern {
  if (text.length === 0 || text.length > patternCharactersMax)
    throw new BadPattern(`must have 1 … ${patternCharactersMax} characters`)
  return isExpression(text) ? expression(text.slice(1, -1), widen) : parseGlob(text)
}

const isExpression = (text: string) => text.length > 1 && text.startsWith('^') && text.endsWith('$')

/** The caller limits the length. */
export function parseGlob(text: string): Pattern {
  const glob = [...text]
  return { matches: (subject) => matchesGlob(glob, [...subject]) }
}

function expression(text: string, widen: Widen): Pattern {
  const steps: PatternStep[] = []
  write(parseExpression({ text: [...text], at: 0, widen, hasEdges: false }), steps)
  return { matches: (subject) => run(steps, subject) }
}

/** Compiles a line pattern: a regular expression in which `^` and `$` are the edges of a line, or literal text. */
export function compileLinePattern(text: string, { regex, ignoreCase }: LineOptions): readonly PatternStep[] {
  const characters = [...text]
  if (characters.length === 0 || characters.length > patternCharactersMax)
    throw new BadPattern(`The text must have 1 … ${patternCharactersMax} characters`)
  if (text.includes('\n')) throw new BadPattern('A line has no line ending')
  const widen: Widen = ignoreCase ? bothCases : (test) => test
  const steps: PatternStep[] = []
  if (regex) write(parseExpression({ text: characters, at: 0, widen, hasEdges: true }), steps)
  else for (const character of characters) steps.push({ test: widen(literal(character)) })
  if (steps.length > lineStepsMax) throw new BadPattern('The repetitions are too large')
  return steps
}

interface LineOptions {
  regex: boolean
  ignoreCase: boolean
}

/** Lower than for other patterns: a log is long, and each of its characters may cost as many operations. */
const lineStepsMax = 200

const bothCases: Widen = (test) => (character) =>
  test(character) || test(character.toLowerCase()) || test(character.toUpperCase())

/** The problem of an invalid pattern; null: it is valid. */
export function patternProblem(text: string): string | null {
  try {
    parsePattern(text)
    return null
  } catch (error) {
    if (error instanceof BadPattern) return `is not a supported pattern: ${error.message}`
    throw error
  }
}

const literal =
  (wanted: string): Test =>
  (character) =>
    character === wanted

interface Source {
  readonly text: readonly string[]
  readonly widen: Widen
  readonly hasEdges: boolean
  at: number
}

function parseExpression(source: Source): Tree {
  const tree = parseChoice(source)
  if (source.at < source.text.length) throw new BadPattern('Unmatched )')
  return tree
}

function parseChoice(source: Source): Tree {
  const parts = [parseSequence(source)]
  while (taken(source, '|')) parts.push(parseSequence(source))
  return { kind: 'choice', parts }
}

function parseSequence(source: Source): Tree {
  const parts: Tree[] = []
  for (let next = peek(source); next !== undefined && next !== '|' && next !== ')'; next = peek(source))
    parts.push(parseRepeat(parseEdge(source) ?? parseOne(source), source))
  return { kind: 'sequence', parts }
}

function parseEdge(source: Source): Tree | undefined {
  if (!source.hasEdges) return undefined
  if (taken(source, '^')) return { kind: 'edge', edge: 'START' }
  return taken(source, '$') ? { kind: 'edge', edge: 'END' } : undefined
}

function parseOne(source: Source): Tree {
  const character = take(source)
  switch (character) {
    case '(':
      return parseGroup(source)
    case '[':
      return { kind: 'one', test: parseClass(source) }
    case '.':
      return { kind: 'one', test: () => true }
    case '\\':
      return { kind: 'one', test: parseEscape(source) }
    default:
      if ('*+?{}]^$'.includes(character)) throw new BadPattern(`Write \\${character} for the character ${character}`)
      return { kind: 'one', test: source.widen(literal(character)) }
  }
}

function parseGroup(source: Source): Tree {
  if (taken(source, '?') && !taken(source, ':')) throw new BadPattern('Only (?:…) groups are supported')
  const inner = parseChoice(source)
  if (!taken(source, ')')) throw new BadPattern('Unmatched (')
  return inner
}

const amounts: Readonly<Record<string, readonly [number, number]>> = {
  '*': [0, Number.POSITIVE_INFINITY],
  '+': [1, Number.POSITIVE_INFINITY],
  '?': [0, 1],
}

function parseRepeat(part: Tree, source: Source): Tree {
  const next = peek(source) ?? ''
  if (part.kind === 'edge' && /^[*+?{]$/.test(next)) throw new BadPattern('Nothing precedes the repetition')
  const [least, most] = next === '{' ? parseBraces(source) : (amounts[next] ?? [])
  if (least === undefined || most === undefined) return part
  if (next !== '{') source.at++
  if (/^[*+?{]$/.test(peek(source) ?? '')) throw new BadPattern('A repetition cannot follow another repetition')
  return { kind: 'repeat', part, least, most }
}

function parseBraces(source: Source): readonly [number, number] {
  const found = /^\{(\d{1,3})(,(\d{1,3})?)?\}/.exec(source.text.slice(source.at).join(''))
  const least = Number(found?.[1])
  const most = found?.[2] === undefined ? least : Number(found[3] ?? Number.POSITIVE_INFINITY)
  if (!found || most < least) throw new BadPattern('A repetition is {m}, {m,} or {m,n}; write \\{ for the character {')
  source.at += found[0].length
  return [least, most]
}

const classes: Readonly<Record<string, Test>> = {
  d: (character) => /^\d$/.test(character),
  w: (character) => /^\w$/.test(character),
  s: (character) => /^\s$/.test(character),
}

function parseEscape(source: Source): Test {
  const character = take(source)
  const known = classes[character.toLowerCase()]
  if (known) return character === character.toLowerCase() ? known : (each) => !known(each)
  if (/^[A-Za-z0-9]$/.test(character)) throw new BadPattern(`\\${character} is not supported`)
  return source.widen(literal(character))
}

function parseClass(source: Source): Test {
  const negated = taken(source, '^')
  const tests: Test[] = []
  while (!taken(source, ']')) tests.push(parseRange(source))
  if (tests.length === 0) throw new BadPattern('The class [] is empty')
  return (character) => tests.some((test) => test(character)) !== negated
}

function parseRange(source: Source): Test {
  const first = take(source)
  if (first === '\\') return parseEscape(source)
  const isRange = peek(source) === '-' && source.text[source.at + 1] !== ']'
  if (!isRange) return source.widen(literal(first))
  source.at++
  const last = take(source)
  if (last === '\\' || last < first) throw new BadPattern(`Invalid range ${first}-${last}`)
  return source.widen((character) => character >= first && character <= last)
}

const peek = ({ text, at }: Source): string | undefined => text[at]

function take(source: Source): string {
  const character = source.text[source.at++]
  if (character === undefined) throw new BadPattern('The pattern ends too early')
  return character
}

function taken(source: Source, character: string): boolean {
  if (peek(source) !== character) return false
  source.at++
  return true
}

function write(tree: Tree, steps: PatternStep[]): void {
  if (steps.length > stepsMax) throw new BadPattern('The repetitions are too large')
  switch (tree.kind) {
    case 'one':
      steps.push({ test: tree.test })
      return
    case 'edge':
      steps.push({ edge: tree.edge })
      return
    case 'sequence':
      for (const part of tree.parts) write(part, steps)
      return
    case 'choice':
      writeChoice(tree.parts, steps)
      return
    case 'repeat':
      writeRepeat(tree, steps)
      return
    default:
      tree satisfies never
  }
}

function writeChoice(parts: readonly Tree[], steps: PatternStep[]): void {
  const fork = steps.push({ to: [] }) - 1
  const begins: number[] = []
  const ends: number[] = []
  for (const part of parts) {
    begins.push(steps.length)
    write(part, steps)
    ends.push(steps.push({ to: [] }) - 1)
  }
  steps[fork] = { to: begins }
  for (const end of ends) steps[end] = { to: [steps.length] }
}

function writeRepeat({ part, least, most }: { part: Tree; least: number; most: number }, steps: PatternStep[]): void {
  for (let i = 0; i < least; i++) write(part, steps)
  if (most === Number.POSITIVE_INFINITY) {
    const fork = steps.push({ to: [] }) - 1
    write(part, steps)
    steps.push({ to: [fork] })
    steps[fork] = { to: [fork + 1, steps.length] }
    return
  }
  for (let i = least; i < most; i++) {
    const fork = steps.push({ to: [] }) - 1
    write(part, steps)
    steps[fork] = { to: [fork + 1, steps.length] }
  }
}

/** Backtracks only to the last star, so it takes at most pattern × text comparisons. */
function matchesGlob(glob: readonly string[], text: readonly string[]): boolean {
  let at = 0
  let star = -1
  let starEnd = 0
  for (let i = 0; i < text.length; ) {
    if (glob[at] === '*') {
      star = at++
      starEnd = i
    } else if (at < glob.length && (glob[at] === '?' || glob[at] === text[i])) {
      at++
      i++
    } else if (star >= 0) {
      at = star + 1
      i = ++starEnd
    } else return false
  }
  while (glob[at] === '*') at++
  return at === glob.length
}

function run(steps: readonly PatternStep[], text: string): boolean {
  let here = reach(steps, [0])
  for (const character of text) {
    const next = [...here].flatMap((at) => {
      const step = steps[at]
      return step && 'test' in step && step.test(character) ? [at + 1] : []
    })
    here = reach(steps, next)
    if (here.size === 0) return false
  }
  return here.has(steps.length)
}

/** All steps that can be reached without consuming a character. */
function reach(steps: readonly PatternStep[], from: readonly number[]): ReadonlySet<number> {
  const found = new Set(from)
  for (const at of found) {
    const step = steps[at]
    if (step && 'to' in step) for (const to of step.to) found.add(to)
  }
  return found
}
