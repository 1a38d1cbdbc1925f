import { useEffect, useState } from 'react'
import { client } from '../app/connection.ts'
import { type Found, type Query, searchLog } from './log-search.ts'

const pauseMs = 250

/** Searches while the reader types; null: no query. */
export function useLogSearch(jobId: string, run: number, query: Query | null): Found | null {
  const [found, setFound] = useState<Found | null>(null)
  const key = JSON.stringify(query)
  useEffect(() => {
    setFound(null)
    const query = JSON.parse(key) as Query | null
    if (!query) return undefined
    const leave = new AbortController()
    const timer = setTimeout(async () => {
      for await (const step of searchLog({ client, jobId, run, query, signal: leave.signal })) setFound(step)
    }, pauseMs)
    return () => {
      clearTimeout(timer)
      leave.abort()
    }
  }, [jobId, run, key])
  return found
}
