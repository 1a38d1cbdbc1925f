import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { LogStream } from '../../generated/graphql.ts'
import { allStreams } from './line-store.ts'
import type { LogLines } from './log-lines.ts'
import { anyText, type Query } from './log-search.ts'
import { useLogSearch } from './use-log-search.ts'

export const streamNames = { STDOUT: 'out', STDERR: 'err', SYSTEM: 'sys' } as const satisfies Record<LogStream, string>

export interface StreamFilter {
  streams: readonly LogStream[]
  toggle: (stream: LogStream) => void
  /** Numbers of the lines in the chosen streams; null: all streams are chosen. */
  lines: readonly number[] | null
  key: string
}

/** The streams that are shown, which the URL names: `streams=err,sys`. */
export function useStreamFilter(log: { jobId: string; run: number; lines: LogLines }): StreamFilter {
  const { streams: text = '' } = useSearch({ strict: false }) as { streams?: string }
  const navigate = useNavigate()
  const streams = useMemo(() => {
    const named = allStreams.filter((stream) => String(text).split(',').includes(streamNames[stream]))
    return named.length === 0 ? allStreams : named
  }, [text])
  const isAll = streams.length === allStreams.length
  const query: Query = { text: anyText, isRegex: true, ignoreCase: true, streams }
  const found = useLogSearch(log, isAll ? null : query)
  const toggle = (stream: LogStream) => {
    const next = allStreams.filter((each) => streams.includes(each) !== (each === stream))
    const isEvery = next.length === 0 || next.length === allStreams.length
    const search = (before: object) => ({
      ...before,
      streams: isEvery ? undefined : next.map((each) => streamNames[each]).join(','),
    })
    void navigate({ to: '.', search, replace: true, hash: true })
  }
  return {
    streams,
    toggle,
    lines: isAll ? null : (found?.lines ?? []),
    key: isAll ? '' : text,
  }
}
