import type { ConfigProblem } from './value.ts'

const problems: Readonly<Record<string, (host: string, port: number) => ConfigProblem>> = {
  EADDRINUSE: (host, port) => ({
    path: 'server.port',
    reason: `${port} of ${host} is in use by another process, perhaps another Berth`,
    remedy: 'stop that process, or set another port (BERTH_PORT)',
  }),
  EACCES: (_, port) => ({
    path: 'server.port',
    reason: `this account may not listen on ${port}`,
    remedy: 'set a port above 1023 (BERTH_PORT)',
  }),
  EADDRNOTAVAIL: (host) => ({
    path: 'server.host',
    reason: `${JSON.stringify(host)} is not an address of this machine`,
    remedy: 'set one of its addresses, or 127.0.0.1 (BERTH_HOST)',
  }),
}

/** Explains a failed `listen`. Returns undefined if the error has another cause. */
export const explainListenError = (
  error: unknown,
  { host, port }: { host: string; port: number },
): ConfigProblem | undefined => problems[String((error as { code?: unknown }).code)]?.(host, port)

/** Replaces "all addresses" by the loopback address, at which the server is reached from its own machine. */
export const toLocalUrl = (url: string) => url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
