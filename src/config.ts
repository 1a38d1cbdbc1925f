import { dirname, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { parseDocument } from 'yaml'
import { type ApprovalRuleConfig, checkApprovalRules } from './config/approval-rules.ts'
import { isEngineHere, parseSshAddress, type SshTarget } from './config/engine-address.ts'
import {
  applyVariables,
  type ConfigVariables,
  expandVariables,
  findMisspelt,
  readSecretFiles,
} from './config/environment.ts'
import { makeSingleUserProblem } from './config/exposure.ts'
import { type ConfigFile, configFile, gibBytes, type logLevels, type NodeEntry, type PoolEntry } from './config/file.ts'
import { findDuplicates } from './config/keys.ts'
import { checkJobsHost, checkPool, checkPublicUrl, listPoolExecutors } from './config/pools.ts'
import { checkQuotas, type QuotaConfig, toQuotaConfig } from './config/quotas.ts'
import { readText } from './config/read-text.ts'
import { type S3Config, toS3Config } from './config/s3.ts'
import { type PlanningConfig, toPlanningConfig } from './config/scheduling.ts'
import type { SecretKeyFiles } from './config/secret-keys.ts'
import { type ServerSettings, toServerSettings } from './config/server.ts'
import { ConfigError, type ConfigProblem, toProblems } from './config/value.ts'
import { checkWebhooks, toWebhookConfig, type WebhookConfig } from './config/webhooks.ts'
import type { ExecutorName } from './domain/executors.ts'

export { ConfigError, type ConfigProblem }

/**
 * The only reader of the process's environment and of the configuration file. Both are parsed once, before the start.
 * In the file of `--config` or BERTH_CONFIG, `${NAME}` is replaced by a variable; then variables override keys
 * (`overlays`). An empty variable counts as unset. All problems are reported together; no value is dropped or corrected
 * silently.
 */
export interface Config {
  readonly server: ServerSettings
  readonly database: {
    /** null: the embedded PostgreSQL in dataDir. */
    readonly url: string | null
    /** false: behind a transaction pooler, where processes poll instead of listening. */
    readonly notify: boolean
    /** Size of the connection pool. The server uses a few more connections. */
    readonly connections: number
  }
  readonly auth: {
    readonly oidc: OidcConfig | null
    /** The secret of an ADMIN token for the user `admin`. */
    readonly bootstrapToken: string | null
  }
  readonly dataDir: string
  /** Folders that jobs may mount from, by name. */
  readonly dataRoots: Readonly<Record<string, string>>
  readonly console: Readonly<ConfigFile['console']>
  readonly container: Readonly<ConfigFile['container']>
  /** The cluster of each pool with the executor `kubernetes`. */
  readonly kubernetes: Readonly<ConfigFile['kubernetes']>
  readonly files: Readonly<Omit<ConfigFile['files'], 's3'>> & { readonly s3: S3Config | null }
  readonly logBytesPerRunMax: number
  readonly logLevel: LogLevel
  readonly pools: readonly [PoolConfig, ...PoolConfig[]]
  /** The first queue is the default. */
  readonly queues: readonly [QueueConfig, ...QueueConfig[]]
  readonly quotas: readonly QuotaConfig[]
  readonly approvalRules: readonly ApprovalRuleConfig[]
  readonly webhooks: readonly WebhookConfig[]
  /** null: heads of the audit log are written only to the log. */
  readonly audit: { readonly headFile: string | null }
  readonly secrets: SecretKeyFiles
  /** null: keep forever. */
  readonly retention: {
    readonly jobsMs: number | null
    readonly logsMs: number | null
    readonly eventsMs: number | null
    readonly usageMs: number | null
  }
  /** `--single-user`: remove all users and tokens at the start. */
  readonly givesUpUsers: boolean
  /** The configuration file, if it contains a secret; else null. */
  readonly secretsFile: string | null
  /** The environment without secrets of the server. Jobs inherit only the names of a fixed list. */
  readonly serverEnvironment: Readonly<Record<string, string>>
}

type OptionalClaim = 'clientId' | 'levelClaim' | 'teamsClaim'
type OidcEntry = NonNullable<ConfigFile['auth']['oidc']>
export type OidcConfig = Readonly<Omit<OidcEntry, OptionalClaim> & Record<OptionalClaim, string | null>>

export interface PoolConfig {
  readonly name: string
  readonly policy: 'PRIORITY' | 'FAIR_SHARE'
  readonly executors: readonly ExecutorName[]
  /** Names of server variables that jobs may inherit beyond the fixed list. */
  readonly inheritedEnvironment: readonly string[]
  readonly relaxReplicas: boolean
  /** Folder that the cluster and this machine share; undefined: no executor of the pool uses such a folder. */
  readonly sharedDir: string | undefined
  /** Whether jobs of users without `unixUser` may run as root, if the server does. */
  readonly jobsAsRoot: boolean
  /** Whether users may open sessions in running jobs. */
  readonly exec: boolean
  /** undefined: one node, this machine as detected. */
  readonly nodes: readonly NodeConfig[] | undefined
  /** null: unlimited. A limit that the file omits keeps its value. */
  readonly limits: LimitsConfig
  /** undefined: the cost of a job is the estimate of its submitter. */
  readonly rates: Readonly<PoolEntry['rates']>
  readonly scheduling: SchedulingConfig
  /** Weights of accounts; the default is 1. */
  readonly weights: Readonly<Record<string, number>>
}

export type LimitsConfig = Readonly<PoolEntry['limits'] & { starvationThresholdSeconds?: number | null }>

export interface NodeConfig {
  readonly name: string
  readonly cpuMillis: number
  readonly memoryBytes: number
  readonly cpuModel: string | null
  readonly infiniband: boolean
  readonly devices: readonly Readonly<Omit<NodeEntry['gpus'][number], 'count'>>[]
  /** undefined: the node is the machine of the server. */
  readonly engine?: EngineConfig
}

export interface EngineConfig {
  readonly address: string
  /** null: the engine is reached without ssh. */
  readonly ssh: SshTarget | null
  /** Whether the address leads to the machine of the server. */
  readonly isHere: boolean
  /** Paths of PEM files. */
  readonly tls: Readonly<NodeEntry['tls']>
  /** Folders of the machine that jobs may mount; undefined: those of the whole configuration. */
  readonly dataRoots: Readonly<Record<string, string>> | undefined
}

export interface SchedulingConfig {
  readonly graceMs: number
  readonly startAttemptsMax: number
  readonly nodeLostAfterMs: number
  readonly planning: PlanningConfig
}

export interface QueueConfig {
  readonly name: string
  readonly pool: string
  /** Options in the backend's own words. */
  readonly native: Readonly<Record<string, string>>
}

export type LogLevel = (typeof logLevels)[number]

export interface ConfigSources {
  /** Command-line arguments: `--config file.yaml`, `--single-user`. */
  argv: readonly string[]
  env: ConfigVariables
  readFile: (path: string) => string
}

const dayMs = 86_400_000
/** Enough for ten thousand nodes. A larger file takes too long to parse at a start. */
const fileCharactersMax = 1_048_576

export const readConfig = (argv: readonly string[] = process.argv.slice(2)): Config =>
  loadConfig({ argv, env: process.env, readFile: readText })

export function loadConfig({ argv, env: given, readFile }: ConfigSources): Config {
  const problems: ConfigProblem[] = []
  const env = readSecretFiles(given, { readFile, problems })
  const { config: path, singleUser } = readArguments(argv, env)
  const entries = path === undefined ? {} : parseFile(path, readFile)
  const raw = expandVariables(entries, { env, path: '', problems })
  problems.push(...findMisspelt(entries, env))
  const { merged, variables } = applyVariables(raw, env)
  const parsed = configFile.safeParse(merged)
  problems.push(...(parsed.success ? crossCheck(parsed.data, singleUser) : toProblems(parsed.error)))
  if (!parsed.success || problems.length > 0) throw new ConfigError(firstPerPath(problems, variables))
  const built = build(parsed.data, { env: given, folder: path === undefined ? '.' : dirname(path), readFile })
  const secretsFile = path !== undefined && holdsSecret(entries) ? resolve(path) : null
  return deepFreeze({ ...built, givesUpUsers: singleUser, secretsFile })
}

/** Whether a valid file contains a secret, and not only the name of a variable. */
function holdsSecret(entries: unknown): boolean {
  const {
    auth,
    database,
    webhooks = [],
  } = (entries ?? {}) as {
    auth?: { bootstrapToken?: unknown }
    database?: { url?: unknown }
    webhooks?: { secret: unknown }[]
  }
  const isOwn = (value: unknown): value is string => typeof value === 'string' && !value.includes('${')
  return (
    isOwn(auth?.bootstrapToken) ||
    (isOwn(database?.url) && /:\/\/[^/@]*:[^@]+@/.test(database.url)) ||
    webhooks.some(({ secret }) => [secret].flat().some(isOwn))
  )
}

/** Keeps one problem per path: later ones follow from the first. A variable's value is reported by its name. */
function firstPerPath(problems: readonly ConfigProblem[], variables: ReadonlyMap<string, string>): ConfigProblem[] {
  const byPath = new Map<string, ConfigProblem>()
  for (const problem of problems) {
    const path = variables.get(problem.path) ?? problem.path
    if (!byPath.has(path)) byPath.set(path, { ...problem, path })
  }
  return [...byPath.values()]
}

function readArguments(argv: readonly string[], env: ConfigVariables) {
  try {
    const options = { config: { type: 'string' }, 'single-user': { type: 'boolean' } } as const
    const { values } = parseArgs({ args: [...argv], options })
    return { config: values.config ?? (env.BERTH_CONFIG || undefined), singleUser: values['single-user'] ?? false }
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split('. ')[0] ?? '') : String(error)
    const remedy = 'use --config file.yaml, or --single-user to remove all users'
    throw new ConfigError([{ path: 'command line', reason, remedy }])
  }
}

