import type { IncomingMessage } from 'node:http'

/**
 * Proxies may request a whole address, `GET http://host/path`. Its host replaces the Host header (RFC 9112, 3.2.2), also for
 * the gate. Two Host headers are removed: proxies differ in which one counts.
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
