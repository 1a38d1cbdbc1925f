import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, fchownSync, openSync } from 'node:fs'
import { Readable } from 'node:stream'
import { StartFailed } from '../executor.ts'
import type { Launch } from './launch.ts'
import type { RunFiles } from './spool.ts'

/**
 * Starts a shim in a session of its own and waits until it has taken the claim or is over: it closes one end of a pipe
 * then, so nothing is polled and a server that dies meanwhile breaks nothing. Answers when the claim is decided.
 */
export async function spawnShim(launch: Launch, files: RunFiles, onExit: () => void): Promise<void> {
  const opened: number[] = []
  const descriptor = (path: string, flags: string) => {
    const file = openSync(path, flags, 0o600)
    opened.push(file)
    return file
  }
  try {
    const out = descriptor(files.stdout, 'a')
    const err = descriptor(files.stderr, 'a')
    // The job may open /dev/stdout and /dev/stderr again.
    if (launch.account) for (const file of [out, err]) fchownSync(file, launch.account.uid, launch.account.gid)
    const journal = descriptor(files.journal, 'a')
    const ended = descriptor(files.ended, 'a')
    const read = [descriptor(files.journal, 'r'), descriptor(files.journal, 'r')]
    const child = spawn(launch.file, launch.args, {
      cwd: launch.cwd,
      env: launch.environment,
      detached: true,
      stdio: ['ignore', out, err, journal, read[0], ended, read[1], 'pipe'],
    })
    child.once('exit', onExit)
    await claimDecided(child)
  } catch (cause) {
    if (cause instanceof StartFailed) throw cause
    throw startFailed(cause)
  } finally {
    for (const file of opened) closeSync(file)
  }
}

async function claimDecided(child: ChildProcess): Promise<void> {
  const pipe: unknown = child.stdio.at(7)
  if (!(pipe instanceof Readable)) throw new Error('The pipe of the claim is missing')
  child.unref()
  pipe.resume()
  // 'error' of the child (no shell, no memory) rejects.
  const failed = once(child, 'error').then(([error]) => Promise.reject(error))
  await Promise.race([once(pipe, 'close'), failed])
}

function startFailed(cause: unknown): StartFailed {
  const message = cause instanceof Error ? cause.message : String(cause)
  const tooLong = cause instanceof Error && 'code' in cause && cause.code === 'E2BIG'
  return tooLong
    ? new StartFailed('BAD_SPEC', 'Arguments and environment are longer than this system allows', { cause })
    : new StartFailed('START_FAILED', `The run's process could not be started: ${message}`, { cause })
}
