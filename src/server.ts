import { flushCompileCache } from 'node:module'
import { join } from 'node:path'
import about from '../package.json' with { type: 'json' }
import { createEngineCheck, declarePool, hashPools } from './backends.ts'
import * as ownDocuments from './client/generated/graphql.ts'
import { TypedDocumentString } from './client/generated/graphql.ts'
import { checkConnections, countConnections, divideConnections, poolerProblem } from './config/connections.ts'
import { makeDataDirectory } from './config/data-directory.ts'
import { isLoopbackAddress, makeExposureProblem, noLoginPossible } from './config/exposure.ts'
import { formatGreeting } from './config/greeting.ts'
import { explainListenError, toLocalUrl } from './config/listening.ts'
import { readSecretKeyFiles } from './config/secret-keys.ts'
import { type Config, ConfigError } from './config.ts'
import { createViewer, type Viewer } from './domain/access.ts'
import { createChainer } from './domain/audit/audit-chain.ts'
import { createConditionWatch } from './domain/conditions/evaluate.ts'
import { applyApprovalRules } from './domain/control/approval-rule-changes.ts'
import { type Domain, localTopics, topics } from './domain/domain.ts'
import { createSequencer } from './domain/jobs/sequence.ts'
import { applyQuotas } from './domain/limits/stored-quotas.ts'
import { applyPools, ensureLocalUser } from './domain/machines/pools.ts'
import { decideMode, localUser, resetToSingleUser, watchSingleUser } from './domain/people/access-mode.ts'
import { applyBootstrapToken } from './domain/people/tokens.ts'
import { createSecretKeys } from './domain/secret-keys.ts'
import { reencryptSecrets } from './domain/secrets/rotation.ts'
import { applyWebhooks } from './domain/webhooks/endpoints.ts'
import type { Executor } from './executors/executor.ts'
import { detectMachine } from './executors/local/machine.ts'
import { createFeed } from './feed/feed.ts'
import { createPoolNodeWatch } from './feed/node-watch.ts'
import { createQueueWatch } from './feed/queue-watch.ts'
import { indexDocuments, type TrustedDocumentsConfig } from './graphql/admission/trusted-documents.ts'
import { createAuthenticator, createSingleUserAuthenticator } from './graphql/callers/authenticate.ts'
import { createListReads } from './graphql/rows/list-reads.ts'
import { createUserDomains } from './graphql/rows/user-domains.ts'
import { type Certificate, type CertificateFiles, readCertificate } from './graphql/transport/certificate.ts'
import { ConsoleFiles } from './graphql/transport/console-files.ts'
import { createReadiness, type Readiness } from './graphql/transport/health.ts'
import { listenForMetrics, type MetricsListenerOptions } from './graphql/transport/metrics-listener.ts'
import { Server } from './graphql/transport/server.ts'
import { createLogTail } from './logs/follow.ts'
import { createFreshOutput, type FreshOutput } from './logs/fresh-output.ts'
import { showVersion } from './metrics/build-info.ts'
import { startInstallationMetrics } from './metrics/installation.ts'
import { arrivalMsMax, awaitDatabase, keepsSettings, readConnectionLimits } from './platform/arrival.ts'
import { systemClock } from './platform/clock.ts'
import type { Address } from './platform/connection.ts'
import { readDatabaseTime, timePollMs } from './platform/database-time.ts'
import { type DbOptions, openDb } from './platform/db.ts'
import { createDiskWatch } from './platform/disk.ts'
import type { Log } from './platform/log.ts'
import { createLoop } from './platform/loop.ts'
import { createMigrationWatch, MigrationRefused, migrate } from './platform/migrate.ts'
import { S3Objects } from './platform/object-store.ts'
import { openFilesMax } from './platform/open-files.ts'
import type { TextOutput } from './platform/output.ts'
import { endAll, type Parts, startLoop } from './platform/parts.ts'
import { getDataDirMode } from './platform/postgres/place.ts'
import { type Postgres, startPostgres } from './platform/postgres/postgres.ts'
import { GaugeMeter, isReadableToAll } from './platform/server-gauges.ts'
import { isUnavailable, Unavailable } from './platform/tx.ts'
import { Wakeups } from './platform/wakeup.ts'
import { startSchedulers } from './schedulers.ts'
import { Sessions } from './sessions/sessions.ts'
import { createWebhookSender } from './webhooks/sender.ts'

