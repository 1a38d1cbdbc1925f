import { useEffect, useState } from 'react'
import { client } from '../../ground/connection.ts'
import { sleepUntilReturn } from '../../ground/server-return.ts'
import type { LogLines } from './log-lines.ts'
import { type Found, type Query, searchLog } from './log-search.ts'

const pauseMs = 250
const growthMs = 1_000

interface SearchedLog {
  jobId: string
  run: number
  lines: LogLines
}

/** Waits until a log has more than `lineCount` lines; false: the log has ended without more. */
export async function awaitMoreLines(lines: LogLines, lineCount: number, signal: AbortSignal): Promise<boolean> {
  for (;;) {
    const state = lines.state()
    const hasGrown = state.lineCount > lineCount
    if (!hasGrown && state.isFinal) return false
    await sleepUntilReturn(growthMs, signal)
    if (hasGrown) return true
  }
}

/** Searches while the user types, and continues in new lines of a live log; null: no query. */
export function useLogSearch({ jobId, run, lines }: SearchedLog, query: Query | null): Found | null {
  const [found, setFound] = useState<Found | null>(null)
  const key = JSON.stringify(query)
  useEffect(() => {
    setFound(null)
    const query = JSON.parse(key) as Query | null
    if (!query) return undefined
    const leave = new AbortController()
    const { signal } = leave
    const search = async () => {
      let found: Found | undefined
      let lineCount = 0
      await sleepUntilReturn(pauseMs, signal)
      do {
        lineCount = lines.state().lineCount
        for await (const step of searchLog({ client, jobId, run, query, signal, before: found })) {
          found = step
          setFound(step)
        }
      } while (found?.isComplete && !found.failure && (await awaitMoreLines(lines, lineCount, signal)))
    }
    // The search rejects only when it is aborted.
    search().catch(() => undefined)
    return () => leave.abort()
  }, [jobId, run, lines, key])
  return found
}
