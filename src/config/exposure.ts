import type { ConfigProblem } from './value.ts'

export const isLoopbackAddress = (host: string) => /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i.test(host)

/** Without login, every caller that reaches the port runs commands under the server's account. */
export const makeExposureProblem = (host: string): ConfigProblem => ({
  path: 'server.host',
  reason: `${JSON.stringify(host)} is reachable from other machines, and login is off`,
  remedy:
    'set auth.bootstrapToken or auth.oidc, or listen on 127.0.0.1 and connect from other machines through "ssh -L 4000:127.0.0.1:4000"',
})

export const noLoginPossible: ConfigProblem = {
  path: 'auth',
  reason: 'login is required, but without a usable token or auth.oidc no user can log in',
  remedy:
    'set auth.bootstrapToken (BERTH_BOOTSTRAP_TOKEN) to a new secret and log in as admin with it, or remove all users and tokens with "berth serve --single-user"',
}

/** The setting `path` requires login, and --single-user disables login. */
export const makeSingleUserProblem = (path: string): ConfigProblem => ({
  path,
  reason: 'is set, which requires login, but --single-user removes all users',
  remedy: `remove ${path}, or leave out --single-user`,
})