/**
 * The server: config → build → start → drain. On a stop signal, all components are stopped in reverse order; jobs
 * continue, and the next start finds them. `main.ts` is its process; tests run several servers in one process.
 */

const { version } = about
/**
 * Maximum time of a clean stop, in addition to the time in which streams end. The next start recovers data that the
 * components could not store by then.
 */
const stopMsMax = 7_000
/** Maximum time that a start may continue after a stop signal. */
const startEndMsMax = 1_000
const startAgainMs = 500

/** Components that were created so far. */
interface Running {
  readonly parts: Parts
  /** The embedded PostgreSQL. */
  postgres?: Postgres
  isStarted?: boolean
  /** Whether the server got TERM and still serves until load balancers send requests to other servers. */
  isLeaving?: boolean
  server?: Server
  /** Whether single-user mode has ended since the server was built. */
  isOutdated?: boolean
  startAgain(): void
}

interface Start {
  config: Config
  log: Log
  running: Running
  /** Distinguishes this server from others of this process, and from earlier ones with the same pid. */
  startedMs: number
  /** Fires when the process must stop. */
  signal: AbortSignal
}

/** If the database is lost during the start, all components are stopped, and built again when it is back. */
async function start(starting: Start): Promise<string> {
  const { log, running, signal } = starting
  const beganMs = systemClock.monotonicMs()
  for (;;) {
    try {
      return await build(starting)
    } catch (error) {
      const isLate = systemClock.monotonicMs() - beganMs > arrivalMsMax
      if (signal.aborted || isLate || !(error instanceof Unavailable || isUnavailable(error))) throw error
      log.warn({ err: error }, 'lost the database during the start; starting again')
      await endAll(running.parts, log)
      await systemClock.sleep(startAgainMs, signal)
    }
  }
}

