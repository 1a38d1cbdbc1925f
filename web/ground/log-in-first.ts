import type { ServerFactsQuery } from '../generated/graphql.ts'
import { baseUrl } from './base-url.ts'
import { loadPart } from './load-part.ts'
import type { LogInResult, Provider } from './open-id.ts'
import { session } from './session.ts'

type ServerFacts = ServerFactsQuery['serverInfo']

let provider: Provider | null = null
let title: string | null = null

/**
 * Returns the OpenID provider of the server; null: users log in with tokens only. Browsers compute the PKCE challenge
 * only on pages loaded over HTTPS or from localhost.
 */
export const findProvider = (): Provider | null => (isSecureContext ? provider : null)

/** Returns the name of the installation, which the log-in page shows. */
export const findTitle = (): string => title ?? 'Berth'

const toProvider = ({ oidcIssuer, oidcClientId, oidcScopes }: ServerFacts): Provider | null =>
  oidcIssuer && oidcClientId ? { issuer: oidcIssuer, clientId: oidcClientId, scope: oidcScopes.join(' ') } : null

/** Resolves when this tab has a credential. */
export async function logInFirst(server: ServerFacts): Promise<void> {
  provider = toProvider(server)
  title = server.title
  const found = findProvider()
  const path = location.href.slice(baseUrl.length)
  if (found && path.startsWith('login/return?')) await readReturn(found)
  if (found && path === providerPage) return leave(found, { path: '', closes: true })
  if (session.hasToken || (await session.askTabs())) return
  session.requireLogIn()
  await session.untilLogIn()
}

const providerPage = 'login?provider'

/** Leaves for the log-in page of the provider, which then returns to this page. */
export const leaveForProvider = (found: Provider): Promise<void> =>
  leave(found, { path: location.href.slice(baseUrl.length), closes: false })

/** Opens a tab for the log-in, which passes its credential to this page. */
export const openProviderInTab = (): void => void window.open(baseUrl + providerPage)

async function leave(found: Provider, request: { path: string; closes: boolean }): Promise<void> {
  // The provider must not get access to the page that opened this tab.
  window.opener = null
  const { beginLogIn } = await loadPart(() => import('./open-id.ts'))
  await beginLogIn(found, request)
  await new Promise(() => undefined)
}

async function readReturn(found: Provider): Promise<void> {
  const { completeLogIn, LogInFailed } = await loadPart(() => import('./open-id.ts'))
  const url = location.href
  // Removes the one-time code from the URL, so that no request sends it as the referrer.
  history.replaceState(null, '', baseUrl)
  try {
    finish(await completeLogIn(found, url))
  } catch (error) {
    const request = error instanceof LogInFailed ? error.request : null
    history.replaceState(null, '', baseUrl + (request?.path ?? ''))
    session.requireLogIn({ trouble: error instanceof Error ? error.message : String(error) })
    await session.untilLogIn()
  }
}

function finish({ credential, path, closes }: LogInResult): void {
  history.replaceState(null, '', baseUrl + path)
  session.logIn(credential)
  if (closes) window.close()
}
