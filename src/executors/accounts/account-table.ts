import { execFile } from 'node:child_process'
import { statSync } from 'node:fs'
import { promisify } from 'node:util'
import { systemClock } from '../../platform/clock.ts'

/**
 * Reads system accounts by `getent`, because they may be in a directory service. A look-up forks the server, so results
 * are cached until /etc/passwd changes, for `cachedMs` at most.
 */
export type AccountTable = (account: string) => Promise<AccountEntry | null>

export type AccountEntry = readonly string[]

export interface AccountSource {
  ask: AccountTable
  /** A text that changes whenever a local account changes. */
  version(): string
  monotonicMs(): number
}

const cachedMs = 10_000
const cachedMax = 1_000

export function createAccountTable({ ask, version, monotonicMs }: AccountSource): AccountTable {
  const cached = new Map<string, { answer: Promise<AccountEntry | null>; untilMs: number }>()
  let known = ''

  async function lookUp(account: string): Promise<AccountEntry | null> {
    const answer = ask(account)
    if (cached.size >= cachedMax) cached.clear()
    const one = { answer, untilMs: monotonicMs() + cachedMs }
    cached.set(account, one)
    const forget = () => {
      if (cached.get(account) === one) cached.delete(account)
    }
    answer.then((entry) => entry ?? forget(), forget)
    return answer
  }

  return (account) => {
    const now = version()
    if (now !== known) cached.clear()
    known = now
    const one = cached.get(account)
    return one && monotonicMs() < one.untilMs ? one.answer : lookUp(account)
  }
}

const run = promisify(execFile)

/** Reads an account. `getent` exits with 2 if it is missing; macOS has no `getent`. */
async function getent(account: string): Promise<AccountEntry | null> {
  try {
    const { stdout } = await run('getent', ['passwd', account])
    return stdout.trimEnd().split(':')
  } catch (error) {
    const { code } = error as { code?: unknown }
    if (code === 2 || code === 'ENOENT') return null
    throw error
  }
}

/** Identifies the version of /etc/passwd: programs that change accounts replace the file. */
function readPasswdVersion(): string {
  const found = statSync('/etc/passwd', { bigint: true, throwIfNoEntry: false })
  return found ? `${found.ino} ${found.size} ${found.mtimeNs}` : ''
}

/** Reads the entry of an account; null: the account does not exist. */
export const findAccountEntry = createAccountTable({
  ask: getent,
  version: readPasswdVersion,
  monotonicMs: systemClock.monotonicMs,
})
