import { findNearest } from './keys.ts'
import { roles } from './server.ts'
import { type ConfigProblem, isMap } from './value.ts'

export interface ConfigVariables {
  readonly [name: string]: string | undefined
  readonly BERTH_CONFIG?: string | undefined
}

interface Expansion {
  env: ConfigVariables
  path: string
  problems: ConfigProblem[]
}

/** Replaces `${NAME}` in every text of the file by the variable NAME, so that secrets can stay out of the file. */
export function expandVariables(input: unknown, { env, path, problems }: Expansion): unknown {
  if (typeof input === 'string')
    return input.replace(/\$\{([A-Za-z_]\w*)\}/g, (_, variable: string) => {
      const found = env[variable]
      if (found === undefined)
        problems.push({ path, reason: `the variable ${variable} is not set`, remedy: `set ${variable} for the server` })
      return found ?? ''
    })
  if (Array.isArray(input))
    return input.map((item, i) => expandVariables(item, { env, path: `${path}[${i}]`, problems }))
  if (!isMap(input)) return input
  const expandEntry = ([key, item]: [string, unknown]) =>
    [key, expandVariables(item, { env, path: path ? `${path}.${key}` : key, problems })] as const
  return Object.fromEntries(Object.entries(input).map(expandEntry))
}

interface Overlay {
  variable: string
  path: readonly [string, string?]
  read?: (text: string) => unknown
}

const overlays: readonly Overlay[] = [
  { variable: 'BERTH_HOST', path: ['server', 'host'] },
  { variable: 'BERTH_PORT', path: ['server', 'port'], read: (text) => (/^\d{1,5}$/.test(text) ? Number(text) : text) },
  { variable: 'BERTH_ROLES', path: ['server', 'roles'], read: rolesIn },
  { variable: 'BERTH_PUBLIC_URL', path: ['server', 'publicUrl'] },
  { variable: 'BERTH_BOOTSTRAP_TOKEN', path: ['auth', 'bootstrapToken'] },
  { variable: 'BERTH_DATA_DIR', path: ['dataDir'] },
  { variable: 'BERTH_LOG_LEVEL', path: ['logLevel'] },
  { variable: 'DATABASE_URL', path: ['database', 'url'] },
]

function rolesIn(text: string): string[] {
  return text === 'all' ? [...roles] : text.split(',').map((role) => role.trim())
}

/** Overrides keys of the file by variables. The returned `variables` has the variable of each overridden key. */
export function applyVariables(raw: unknown, env: ConfigVariables) {
  const variables = new Map<string, string>()
  if (!isMap(raw)) return { merged: raw, variables }
  const merged = { ...raw }
  for (const { variable, path, read } of overlays) {
    const content = env[variable]
    if (!content) continue
    const [outer, inner] = path
    const found = read ? read(content) : content
    const section = merged[outer] ?? {}
    if (inner !== undefined && !isMap(section)) continue // the section itself is rejected below
    merged[outer] = inner !== undefined && isMap(section) ? { ...section, [inner]: found } : found
    variables.set(path.join('.'), variable)
  }
  return { merged, variables }
}

/** Variables that a file may hold, as Docker, Kubernetes and systemd pass secrets. */
const ofFiles = ['DATABASE_URL', 'BERTH_BOOTSTRAP_TOKEN'] as const

/** Replaces variables that name a file by the content of the file, without its final newline. */
export function readSecretFiles(
  env: ConfigVariables,
  { readFile, problems }: { readFile: (path: string) => string; problems: ConfigProblem[] },
): ConfigVariables {
  const found: Record<string, string> = {}
  for (const variable of ofFiles) {
    const path = `${variable}_FILE`
    const file = env[path]
    if (!file) continue
    if (env[variable]) problems.push({ path, reason: `${variable} is set too`, remedy: 'set one of them' })
    try {
      found[variable] = readFile(file).replace(/\r?\n$/, '')
    } catch (error) {
      const reason = `the file ${file} cannot be read (${error instanceof Error ? error.message : error})`
      problems.push({ path, reason, remedy: 'check its path and owner' })
    }
  }
  return { ...env, ...found }
}

const prefix = 'BERTH_'
/** Variables of the client and of jobs, which are set if a job starts a server. */
const ofOthers =
  /^BERTH_(CONFIG|URL|TOKEN|JOB_ID|RUN|RUN_ID|RANKS?|REPLICAS?|INPUT|CLOSURE|UNSENT_CLOSURE|(SERVICE|PORT)_\w+)$/

/** Finds variables with a misspelt name, such as BERTH_PROT. Variables that the file uses are accepted. */
export function findMisspelt(raw: unknown, env: ConfigVariables): ConfigProblem[] {
  const known = ['BERTH_CONFIG', 'BERTH_BOOTSTRAP_TOKEN_FILE', ...overlays.map(({ variable }) => variable)]
  const names = new Map(known.map((variable) => [variable.replace(prefix, ''), variable]))
  const text = JSON.stringify(raw)
  return Object.keys(env).flatMap((path) => {
    const isOther = !path.startsWith(prefix) || ofOthers.test(path) || text.includes(`\${${path}}`)
    const name = path.slice(prefix.length)
    const meant =
      isOther || names.get(name) === path ? undefined : names.get(findNearest(name, [...names.keys()]) ?? '')
    return meant === undefined ? [] : [{ path, reason: 'is not a known variable', remedy: `did you mean ${meant}?` }]
  })
}
