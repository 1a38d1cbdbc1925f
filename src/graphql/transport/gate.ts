/**
 * Who may speak to the server at all, by the headers that a browser sets and a page cannot forge. Checked on every HTTP
 * request and every WebSocket upgrade before anything else is looked at.
 *
 * Without it any web page could run commands on this machine: a page of any site may send requests to a loopback port
 * (so Origin is checked, and where a browser sends none, Sec-Fetch-Site), and a name that its owner re-points to
 * 127.0.0.1 makes them same-origin (so Host is checked in single-user mode, which has no login). There a page of another
 * loopback port is refused as well: another account of this machine may serve it. Where a login is needed, such a page
 * has no token, and is let through for development servers.
 */

export interface GateRules {
  singleUser: boolean
  /** Further values of Host that are served in single-user mode, with or without a port. */
  allowedHosts: readonly string[]
  allowedOrigins: readonly string[]
  /** How people reach the server from outside, where that is known. */
  publicUrl: string | null
}

export interface Caller {
  host?: string | undefined
  origin?: string | undefined
  /** Where the request comes from, as a browser says; other programs send none. */
  'sec-fetch-site'?: string | string[] | undefined
}

/** Why the caller is turned away, or null. */
export function findGateRefusal({ host, origin, 'sec-fetch-site': site }: Caller, rules: GateRules): string | null {
  const name = host === undefined ? null : hostName(host)
  if (host === undefined || name === null) return 'The Host header is missing or malformed'
  if (rules.singleUser && !isLoopbackName(name) && !isAllowedHost(host, name, rules))
    return `Host ${name} is not allowed; add it to server.allowedHosts`
  if (origin !== undefined && !isAllowedOrigin(origin, host, rules))
    return `Requests from ${shown(origin)} are not allowed; add the origin to server.allowedOrigins`
  if (origin === undefined && site !== undefined && !ownSites.includes(String(site)))
    return 'Cross-site requests are not allowed; open the address directly'
  return null
}

/**
 * A page can make a browser send a GET without an Origin (an image, a link, a form), and such a GET can be an expensive
 * query. `none`: a person typed the address.
 */
const ownSites: readonly string[] = ['same-origin', 'none']

function isAllowedHost(host: string, name: string, { allowedHosts, publicUrl }: GateRules): boolean {
  const own = publicUrl === null ? [] : [new URL(publicUrl).host]
  return [...allowedHosts, ...own].some((each) => sameText(each, host) || sameText(each, name))
}

function isAllowedOrigin(origin: string, host: string, rules: GateRules): boolean {
  const { singleUser, allowedOrigins, publicUrl } = rules
  const url = URL.canParse(origin) ? new URL(origin) : null
  if (url === null || !/^https?:$/.test(url.protocol) || !sameText(url.origin, origin)) return false
  return (
    sameText(url.host, withoutDefaultPort(host, url.protocol)) ||
    (!singleUser && isLoopbackName(url.hostname)) ||
    allowedOrigins.some((allowed) => sameText(allowed.replace(/\/$/, ''), origin)) ||
    (publicUrl !== null && new URL(publicUrl).origin === url.origin)
  )
}

const shownCharactersMax = 255

const shown = (origin: string) =>
  URL.canParse(origin) && origin.length <= shownCharactersMax ? `the origin ${new URL(origin).origin}` : 'this origin'

/** The name in a Host header, without its port; null when it is no host. */
function hostName(host: string): string | null {
  if (!/^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?$/i.test(host) || !URL.canParse(`http://${host}`)) return null
  return host.replace(/:\d+$/, '').toLowerCase()
}

/** Browsers resolve every name below `localhost` to this machine. */
const isLoopbackName = (name: string) =>
  /^(localhost|(.+\.)?localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])\.?$/i.test(name)

const withoutDefaultPort = (host: string, protocol: string) =>
  host.replace(protocol === 'https:' ? /:443$/ : /:80$/, '')

const sameText = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()