async function build(start: Start): Promise<string> {
  const { config, log, running, startedMs, signal } = start
  const down = running.parts
  makeDataDirectory(config.dataDir, getDataDirMode())
  const clock = systemClock
  const { connections, notify: direct } = config.database
  const address = await locate(start)
  await awaitDatabase({ address, clock, log, signal })
  if (direct) await demandSessions(config, address)
  await migrate(address.url, log)
  const { ordinary: connectionsMax } = divideConnections(connections)
  const db = openDb({ address, connectionsMax, log, applicationName: 'berth', direct })
  down.push(() => db.close())
  const wakeups = new Wakeups({ address: direct ? db : null, topics, localTopics, clock, log })
  down.push(() => wakeups.stop())
  const migrations = await createMigrationWatch({ db, clock, log }, running.startAgain)
  wakeups.on('schema', migrations.wake)
  startLoop(migrations, down)
  const time = await readDatabaseTime(db.sql, clock)
  startLoop(createLoop({ name: 'database time', pollMs: timePollMs, runOnce: time.look, clock, log }), down)
  const singleUser = await decide({ db, time, log }, config)
  const secretKeys = createSecretKeys(readSecretKeyFiles(config.secrets, config.dataDir))
  const objects = config.files.s3 ? { objects: new S3Objects(config.files.s3) } : {}
  const checkEngine = createEngineCheck({ clock, time, log }, config)
  const facts = { singleUser, auditHeadFile: config.audit.headFile, secretKeys, checkEngine, ...objects }
  const domain: Domain = { db, wakeups, clock, time, log, ...facts }
  if (singleUser) startLoop(watchSingleUser(domain, running.startAgain), down)
  const machine = await detectMachine(log)
  await applyPools(domain, { pools: config.pools.map((pool) => declarePool(pool, machine)), queues: config.queues })
  await applyQuotas(domain, config.quotas)
  await applyApprovalRules(domain, config.approvalRules)
  await applyWebhooks(domain, config.webhooks)
  const reencrypted = await reencryptSecrets(domain)
  if (reencrypted > 0) log.info({ reencrypted }, 'encrypted secrets with the new key')
  for (const loop of [createSequencer(domain), createChainer(domain)]) startLoop(loop, down)
  const disk = createDiskWatch({ path: config.dataDir, holds: 'the output of jobs', clock, log })
  startLoop(disk.loop, down)
  const fresh = createFreshOutput()
  startInstallationMetrics(domain, down)
  const checkReadiness = createReadiness(domain, { disk, findStanding: () => findStanding(running) })
  await serveMetrics(config, { rules: { singleUser, ...config.server }, checkReadiness }, down)
  const reached = new Map<string, ReadonlyMap<string, Executor>>()
  const sessions = new Sessions(domain, reached)
  const serverUrl = config.server.roles.includes('api')
    ? await serve({ config, domain, checkReadiness, fresh, running, sessions })
    : null
  const jobUrl =
    config.server.publicUrl ?? toLocalUrl(serverUrl ?? `http://${config.server.host}:${config.server.port}`)
  const id = `${machine.host}:${process.pid}:${startedMs}`
  const scheduling = { config, domain, machine, holder: id, fresh, jobUrl, reached }
  const schedulers = config.server.roles.includes('scheduler') ? await startSchedulers(scheduling, down) : new Map()
  // Must run before the executors stop, which kills the commands of sessions.
  down.push(() => sessions.close())
  const { webhooks } = config
  if (webhooks.length > 0)
    startLoop(createWebhookSender(domain, { webhooks, publicUrl: config.server.publicUrl }), down)
  const server = { id, host: machine.host, pid: process.pid, version, pools: hashPools(config) }
  const meter = new GaugeMeter({
    ...domain,
    dataDir: config.dataDir,
    secretsFile: config.secretsFile,
    secretKeys: secretKeys.map(({ id }) => id),
    stalled: schedulers,
  })
  startLoop(createConditionWatch(domain, { server, meter }).loop, down)
  // Otherwise Node keeps the compile cache in memory until the process exits.
  flushCompileCache()
  running.isStarted = true
  return formatGreeting({ version, url: serverUrl, port: config.server.port, singleUser })
}

async function locate({ config, log, running }: Start): Promise<Address> {
  const { dataDir, database, pools } = config
  if (database.url !== null) return { url: database.url }
  const connections = countConnections({ connections: database.connections, pools: pools.length })
  running.postgres ??= await startPostgres({ dataDir, connections, log, clock: systemClock })
  return running.postgres
}

async function demandSessions({ database: { connections }, pools }: Config, address: Address): Promise<void> {
  if (!(await keepsSettings(address))) throw new ConfigError([poolerProblem])
  const problem = checkConnections({ connections, pools: pools.length }, await readConnectionLimits(address))
  if (problem) throw new ConfigError([problem])
}

interface Serving {
  config: Config
  domain: Domain
  checkReadiness: () => Promise<Readiness>
  fresh: FreshOutput
  running: Running
  sessions: Sessions
}

