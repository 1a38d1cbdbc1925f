import { execFile } from 'node:child_process'
import { statSync } from 'node:fs'
import { promisify } from 'node:util'
import { systemClock } from '../../platform/clock.ts'

/**
 * The system's table of accounts, asked by `getent`, because accounts may be in a directory service. Each question
 * forks the server, which costs more the larger it is, so an answer is used again until /etc/passwd changes, and for
 * `rememberedMs` at most: so soon a change in a directory service is noticed. That there is no such account is not
 * remembered.
 */
export type AccountTable = (account: string) => Promise<AccountEntry | null>

/** The fields of a line of passwd(5). */
export type AccountEntry = readonly string[]

export interface AccountSource {
  ask: AccountTable
  /** Changes with every change of accounts that the machine itself keeps. */
  version(): string
  monotonicMs(): number
}

const rememberedMs = 10_000
const rememberedMax = 1_000

export function createAccountTable({ ask, version, monotonicMs }: AccountSource): AccountTable {
  const remembered = new Map<string, { answer: Promise<AccountEntry | null>; untilMs: number }>()
  let known = ''

  async function askAnew(account: string): Promise<AccountEntry | null> {
    const answer = ask(account)
    if (remembered.size >= rememberedMax) remembered.clear()
    const one = { answer, untilMs: monotonicMs() + rememberedMs }
    remembered.set(account, one)
    const forget = () => {
      if (remembered.get(account) === one) remembered.delete(account)
    }
    answer.then((entry) => entry ?? forget(), forget)
    return answer
  }

  return (account) => {
    const now = version()
    if (now !== known) remembered.clear()
    known = now
    const one = remembered.get(account)
    return one && monotonicMs() < one.untilMs ? one.answer : askAnew(account)
  }
}

const run = promisify(execFile)

/** `getent` exits with 2 where there is no such account; macOS has no `getent`. */
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

/** Programs that change accounts replace the file. */
function versionOfPasswd(): string {
  const found = statSync('/etc/passwd', { bigint: true, throwIfNoEntry: false })
  return found ? `${found.ino} ${found.size} ${found.mtimeNs}` : ''
}

/** null: there is no such account. */
export const findAccountEntry = createAccountTable({
  ask: getent,
  version: versionOfPasswd,
  monotonicMs: systemClock.monotonicMs,
})
