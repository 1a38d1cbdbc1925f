import { type ChildProcess, spawn } from 'node:child_process'

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
  command: 'sbatch' | 'squeue' | 'scancel' | 'scontrol' | 'sinfo'
  args: readonly string[]
  input?: string
  /** Maximum wait. The command tries for 9 s by itself to reach a controller. */
  timeoutMs: number
}

export type Slurm = (asked: Asked) => Promise<string>

/** What a command has begun may hold its output open. After its end it is read until it is silent for this long. */
const quietMs = 500
/** Of output, as large as that of a cluster with hundreds of thousands of jobs. */
const charsMax = 2 ** 26

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
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  const output = outputOf(child)
  try {
    // A command that ends early does not read its input. A process that could not be made has none.
    child.stdin?.on('error', () => undefined).end(input)
    const code = await ended
    if (code !== 0) throw failureOf(command, code, output.err())
    if (output.isCut() && command !== 'scancel') throw new SlurmAway(`The answer of ${command} was cut off`)
    return output.out()
  } catch (cause) {
    const { code, syscall } = cause as NodeJS.ErrnoException
    if (!syscall?.startsWith('spawn')) throw cause
    const why = code === 'ENOENT' ? `There is no ${file} in the PATH of the server` : `${file} cannot be run: ${code}`
    throw new SlurmAway(why, { cause })
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

interface Output {
  out(): string
  err(): string
  /** A process that the command left behind held its output open, and the last line of it has no end. */
  isCut(): boolean
}

function outputOf(child: ChildProcess): Output {
  const texts = { out: '', err: '' }
  let hasEnded = false
  let isClosed = false
  let quiet: NodeJS.Timeout | undefined
  const close = () => {
    isClosed = true
    child.stdout?.destroy()
    child.stderr?.destroy()
  }
  const closeLater = () => {
    clearTimeout(quiet)
    if (hasEnded) quiet = setTimeout(close, quietMs)
  }
  const take = (name: keyof typeof texts) => (piece: string) => {
    texts[name] += piece
    if (texts[name].length > charsMax) killGroup(child)
    closeLater()
  }
  child.stdout?.setEncoding('utf8').on('data', take('out'))
  child.stderr?.setEncoding('utf8').on('data', take('err'))
  child.once('exit', () => {
    hasEnded = true
    closeLater()
  })
  child.once('close', () => clearTimeout(quiet))
  return {
    out: () => texts.out,
    err: () => texts.err,
    isCut: () => isClosed && !texts.out.endsWith('\n'),
  }
}

const awayWords =
  /unable to contact|communication|connection|connect failure|timed out|zero bytes|temporarily|try again|munge|authentication|protocol|backup|standby|configuration source|configuration file|slurm_conf|in standby/i

/** The words of Slurm itself: in front of them are those of a plugin of the site, such as why it refuses a job. */
const submissionFailed = /^sbatch: error: Batch job submission failed: (.*)/m

function failureOf(command: string, code: number | null, err: string): Error {
  const message = err.replaceAll(/^\w+: (error|fatal): /gm, '').trim() || `${command} ended with ${code ?? 'KILL'}`
  const [, cause = err] = err.match(submissionFailed) ?? []
  return code === null || awayWords.test(cause) ? new SlurmAway(message) : new SlurmRefused(message)
}
