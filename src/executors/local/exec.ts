import { readlinkSync } from 'node:fs'
import { type AccountRules, findAccount, switchToAccount } from '../accounts/account.ts'
import { inTerminal, startCommand } from '../backend/exec-process.ts'
import { type ExecOrder, type ExecProcess, SessionRefused, StartFailed } from '../executor.ts'
import { type Environment, encodeEnvironment, escapeAssignment } from '../process/environment.ts'
import { loginShell } from '../process/scripts.ts'
import type { Journal } from './journal.ts'
import { runIdVariable } from './launch.ts'
import { findProcess, readEnvironment } from './processes.ts'
import { enterCgroupsScript, shell, workdirScript } from './shell.ts'

/**
 * Runs a command in a running job of this machine: in its cgroups, with its account, and with the environment and the
 * directory of its first process.
 */

const notHere = () => new SessionRefused('The run has no process on this machine')

interface ExecOptions {
  runId: string
  journal: Journal | null
  bootId: string
  accounts: AccountRules
}

export async function execInRun(
  order: ExecOrder,
  { runId, journal, bootId, accounts }: ExecOptions,
): Promise<ExecProcess> {
  const leader = await findLeader(journal, bootId)
  const account = await findAccount(order.unixUser, accounts).catch((error: unknown) => {
    throw error instanceof StartFailed ? new SessionRefused(error.message, { cause: error }) : error
  })
  const { environment, step } = encodeEnvironment(
    { ...(order.size && { TERM: 'xterm-256color' }), ...(await environmentOf(leader.pid)) },
    [],
  )
  const command = [...step, ...(order.command.length > 0 ? escapeAssignment(order.command) : loginShell)]
  const toAccount = switchToAccount(account)
  const argv = [
    ...[shell, '-c', enterCgroupsScript, 'berth', leader.cgroups.join(' '), ...toAccount],
    ...[shell, '-c', workdirScript, 'berth', leader.directory],
    ...(order.size ? inTerminal(command, order.size) : command),
  ]
  const hasTerminal = order.size !== null
  // Variable that identifies the processes of a run without a cgroup.
  const env = { ...environment, [runIdVariable]: runId }
  const { process } = startCommand(argv, { env, hasTerminal, toAccount, endSignals: ['SIGHUP', 'SIGKILL'] })
  if (!hasTerminal) return process
  // Messages of `script` itself.
  process.stderr.resume()
  return { ...process, stderr: null }
}

async function findLeader(journal: Journal | null, bootId: string) {
  const { claim, session, exit, limited } = journal ?? {}
  if (!claim || !session || exit || claim.boot !== bootId) throw notHere()
  const seen = await findProcess(session.pid)
  if (seen?.born !== session.born) throw notHere()
  try {
    return {
      pid: seen.pid,
      directory: readlinkSync(`/proc/${seen.pid}/cwd`),
      cgroups: [claim.cgroup ?? [], limited ?? []].flat(),
    }
  } catch (cause) {
    throw new SessionRefused('The server may not read the directory of the job', { cause })
  }
}

/** Returns the initial environment of the process. It may still be encoded (encodeEnvironment) for the next command. */
async function environmentOf(pid: number): Promise<Environment> {
  const text = await readEnvironment(pid)
  if (text === null) throw notHere()
  const given = text.split('\0')
  const isCarried = !given.some((each) => each.startsWith(`${runIdVariable}=`))
  const restored = isCarried ? given.flatMap((each) => /^_\d+=(.*)$/s.exec(each)?.[1] ?? []) : given
  const pairs = restored.map((each) => /^([^=]+)=(.*)$/s.exec(each))
  return Object.fromEntries(pairs.flatMap((pair) => (pair ? [[pair[1] ?? '', pair[2] ?? '']] : [])))
}
