import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exitCodes, Stop } from '../frame/exit.ts'

/** A local HTTP server to which the OpenID provider redirects the browser. */
export interface Loopback {
  redirectUri: string
  /** The URL of the redirect. Rejects if none arrives in time. */
  returned: Promise<URL>
  close(): Promise<void>
}

const waitMinutesMax = 10
const path = '/callback'

/** Accepts only a redirect with `state`, because any page in the browser can send requests to the port. */
export async function openLoopback(state: string): Promise<Loopback> {
  const { promise: returned, resolve, reject } = Promise.withResolvers<URL>()
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', redirectUri)
    if (request.method !== 'GET' || url.pathname !== path) return respond(response, 404, 'Not found.')
    if (url.searchParams.get('state') !== state)
      return respond(response, 400, 'This return does not belong to the log-in in the terminal.')
    respond(response, 200, 'You can close this page. The terminal shows whether you are logged in.')
    response.once('close', () => resolve(url))
  })
  await new Promise<void>((listening, failed) => server.once('error', failed).listen(0, '127.0.0.1', listening))
  const redirectUri = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`
  const giveUp = () =>
    reject(new Stop(exitCodes.retryable, `no log-in within ${waitMinutesMax} minutes`, 'run "berth login" again'))
  const timer = setTimeout(giveUp, waitMinutesMax * 60_000)
  return {
    redirectUri,
    returned,
    async close() {
      clearTimeout(timer)
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}

function respond(response: ServerResponse<IncomingMessage>, status: number, text: string): void {
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    connection: 'close',
  })
  response.end(`${text}\n`)
}
