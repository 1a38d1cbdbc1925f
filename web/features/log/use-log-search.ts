import { useEffect, useState } from 'react'
import { client } from '../../ground/connection.ts'
import type { LogLines } from './log-lines.ts'
import { type Found, type Query, searchLog } from './log-search.ts'

const pauseMs = 250
const growthMs = 1_000

interface SearchedLog {
  jobId: string
  run: number
  lines: LogLines
}

/** Searches while the reader types, and what a live log has printed since; null: no query. */
export function useLogSearch({ jobId, run, lines }: SearchedLog, query: Query | null): Found | null {
  const [found, setFound] = useState<Found | null>(null)
  const key = JSON.stringify(query)
  useEffect(() => {
    setFound(null)
    const query = JSON.parse(key) as Query | null
    if (!query) return undefined
    const leave = new AbortController()
    const { signal } = leave
    let timer: ReturnType<typeof setTimeout> | undefined
    const search = async (before?: Found) => {
      const { lineCount } = lines.state()
      let found = before
      for await (const step of searchLog({ client, jobId, run, query, signal, before })) {
        found = step
        setFound(step)
      }
      if (found?.isComplete && !found.failure) awaitGrowth(found, lineCount)
    }
    const awaitGrowth = (found: Found, lineCount: number) => {
      if (signal.aborted) return
      const state = lines.state()
      const hasGrown = state.lineCount > lineCount
      if (!hasGrown && state.isFinal) return
      timer = setTimeout(() => (hasGrown ? void search(found) : awaitGrowth(found, lineCount)), growthMs)
    }
    timer = setTimeout(() => void search(), pauseMs)
    return () => {
      clearTimeout(timer)
      leave.abort()
    }
  }, [jobId, run, lines, key])
  return found
}
