import { RequestFailed } from '../../client/connection/failure.ts'
import { LogInFactsDocument, type LogInFactsQuery, WhoAmIDocument } from '../../client/generated/graphql.ts'
import { createClient } from '../../client/jobs/client.ts'
import type { Cli } from '../frame/cli.ts'
import { exitCodes, Stop, usageError } from '../frame/exit.ts'
import { openBrowser } from '../showing/browser.ts'
import type { Context } from './context-files.ts'
import type { Provider, ProviderTokens } from './open-id.ts'

/** A credential that the server has accepted: an API token, or a log-in by OpenID. */
export type Credential = Pick<Context, 'user' | 'token' | 'openId'>

export const noCredential: Credential = { user: null, token: null, openId: null }

export type LogInFacts = LogInFactsQuery['serverInfo']

export const readLogInFacts = async (url: string): Promise<LogInFacts> =>
  (await createClient({ url }).request(LogInFactsDocument, {})).serverInfo

export async function checkToken(url: string, token: string): Promise<Credential> {
  if (token === '') throw usageError('the token is empty', 'pass it with "berth login --token - < file"')
  const user = await findUser(url, token)
  if (user === null)
    throw new Stop(exitCodes.notAllowed, `${url} refuses the token`, 'make one in the console, or ask an administrator')
  return { user, token, openId: null }
}

/** Reads an API token from stdin or by a prompt. */
export async function readToken(cli: Cli, isPiped: boolean): Promise<string> {
  if (isPiped) return (await cli.readStdin()).trim()
  if (cli.askSecret) return (await cli.askSecret('API token: ')).trim()
  throw usageError('stdin is not a terminal', 'pass the token with "berth login --token - < file"')
}

export async function logInByOpenId(
  cli: Cli,
  { url, facts, device }: { url: string; facts: LogInFacts; device: boolean },
): Promise<Credential> {
  const provider = findProvider(facts)
  if (!provider) throw usageError(`${url} offers no log-in by OpenID`, 'use an API token with "berth login --token"')
  const { logInWithBrowser, logInWithDevice } = await import('./open-id.ts')
  const tokens = device
    ? await logInWithDevice(provider, ({ verification_uri, verification_uri_complete, user_code }) => {
        const complete = verification_uri_complete ? `, or ${verification_uri_complete}` : ''
        cli.terminal.say(`Open ${verification_uri} on any machine and enter ${user_code}${complete}`)
      })
    : await logInWithBrowser(provider, (address) => {
        cli.terminal.say(`Log in with a browser of this machine ("berth login --device" uses another one): ${address}`)
        void openBrowser(cli, address)
      })
  return chooseToken(url, provider, tokens)
}

/** Returns the OpenID provider of the server; null: not configured. */
export const findProvider = ({ oidcIssuer, oidcClientId, oidcScopes }: LogInFacts): Provider | null =>
  oidcIssuer && oidcClientId ? { issuer: oidcIssuer, clientId: oidcClientId, scope: oidcScopes.join(' ') } : null

/** Finds out whether the server accepts the access token or the ID token, which depends on its audience. */
async function chooseToken(url: string, provider: Provider, tokens: ProviderTokens): Promise<Credential> {
  const { isJwt, planRenewal } = await import('./open-id.ts')
  for (const accepted of ['access_token', 'id_token'] as const) {
    const token = tokens[accepted]
    const user = token && isJwt(token) ? await findUser(url, token) : null
    if (token && user !== null) {
      const { refresh_token: refreshToken = null, scope = provider.scope } = tokens
      return { user, ...planRenewal({ ...provider, scope, accepted, refreshToken }, token) }
    }
  }
  const reason = `the OpenID provider knows you, but ${url} refuses its token`
  throw new Stop(exitCodes.notAllowed, reason, 'the log of the server says why')
}

/** Returns the name of the user whose token it is; null: the server refuses the token. */
async function findUser(url: string, token: string): Promise<string | null> {
  try {
    const { viewer } = await createClient({ url, token }).request(WhoAmIDocument, {})
    return viewer.user.name
  } catch (error) {
    if (error instanceof RequestFailed && error.token) return null
    throw error
  }
}
