import type { RequestFailed } from '@berth-jobs/berth/client'
import { useCallback, useEffect, useRef, useState } from 'react'
import { noteRepeated } from './connection.ts'
import { onReturn } from './server-return.ts'
import { toFailure } from './to-failure.ts'

export interface Resource<Value> {
  /** The last value that was read; it stays when a later read fails. */
  value: Value | undefined
  failure: RequestFailed | null
  isLoading: boolean
  read(): void
}

const retryMs = [1_000, 2_000, 4_000, 8_000, 15_000]

/**
 * Reads a value, again at each change of `key`, and again by itself after a failure that may pass. `everyMs` reads again
 * while the page is visible. Both read at once when the server is back after an outage.
 */
export function useResource<Value>(
  key: string,
  load: (signal: AbortSignal) => Promise<Value>,
  { everyMs, isOff = false }: { everyMs?: number | undefined; isOff?: boolean } = {},
): Resource<Value> {
  const [state, setState] = useState<{ key: string; value?: Value; failure: RequestFailed | null; isLoading: boolean }>(
    {
      key,
      failure: null,
      isLoading: true,
    },
  )
  const latest = useRef(load)
  latest.current = load
  const [round, setRound] = useState(0)
  const tries = useRef(0)
  useEffect(() => {
    if (isOff) return undefined
    const leave = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const unsubscribe = onReturn(() => {
      tries.current = 0
      if (timer !== undefined) setRound((each) => each + 1)
    })
    const again = (ms: number) => {
      timer = setTimeout(() => (document.hidden ? again(ms) : setRound((each) => each + 1)), ms)
    }
    latest.current(leave.signal).then(
      (value) => {
        if (leave.signal.aborted) return
        tries.current = 0
        noteRepeated(tries, null)
        setState({ key, value, failure: null, isLoading: false })
        if (everyMs !== undefined) again(everyMs)
      },
      (error: unknown) => {
        if (leave.signal.aborted) return
        const failure = toFailure(error)
        noteRepeated(tries, failure.retryable ? failure : null)
        setState((before) => ({ ...(before.key === key ? before : { key }), key, failure, isLoading: false }))
        if (failure.retryable) again(retryMs[Math.min(tries.current++, retryMs.length - 1)] ?? 0)
      },
    )
    return () => {
      leave.abort()
      clearTimeout(timer)
      unsubscribe()
    }
  }, [key, round, everyMs, isOff])
  useEffect(() => () => noteRepeated(tries, null), [key, isOff])
  const read = useCallback(() => setRound((each) => each + 1), [])
  const isCurrent = state.key === key
  return {
    value: isCurrent ? state.value : undefined,
    failure: isCurrent ? state.failure : null,
    isLoading: isCurrent ? state.isLoading : true,
    read,
  }
}
