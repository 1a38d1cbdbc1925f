import type { TypedDocument } from '@berth-jobs/berth/client'
import { useCallback, useEffect, useRef, useSyncExternalStore } from 'react'
import { client, noteRepeated } from './connection.ts'
import { type Load, type Reader, ResourceCache, type ResourceState } from './resource-cache.ts'
import { onReturn } from './server-return.ts'

export interface Resource<Value> extends ResourceState<Value> {
  read(): void
}

interface ResourceOptions {
  /** Interval between reads while the page is visible. */
  everyMs?: number | undefined
  isOff?: boolean
  /** A change of this value starts another read, at the earliest `pauseMs` after the last one. */
  version?: unknown
  pauseMs?: number
}

const pauseMsUsual = 250

const cache = new ResourceCache({ isHidden: () => document.hidden, noteRepeated })
onReturn(() => cache.hurry())
document.addEventListener('visibilitychange', () => !document.hidden && cache.resume())

/**
 * Returns the cached value of `key`, which views share. It is read when a view is mounted, and retried after a retryable
 * failure. A view that is mounted again shows the cached value at once.
 */
export function useResource<Value>(
  key: string,
  load: Load<Value>,
  { everyMs, isOff = false, version, pauseMs = pauseMsUsual }: ResourceOptions = {},
): Resource<Value> {
  const reader = useRef<Reader<Value>>({ load, everyMs, pauseMs })
  Object.assign(reader.current, { load, everyMs, pauseMs })
  const subscribe = useCallback(
    (listener: () => void) => (isOff ? () => undefined : cache.use(key, reader.current as Reader<unknown>, listener)),
    [key, isOff],
  )
  const state = useSyncExternalStore(subscribe, () => cache.state(key)) as ResourceState<Value>
  const read = useCallback(() => cache.read(key), [key])
  const known = useRef('')
  useEffect(() => {
    if (known.current === key) read()
    known.current = key
  }, [key, everyMs, version, read])
  return { ...state, read }
}

export const toCacheKey = (document: Pick<string, 'toString'>, variables: unknown) =>
  `${document} ${JSON.stringify(variables)}`

/** Returns the result of a query, cached by its document and variables. */
export const useQuery = <Result extends object, Variables>(
  document: TypedDocument<Result, Variables>,
  variables: Variables,
  options?: ResourceOptions,
): Resource<Result> =>
  useResource(toCacheKey(document, variables), (signal) => client.request(document, variables, { signal }), options)

/** Refreshes the cached result of a query if a view shows it. */
export const readQueryAgain = <Result, Variables>(document: TypedDocument<Result, Variables>, variables: Variables) =>
  cache.read(toCacheKey(document, variables))
