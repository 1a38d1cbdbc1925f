import type { TokenSource } from '../../client/connection/tokens.ts'
import type { Env } from '../frame/env.ts'
import type { Context, ContextFiles } from './context-files.ts'
import { LogInRenewal } from './renewal.ts'

/** The server and the token, chosen by the flag --context, else by the environment, else by the current context. */
export interface ServerChoice {
  url: string
  token: TokenSource | undefined
  /** The context from which the URL or the token comes; null: neither comes from a context. */
  context: string | null
  /** The environment variable that gave the token or, without that, the URL; null: neither. */
  variable: 'BERTH_TOKEN' | 'BERTH_URL' | null
}

const defaultUrl = 'http://127.0.0.1:4000'

export function chooseServer(files: ContextFiles, env: Env, flag: string | undefined): ServerChoice {
  if (flag !== undefined) return chooseContext(files, flag)
  const { BERTH_URL: url = '', BERTH_TOKEN: token = '' } = env
  const variable = token ? 'BERTH_TOKEN' : url ? 'BERTH_URL' : null
  if (url && token) return { url, token, context: null, variable }
  const name = findContext(files, env)
  if (name === null) return { url: url || defaultUrl, token: token || undefined, context: null, variable }
  const choice = chooseContext(files, name)
  if (url) return haveSameOrigin(url, choice.url) ? { ...choice, url, variable } : { ...nowhere, url, variable }
  return token ? { ...choice, token, variable } : choice
}

/** Returns the context of BERTH_CONTEXT, or the current context; null: none. */
export const findContext = (files: ContextFiles, { BERTH_CONTEXT }: Env): string | null =>
  BERTH_CONTEXT || files.readCurrent()

const nowhere = { token: undefined, context: null }

function chooseContext(files: ContextFiles, name: string): ServerChoice {
  const context = files.read(name)
  return { url: context.url, token: createTokenSource(files, name, context), context: name, variable: null }
}

function createTokenSource(files: ContextFiles, name: string, context: Context): TokenSource | undefined {
  if (context.token === null) return undefined
  if (context.openId === null) return context.token
  const renewal = new LogInRenewal(files, name)
  return (refused) => renewal.token(refused)
}

/** Compares origins. The token of a context must not be sent to another origin in BERTH_URL. */
const haveSameOrigin = (one: string, other: string): boolean =>
  URL.canParse(one) && URL.canParse(other) && new URL(one).origin === new URL(other).origin