function parseFile(path: string, readFile: ConfigSources['readFile']): unknown {
  const refuse = (reason: string, remedy: string) => new ConfigError([{ path, reason, remedy }])
  let content: string
  try {
    content = readFile(path)
  } catch (error) {
    throw refuse(`cannot be read (${error instanceof Error ? error.message : error})`, 'check the path of --config')
  }
  if (content.length > fileCharactersMax)
    throw refuse(`has ${content.length} characters`, `keep it below ${fileCharactersMax}`)
  const document = parseDocument(content, { logLevel: 'error' })
  const [problem] = [...document.errors, ...document.warnings]
  if (problem?.code === 'MULTIPLE_DOCS') throw refuse('has more than one document', 'keep one')
  if (problem) throw refuse((problem.message.split('\n')[0] ?? '').replace(/:$/, ''), 'correct the YAML')
  let parsed: unknown
  try {
    parsed = document.toJS() ?? {}
  } catch (error) {
    if (error instanceof ReferenceError) throw refuse(error.message, 'correct the YAML')
    throw error
  }
  if (containsItself(parsed)) throw refuse('has an alias (*) that contains itself', 'correct the YAML')
  return parsed
}

function containsItself(input: unknown, outer: readonly unknown[] = []): boolean {
  if (typeof input !== 'object' || input === null) return false
  return outer.includes(input) || Object.values(input).some((item) => containsItself(item, [...outer, input]))
}

