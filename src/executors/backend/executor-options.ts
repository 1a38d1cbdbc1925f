import type { Clock, Time } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import { type AccountRules, oneUser } from '../accounts/account.ts'

/** Options of every backend. */
export interface ExecutorOptions {
  /** Environment of the server. */
  environment: Readonly<Record<string, string | undefined>>
  /** Variables of it that jobs inherit beyond those that the executor always passes on. */
  inheritNames?: readonly string[]
  accounts?: AccountRules
  /** Bytes of each output stream that are kept; the rest is dropped. */
  logBytesMax?: number
  /** Time after its maximum run time at which a run is ended also without a leader. */
  deadlineSlackSeconds?: number
  clock: Clock
  time: Time
  log: Log
}

export const optionDefaults = {
  inheritNames: [] as readonly string[],
  accounts: oneUser,
  logBytesMax: 16 * 1024 ** 3,
  deadlineSlackSeconds: 10,
}

export type CompleteOptions = ExecutorOptions & typeof optionDefaults

/** The variables of the server that jobs inherit by name. */
export const pickVariables = ({ environment, inheritNames }: CompleteOptions): Readonly<Record<string, string>> =>
  Object.fromEntries(
    inheritNames.flatMap((name) => (environment[name] === undefined ? [] : [[name, environment[name]]])),
  )
