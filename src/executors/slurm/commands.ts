import { type ChildProcess, spawn } from 'node:child_process'
import { readErrorCode } from '../backend/file-errors.ts'
import { BackendRefused, BackendUnreachable } from '../backend/unreachable.ts'

export interface SlurmCommand {
  /** The first words of the command line, which switch to another account. */
  as?: readonly string[]
  command: 'sbatch' | 'squeue' | 'scancel' | 'scontrol' | 'sinfo' | 'sstat'
  args: readonly string[]
  input?: string
  /** Time limit. The command itself tries for 9 s to reach a controller. */
  timeoutMs: number
}

/**
 * Runs a command and returns its output. Throws BackendRefused, or BackendUnreachable if the controller does not
 * respond.
 */
export type Slurm = (command: SlurmCommand) => Promise<string>

/**
 * A child of a command may keep its output open. After the end of the command, reading stops when no output has arrived
 * for this long.
 */
const quietMs = 500
/** Maximum length of an output, enough for a cluster with hundreds of thousands of jobs. */
const charsMax = 2 ** 26

/** Variables of the server that its commands get. Through sbatch, a job would inherit any others. */
const passed = ['PATH', 'SLURM_CONF'] as const

/** Makes the commands print times as seconds since 1970, and messages in English. */
const fixed = { SLURM_TIME_FORMAT: '%s', LC_ALL: 'C' }

export const selectCommandVariables = (
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string> =>
  Object.fromEntries(passed.flatMap((name) => (environment[name] ? [[name, environment[name]]] : [])))

export function createSlurm(environment: Readonly<Record<string, string | undefined>>): Slurm {
  const own = { ...selectCommandVariables(environment), ...fixed }
  return (command) => run(command, own)
}

/** Runs a command in a process group: a site may replace a command by a script, whose children must end with it. */
async function run({ as = [], command, args, input = '', timeoutMs }: SlurmCommand, env: Record<string, string>) {
  const [file = command, ...rest] = [...as, command, ...args]
  const child = spawn(file, rest, { env, cwd: '/', stdio: 'pipe', detached: true })
  const limit = setTimeout(() => killGroup(child), timeoutMs)
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  const output = collectOutput(child)
  try {
    // A command that ends early does not read its input.
    child.stdin?.on('error', () => undefined).end(input)
    const code = await ended
    if (code !== 0) throw explainFailure(command, code, output.err())
    if (output.isCutOff() && command !== 'scancel') throw new BackendUnreachable(`The answer of ${command} was cut off`)
    return output.out()
  } catch (cause) {
    const { code, syscall } = cause as NodeJS.ErrnoException
    if (!syscall?.startsWith('spawn')) throw cause
    const why = code === 'ENOENT' ? `There is no ${file} in the PATH of the server` : `${file} cannot be run: ${code}`
    throw new BackendUnreachable(why, { cause })
  } finally {
    clearTimeout(limit)
  }
}

function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if (readErrorCode(error) !== 'ESRCH') throw error
  }
}

interface Output {
  out(): string
  err(): string
  /** true: a child of the command kept its output open, and the last line is incomplete. */
  isCutOff(): boolean
}

function collectOutput(child: ChildProcess): Output {
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
    isCutOff: () => isClosed && !texts.out.endsWith('\n'),
  }
}

/** Messages that mean that the controller is unreachable; Slurm has no exit code for that. */
const unreachableWords =
  /unable to contact|communication|connection|connect failure|timed out|zero bytes|temporarily|try again|munge|authentication|protocol|backup|standby|configuration source|configuration file|slurm_conf|in standby/i

/** Slurm's own message, which follows the messages of the site's plugins. */
const submissionFailed = /^sbatch: error: Batch job submission failed: (.*)/m

function explainFailure(command: string, code: number | null, err: string): Error {
  const message = err.replaceAll(/^\w+: (error|fatal): /gm, '').trim() || `${command} ended with ${code ?? 'KILL'}`
  const [, cause = err] = err.match(submissionFailed) ?? []
  return code === null || unreachableWords.test(cause)
    ? new BackendUnreachable(message)
    : new BackendRefused(code, message)
}
