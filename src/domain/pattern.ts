import { type Cased, type Edge, type PatternStep, StepRunner } from './pattern-steps.ts'

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

type CodeTest = (code: number) => boolean
type Test = (character: Cased) => boolean
type Widen = (test: CodeTest) => Test
type Tree =
  | { kind: 'one'; test: Test }
  | { kind: 'edge'; edge: Edge }
  | { kind: 'sequence' | 'choice'; parts: readonly Tree[] }
  | { kind: 'repeat'; part: Tree; least: number; most: number }

export const parsePattern = (text: string): Pattern => patternOf(text, exactCase)

export function parsePatternOfAnyCase(text: string): Pattern {
  if (isExpression(text)) return patternOf(text, anyCase)
  const folded = patternOf(text.toLowerCase(), exactCase)
  return { matches: (subject) => folded.matches(subject.toLowerCase()) }
}

const exactCase: Widen =
  (test) =>
  ({ code }) =>
    test(code)

const anyCase: Widen =
  (test) =>
  ({ code, lower, upper }) =>
    test(code) || test(lower) || test(upper)

function patternOf(text: string, widen: Widen): Pattern {
  if (text.length === 0 || text.length > patternCharactersMax)
    throw new BadPattern(`must have 1 … ${patternCharactersMax} characters`)
  return isExpression(text) ? expression(text.slice(1, -1), widen) : parseGlob(text)
}

const isExpression = (text: string) => text.length > 1 && text.startsWith('^') && text.endsWith('$')

/** The caller must limit the length of the text. */
export function parseGlob(text: string): Pattern {
  const glob = [...text]
  return { matches: (subject) => matchesGlob(glob, [...subject]) }
}

function expression(text: string, widen: Widen): Pattern {
  const steps: PatternStep[] = []
  write(parseExpression({ text: [...text], at: 0, widen, hasEdges: false }), steps)
  return { matches: (subject) => run(new StepRunner(steps), subject) }
}

/** Compiles a line pattern: a regular expression in which `^` and `$` are the edges of a line, or literal text. */
export function compileLinePattern(text: string, { regex, ignoreCase }: LineOptions): readonly PatternStep[] {
  const characters = [...text]
  if (characters.length === 0 || characters.length > patternCharactersMax)
    throw new BadPattern(`The text must have 1 … ${patternCharactersMax} characters`)
  if (text.includes('\n')) throw new BadPattern('The pattern of a line must not contain a line ending')
  const widen = ignoreCase ? anyCase : exactCase
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

/** Returns the problem of an invalid pattern; null: the pattern is valid. */
export function findPatternProblem(text: string): string | null {
  try {
    parsePattern(text)
    return null
  } catch (error) {
    if (error instanceof BadPattern) return `is not a supported pattern: ${error.message}`
    throw error
  }
}

function literal(wanted: string): CodeTest {
  const wantedCode = codeOf(wanted)
  return (code) => code === wantedCode
}

const codeOf = (character: string): number => character.codePointAt(0) ?? 0

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
  if (part.kind === 'edge' && /^[*+?{]$/.test(next))
    throw new BadPattern('A repetition must follow a character, a class or a group')
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

const isBetween = (first: string, last: string): CodeTest => {
  const [from, to] = [codeOf(first), codeOf(last)]
  return (code) => code >= from && code <= to
}
const [isDigit, isCapital, isSmall] = [isBetween('0', '9'), isBetween('A', 'Z'), isBetween('a', 'z')]
const spaces = new Set([...'\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff'].map(codeOf))
const isWideSpace = isBetween('\u2000', '\u200a')

const classes: Readonly<Record<string, CodeTest>> = {
  d: isDigit,
  w: (code) => isDigit(code) || isCapital(code) || isSmall(code) || code === codeOf('_'),
  s: (code) => spaces.has(code) || isWideSpace(code),
}

function parseEscape(source: Source): Test {
  const character = take(source)
  const known = classes[character.toLowerCase()]
  if (known) return character === character.toLowerCase() ? exactCase(known) : ({ code }) => !known(code)
  if (/^[A-Za-z0-9]$/.test(character)) throw new BadPattern(`\\${character} is not supported`)
  return source.widen(literal(character))
}

function parseClass(source: Source): Test {
  const negated = taken(source, '^')
  const tests: Test[] = []
  while (!taken(source, ']')) tests.push(parseRange(source))
  if (tests.length === 0) throw new BadPattern('The class [] is empty')
  return cacheLastResult((character) => tests.some((test) => test(character)) !== negated)
}

/** Caches the result for the last character, because a class may have hundreds of parts and repetitions. */
function cacheLastResult(test: Test): Test {
  let code = -1
  let result = false
  return (character) => {
    if (character.code !== code) result = test(character)
    code = character.code
    return result
  }
}

function parseRange(source: Source): Test {
  const first = take(source)
  if (first === '\\') return parseEscape(source)
  const isRange = peek(source) === '-' && source.text[source.at + 1] !== ']'
  if (!isRange) return source.widen(literal(first))
  source.at++
  const last = take(source)
  if (last === '\\' || codeOf(last) < codeOf(first)) throw new BadPattern(`Invalid range ${first}-${last}`)
  return source.widen(isBetween(first, last))
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

function run(runner: StepRunner, text: string): boolean {
  let here = runner.begin(null)
  for (const character of text) here = runner.move(here, codeOf(character))
  return runner.isMatch(here)
}
