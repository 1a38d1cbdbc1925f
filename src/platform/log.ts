import { type DestinationStream, type LogFn, type Logger, levels, pino } from 'pino'
import { createOutput } from './output.ts'
import { redactSecrets, secretPaths } from './redaction.ts'
import { classifyTrouble, createOutageLog, type Trouble } from './troubles.ts'

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'child' | 'level' | 'isLevelEnabled'>

export interface LogOptions {
  destination?: DestinationStream
  /** Time without failures after which the log reports that an outage ended. */
  quietMs?: number
}

/**
 * Writes structured lines to stderr, without secrets (redaction.ts). Failures that repeat during an outage are logged
 * once, as a warning (troubles.ts).
 */
export function createLog(level: string, { destination, quietMs }: LogOptions = {}): Log {
  const troubles = createOutageLog(({ part, ...over }) => log.warn(over, `over: ${part}`), quietMs)

  function logMethod(this: Logger, args: Parameters<LogFn>, write: LogFn, level: number) {
    const [fields, message] = args as unknown[]
    const trouble = classifyTrouble((fields as { err?: unknown } | null)?.err)
    if (!trouble) return write.apply(this, args)
    if (!troubles.begins(partOf(fields as object, message), trouble)) return
    const writeTrouble = level === levels.values['error'] ? this.warn : write
    writeTrouble.call(this, hideError(fields as object, trouble), String(message))
  }

  // The warning is written even if the level of the log is `error`.
  const onDropped = (lines: number) =>
    log.child({}, { level: 'warn' }).warn({ lines }, 'lines were dropped: the reader of the log was too slow')
  const stream = destination ?? createOutput(process.stderr, { onDropped })
  const log: Logger = pino(
    { level, base: null, redact: secretPaths, hooks: { logMethod, streamWrite: redactSecrets } },
    stream,
  )
  return log
}

/** Fields that distinguish parts of the server with the same message. */
const partFields = ['loop', 'pool', 'key', 'executor', 'what', 'stream'] as const

function partOf(fields: object, message: unknown): string {
  const names = partFields.flatMap((name) => (name in fields ? [String(fields[name as never])] : []))
  return names.length > 0 ? `${message} (${names.join(', ')})` : String(message)
}

/** The stack would show where the server noticed the trouble, not its cause. */
const hideError = ({ err: _, ...fields }: { err?: unknown }, { what }: Trouble) => ({ ...fields, trouble: what })
