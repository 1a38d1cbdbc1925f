import type { ConfigProblem } from './value.ts'

/** Why a server does not start that would let everybody in, or nobody. */
export const isLoopback = (host: string) => /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i.test(host)

/** Without users whoever reaches the port runs commands as the server's account. */
export const openDoor = (host: string): ConfigProblem => ({
  path: 'server.host',
  reason: `${JSON.stringify(host)} is reachable from other machines, and nobody has to log in`,
  remedy:
    'set auth.bootstrapToken or auth.oidc, or listen on 127.0.0.1 and come from elsewhere through "ssh -L 4000:127.0.0.1:4000"',
})

export const nobodyCanLogIn: ConfigProblem = {
  path: 'auth',
  reason: 'people must log in here, but there is no token that can be used and no auth.oidc, so nobody could log in',
  remedy:
    'set auth.bootstrapToken (BERTH_BOOTSTRAP_TOKEN) to a secret that was not used before, and log in as admin with it; or give up all users and tokens with "berth serve --single-user"',
}

/** What would make the server enter the mode again that it is told to leave. */
export const bothModes = (path: string): ConfigProblem => ({
  path,
  reason: 'is set, so people log in, and --single-user gives up all users',
  remedy: `remove ${path}, or leave out --single-user`,
})
