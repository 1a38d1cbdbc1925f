import { resolve } from 'node:path'
import type { z } from 'zod'
import { executorNames } from '../domain/executors.ts'
import { approvalRuleSection } from './approval-rules.ts'
import { consoleSection } from './console.ts'
import { isEngineAddress } from './engine-address.ts'
import { section } from './keys.ts'
import { quotaSection } from './quotas.ts'
import { s3Section } from './s3.ts'
import { schedulingSection } from './scheduling.ts'
import { serverSection } from './server.ts'
import { flag, level, list, map, matching, name, parseAmount, text, url, value, wholeNumber, word } from './value.ts'
import { webhookSection } from './webhooks.ts'

/** The keys of the configuration file with their defaults. Rules between keys are in ../config.ts. */

export type ConfigFile = z.output<typeof configFile>
export type PoolEntry = ConfigFile['pools'][number]
export type NodeEntry = NonNullable<PoolEntry['nodes']>[number]

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

export const gibBytes = 2 ** 30
const devicesMax = 1_024
const coresMax = 100_000
/** With fewer connections, streams, submissions and the planner can block each other. */
const connectionsMin = 8

const dnsLabel = (example: string) =>
  matching('a name of Kubernetes (a–z, 0–9 and "-")', /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, example)
const days = wholeNumber(1, 36_500, '30, or null for forever').nullable()
const limit = wholeNumber(0, 1_000_000_000, '5, or null for unlimited').nullable().optional()

const limits = section({
  maxConcurrent: limit,
  userMaxConcurrent: limit,
  teamMaxConcurrent: limit,
  enableFairShare: flag.optional(),
  localGpuMaxConcurrent: limit,
  localJobMaxConcurrent: limit,
  userMaxActive: limit,
  userMaxBlocked: limit,
})

const gpu = section({
  model: text('"Tesla V100-SXM2-32GB"'),
  memoryGib: parseAmount('GiB', [0, 10_000], '32'),
  tensorCores: flag.default(false),
  cuda: value<string[]>(
    { what: 'the lowest and the highest version, in quotes', example: '["9.0", "11.8"]' },
    isCuda,
  ).default([]),
  count: wholeNumber(1, devicesMax, '8').default(1),
})

const pem = (example: string) => text(`/etc/berth/${example}.pem`)

const dataRoots = map(matching('an absolute path', /^\/[^\0:]*$/, '/srv/datasets'))

const node = section({
  name: name('n1'),
  engine: value<string>(
    { what: 'the address of a container engine', example: 'ssh://berth@gpu1.lab' },
    isEngineAddress,
  ).optional(),
  tls: section({ ca: pem('ca'), cert: pem('cert'), key: pem('key') }).optional(),
  data: section({ roots: dataRoots }).optional(),
  cpu: parseAmount('cores', [0.001, coresMax], '16'),
  memoryGib: parseAmount('GiB', [0.001, 1_000_000], '64'),
  cpuModel: text('"intel xeon gold 6154"').optional(),
  infiniband: flag.default(false),
  gpus: list(gpu).default([]),
})

const rate = (example: string) => parseAmount('cost', [0, 1e9], example)

const executor = word(executorNames)

const pool = section({
  name: name('local'),
  policy: word(['PRIORITY', 'FAIR_SHARE']).default('PRIORITY'),
  executor: executor.optional(),
  executors: list(executor).optional(),
  environment: list(matching('the name of a variable', /^[A-Za-z_]\w*$/, 'CUDA_HOME')).default([]),
  relaxReplicas: flag.default(false),
  jobsAsRoot: flag.default(false),
  exec: flag.default(true),
  nodes: list(node).optional(),
  limits: limits.prefault({}),
  scheduling: schedulingSection.prefault({}),
  weights: map(parseAmount('weight', [0.000_001, 1_000_000], '2')).default({}),
  rates: section({
    cpuHour: rate('0.02'),
    gpuHour: rate('1.5'),
    currency: matching('the code of a currency', /^[A-Z]{3}$/, 'EUR'),
  }).optional(),
  sharedDir: matching('an absolute path', /^\/[^\0:]*$/, '/shared/berth').optional(),
})

const database = section({
  url: url(['postgres:', 'postgresql:'], {
    what: 'a PostgreSQL URL',
    example: 'postgresql://berth@db.example.org/berth',
    secret: true,
  }).optional(),
  notify: flag.default(true),
  connections: wholeNumber(connectionsMin, 1_000, '24').default(24),
})

