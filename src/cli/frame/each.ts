import { RequestFailed } from '../../client/connection/failure.ts'
import type { Cli } from './cli.ts'
import { createStopForFailure, Stop } from './exit.ts'

/** Calls `work` for one id after the other. Prints refusals, and exits with the code of the first one. */
export async function runForEach<T>(cli: Cli, ids: readonly string[], work: (id: string) => Promise<T>): Promise<T[]> {
  const done: T[] = []
  let firstCode: number | undefined
  for (const id of ids) {
    try {
      done.push(await work(id))
    } catch (error) {
      const stop = error instanceof RequestFailed ? createStopForFailure(error) : error
      if (!(stop instanceof Stop) || ids.length === 1) throw error
      cli.terminal.say(`berth: ${id}: ${[stop.message, stop.next].filter(Boolean).join('; ')}`)
      firstCode ??= stop.exitCode
    }
  }
  if (firstCode !== undefined) cli.exitWith(firstCode)
  return done
}
