import { chown, lchown, mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Account, findAccount, switchToAccount } from '../accounts/account.ts'
import type { CompleteOptions } from '../backend/executor-options.ts'
import { nullIfMissing, readErrorCode } from '../backend/file-errors.ts'
import { unpackSnapshot } from '../backend/snapshot-files.ts'
import { retryStart, type StartWait } from '../backend/start-retry.ts'
import { BackendRefused, BackendUnreachable, isBackendError, shorten } from '../backend/unreachable.ts'
import { type Executor, type Handle, type RunSpec, StartFailed } from '../executor.ts'
import { closureFile, copyFolder, makeBatchScript, makeJobFile } from './command.ts'
import type { Slurm, SlurmCommand } from './commands.ts'
import { type Layout, SharedDirTrouble } from './layout.ts'
import { type ClusterLimits, choosePartition, makeOptions } from './options.ts'
import { findRunDirectory, giveUpRun, type Records, type RunDirectory, readRecords, removeRun } from './run-files.ts'
import type { Queue } from './squeue.ts'

interface SubmitOptions
  extends Pick<CompleteOptions, 'accounts' | 'environment' | 'inheritNames' | 'logBytesMax' | 'clock'> {
  slurm: Slurm
  queue: Pick<Queue, 'read'>
  layout: Layout
  limits: ClusterLimits
  onSubmitted(handle: Handle, nativeId: string): void
}

const answerMsMax = 60_000
const othersMs = 5_000
const pollMs = 200
const closedPauseMs = 10_000
/** If a submission takes longer, the user sees the slow controller as the reason of the wait. */
const slowMs = 3_000

const unreachable = 'Slurm is unreachable'
const slow = `Slurm has not answered for ${slowMs / 1000} s`

interface Waiting {
  /**
   * Fires when this start is no longer wanted. The run is then left unchanged, because another server may have to
   * submit it.
   */
  unwanted: AbortSignal | undefined
  tell: ((info: string) => void) | undefined
}

interface Prepared {
  texts: Readonly<Record<string, string>>
  account: Account | null
  /** Creates a folder with the files of the snapshot; null: the run has no snapshot. */
  unpack: ((folder: string) => Promise<void>) | null
}

interface Submission extends Prepared {
  files: RunDirectory
  sbatch: SlurmCommand
  partition: string
}

/**
 * Submits a run to Slurm. The directory of the run is complete before the submission. If the response to a submission
 * is lost, the submission is found by its comment, or by the claim of its batch script. If a run is submitted twice,
 * the claim lets only one of the jobs begin.
 *
 * The server that creates the directory submits the run; other servers look for the submission for `othersMs`. While
 * the shared directory cannot be used, only Slurm knows whether the run was submitted.
 */
export class Submitter {
  readonly #options: SubmitOptions
  readonly #starts = new Map<string, Promise<Handle>>()

  constructor(options: SubmitOptions) {
    this.#options = options
  }

  /** Starts a run; concurrent starts of one run wait for each other. */
  start: Executor['start'] = (run, unwanted, tell) => {
    const begin = () => this.#start(run, { unwanted, tell })
    const begun = (this.#starts.get(run.runId) ?? Promise.resolve()).then(begin, begin).finally(() => {
      if (this.#starts.get(run.runId) === begun) this.#starts.delete(run.runId)
    })
    this.#starts.set(run.runId, begun)
    return begun
  }

  async #start(run: RunSpec, waiting: Waiting): Promise<Handle> {
    const { unwanted: signal, tell } = waiting
    if (run.openSnapshot) tell?.('The snapshot is being unpacked')
    const attempt = () => this.#submitOnce(run, waiting)
    const judge = (error: unknown) => this.#judgeTrouble(error, run, signal)
    await retryStart({ clock: this.#options.clock, signal, tell, attempt, judge })
    return run.runId
  }

  async #judgeTrouble(error: unknown, run: RunSpec, unwanted: AbortSignal | undefined): Promise<StartWait | null> {
    const cause = this.#options.layout.explainError(error)
    if (!(cause instanceof SharedDirTrouble)) throw cause
    const isSubmitted = await this.#isInQueue(run)
    if (isSubmitted) return null
    if (isSubmitted === false) throw new StartFailed('NODE_TROUBLE', cause.message, { cause })
    unwanted?.throwIfAborted()
    return { info: `${cause.message}. ${unreachable} too` }
  }

