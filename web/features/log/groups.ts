/** Matches lines that begin or end a group, as in GitHub Actions and Buildkite. */
export const groupMarkerPattern = '^(::group::|::endgroup::|--- |\\+\\+\\+ )'
const markForm = /^(::group::|::endgroup::|--- |\+\+\+ )(.*)/s
/** Matches names that are not groups: results of Go tests, and titles between dashes. */
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

/** Reads the begin or end of a group; null: the line is neither. */
function readMark({ line, text }: Line): Mark | null {
  const [, sign = '', name = ''] = markForm.exec(text) ?? []
  return sign === '' || (sign === '--- ' && notNames.test(name)) ? null : { line, kind: kinds[sign] ?? 'FOLDED' }
}

export const isMark = (text: string): boolean => readMark({ line: 0, text }) !== null

/** Removes the marker from a line that begins a group. */
export const toGroupName = (text: string): string => text.replace(markForm, '$2')

/** Ignores `--- a/file` before `+++ b/file`, which is the head of a diff. */
export function readMarks(lines: readonly Line[]): Mark[] {
  const isHead = (before: Line | undefined, after: Line | undefined) =>
    before?.text.startsWith('--- ') && after?.text.startsWith('+++ ') && after.line === before.line + 1
  return lines.flatMap((each, i) =>
    isHead(each, lines[i + 1]) || isHead(lines[i - 1], each) ? [] : (readMark(each) ?? []),
  )
}

/** A range of lines that can be folded to its first line. */
export interface Group {
  from: number
  to: number
  /** true: not folded, until the user folds it. */
  isOpen: boolean
}

/** A group ends at its end mark, or before the next group. The last group is open, because the end of the log is in it. */
export function findGroups(marks: readonly Mark[], lineCount: number): Group[] {
  return marks.flatMap(({ line, kind }, i) => {
    const next = marks[i + 1]
    const to = next ? (next.kind === 'END' ? next.line : next.line - 1) : lineCount
    return kind === 'END' || to <= line ? [] : [{ from: line, to, isOpen: kind === 'OPEN' || !next }]
  })
}

/** Finds the group that contains `line` after its first line. */
export function findGroupAround(groups: readonly Group[], line: number): Group | undefined {
  const group = groups.findLast(({ from }) => from < line)
  return group && line <= group.to ? group : undefined
}
