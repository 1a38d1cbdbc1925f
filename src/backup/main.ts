import { parseArgs } from 'node:util'
import about from '../../package.json' with { type: 'json' }
import { ConfigError, readConfig } from '../config.ts'
import { systemClock } from '../platform/clock.ts'
import { createLog } from '../platform/log.ts'
import { MigrationRefused } from '../platform/migrate.ts'
import { exitWritten } from '../platform/output.ts'
import { onStopSignal } from '../platform/signals.ts'
import { isUnavailable, Unavailable } from '../platform/tx.ts'
import { backUp, TookTooLong } from './back-up.ts'
import { BackupRefused } from './manifest.ts'
import { restore } from './put-back.ts'
import { verify } from './verify.ts'

/**
 * The process of `berth backup`, `berth backup verify` and `berth restore`. It connects to the database directly, like
 * the server: by DATABASE_URL, or by the embedded PostgreSQL of the data directory.
 */

const exitCodes = { unexpected: 1, usage: 2, refused: 3, retryable: 4, stopped: 130 } as const

const options = {
  config: { type: 'string' },
  'no-logs': { type: 'boolean' },
  'no-files': { type: 'boolean' },
  rate: { type: 'string' },
  'max-minutes': { type: 'string' },
} as const

class Stopped extends Error {
  constructor(signal: string) {
    super(`stopped by ${signal}; nothing is left behind`)
  }
}

async function main(): Promise<void> {
  const { positionals, values } = parseArgs({ args: process.argv.slice(2), options, allowPositionals: true })
  const [verb, file = ''] = positionals
  const config = readConfig(values.config === undefined ? [] : ['--config', values.config])
  const stopping = new AbortController()
  onStopSignal(systemClock, (name) => stopping.abort(new Stopped(name)))
  const { signal } = stopping
  const task = { config, file, log: createLog('warn'), clock: systemClock, version: about.version, signal }
  const number = (text: string | undefined) => (text === undefined ? null : Number(text))
  if (verb === 'restore') return restore(task)
  if (verb === 'verify') return verify(task)
  await backUp(task, {
    withLogs: values['no-logs'] !== true,
    withFiles: values['no-files'] !== true,
    mibPerSecondMax: number(values.rate),
    minutesMax: number(values['max-minutes']),
  })
}

function fail(error: unknown): Promise<never> {
  const message = error instanceof Error ? error.message : String(error)
  process.stderr.write(`berth: ${message.replaceAll('\n', '\nberth: ')}\n`)
  return exitWritten(exitCodeOf(error))
}

function exitCodeOf(error: unknown): number {
  if (error instanceof ConfigError) return exitCodes.usage
  if (error instanceof BackupRefused || error instanceof MigrationRefused) return exitCodes.refused
  if (error instanceof Stopped) return exitCodes.stopped
  return error instanceof TookTooLong || error instanceof Unavailable || isUnavailable(error)
    ? exitCodes.retryable
    : exitCodes.unexpected
}

main().catch(fail)
