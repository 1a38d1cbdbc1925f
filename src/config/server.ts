import { isIP } from 'node:net'
import { resolve } from 'node:path'
import type { z } from 'zod'
import { section } from './keys.ts'
import { readManifests } from './manifests.ts'
import { flag, isInRange, list, matching, text, url, value, wholeNumber, word } from './value.ts'

/** `server:` of the configuration file: where a process listens, and what callers may do. */

export const roles = ['api', 'scheduler'] as const
const freeTexts = ['ALL', 'AUTHENTICATED', 'NONE'] as const

const perMinute = wholeNumber(1, 1_000_000_000, '100000, or null for no limit').nullable().default(null)

export const serverSection = section({
  host: text('127.0.0.1').default('127.0.0.1'),
  port: wholeNumber(0, 65_535, '4000, or 0 for any free port').default(4_000),
  roles: list(word(roles)).default([...roles]),
  publicUrl: url(['http:', 'https:'], {
    what: 'an http or https URL',
    example: 'https://berth.example.org',
  }).optional(),
  jobsHost: matching(
    'a host name in small letters',
    /^(?=.{1,200}$)[a-z0-9-]+(\.[a-z0-9-]+)*$/,
    'jobs.example.org',
  ).optional(),
  allowedHosts: list(matching('a host as browsers send it', /^[^\s/]+$/, 'berth.example.org')).default([]),
  allowedOrigins: list(
    value<string>({ what: 'an origin (scheme, host, port)', example: 'https://app.example.org' }, isOrigin),
  ).default([]),
  allowedHeaders: list(matching('the name of a header', /^[\w-]{1,100}$/, 'x-team')).default([]),
  trustedProxies: list(value<string>({ what: 'an address or a network', example: '10.0.0.0/8' }, isNetwork)).default(
    [],
  ),
  leaveSeconds: wholeNumber(0, 300, '15').default(0),
  tls: section({ cert: text('/etc/berth/tls.crt'), key: text('/etc/berth/tls.key') }).optional(),
  introspection: flag.default(true),
  metrics: section({
    host: text('127.0.0.1').default('127.0.0.1'),
    port: wholeNumber(1, 65_535, '9464'),
  }).optional(),
  documents: section({
    manifests: list(text('persisted-documents.json')).default([]),
    freeText: word(freeTexts).default('ALL'),
  }).prefault({}),
  limits: section({ costPerMinute: perMinute, submissionsPerMinute: perMinute }).prefault({}),
})

export type ServerSettings = Readonly<ReturnType<typeof toServerSettings>>

interface Files {
  readFile: (path: string) => string
  /** Folder of the configuration file. Paths in the file are relative to it. */
  folder: string
}

export function toServerSettings(entry: z.output<typeof serverSection>, { readFile, folder }: Files) {
  const { publicUrl = null, jobsHost = null, documents, limits: rateLimits, tls, ...rest } = entry
  const manifests = documents.manifests.map((path) => resolve(folder, path))
  const byId = readManifests(manifests, readFile)
  const tlsFiles = tls ? { cert: resolve(folder, tls.cert), key: resolve(folder, tls.key) } : null
  return { ...rest, publicUrl, jobsHost, tls: tlsFiles, documents: { byId, freeText: documents.freeText }, rateLimits }
}

function isNetwork(input: unknown): boolean {
  const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(typeof input === 'string' ? input : '') ?? []
  const version = isIP(address)
  return version !== 0 && (bits === undefined || Number(bits) <= (version === 6 ? 128 : 32))
}

function isOrigin(input: unknown): boolean {
  return typeof input === 'string' && URL.parse(input)?.origin === input && isInRange(input.length, 1, 255)
}
