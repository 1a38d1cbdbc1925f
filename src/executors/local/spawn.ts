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

/** One shim to start. It is sent to another process, so it is plain data. */
export interface ShimOrder {
  launch: Launch
  files: RunFiles
  bootId: string
  cgroup: string | null
  /** Further cgroups, with limits. */
  limited: readonly string[]
  streamBytesMax: number
}

/** The grace after TERM at the fallback deadline. */
export const deadlineGraceSeconds = 30

/** Starts a shim in a new session and waits for its claim; throws if the shim is over without a claim. */
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
    // So that the job can open /dev/stdout and /dev/stderr.
    if (launch.account) for (const { write } of taken) fchownSync(write, launch.account.uid, launch.account.gid)
    for (const path of [files.stdout, files.stderr]) open(path, 'a')
    const journal = [open(files.journal, 'a'), open(files.journal, 'r')]
    const child = spawn(shell, ['-c', shim, 'berth', ...shimArguments(order), ...launch.argv], {
      // The server must not enter the directory of another account.
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
    // A full disk takes neither the claim of a shim nor this record.
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

/** The line of the shim; empty: the shim is over. */
async function awaitClaim(child: ChildProcess): Promise<string> {
  // 'error' of the child (no shell, no memory) rejects.
  const failed = once(child, 'error').then(([error]) => Promise.reject(error))
  // A child that could not be made for want of open files has no streams.
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
