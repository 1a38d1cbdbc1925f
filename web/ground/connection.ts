import { type Client, createClient, type RequestFailed } from '@berth-jobs/berth/client'
import { baseUrl } from './base-url.ts'
import { serverNowMs } from './server-clock.ts'
import { awaitReturn, sleepUntilReturn } from './server-return.ts'
import { session } from './session.ts'
import { createStore } from './store.ts'

export { baseUrl }

export const client: Client = createClient({ url: baseUrl, token: session.provide, sleep: sleepUntilReturn })

/** Also asks where the token of this tab has ended. */
export const anonymous: Client = createClient({ url: baseUrl })

export interface Outage {
  failure: RequestFailed
  sinceMs: number
}

const outage = createStore<Outage | null>(null)
/** Failures of reads that are repeated by the page. */
const repeated = new Map<object, RequestFailed>()

function noteOutage() {
  const failure = client.outage() ?? anonymous.outage() ?? repeated.values().next().value ?? null
  const before = outage.read()
  const sinceMs = before?.sinceMs ?? serverNowMs()
  outage.change(failure && { failure, sinceMs })
  if (failure && !before) void awaitReturn(() => outage.read()?.sinceMs === sinceMs)
}

/** A read that failed and is repeated by the page counts as an outage until it succeeds: null. */
export function noteRepeated(read: object, failure: RequestFailed | null): void {
  if (failure) repeated.set(read, failure)
  else if (!repeated.delete(read)) return
  noteOutage()
}

client.onOutage(noteOutage)
anonymous.onOutage(noteOutage)

/** Why, and since when, the page is not live; null: it is live. */
export const useOutage = outage.useValue