async function serve({ config, domain, checkReadiness, fresh, running, sessions }: Serving): Promise<string> {
  const down = running.parts
  const { live: liveMax, lists: listsMax, ordinaryPerUser } = divideConnections(config.database.connections)
  const live = {
    ...domain,
    db: openMore({ config, domain }, { connectionsMax: liveMax, applicationName: 'berth live' }),
  }
  const lists = openMore({ config, domain }, { connectionsMax: listsMax, applicationName: 'berth lists' })
  down.push(live.db.close, lists.close)
  const feed = createFeed(live)
  const logTail = createLogTail({ ...live, fresh })
  const watches = { queueWatch: createQueueWatch(live), nodeWatch: createPoolNodeWatch(live) }
  const { eventsMs, logsMs } = config.retention
  const { oidc } = config.auth
  const { snapshotBytesMax, snapshotFilesMax, userBytesMax } = config.files
  const facts = {
    version,
    singleUser: domain.singleUser,
    eventRetentionDays: days(eventsMs),
    logRetentionDays: days(logsMs),
    oidc,
    publicUrl: config.server.publicUrl,
    jobsHost: config.server.jobsHost,
    snapshotLimits: { bytesMax: snapshotBytesMax, filesMax: snapshotFilesMax, userBytesMax },
    ...config.console,
  }
  const site = new ConsoleFiles(join(import.meta.dirname, '../web/dist'), oidc)
  const { tls: files } = config.server
  const server = new Server({
    tls: files && { files, certificate: await loadCertificate(files) },
    rooms: {
      ...{ domain, live, feed, logTail, ...watches, facts, log: domain.log },
      userDomains: createUserDomains(domain, ordinaryPerUser),
      lists: createListReads(lists),
    },
    config: { singleUser: domain.singleUser, ...config.server, documents: withOwn(config.server.documents, site) },
    console: site,
    sessions,
    checkReadiness,
    connectionsMax: Math.floor(openFilesMax() / 2),
    authenticate: domain.singleUser
      ? createSingleUserAuthenticator(domain, await localViewer(domain), () => running.isOutdated === true)
      : createAuthenticator(domain, oidc),
  })
  const { url } = await server.listen().catch((error: unknown) => {
    const problem = explainListenError(error, config.server)
    throw problem ? new ConfigError([problem]) : error
  })
  running.server = server
  down.push(() => server.close())
  return url
}

function findStanding({ isStarted, isLeaving }: Running): string | null {
  if (isLeaving) return 'the server is stopping'
  return isStarted ? null : 'the server is still starting'
}

async function serveMetrics(
  { server: { metrics } }: Config,
  parts: Pick<MetricsListenerOptions, 'rules' | 'checkReadiness'>,
  down: Parts,
): Promise<void> {
  if (!metrics) return
  const close = await listenForMetrics({ ...metrics, ...parts }).catch((error: unknown) => {
    const problem = explainListenError(error, metrics)
    throw problem ? new ConfigError([{ ...problem, path: problem.path.replace('server', 'server.metrics') }]) : error
  })
  down.push(close)
}

const loadCertificate = (files: CertificateFiles): Promise<Certificate> =>
  readCertificate(files).catch((error: unknown) => {
    const reason = `cannot be used (${error instanceof Error ? error.message : error})`
    throw new ConfigError([{ path: 'server.tls', reason, remedy: 'name a certificate and its key, both in PEM' }])
  })

/** Trusts the documents of this version's command line and console like those of a manifest. */
function withOwn({ byId, freeText }: Config['server']['documents'], web: ConsoleFiles): TrustedDocumentsConfig {
  const own = Object.values(ownDocuments).flatMap((each) => (each instanceof TypedDocumentString ? [String(each)] : []))
  return { byId: new Map([...indexDocuments(own), ...web.documents, ...byId]), freeText }
}

/** Opens additional connections to the database for special work, which other work cannot take. */
const openMore = (
  { config, domain: { db, log } }: Pick<Serving, 'config' | 'domain'>,
  options: Pick<DbOptions, 'connectionsMax' | 'applicationName'>,
) => openDb({ address: db, log, direct: config.database.notify, ...options })

async function localViewer(domain: Domain): Promise<Viewer> {
  const id = await ensureLocalUser(domain, localUser)
  return createViewer({ id, name: localUser, level: 'ADMIN', allow: [], deny: [] })
}

