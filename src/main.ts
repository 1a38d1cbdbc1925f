import { ConfigError, readConfig } from './config.ts'
import { systemClock } from './platform/clock.ts'
import { watchLateness } from './platform/lateness.ts'
import { createLog } from './platform/log.ts'
import { createOutput, exitWritten } from './platform/output.ts'
import { ignoreUserSignals, onStopSignal } from './platform/signals.ts'
import { runBerth } from './server.ts'

const stdout = createOutput(process.stdout)
const stderr = createOutput(process.stderr)

async function main(): Promise<number> {
  ignoreUserSignals()
  watchLateness()
  const config = readConfig()
  const stopping = new AbortController()
  onStopSignal(systemClock, (signal) => stopping.abort(signal))
  return runBerth(config, { stdout, stderr, log: createLog(config.logLevel), signal: stopping.signal })
}

main()
  .catch((error: unknown) => {
    stderr.write(error instanceof ConfigError ? `${error.message}\n` : `${String(error)}\n`)
    return 1
  })
  .then(exitWritten)
