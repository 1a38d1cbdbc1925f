import { type ChildProcess, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'

/**
 * The commands of Slurm. They say what went wrong in words only: a few of these words mean that the controller does not
 * answer (`SlurmAway`), which says nothing about a job; all others are a refusal (`SlurmRefused`).
 */

export class SlurmAway extends Error {
  override name = 'SlurmAway'
}

export class SlurmRefused extends Error {
  override name = 'SlurmRefused'
}

export interface Asked {
  /** Put in front of the command line: the change to another account. */
  as?: readonly string[]
  command: 'sbatch' | 'squeue' | 'scancel' | 'sinfo'
  args: readonly string[]
  input?: string
  /** Maximum wait. The command tries for 9 s by itself to reach a controller. */
  timeoutMs: number
}

export type Slurm = (asked: Asked) => Promise<string>

/** What a command has begun may hold its output open; the command has written all of it when it ends. */
const outputMsMax = 500

/** Variables of the server that the commands get. A job must not inherit any other by way of sbatch. */
const passed = ['PATH', 'SLURM_CONF'] as const

/** Moments in seconds since 1970, and messages as this file knows them. */
const fixed = { SLURM_TIME_FORMAT: '%s', LC_ALL: 'C' }

export function createSlurm(environment: Readonly<Record<string, string | undefined>>): Slurm {
  const own = Object.fromEntries(passed.flatMap((name) => (environment[name] ? [[name, environment[name]]] : [])))
  return (asked) => run(asked, { ...own, ...fixed })
}

/** A script of the site may stand for a command: it has a group of its own, so that all that it began ends with it. */
async function run({ as = [], command, args, input = '', timeoutMs }: Asked, env: Record<string, string>) {
  const [file = command, ...rest] = [...as, command, ...args]
  const child = spawn(file, rest, { env, cwd: '/', stdio: 'pipe', detached: true })
  const limit = setTimeout(() => killGroup(child), timeoutMs)
  const [out, err] = [textOf(child.stdout), textOf(child.stderr)]
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', () => setTimeout(() => closeOutput(child), outputMsMax).unref())
    child.once('close', resolve)
  })
  // A command that ends early does not read its input.
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  try {
    const code = await ended
    if (code === 0) return out()
    throw failureOf(command, code, err())
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause
    throw new SlurmAway(`There is no ${file} in the PATH of the server`, { cause })
  } finally {
    clearTimeout(limit)
  }
}

function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

function closeOutput({ stdout, stderr }: ChildProcess): void {
  stdout?.destroy()
  stderr?.destroy()
}

/** What was read so far. */
function textOf(stream: Readable): () => string {
  const pieces: string[] = []
  stream.setEncoding('utf8').on('data', (piece: string) => pieces.push(piece))
  return () => pieces.join('')
}

const awayWords =
  /unable to contact|communication|connection|connect failure|timed out|zero bytes|temporarily|try again|munge|authentication|protocol|backup|standby|configuration source|configuration file|slurm_conf|in standby/i

function failureOf(command: string, code: number | null, err: string): Error {
  const message = err.replaceAll(/^\w+: (error|fatal): /gm, '').trim() || `${command} ended with ${code ?? 'KILL'}`
  return code === null || awayWords.test(err) ? new SlurmAway(message) : new SlurmRefused(message)
}
