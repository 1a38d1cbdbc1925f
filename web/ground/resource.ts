import type { TypedDocument } from '@berth-jobs/berth/client'
import { useCallback, useEffect, useRef, useSyncExternalStore } from 'react'
import { client, noteRepeated } from './connection.ts'
import { type Load, type Reader, ResourceCache, type ResourceState } from './resource-cache.ts'
import { onReturn } from './server-return.ts'

export interface Resource<Value> extends ResourceState<Value> {
  read(): void
}

interface ResourceOptions {
  /** Reads again so long after each read, while the page is visible. */
  everyMs?: number | undefined
  isOff?: boolean
  /** Reads again when this changes, as by a message of a stream, at the earliest `pauseMs` after the read before. */
  version?: unknown
  pauseMs?: number
}

const pauseMsUsual = 250

const cache = new ResourceCache({ isHidden: () => document.hidden, noteRepeated })
onReturn(() => cache.hurry())
document.addEventListener('visibilitychange', () => !document.hidden && cache.resume())

/**
 * A value of the cache: views with the same `key` share it. It is read when a view begins to show it, and again after a
 * failure that may pass. A reader who comes back sees at once what was there.
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

export const keyOf = (document: Pick<string, 'toString'>, variables: unknown) =>
  `${document} ${JSON.stringify(variables)}`

/** The answer to a document: a value of the cache by its text and variables. */
export const useQuery = <Result extends object, Variables>(
  document: TypedDocument<Result, Variables>,
  variables: Variables,
  options?: ResourceOptions,
): Resource<Result> =>
  useResource(keyOf(document, variables), (signal) => client.request(document, variables, { signal }), options)

/** Reads a document again for the views that show its answer. */
export const readQueryAgain = <Result, Variables>(document: TypedDocument<Result, Variables>, variables: Variables) =>
  cache.read(keyOf(document, variables))