/** Checks rules that involve several keys. */
function crossCheck(file: ConfigFile, singleUser: boolean): ConfigProblem[] {
  const problems = [
    ...(file.server.roles.length > 0
      ? []
      : [{ path: 'server.roles', reason: 'is empty', remedy: 'name api, scheduler or both' }]),
    ...checkOidc(file.auth.oidc),
    ...(['oidc', 'bootstrapToken'] as const).flatMap((key) =>
      singleUser && file.auth[key] !== undefined ? [makeSingleUserProblem(`auth.${key}`)] : [],
    ),
    ...findDuplicates('pools', file.pools),
    ...findDuplicates('queues', file.queues),
    ...file.pools.flatMap(checkPool),
    ...checkPublicUrl(file),
    ...checkJobsHost(file),
    ...checkQuotas(file.quotas),
    ...checkApprovalRules(file.approvalRules),
    ...checkWebhooks(file.webhooks),
  ]
  const pools = new Set(file.pools.length > 0 ? file.pools.map((pool) => pool.name) : ['local'])
  for (const [i, { pool }] of file.queues.entries())
    if (!pools.has(pool))
      problems.push({
        path: `queues[${i}].pool`,
        reason: `the pool ${JSON.stringify(pool)} is not defined`,
        remedy: `use ${[...pools].join(' or ')}`,
      })
  return problems
}

function checkOidc(oidc: ConfigFile['auth']['oidc']): ConfigProblem[] {
  const levels = Object.keys(oidc?.levels ?? {}).length > 0
  if (!oidc || levels === (oidc.levelClaim !== undefined)) return []
  return [
    levels
      ? { path: 'auth.oidc.levels', reason: 'needs levelClaim', remedy: 'name the claim whose values it maps' }
      : { path: 'auth.oidc.levelClaim', reason: 'needs levels', remedy: 'map each value to a level' },
  ]
}

