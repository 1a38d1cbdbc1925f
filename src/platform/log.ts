import { type Logger, pino } from 'pino'

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'child' | 'level' | 'isLevelEnabled'>

/** Structured lines on stderr (stdout belongs to what the command prints). Secrets are removed by path, not by luck. */
export function createLog(level: string): Log {
  return pino(
    { level, base: null, redact: ['token', 'secret', 'password', '*.token', '*.secret', '*.password'] },
    pino.destination({ fd: 2, sync: true }),
  )
}
