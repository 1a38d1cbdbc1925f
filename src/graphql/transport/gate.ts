import type { IncomingMessage } from 'node:http'

export interface GateRules {
  singleUser: boolean
  /** Additional Host values that are accepted in single-user mode, with or without a port. */
  allowedHosts: readonly string[]
  allowedOrigins: readonly string[]
  /** The URL of the server for its users, if configured. */
  publicUrl: string | null
}

export interface Caller {
  host?: string | undefined
  origin?: string | undefined
  /** Sent only by browsers. */
  'sec-fetch-site'?: string | string[] | undefined
  'sec-fetch-mode'?: string | string[] | undefined
  'sec-fetch-dest'?: string | string[] | undefined
}

/**
 * Checks each HTTP request and WebSocket upgrade first, by headers that a browser sets and a page cannot forge. Returns
 * the reason for a refusal, or null.
 *
 * A page of any site may send requests to a loopback port. So Origin is checked, or Sec-Fetch-Site where a browser
 * sends no Origin. If the owner of a DNS name points it to 127.0.0.1, such requests become same-origin; so Host is
 * checked in single-user mode, which has no login. This mode also refuses pages from other loopback ports, which
 * another account of the machine may serve. In multi-user mode such a page has no token, and development servers need
 * this access. `mayNavigate`: links from other sites to this URL may be followed.
 */
export function findGateRefusal(caller: Caller, rules: GateRules, mayNavigate = false): string | null {
  const { host, origin, 'sec-fetch-site': site } = caller
  const name = host === undefined ? null : readHostName(host)
  if (host === undefined || name === null) return 'The Host header is missing or malformed'
  if (rules.singleUser && !isLoopbackName(name) && !isAllowedHost(host, name, rules))
    return `Host ${name} is not allowed; add it to server.allowedHosts`
  if (origin !== undefined && !isAllowedOrigin(origin, host, rules))
    return `Requests from ${describeOrigin(origin)} are not allowed; add the origin to server.allowedOrigins`
  if (mayNavigate && isNavigation(caller)) return null
  if (origin === undefined && site !== undefined && !allowedSites.includes(String(site)))
    return 'Cross-site requests are not allowed; open the address directly'
  return null
}

/**
 * true: a person followed a link to a file, for example in an email. The page with the link cannot read the response.
 */
const isNavigation = ({ origin, 'sec-fetch-mode': mode, 'sec-fetch-dest': dest }: Caller) =>
  origin === undefined && mode === 'navigate' && dest === 'document'

/**
 * Values of Sec-Fetch-Site that are allowed without an Origin, because a page can send an expensive GET by an image or
 * a link. `none`: a person typed the URL.
 */
const allowedSites: readonly string[] = ['same-origin', 'none']

function isAllowedHost(host: string, name: string, { allowedHosts, publicUrl }: GateRules): boolean {
  const own = publicUrl === null ? [] : [new URL(publicUrl).host]
  return [...allowedHosts, ...own].some((each) => isSameText(each, host) || isSameText(each, name))
}

function isAllowedOrigin(origin: string, host: string, rules: GateRules): boolean {
  const { singleUser, allowedOrigins, publicUrl } = rules
  const url = URL.canParse(origin) ? new URL(origin) : null
  if (url === null || !/^https?:$/.test(url.protocol) || !isSameText(url.origin, origin)) return false
  return (
    isSameText(url.host, removeDefaultPort(host, url.protocol)) ||
    (!singleUser && isLoopbackName(url.hostname)) ||
    allowedOrigins.some((allowed) => isSameText(allowed.replace(/\/$/, ''), origin)) ||
    (publicUrl !== null && new URL(publicUrl).origin === url.origin)
  )
}

const shownCharactersMax = 255

const describeOrigin = (origin: string) =>
  URL.canParse(origin) && origin.length <= shownCharactersMax ? `the origin ${new URL(origin).origin}` : 'this origin'

/** The host name without its port; null: the Host header is malformed. */
function readHostName(host: string): string | null {
  if (!/^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?$/i.test(host) || !URL.canParse(`http://${host}`)) return null
  return host.replace(/:\d+$/, '').toLowerCase()
}

/** true: a loopback name. Browsers resolve all names below `localhost` to this machine. */
const isLoopbackName = (name: string) =>
  /^(localhost|(.+\.)?localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])\.?$/i.test(name)

const removeDefaultPort = (host: string, protocol: string) => host.replace(protocol === 'https:' ? /:443$/ : /:80$/, '')

const isSameText = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()

/**
 * Replaces the Host header by the host of an absolute request target, `GET http://host/path` (RFC 9112, 3.2.2). Removes
 * two Host headers, because proxies differ in which one they use.
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
