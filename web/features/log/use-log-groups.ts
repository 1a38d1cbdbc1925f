import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { FindGroupsDocument, type FindGroupsQueryVariables } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { findGroupAround, findGroups, type Group, groupMarkerPattern, type Mark, readMarks } from './groups.ts'
import type { LogLines } from './log-lines.ts'
import { hideGroups, type Rows } from './rows.ts'
import { awaitMoreLines } from './use-log-search.ts'

export interface LogGroups {
  rows: Rows
  /** A key that changes with the hidden rows. */
  key: string
  /** The begins and ends of groups; null: the log has no groups. */
  marks: readonly Mark[] | null
  /** Finds the group that begins with `line`. */
  find: (line: number) => { count: number; isOpen: boolean } | undefined
  toggle: (line: number) => void
  /** Opens the group that contains `line`, also if the group is found later. true: the line was hidden. */
  reveal: (line: number) => boolean
}

interface FoldedLog {
  jobId: string
  run: number
  lines: LogLines
}

const marksMax = 100_000
const marksPerRequest = 1_000

async function searchMarks({ jobId, run }: FoldedLog, from: string | null, signal: AbortSignal) {
  const matches: { line: number; text: string }[] = []
  for (let after = from; ; ) {
    const variables: FindGroupsQueryVariables = {
      id: jobId,
      run,
      query: groupMarkerPattern,
      after,
      first: marksPerRequest,
    }
    const { job } = await client.request(FindGroupsDocument, variables, { attempts: 8, signal })
    const page = job?.logSearch
    if (!page) return { matches, cursor: after }
    matches.push(...page.matches)
    after = page.cursor
    if (page.isComplete || matches.length >= marksMax) return { matches, cursor: after }
  }
}

/** Searches the whole log for begins and ends of groups, once a loaded line is one. */
function useMarks(log: FoldedLog): readonly Mark[] | null {
  const [marks, setMarks] = useState<readonly Mark[] | null>(null)
  const { jobId, run, lines } = log
  const isOn = lines.hasMarks
  useEffect(() => {
    setMarks(null)
    if (!isOn) return undefined
    const leave = new AbortController()
    const found = new Map<number, string>()
    const read = async () => {
      let from: string | null = null
      let lineCount = 0
      do {
        lineCount = lines.state().lineCount
        const { matches, cursor } = await searchMarks(log, from, leave.signal)
        const known = found.size
        for (const { line, text } of matches) found.set(line, text)
        if (found.size > known) setMarks(readMarks([...found].map(([line, text]) => ({ line, text }))))
        from = cursor
      } while (found.size < marksMax && (await awaitMoreLines(lines, lineCount, leave.signal)))
    }
    // If the search fails, the log is shown without groups.
    read().catch(() => undefined)
    return () => leave.abort()
  }, [jobId, run, lines, isOn])
  return marks
}

/** Returns the rows without the lines of folded groups. */
export function useLogGroups(log: FoldedLog, all: Rows): LogGroups {
  const { lineCount } = log.lines.state()
  const marks = useMarks(log)
  const [toggled, setToggled] = useState<ReadonlyMap<number, boolean>>(new Map())
  const [revealed, setRevealed] = useState<ReadonlySet<number>>(new Set())
  const groups = useMemo(
    () => new Map(findGroups(marks ?? [], lineCount).map((each) => [each.from, each])),
    [marks, lineCount],
  )
  const isOpen = useMemo(() => {
    const list = [...groups.values()]
    const opened = new Set([...revealed].map((line) => findGroupAround(list, line)?.from))
    return ({ from, isOpen }: Group) => toggled.get(from) ?? (isOpen || opened.has(from))
  }, [groups, toggled, revealed])
  const folded = useMemo(() => [...groups.values()].filter((group) => !isOpen(group)), [groups, isOpen])
  const rows = useMemo(() => hideGroups(all, folded), [all, folded])
  const latest = useRef(folded)
  latest.current = folded
  const toggle = useCallback((line: number) => {
    const isFolded = latest.current.some(({ from }) => from === line)
    setToggled((before) => new Map(before).set(line, isFolded))
  }, [])
  const reveal = useCallback((line: number) => {
    const group = findGroupAround(latest.current, line)
    setRevealed((before) => (before.has(line) ? before : new Set(before).add(line)))
    if (group) setToggled((before) => new Map(before).set(group.from, true))
    return group !== undefined
  }, [])
  const find = (line: number) => {
    const group = groups.get(line)
    return group && { count: group.to - group.from, isOpen: isOpen(group) }
  }
  return { rows, key: folded.map(({ from }) => from).join(), marks, find, toggle, reveal }
}
