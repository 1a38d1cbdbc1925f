import type { ConfigProblem } from './value.ts'

/** Why a server does not start that would let everybody in, or nobody. */
export const isLoopback = (host: string) => /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i.test(host)

/** Without users whoever reaches the port runs commands as the server's account. */
export const openDoor = (host: string): ConfigProblem => ({
  path: 'server.host',
  reason: `${JSON.stringify(host)} is reachable from other machines, and login is off`,
  remedy:
    'set auth.bootstrapToken or auth.oidc, or listen on 127.0.0.1 and connect from other machines through "ssh -L 4000:127.0.0.1:4000"',
})

export const nobodyCanLogIn: ConfigProblem = {
  path: 'auth',
  reason: 'login is required, but there is no usable token and no auth.oidc, so no user could log in',
  remedy:
    'set auth.bootstrapToken (BERTH_BOOTSTRAP_TOKEN) to a new secret and log in as admin with it, or remove all users and tokens with "berth serve --single-user"',
}

/** What would make the server enter the mode again that it is told to leave. */
export const bothModes = (path: string): ConfigProblem => ({
  path,
  reason: 'is set, which requires login, but --single-user removes all users',
  remedy: `remove ${path}, or leave out --single-user`,
})
