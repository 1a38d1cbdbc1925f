import type { Clock, Time } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import { type AccountRules, singleUserRules } from '../accounts/account.ts'

/** Options of every backend. */
export interface ExecutorOptions {
  environment: Readonly<Record<string, string | undefined>>
  /** Variables of the server that jobs inherit in addition to those that the executor always passes on. */
  inheritNames?: readonly string[]
  accounts?: AccountRules
  /** Maximum stored bytes of each output stream; the rest is dropped. */
  logBytesMax?: number
  /** Time after the maximum run time at which a run ends even without a leader. */
  deadlineSlackSeconds?: number
  clock: Clock
  time: Time
  log: Log
}

export const optionDefaults = {
  inheritNames: [] as readonly string[],
  accounts: singleUserRules,
  logBytesMax: 16 * 1024 ** 3,
  deadlineSlackSeconds: 10,
}

export type CompleteOptions = ExecutorOptions & typeof optionDefaults

/** The variables of the server that jobs inherit by name. */
export const pickVariables = ({ environment, inheritNames }: CompleteOptions): Readonly<Record<string, string>> =>
  Object.fromEntries(
    inheritNames.flatMap((name) => (environment[name] === undefined ? [] : [[name, environment[name]]])),
  )
