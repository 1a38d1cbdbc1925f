import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { parse } from 'yaml'

/**
 * Reads the address of the API server and the credentials from a kubeconfig file or from the service account of the
 * server's pod. They are read again after a 401, because tokens expire, and when the API server is unreachable.
 */

export interface Access {
  server: string
  namespace: string
  authorization: string | null
  tls: {
    ca?: Buffer
    cert?: Buffer
    key?: Buffer
    servername?: string
    rejectUnauthorized?: boolean
  }
}

export interface AccessOptions {
  /** undefined: KUBECONFIG, the service account of this pod, or `~/.kube/config`. */
  kubeconfig?: string | undefined
  /** undefined: the current context of the file. */
  context?: string | undefined
  /** undefined: the namespace of the context. */
  namespace?: string | undefined
  environment: Readonly<Record<string, string | undefined>>
}

const accountDirectory = '/var/run/secrets/kubernetes.io/serviceaccount'
const namespaceDefault = 'default'
const pluginMsMax = 30_000

interface ClusterEntry {
  server?: string
  'certificate-authority'?: string
  'certificate-authority-data'?: string
  'insecure-skip-tls-verify'?: boolean
  'tls-server-name'?: string
}

interface UserEntry {
  token?: string
  tokenFile?: string
  'client-certificate'?: string
  'client-certificate-data'?: string
  'client-key'?: string
  'client-key-data'?: string
  username?: string
  password?: string
  exec?: Plugin
}

interface Plugin {
  apiVersion?: string
  command: string
  args?: readonly string[] | null
  env?: readonly { name: string; value: string }[] | null
}

interface Kubeconfig {
  'current-context'?: string
  contexts?: readonly { name: string; context: { cluster: string; user: string; namespace?: string } }[]
  clusters?: readonly { name: string; cluster: ClusterEntry }[]
  users?: readonly { name: string; user: UserEntry }[]
}

export async function readAccess(options: AccessOptions): Promise<Access> {
  const { environment, namespace } = options
  const path = kubeconfigPath(options)
  const access = path === null ? await accountAccess(environment) : await fileAccess(path, options)
  return { ...access, namespace: namespace ?? access.namespace }
}

/** Returns null for the service account of this pod. */
function kubeconfigPath({ kubeconfig, environment }: AccessOptions): string | null {
  const named = kubeconfig ?? (environment['KUBECONFIG'] || undefined)
  if (named?.includes(':')) throw new Error(`KUBECONFIG names several files (${named}); name one`)
  if (named !== undefined) return resolve(named)
  if (environment['KUBERNETES_SERVICE_HOST'] && existsSync(join(accountDirectory, 'token'))) return null
  return join(environment['HOME'] ?? '/', '.kube', 'config')
}

async function accountAccess(environment: AccessOptions['environment']): Promise<Access> {
  const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '443' } = environment
  const read = (name: string) => readFile(join(accountDirectory, name))
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    namespace: String(await read('namespace')).trim(),
    authorization: `Bearer ${String(await read('token')).trim()}`,
    tls: { ca: await read('ca.crt') },
  }
}

async function fileAccess(path: string, { context: wanted, environment }: AccessOptions): Promise<Access> {
  const config: Kubeconfig = parse(await readFile(path, 'utf8')) ?? {}
  const find = <T extends { name: string }>(kind: string, name: string, entries: readonly T[] = []): T => {
    const found = entries.find((entry) => entry.name === name)
    if (found) return found
    const known = entries.map((entry) => entry.name).join(', ') || 'none'
    throw new Error(`${path} has no ${kind} ${JSON.stringify(name)}; it has ${known}`)
  }
  const { context } = find('context', wanted ?? config['current-context'] ?? '', config.contexts)
  const { cluster } = find('cluster', context.cluster, config.clusters)
  const { user } = find('user', context.user, config.users)
  if (!cluster.server) throw new Error(`${path}: the cluster ${context.cluster} has no server`)
  const file = reader(dirname(path))
  const plugged = user.exec ? await runPlugin(user.exec, environment) : {}
  const ca = await file(cluster['certificate-authority-data'], cluster['certificate-authority'])
  const cert = plugged.cert ?? (await file(user['client-certificate-data'], user['client-certificate']))
  const key = plugged.key ?? (await file(user['client-key-data'], user['client-key']))
  const token = plugged.token ?? user.token ?? (await file(undefined, user.tokenFile))?.toString().trim()
  return {
    server: cluster.server,
    namespace: context.namespace ?? namespaceDefault,
    authorization: authorizationOf(token, user),
    tls: {
      ...(ca && { ca }),
      ...(cert && { cert }),
      ...(key && { key }),
      ...(cluster['tls-server-name'] && { servername: cluster['tls-server-name'] }),
      ...(cluster['insecure-skip-tls-verify'] && { rejectUnauthorized: false }),
    },
  }
}

function authorizationOf(token: string | undefined, { username, password }: UserEntry): string | null {
  if (token) return `Bearer ${token}`
  return username ? `Basic ${Buffer.from(`${username}:${password ?? ''}`).toString('base64')}` : null
}

/**
 * Reads data of a kubeconfig file: inline data take precedence over a path; relative paths are relative to the file.
 */
const reader = (directory: string) => async (data: string | undefined, path: string | undefined) =>
  data ? Buffer.from(data, 'base64') : path ? await readFile(resolve(directory, path)) : undefined

const run = promisify(execFile)

/** Runs a program that prints credentials, as cloud providers use. It gets the server's environment. */
async function runPlugin(
  { apiVersion = 'client.authentication.k8s.io/v1', command, args, env }: Plugin,
  environment: AccessOptions['environment'],
): Promise<{ token?: string; cert?: Buffer; key?: Buffer }> {
  const info = JSON.stringify({ apiVersion, kind: 'ExecCredential', spec: { interactive: false } })
  const own = Object.fromEntries((env ?? []).map(({ name, value }) => [name, value]))
  const { stdout } = await run(command, [...(args ?? [])], {
    env: { ...environment, ...own, KUBERNETES_EXEC_INFO: info },
    timeout: pluginMsMax,
  })
  const { token, clientCertificateData: cert, clientKeyData: key } = JSON.parse(stdout).status ?? {}
  if (!token && !cert) throw new Error(`${command} printed no credentials`)
  return { ...(token && { token }), ...(cert && { cert: Buffer.from(cert), key: Buffer.from(key ?? '') }) }
}
