import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { RequestFailed } from '../../client/connection/failure.ts'
import { createInside, type Inside } from '../../client/jobs/inside.ts'
import type { Cli } from '../frame/cli.ts'
import { createStopForFailure, exitCodes, Stop, usageError } from '../frame/exit.ts'
import { readAmount } from './numbers.ts'
import { decodeUtf8 } from './yaml.ts'

export interface RetryTimeoutOptions {
  patience: number
}

const patienceSecondsDefault = 60

export const addRetryTimeoutOption = (command: Command): Command =>
  command.option(
    '--patience <seconds>',
    'how long to retry while the server is unreachable',
    readAmount,
    patienceSecondsDefault,
  )

/** Calls the server with the token of the run. Retries while the server is unreachable. */
export async function callAsRun<T>(
  cli: Cli,
  { patience }: RetryTimeoutOptions,
  work: (inside: Inside) => Promise<T>,
): Promise<T> {
  for (const name of ['BERTH_URL', 'BERTH_TOKEN'])
    if (!cli.env[name]) throw usageError(`${name} is not set`, 'run this command inside a job, where Berth sets it')
  const options = {
    patienceMs: patience * 1_000,
    sleep: (ms: number) => sleep(ms),
    monotonicMs: () => performance.now(),
  }
  try {
    return await work(createInside(cli.connection(), options))
  } catch (error) {
    if (!(error instanceof RequestFailed)) throw error
    const { exitCode, message } = createStopForFailure(error)
    if (exitCode === exitCodes.notAllowed) throw new Stop(exitCode, message, 'BERTH_TOKEN is valid only during its run')
    throw error.retryable
      ? new Stop(exitCode, message, `gave up after ${patience} s; --patience sets another limit`)
      : error
  }
}

/** Reads the text of a file, or of stdin for `-`. */
export async function readTextFile(cli: Pick<Cli, 'cwd' | 'readStdin'>, file: string): Promise<string> {
  if (file === '-') return cli.readStdin()
  const bytes = await readFile(resolve(cli.cwd, file)).catch((error: NodeJS.ErrnoException) => {
    throw usageError(`cannot read ${file}: ${error.code}`, 'check its path')
  })
  return decodeUtf8(bytes, file)
}

export function parseObject(text: string, what: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw usageError(`${what} is not JSON`, 'pass an object such as {"step": 100}')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw usageError(`${what} must be a JSON object`, 'such as {"step": 100}')
  return Object.fromEntries(Object.entries(value))
}

const mediaTypes: Readonly<Record<string, string>> = {
  ...{ txt: 'text/plain', log: 'text/plain', md: 'text/markdown', csv: 'text/csv', html: 'text/html' },
  ...{ json: 'application/json', yaml: 'application/yaml', yml: 'application/yaml', pdf: 'application/pdf' },
  ...{ png: 'image/png', jpg: 'image/jpeg', jpeg: 'image/jpeg', svg: 'image/svg+xml' },
}

/** Returns the media type of the first name with a known extension. */
export function findMediaType(names: readonly (string | undefined)[]): string | undefined {
  return names.map((name) => mediaTypes[/\.(\w+)$/.exec(name ?? '')?.[1]?.toLowerCase() ?? '']).find(Boolean)
}

export function guessMediaType(names: readonly (string | undefined)[]): string {
  const known = findMediaType(names)
  if (known) return known
  throw usageError('the media type is missing', 'pass --media-type, such as application/octet-stream')
}
