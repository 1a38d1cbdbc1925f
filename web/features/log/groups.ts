/** Lines that begin a group, as GitHub Actions and Buildkite read them, or end one. */
export const markQuery = '^(::group::|::endgroup::|--- |\\+\\+\\+ )'
const markForm = /^(::group::|::endgroup::|--- |\+\+\+ )(.*)/s
/** Results of Go's tests, and titles between dashes. */
const notNames = /^(PASS|FAIL|SKIP|BENCH): | ---\s*$/

interface Line {
  line: number
  text: string
}

export interface Mark {
  line: number
  kind: 'FOLDED' | 'OPEN' | 'END'
}

const kinds: Readonly<Record<string, Mark['kind']>> = { '::endgroup::': 'END', '+++ ': 'OPEN' }

/** null: the line is no mark. */
function readMark({ line, text }: Line): Mark | null {
  const [, sign = '', name = ''] = markForm.exec(text) ?? []
  return sign === '' || (sign === '--- ' && notNames.test(name)) ? null : { line, kind: kinds[sign] ?? 'FOLDED' }
}

export const isMark = (text: string): boolean => readMark({ line: 0, text }) !== null

/** The name in the line that begins a group. */
export const toGroupName = (text: string): string => text.replace(markForm, '$2')

/** `--- a/file` before `+++ b/file` are the head of a difference between files. */
export function readMarks(lines: readonly Line[]): Mark[] {
  const isHead = (before: Line | undefined, after: Line | undefined) =>
    before?.text.startsWith('--- ') && after?.text.startsWith('+++ ') && after.line === before.line + 1
  return lines.flatMap((each, i) =>
    isHead(each, lines[i + 1]) || isHead(lines[i - 1], each) ? [] : (readMark(each) ?? []),
  )
}

/** Lines that fold to the first of them. */
export interface Group {
  from: number
  to: number
  /** Before a reader changes it. */
  isOpen: boolean
}

/** A group ends at its end mark, or before the next group. The last one is open: it grows, or the log ends in it. */
export function findGroups(marks: readonly Mark[], lineCount: number): Group[] {
  return marks.flatMap(({ line, kind }, i) => {
    const next = marks[i + 1]
    const to = next ? (next.kind === 'END' ? next.line : next.line - 1) : lineCount
    return kind === 'END' || to <= line ? [] : [{ from: line, to, isOpen: kind === 'OPEN' || !next }]
  })
}

/** The group that has a line behind its first one. */
export function groupAround(groups: readonly Group[], line: number): Group | undefined {
  const group = groups.findLast(({ from }) => from < line)
  return group && line <= group.to ? group : undefined
}
