import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { systemClock } from '../../src/platform/clock.ts'
import { createLog } from '../../src/platform/log.ts'
import { startPostgres } from '../../src/platform/postgres/postgres.ts'
import { soak } from './soak.ts'

/**
 * npm run soak -- --seconds 60 --clients 48 --old-jobs 20000
 *
 * Prints the answers by code. Exits with 1 when one of them was not what it should have been: UNAVAILABLE never is.
 */
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    clients: { type: 'string', default: '48' },
    'old-jobs': { type: 'string', default: '20000' },
  },
})

const numberOf = (name: keyof typeof values): number => {
  const value = Number(values[name])
  if (Number.isInteger(value) && value > 0) return value
  process.stderr.write(`--${name}: "${values[name]}" is not a whole number above 0\n`)
  process.exit(2)
}

const options = { seconds: numberOf('seconds'), clients: numberOf('clients'), oldJobs: numberOf('old-jobs') }
const dataDir = await mkdtemp(join(tmpdir(), 'berth-soak-db-'))
await chmod(dataDir, 0o711) // under root the database runs as another account
const postgres = await startPostgres({ dataDir, log: createLog('error'), clock: systemClock })
try {
  const { answers, unexpected } = await soak({ databaseUrl: postgres.url, ...options })
  for (const [code, count] of Object.entries(answers).sort(([, a], [, b]) => b - a))
    process.stdout.write(`${String(count).padStart(8)}  ${code}\n`)
  for (const line of unexpected) process.stderr.write(`unexpected: ${line}\n`)
  process.exitCode = unexpected.length > 0 ? 1 : 0
} finally {
  await postgres.stop()
  await rm(dataDir, { recursive: true, force: true })
}
