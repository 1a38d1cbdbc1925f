import { type Client, createClient, type RequestFailed } from '@berth-jobs/berth/client'
import { baseUrl } from './base-url.ts'
import { serverNowMs } from './server-clock.ts'
import { awaitReturn, sleepUntilReturn } from './server-return.ts'
import { session } from './session.ts'
import { createStore } from './store.ts'

export { baseUrl }

export const client: Client = createClient({ url: baseUrl, token: session.provide, sleep: sleepUntilReturn })

/** For requests without a token: they also work after the token of this tab has expired. */
export const anonymous: Client = createClient({ url: baseUrl })

export interface Outage {
  failure: RequestFailed
  sinceMs: number
}

const outage = createStore<Outage | null>(null)
/** The last failure of each read that the page retries. */
const repeated = new Map<object, RequestFailed>()

function updateOutage() {
  const failure = client.outage() ?? anonymous.outage() ?? repeated.values().next().value ?? null
  const before = outage.read()
  const sinceMs = before?.sinceMs ?? serverNowMs()
  outage.change(failure && { failure, sinceMs })
  if (failure && !before) void awaitReturn(() => outage.read()?.sinceMs === sinceMs)
}

/** Counts a read that the page retries as an outage while `failure` is set; null: the read succeeded. */
export function noteRepeated(read: object, failure: RequestFailed | null): void {
  if (failure) repeated.set(read, failure)
  else if (!repeated.delete(read)) return
  updateOutage()
}

client.onOutage(updateOutage)
anonymous.onOutage(updateOutage)

/** Why and since when the page has no connection; null: it is connected. */
export const useOutage = outage.useValue