/** Paths of files are relative to `folder`, the folder of the configuration file. */
function build(
  file: ConfigFile,
  { env, folder, readFile }: Pick<ConfigSources, 'env' | 'readFile'> & { folder: string },
): Omit<Config, 'givesUpUsers' | 'secretsFile'> {
  const { server, database, retention } = file
  const [firstPool = poolOf(defaultPool), ...morePools] = file.pools.map(poolOf)
  const [firstQueue = { name: 'default', pool: firstPool.name, native: {} }, ...moreQueues] = file.queues
  const daysMs = (days: number | null) => (days === null ? null : days * dayMs)
  return {
    server: toServerSettings(server, { readFile, folder }),
    database: { ...database, url: database.url ?? null },
    auth: { oidc: oidcOf(file.auth.oidc), bootstrapToken: file.auth.bootstrapToken ?? null },
    dataDir: resolve(file.dataDir),
    dataRoots: file.data.roots,
    console: file.console,
    container: file.container,
    kubernetes: file.kubernetes,
    files: { ...file.files, s3: file.files.s3 ? toS3Config(file.files.s3, folder) : null },
    logBytesPerRunMax: file.logBytesPerRunMax,
    logLevel: file.logLevel,
    pools: [firstPool, ...morePools],
    queues: [firstQueue, ...moreQueues],
    quotas: file.quotas.map(toQuotaConfig),
    approvalRules: file.approvalRules,
    webhooks: file.webhooks.map(toWebhookConfig),
    audit: { headFile: file.audit.headFile === undefined ? null : resolve(folder, file.audit.headFile) },
    secrets: {
      keyFile: file.secrets.keyFile === undefined ? null : resolve(folder, file.secrets.keyFile),
      oldKeyFile: file.secrets.oldKeyFile === undefined ? null : resolve(folder, file.secrets.oldKeyFile),
    },
    retention: {
      jobsMs: daysMs(retention.jobsDays),
      logsMs: daysMs(retention.logsDays),
      eventsMs: daysMs(retention.eventsDays),
      usageMs: daysMs(retention.usageDays),
    },
    serverEnvironment: Object.fromEntries(
      Object.entries(env).flatMap(([k, v]) => (v === undefined || k === 'BERTH_BOOTSTRAP_TOKEN' ? [] : [[k, v]])),
    ),
  }
}

function oidcOf(oidc: ConfigFile['auth']['oidc']): OidcConfig | null {
  if (!oidc) return null
  const { clientId = null, levelClaim = null, teamsClaim = null, ...rest } = oidc
  return { ...rest, clientId, levelClaim, teamsClaim }
}

/** The default of `pools`: this machine. */
const defaultPool = configFile.shape.pools.unwrap().element.parse({ name: 'local' })

function poolOf(pool: PoolEntry): PoolConfig {
  const { scheduling } = pool
  return {
    name: pool.name,
    policy: pool.policy,
    executors: listPoolExecutors(pool),
    inheritedEnvironment: pool.environment,
    relaxReplicas: pool.relaxReplicas,
    sharedDir: pool.sharedDir,
    jobsAsRoot: pool.jobsAsRoot,
    exec: pool.exec,
    nodes: pool.nodes?.map(nodeOf),
    limits: limitsOf(pool),
    rates: pool.rates,
    scheduling: {
      graceMs: scheduling.graceSeconds * 1_000,
      startAttemptsMax: scheduling.maxStartAttempts,
      nodeLostAfterMs: scheduling.nodeLostAfterSeconds * 1_000,
      planning: toPlanningConfig(scheduling),
    },
    weights: pool.weights,
  }
}

/** The starvation threshold can be changed at run time with the limits, so it is stored with them. */
function limitsOf({ limits, scheduling: { starvationThresholdMinutes: minutes } }: PoolEntry): LimitsConfig {
  return minutes === undefined ? limits : { ...limits, starvationThresholdSeconds: minutes && minutes * 60 }
}

const nodeOf = ({ name, cpu, memoryGib, cpuModel, infiniband, gpus, engine, tls, data }: NodeEntry): NodeConfig => ({
  name,
  cpuMillis: Math.round(cpu * 1_000),
  memoryBytes: Math.round(memoryGib * gibBytes),
  cpuModel: cpuModel?.toLowerCase() ?? null,
  infiniband,
  devices: gpus.flatMap(({ count, ...device }) => Array.from({ length: count }, () => device)),
  ...(engine !== undefined && {
    engine: {
      address: engine,
      ssh: parseSshAddress(engine),
      isHere: isEngineHere(engine),
      tls,
      dataRoots: data?.roots,
    },
  }),
})

function deepFreeze<T extends object>(root: T): T {
  for (const inner of Object.values(root)) if (typeof inner === 'object' && inner !== null) deepFreeze(inner)
  return Object.freeze(root)
}