const claim = (example: string) => matching('the name of a claim', /^\S+$/, example)

const oidc = section({
  issuer: url(['https:', 'http:'], { what: 'the URL of an OpenID provider', example: 'https://login.example.org' }),
  audience: text('berth'),
  clientId: text('berth-web').optional(),
  scopes: list(matching('a scope', /^[\x21\x23-\x5b\x5d-\x7e]+$/, 'openid')).default([
    'openid',
    'profile',
    'email',
    'offline_access',
  ]),
  userClaim: claim('email').default('email'),
  levelClaim: claim('berth_level').optional(),
  levels: map(level).default({}),
  teamsClaim: claim('groups').optional(),
})

const auth = section({
  oidc: oidc.optional(),
  bootstrapToken: value<string>(
    {
      what: 'a secret of 8 … 255 letters, digits and signs',
      example: 'the output of "openssl rand -hex 32"',
      secret: true,
    },
    (input) => typeof input === 'string' && /^[!-~]{8,255}$/.test(input),
  ).optional(),
})

export const configFile = section({
  server: serverSection.prefault({}),
  database: database.prefault({}),
  dataDir: value<string>({ what: 'a path in one line without ~', example: '/var/lib/berth' }, isDirectory).default(
    '.berth',
  ),
  data: section({
    roots: dataRoots.default({}),
  }).prefault({}),
  console: consoleSection.prefault({}),
  container: section({
    engine: matching(
      'the address of a container engine',
      /^(unix:\/\/\/.+|tcp:\/\/[^/]+)$/,
      'unix:///run/docker.sock',
    ).optional(),
    image: text('ubuntu:22.04').default('ubuntu:22.04'),
    x11Image: text('xvfb:1').optional(),
    registries: list(matching('a registry', /^[\w.-]+(:\d+)?$/, 'localhost:5000')).default([]),
    registryAuth: text('/etc/berth/docker.json').optional(),
  }).prefault({}),
  files: section({
    snapshotBytesMax: wholeNumber(1, 2 ** 40, '1073741824').default(gibBytes),
    snapshotFilesMax: wholeNumber(1, 1_000_000, '50000').default(50_000),
    outputsBytesMax: wholeNumber(1, 2 ** 44, '10737418240').default(10 * gibBytes),
    userBytesMax: wholeNumber(1, 2 ** 50, '21474836480').default(20 * gibBytes),
    s3: s3Section.optional(),
  }).prefault({}),
  kubernetes: section({
    kubeconfig: text('/etc/berth/kubeconfig').optional(),
    context: text('production').optional(),
    namespace: dnsLabel('berth-jobs').optional(),
    image: text('ubuntu:22.04').default('ubuntu:22.04'),
    x11Image: text('xvfb:1').optional(),
    snapshotImage: text('curlimages/curl:8.15.0').optional(),
    imagePullSecrets: list(dnsLabel('registry')).default([]),
  }).prefault({}),
  logBytesPerRunMax: wholeNumber(1, Number.MAX_SAFE_INTEGER, '17179869184').default(16 * gibBytes),
  logLevel: word(logLevels).default('info'),
  pools: list(pool).default([]),
  queues: list(section({ name: name('default'), pool: name('local'), native: map(text('debug')).default({}) })).default(
    [],
  ),
  retention: section({
    jobsDays: days.default(null),
    logsDays: days.default(30),
    eventsDays: days.default(30),
    usageDays: days.default(730),
  }).prefault({}),
  auth: auth.prefault({}),
  audit: section({ headFile: text('/var/lib/berth/audit-heads').optional() }).prefault({}),
  secrets: section({
    keyFile: text('/etc/berth/secrets.key').optional(),
    oldKeyFile: text('/etc/berth/secrets.old.key').optional(),
  }).prefault({}),
  approvalRules: list(approvalRuleSection).default([]),
  quotas: list(quotaSection).default([]),
  webhooks: list(webhookSection).default([]),
})

/** Rejects ~, which no shell expands here, and line breaks: PostgreSQL's files hold a path on one line. */
function isDirectory(input: unknown): boolean {
  return typeof input === 'string' && /\S/.test(input) && !/^~|[\n\r\0]/.test(input) && !/[\n\r]/.test(resolve(input))
}

function isCuda(input: unknown): boolean {
  const isVersion = (item: unknown) => typeof item === 'string' && /^\d+\.\d+$/.test(item)
  return Array.isArray(input) && [0, 2].includes(input.length) && input.every(isVersion)
}