/** Whether the server runs in single-user mode. Throws if the server would admit every caller, or none. */
async function decide(domain: Pick<Domain, 'db' | 'time' | 'log'>, config: Config): Promise<boolean> {
  const { bootstrapToken, oidc } = config.auth
  const { roles, host } = config.server
  const isOpen = roles.includes('api') && !isLoopbackAddress(host)
  if (config.givesUpUsers) {
    if (isOpen) throw new ConfigError([makeExposureProblem(host)])
    await resetToSingleUser(domain)
  }
  if (bootstrapToken !== null) await applyBootstrapToken(domain, bootstrapToken)
  const mode = await decideMode(domain, { oidc: oidc !== null, bootstrapToken: bootstrapToken !== null })
  if (mode === 'NOBODY_CAN_LOG_IN') throw new ConfigError([noLoginPossible])
  if (mode === 'SINGLE_USER' && isOpen) throw new ConfigError([makeExposureProblem(host)])
  return mode === 'SINGLE_USER'
}

const days = (ms: number | null): number | null => (ms === null ? null : Math.round(ms / 86_400_000))

/** false: some components did not stop in time. The embedded PostgreSQL may take longer, to write its data. */
async function takeDown({ parts, postgres, server }: Running, log: Log): Promise<boolean> {
  const withinMs = stopMsMax + (server?.closingMs() ?? 0)
  const isClean = await Promise.race([endAll(parts, log), systemClock.sleep(withinMs).then(() => false)])
  if (!isClean) log.error({ withinMs }, 'some components did not stop cleanly; the next start recovers them')
  await postgres?.stop()
  return isClean
}

export interface ServerHost {
  stdout: TextOutput
  stderr: TextOutput
  log: Log
  /** Stops the server. The reason is a signal; on SIGTERM, load balancers get time to leave (`leaveSeconds`). */
  signal: AbortSignal
}

/** Runs a server until it is stopped or cannot start. Returns the exit code. */
export function runBerth(config: Config, { stdout, stderr, log, signal }: ServerHost): Promise<number> {
  showVersion(version)
  if (config.secretsFile !== null && isReadableToAll(config.secretsFile))
    log.warn(
      { file: config.secretsFile },
      'every account of this machine can read the secrets of the file; chmod o-r it',
    )
  const running: Running = { parts: [], startAgain }
  const startedMs = performance.timeOrigin + performance.now()
  const starting = new AbortController()
  const { promise: exitCode, resolve: end } = Promise.withResolvers<number>()

  async function stop(): Promise<void> {
    log.info({ signal: signal.reason }, 'stopping; jobs continue')
    running.isLeaving = true
    running.server?.beginLeaving()
    if (signal.reason === 'SIGTERM' && running.isStarted) await systemClock.sleep(config.server.leaveSeconds * 1_000)
    starting.abort()
    await Promise.race([built, systemClock.sleep(startEndMsMax)])
    end((await takeDown(running, log)) ? 0 : 1)
  }

  async function fail(error: unknown): Promise<void> {
    if (signal.aborted) return
    if (error instanceof ConfigError || error instanceof MigrationRefused) stderr.write(`${error.message}\n`)
    else log.fatal({ err: error }, 'could not start')
    await takeDown(running, log)
    end(1)
  }

  const begin = (given: Config) =>
    start({ config: given, log, running, startedMs, signal: starting.signal }).then(stdout.write, fail)

  function startAgain(): void {
    running.isOutdated = true
    built = built.then(rebuild).catch(fail)
  }

  async function rebuild(): Promise<void> {
    running.isStarted = false
    await running.server?.close()
    await endAll(running.parts, log)
    running.isOutdated = false
    // --single-user applies to the first start only.
    if (!signal.aborted) await begin({ ...config, givesUpUsers: false })
  }

  let built = begin(config)
  signal.addEventListener('abort', () => void stop(), { once: true })
  return exitCode
}
