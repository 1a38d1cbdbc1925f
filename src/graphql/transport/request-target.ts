import type { IncomingMessage } from 'node:http'

/**
 * Proxies may ask for a whole address, `GET http://host/path`. Then its host counts and the Host header does not (RFC
 * 9112, 3.2.2), also for the gate. A request with two Host headers has none: proxies differ in which one counts.
 */
export function normalizeTarget(request: IncomingMessage): void {
  const { url = '', headersDistinct } = request
  if ((headersDistinct['host']?.length ?? 0) > 1) {
    delete request.headers.host
    return
  }
  if (!/^https?:/i.test(url) || !URL.canParse(url)) return
  const { host, pathname, search } = new URL(url)
  request.headers.host = host
  request.url = pathname + search
}