  async #submitOnce(run: RunSpec, waiting: Waiting): Promise<void> {
    const { layout } = this.#options
    const files = findRunDirectory(layout, run.runId)
    if (!files) throw new StartFailed('BAD_SPEC', `Not the id of a run: ${run.runId}`)
    await layout.checkReadable()
    const records = await readRecords(files)
    if (isBinding(records)) return
    const exists = isUsable(records)
    if (exists && (await this.#waitForSubmission(files, waiting.unwanted))) return
    const submission = await this.#prepare(run, files, waiting.unwanted)
    if (submission === null) return
    const isMade = await makeDirectory(layout, submission)
    if (!isMade && !exists && (await this.#waitForSubmission(files, waiting.unwanted))) return
    await this.#submit(submission, waiting, isMade)
  }

  /**
   * Prepares the submission; null: the run cannot be submitted with its current spec, but an earlier submission has
   * begun.
   */
  async #prepare(run: RunSpec, files: RunDirectory, unwanted: AbortSignal | undefined): Promise<Submission | null> {
    const { accounts, layout, limits, logBytesMax } = this.#options
    const { directory } = files
    try {
      const account = await findAccount(run.unixUser, accounts)
      const job = makeJobFile(run, { ...this.#options, directory, account })
      const closure = run.closure === null ? {} : { [closureFile]: run.closure }
      const sbatch: SlurmCommand = {
        as: switchToAccount(account),
        command: 'sbatch',
        args: ['--parsable', ...makeOptions(run, limits)],
        input: makeBatchScript(directory, logBytesMax),
        timeoutMs: answerMsMax,
      }
      const texts = { job, stdout: '', stderr: '', ...closure }
      const unpack = this.#findUnpack(run, account, unwanted)
      return { files, texts, account, unpack, sbatch, partition: choosePartition(run) }
    } catch (error) {
      unwanted?.throwIfAborted()
      if (!(error instanceof StartFailed) || (await giveUpRun(layout, files))) throw error
      return null
    }
  }

  #findUnpack({ openSnapshot, spec }: RunSpec, account: Account | null, signal: AbortSignal | undefined) {
    const { environment } = this.#options
    if (!openSnapshot) return null
    return async (folder: string) => {
      await unpackSnapshot(openSnapshot, folder, { account, environment, signal })
      const workdir = await nullIfMissing(stat(join(folder, spec.workdir ?? '')))
      if (workdir?.isDirectory()) return
      throw new StartFailed('WORKDIR_NOT_FOUND', `workdir: the snapshot has no folder ${spec.workdir}`)
    }
  }

  /** true: Slurm's queue has the run; null: Slurm is unreachable. */
  async #isInQueue({ runId, unixUser }: RunSpec): Promise<boolean | null> {
    const { accounts, queue } = this.#options
    const account = await findAccount(unixUser, accounts)
    const found = await queue.read(account ? [account.uid] : [])
    return found?.byRun.has(runId) ?? null
  }

  /**
   * Submits with retries. Each retry checks the directory again, because another server may have given up the run
   * meanwhile.
   */
  async #submit(submission: Submission, { unwanted, tell }: Waiting, isMade: boolean): Promise<void> {
    const { clock, layout } = this.#options
    let isReady = isMade
    await retryStart({
      clock,
      signal: unwanted,
      tell,
      attempt: async () => {
        unwanted?.throwIfAborted()
        if (!isReady) await makeDirectory(layout, submission)
        isReady = false
        await this.#reportSlowness(tell, () => this.#sbatch(submission))
      },
      judge: (error, isLate) => this.#judgeFailure(error, submission, isLate && !unwanted?.aborted),
    })
  }

  /**
   * Decides after a failed submission. Slurm may have accepted it before it became unreachable, so the run is given up
   * only if it can never begin.
   */
  async #judgeFailure(cause: unknown, { files, partition }: Submission, isLate: boolean): Promise<StartWait | null> {
    if (!isBackendError(cause)) throw cause
    if (await this.#isSubmitted(files)) return null
    if (cause instanceof BackendRefused) {
      const info = `Slurm does not accept the job now in its partition ${partition}: ${joinLines(cause)}`
      return { info, pauseMs: closedPauseMs, isReachable: true }
    }
    const info = `${unreachable}: ${cause.message}`
    if (!isLate) return { info }
    if (await giveUpRun(this.#options.layout, files)) throw new StartFailed('NODE_TROUBLE', info, { cause })
    return null
  }

  async #reportSlowness<T>(tell: Waiting['tell'], work: () => Promise<T>): Promise<T> {
    const answered = new AbortController()
    const { signal } = answered
    void this.#options.clock.sleep(slowMs, signal).then(() => signal.aborted || tell?.(slow))
    return work().finally(() => answered.abort())
  }

  async #sbatch({ files, sbatch }: Submission): Promise<void> {
    const { slurm, layout, onSubmitted } = this.#options
    try {
      const answer = await slurm(sbatch)
      const nativeId = parseJobId(answer)
      if (nativeId === null) throw new BackendUnreachable(`sbatch printed no job id: ${shorten(answer)}`)
      onSubmitted(files.runId, nativeId)
    } catch (cause) {
      if (!(cause instanceof BackendRefused) || closed.test(cause.message)) throw cause
      // A run that an earlier submission has begun cannot be given up.
      if (await giveUpRun(layout, files))
        throw new StartFailed(chooseReason(cause.message), `Slurm refused: ${joinLines(cause)}`, { cause })
    }
  }

  async #waitForSubmission(files: RunDirectory, unwanted: AbortSignal | undefined): Promise<boolean> {
    const { clock } = this.#options
    const sinceMs = clock.monotonicMs()
    for (; clock.monotonicMs() - sinceMs < othersMs && !unwanted?.aborted; await clock.sleep(pollMs, unwanted))
      if (await this.#isSubmitted(files)) return true
    return false
  }

  /**
   * true: the run was submitted; false: it was not, or Slurm is unreachable. A Slurm job without its directory does not
   * run.
   */
  async #isSubmitted(files: RunDirectory): Promise<boolean> {
    const records = await readRecords(files)
    if (records === null || records.claim) return isBinding(records)
    const jobs = (await this.#options.queue.read([records.uid]))?.byRun.get(files.runId)
    return jobs !== undefined && jobs.length > 0
  }
}

/** true: the run's claim is taken. A run that was given up is submitted again. */
const isBinding = (records: Records | null) => records?.claim != null && records.claim.by !== 'void'

const isUsable = (records: Records | null) => records !== null && records.claim?.by !== 'void'

/** Creates the directory of a run under a temporary name and renames it. false: the directory already exists. */
async function makeDirectory(layout: Layout, { files, ...prepared }: Submission): Promise<boolean> {
  const records = await readRecords(files)
  if (isUsable(records)) return false
  let fresh = ''
  try {
    if (records) await removeRun(files)
    fresh = await mkdtemp(join(layout.own, `${files.runId}.`))
    await fill(fresh, prepared)
    await rename(fresh, files.directory)
    return true
  } catch (error) {
    if (fresh !== '') await rm(fresh, { recursive: true, force: true })
    if (['ENOTEMPTY', 'EEXIST'].includes(String(readErrorCode(error)))) return false
    await layout.checkWritable()
    const cause = layout.explainError(error)
    throw cause instanceof SharedDirTrouble ? new StartFailed('NODE_TROUBLE', cause.message, { cause }) : cause
  }
}

async function fill(directory: string, { texts, account, unpack }: Prepared): Promise<void> {
  for (const [name, text] of Object.entries(texts)) {
    const path = join(directory, name)
    await writeFile(path, text, { flag: 'wx', mode: 0o600 })
    if (account) await lchown(path, account.uid, account.gid)
  }
  await unpack?.(join(directory, copyFolder))
  if (account) await chown(directory, account.uid, account.gid)
}

/**
 * Parses the id of a job: `--parsable` prints the id, a semicolon and the cluster. A site's script may print other
 * lines. null: no id.
 */
const parseJobId = (answer: string) => [...answer.matchAll(/^(\d+)(?:;\S*)?$/gm)].at(-1)?.[1] ?? null

const joinLines = ({ message }: Error) => message.replaceAll('\n', ' ')

/** Slurm's messages for a closed partition or a limit of submissions; it may accept the job later. */
const closed = /partition not available|SubmitJob/

/** Slurm's messages for a job that it would refuse again. */
const badSpec =
  /invalid|violates|not available|can not be satisfied|cannot be satisfied|unrecognized|illegal|not permitted|does not look like/i

const chooseReason = (message: string) => (badSpec.test(message) ? 'BAD_SPEC' : 'START_FAILED')
