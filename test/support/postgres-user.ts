import { systemClock } from '../../src/platform/clock.ts'
import { createLog } from '../../src/platform/log.ts'
import { startPostgres } from '../../src/platform/postgres/postgres.ts'

/**
 * A process that uses the embedded PostgreSQL of a directory. Prints its address, leaves when its input ends, and
 * prints that. Run as `node postgres-user.ts <dataDir> <systemDir>`.
 */
const [dataDir = '', systemDir = ''] = process.argv.slice(2)
const postgres = await startPostgres({ dataDir, systemDir, log: createLog('warn'), clock: systemClock, durable: false })
process.stdout.write(`${postgres.url}\n`)
process.stdin.resume()
process.stdin.once('end', async () => {
  await postgres.stop()
  process.stdout.write('left\n')
})
