import { lstat } from 'node:fs/promises'
import type { Duplex } from 'node:stream'
import { switchToOwner } from '../accounts/account.ts'
import { inTerminal, startCommand } from '../backend/exec-process.ts'
import { nullIfMissing } from '../backend/file-errors.ts'
import { type ExecOrder, type ExecProcess, type Handle, SessionRefused, type TerminalSize } from '../executor.ts'
import { escapeAssignment } from '../process/environment.ts'
import { childFunctions, loginShell, readScript } from '../process/scripts.ts'
import { environmentScript } from './command.ts'
import { selectCommandVariables } from './commands.ts'
import { ExitMessageFilter } from './exit-message-filter.ts'
import type { Layout } from './layout.ts'
import { isRunning, saysOver } from './observation.ts'
import { openRelay } from './relay.ts'
import { findRunDirectory, readRecords } from './run-files.ts'
import type { Queue } from './squeue.ts'

/**
 * Commands in a running job of Slurm, and connections to its ports: steps of `srun` beside those of the job, on its first node.
 * They are in the cgroup of the job and end with it. `srun` runs on this machine as the account of the job; the nodes connect
 * back to it. At the end of a session, and of the server, `srun` gets TERM and kills the step.
 */

const sessionScript = childFunctions + readScript(import.meta.dirname, 'session.sh')
/**
 * Executes srun. Sends it TERM when descriptor 4 is closed, as at the end of the server; a line there says that srun is over.
 * The subshell that watches must not be a child of `script`, which would wait for it forever.
 */
const watchScript = `exec 5>&2
( (trap '' HUP INT QUIT TERM USR1 USR2; read -r _ <&4 || kill -TERM $$) </dev/null >/dev/null 2>&1 3>&- 5>&- & )
exec "$@" 4<&-`
/** Keeps the messages of srun itself apart from the terminal. */
const apartScript = 'exec "$@" 2>&5 5>&-'
/** Slurm starts the step within this time, or never. */
const startSecondsMax = 30

export interface SessionParts {
  layout: Layout
  queue: Pick<Queue, 'read'>
  environment: Readonly<Record<string, string | undefined>>
}

interface Place {
  directory: string
  jobId: string
  node: string
  toAccount: readonly string[]
}

export async function execInJob(handle: Handle, order: ExecOrder, parts: SessionParts): Promise<ExecProcess> {
  const place = await findPlace(handle, parts)
  const command = order.command.length > 0 ? escapeAssignment(order.command) : loginShell
  const terminal = order.size ? 'yes' : ''
  const words = ['/bin/sh', '-c', sessionScript, 'berth', place.directory, terminal, environmentScript, ...command]
  const process = startStep(words, place, { size: order.size, ...parts })
  // srun ends with 0 if the job ends before the command.
  const exitCode = async () => {
    const code = await process.exitCode
    if (code !== 0 || !process.messages.hasErrors) return code
    return findPlace(handle, parts).then(
      () => code,
      () => null,
    )
  }
  return { ...process, exitCode: exitCode() }
}

export async function connectToJob(handle: Handle, port: number, parts: SessionParts): Promise<Duplex> {
  const place = await findPlace(handle, parts)
  const start = (words: readonly string[]) => startStep(words, place, { size: null, ...parts })
  return openRelay(start, { port, jobId: place.jobId, runId: handle })
}

/** The running job of the run. Its id and node are those that Slurm reports, because the job can change its records. */
async function findPlace(handle: Handle, { layout, queue }: SessionParts): Promise<Place> {
  const files = findRunDirectory(layout, handle)
  const owner = files && (await nullIfMissing(lstat(files.directory)))
  const records = files && (await readRecords(files))
  if (!owner || !records?.begun || saysOver(records)) throw new SessionRefused('The run has no process in Slurm')
  const snapshot = await queue.read([owner.uid])
  if (!snapshot) throw new SessionRefused('Slurm is unreachable; try again')
  const job = snapshot.byRun.get(handle)?.find((each) => isRunning(each) && each.uid === owner.uid)
  const node = job?.nodes[0]
  if (!job || node === undefined) throw new SessionRefused('The run has no process in Slurm')
  if (job.state === 'SUSPENDED') throw new SessionRefused(`Slurm has suspended job ${job.id}`)
  return { directory: files.directory, jobId: job.id, node, toAccount: switchToOwner(owner) }
}

function startStep(
  words: readonly string[],
  { jobId, node, toAccount }: Place,
  { size, environment }: { size: TerminalSize | null } & Pick<SessionParts, 'environment'>,
): ExecProcess & { messages: ExitMessageFilter } {
  const srun = [
    ...['srun', `--jobid=${jobId}`, '--overlap', '--nodes=1', '--ntasks=1', `--nodelist=${node}`, '--mpi=none'],
    ...['--export=NONE', '--chdir=/', '--job-name=berth-session', '--quiet', '--disable-status'],
    ...[`--immediate=${startSecondsMax}`, size ? '--pty' : '--unbuffered', ...words],
  ]
  const run = size ? inTerminal(['/bin/sh', '-c', apartScript, 'berth', ...srun], size) : srun
  const argv = [...toAccount, '/bin/sh', '-c', watchScript, 'berth', ...run]
  const env = { ...selectCommandVariables(environment), LC_ALL: 'C' }
  const options = { env, hasTerminal: size !== null, toAccount, endSignals: ['SIGTERM'], hasLine: true } as const
  const { child, process: step } = startCommand(argv, options)
  const watched = child.stdio[4] as unknown as NodeJS.WritableStream
  child.once('exit', () => watched.end('\n'))
  const messages = step.stderr.pipe(new ExitMessageFilter())
  if (size) messages.resume()
  return {
    ...step,
    messages,
    stderr: size ? null : messages,
    end: async () => {
      await step.end()
      await step.exitCode
    },
  }
}
