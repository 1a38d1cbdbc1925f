import { createServer, type ServerResponse } from 'node:http'
import { exposeMetrics } from '../../platform/metrics.ts'
import { findGateRefusal, type GateRules } from './gate.ts'
import type { Readiness } from './health.ts'
import { sendJson, sendPlain } from './refused-bodies.ts'

export interface MetricsListenerOptions {
  host: string
  port: number
  rules: GateRules
  checkReadiness: () => Promise<Readiness>
}

/**
 * A separate listener for /metrics, /healthz and /readyz without log-in. Only the monitoring may be able to reach its
 * address. The gate refuses web pages.
 */
export async function listenForMetrics({
  host,
  port,
  rules,
  checkReadiness,
}: MetricsListenerOptions): Promise<() => Promise<void>> {
  const paths: Readonly<Record<string, (response: ServerResponse, accept?: string) => Promise<void>>> = {
    '/metrics': sendMetrics,
    '/healthz': async (response) => sendPlain(response, 200, 'ok'),
    '/readyz': async (response) => sendReadiness(response, await checkReadiness()),
  }
  const http = createServer((request, response) => {
    const refusal = findGateRefusal(request.headers, rules)
    if (refusal !== null) return sendPlain(response, 403, refusal)
    const send = paths[(request.url ?? '').replace(/\?.*$/, '')]
    if (!send) return sendPlain(response, 404, 'Not found')
    send(response, request.headers.accept).catch(() => response.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    http.once('error', reject)
    http.listen(port, host, resolve)
  })
  return async () => {
    const closed = new Promise((resolve) => http.close(resolve))
    http.closeAllConnections()
    await closed
  }
}

export async function sendMetrics(response: ServerResponse, accept?: string): Promise<void> {
  const { type, text } = await exposeMetrics(accept)
  response.setHeader('content-type', type)
  response.setHeader('cache-control', 'no-store')
  response.end(text)
}

export function sendReadiness(response: ServerResponse, state: Readiness): void {
  response.setHeader('cache-control', 'no-store')
  sendJson(response, state.ready ? 200 : 503, state)
}
