import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, fchownSync, openSync } from 'node:fs'
import { Readable } from 'node:stream'
import { readErrorCode } from '../backend/file-errors.ts'
import { StartFailed } from '../executor.ts'
import { fileBlockBytes } from '../process/scripts.ts'
import { readJournal, recordVoid } from './journal.ts'
import type { Launch } from './launch.ts'
import { checkPaths } from './path-check.ts'
import { closePipe, type Pipe, type PipeStock } from './pipes.ts'
import { shell, shim } from './shell.ts'

import type { RunFiles } from './spool.ts'
import { catchSpoolTrouble, describeEarlyEnd, describeFailedFork } from './start-failure.ts'

/** An order to start one shim. It is sent to another process, so it contains only plain data. */
export interface ShimOrder {
  launch: Launch
  files: RunFiles
  bootId: string
  cgroup: string | null
  /** Additional cgroups, which have the limits. */
  limited: readonly string[]
  streamBytesMax: number
}

/** Grace period after TERM at the fallback deadline. */
export const deadlineGraceSeconds = 30

/** Starts a shim in a new session and waits for its claim; throws if the shim exits without a claim. */
export async function spawnShim(
  order: ShimOrder,
  { pipes, onExit }: { pipes: PipeStock; onExit: () => void },
): Promise<void> {
  const { launch, files } = order
  await checkPaths(launch)
  const opened: number[] = []
  const open = (path: string, flags: 'a' | 'r') => {
    const file = openSync(path, flags, 0o600)
    opened.push(file)
    return file
  }
  const taken: Pipe[] = []
  try {
    const take = async () => {
      const pipe = await pipes.take()
      taken.push(pipe)
      return pipe
    }
    const [out, err] = [await take(), await take()]
    // Lets the job open /dev/stdout and /dev/stderr.
    if (launch.account) for (const { write } of taken) fchownSync(write, launch.account.uid, launch.account.gid)
    for (const path of [files.stdout, files.stderr]) open(path, 'a')
    const journal = [open(files.journal, 'a'), open(files.journal, 'r')]
    const child = spawn(shell, ['-c', shim, 'berth', ...shimArguments(order), ...launch.argv], {
      // The server must not enter a directory of another account.
      cwd: launch.account ? '/' : launch.cwd,
      env: launch.environment,
      detached: true,
      stdio: ['ignore', out.write, err.write, ...journal, out.read, err.read, 'pipe'],
    })
    child.once('exit', onExit)
    const outcome = await awaitClaim(child)
    if (outcome.includes('claimed')) return
    // Another shim of this run may have the claim.
    if (catchSpoolTrouble(() => readJournal(files.journal))?.claim) return
    // If the disk is full, neither a shim nor this server can write its claim.
    catchSpoolTrouble(() => recordVoid(files.journal, order.bootId))
    throw outcome.includes('unborn') ? describeFailedFork() : describeEarlyEnd(files)
  } catch (cause) {
    if (cause instanceof StartFailed) throw cause
    throw describeStartFailure(cause)
  } finally {
    for (const file of opened) closeSync(file)
    for (const pipe of taken) closePipe(pipe)
  }
}

function shimArguments({ launch, files, bootId, cgroup, limited, streamBytesMax }: ShimOrder): string[] {
  // One byte more than is stored, so that a stream over its limit is recognised.
  const blocks = Math.ceil((streamBytesMax + 1) / fileBlockBytes)
  const times = [launch.limitSeconds, deadlineGraceSeconds, blocks].map(String)
  return [bootId, files.directory, cgroup ?? '', limited.join(' '), ...times]
}

/** Returns the line that the shim prints; empty: the shim exited. */
async function awaitClaim(child: ChildProcess): Promise<string> {
  // If the child could not be started (no shell, no memory), its 'error' rejects.
  const failed = once(child, 'error').then(([error]) => Promise.reject(error))
  // If the child could not be started because too many files are open, it has no streams.
  const pipe: unknown = child.stdio?.at(7)
  if (!(pipe instanceof Readable)) return failed
  child.unref()
  const told = Promise.race([once(pipe, 'data'), once(pipe, 'close')])
  const [text] = await Promise.race([told, failed])
  pipe.destroy()
  return String(text)
}

function describeStartFailure(cause: unknown): StartFailed {
  const message = cause instanceof Error ? cause.message : String(cause)
  const tooLong = readErrorCode(cause) === 'E2BIG'
  return tooLong
    ? new StartFailed(
        'BAD_SPEC',
        'Arguments and environment are longer than this system allows; pass long data in a file',
        { cause },
      )
    : new StartFailed('START_FAILED', `The run's process could not be started: ${message}`, { cause })
}
