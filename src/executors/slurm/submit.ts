import { chown, lchown, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../platform/clock.ts'
import { type Account, type AccountRules, findAccount, switchToAccount } from '../accounts/account.ts'
import { beginningOf } from '../backend/json-answer.ts'
import { type Executor, type Handle, type RunSpec, StartFailed } from '../executor.ts'
import { batchScriptOf, closureFile, jobFileOf } from './command.ts'
import { type Slurm, SlurmAway, SlurmRefused } from './commands.ts'
import { type Layout, SharedDirTrouble } from './layout.ts'
import { type ClusterLimits, optionsOf, partitionOf } from './options.ts'
import { directoryOf, giveUpRun, type Records, type RunDirectory, readRecords, removeRun } from './run-files.ts'
import type { Queue } from './squeue.ts'

/**
 * Submits a run to Slurm. The order of things makes every moment of a crash harmless: the directory of the run is
 * complete before Slurm hears of it, and a submission whose answer was lost is looked for by its comment, and by the
 * claim of its batch script, before there is another one. If there are two in the end, the claim lets one of them begin.
 *
 * The server that makes the directory submits; others find the directory, and look for the submission for `othersMs`.
 * What was submitted counts as it is: whether the run could be submitted now is asked only if it was not.
 *
 * While the shared folder cannot be used, only Slurm knows whether the run was submitted; otherwise nothing of it exists.
 */

export interface SubmitOptions {
  slurm: Slurm
  queue: Queue
  layout: Layout
  accounts: AccountRules
  environment: Readonly<Record<string, string | undefined>>
  inheritNames: readonly string[]
  limits: ClusterLimits
  streamBytesMax: number
  clock: Clock
  /** Slurm has just taken the submission, as the job with this id. */
  onSubmitted(handle: Handle, nativeId: string): void
}

const answerMsMax = 60_000
const othersMs = 5_000
const lookMs = 200
/** How long a start waits for a controller that does not answer. */
const awayMsMax = 60_000
const awayPauseMs = 1_000
/** After a refusal that may pass by itself. */
const closedPauseMs = 10_000
/** A controller that takes longer is told. */
const slowMs = 3_000

const silent = 'Slurm does not answer'
const slow = `Slurm has not answered for ${slowMs / 1000} s`

/** The signal says that the start is not wanted any more: another server may have to submit the run, so it is left as it is. */
export type Submit = Executor['start']

export function createSubmit(options: SubmitOptions): Submit {
  const { slurm, queue, layout, accounts, clock } = options
  const underWay = new Map<string, Promise<Handle>>()

  async function start(run: RunSpec, waiting: Waiting): Promise<Handle> {
    const { unwanted, tell } = waiting
    for (;;)
      try {
        return await submitOnce(run, waiting)
      } catch (error) {
        const cause = layout.blame(error)
        if (!(cause instanceof SharedDirTrouble)) throw cause
        const isKnown = await slurmKnows(run)
        if (isKnown) return run.runId
        if (isKnown === false) throw new StartFailed('NODE_TROUBLE', cause.message, { cause })
        tell?.(`${cause.message}. Slurm does not answer either`)
        await clock.sleep(awayPauseMs, unwanted)
        unwanted?.throwIfAborted()
      }
  }

  async function submitOnce(run: RunSpec, { unwanted, tell }: Waiting): Promise<Handle> {
    const files = directoryOf(layout, run.runId)
    if (!files) throw new StartFailed('BAD_SPEC', `Not the id of a run: ${run.runId}`)
    await layout.demand()
    const records = await readRecords(files)
    if (isBinding(records)) return run.runId
    const isThere = isUsable(records)
    if (isThere && (await isSubmitted(files, unwanted))) return run.runId
    const order = await orderOf(run, files, unwanted)
    if (order === null) return run.runId
    const makeReady = () => prepare(layout, files, order)
    const isReady = await makeReady()
    if (!isReady && !isThere && (await isSubmitted(files, unwanted))) return run.runId
    await submit({ files, asked: order.asked, partition: partitionOf(run), makeReady, unwanted, tell }, isReady)
    return run.runId
  }

  /** null: it cannot be submitted as it is now, but an earlier submission has begun. */
  async function orderOf(
    run: RunSpec,
    files: RunDirectory,
    unwanted: AbortSignal | undefined,
  ): Promise<(Prepared & { asked: Parameters<Slurm>[0] }) | null> {
    try {
      const account = await findAccount(run.unixUser, accounts)
      const args = ['--parsable', ...optionsOf(run, options.limits)]
      const job = jobFileOf(run, { ...options, directory: files.directory, account })
      const closure = run.closure === null ? {} : { [closureFile]: run.closure }
      const input = batchScriptOf(files.directory, options.streamBytesMax)
      const asked = { as: switchToAccount(account), command: 'sbatch', args, input, timeoutMs: answerMsMax } as const
      return { texts: { job, stdout: '', stderr: '', ...closure }, account, asked }
    } catch (error) {
      unwanted?.throwIfAborted()
      if (!(error instanceof StartFailed) || (await giveUpRun(layout, files))) throw error
      return null
    }
  }

  /** null: Slurm does not answer. */
  async function slurmKnows({ runId, unixUser }: RunSpec): Promise<boolean | null> {
    const account = await findAccount(unixUser, accounts)
    const found = await queue.look(account ? [account.uid] : [])
    return found?.byRun.has(runId) ?? null
  }

  /** Before each try but the first of a new directory: another server may have given the run up meanwhile. */
  async function submit(
    { files, asked, partition, makeReady, unwanted, tell }: Submission,
    wasMade: boolean,
  ): Promise<void> {
    for (let [isReady, sinceMs] = [wasMade, clock.monotonicMs()]; ; isReady = false) {
      unwanted?.throwIfAborted()
      if (!isReady) await makeReady()
      const failure = await whileTelling(tell, () => sbatch(files, asked))
      if (failure === null || (await isKnown(files))) return
      if (failure instanceof SlurmRefused) {
        tell?.(`Slurm does not take it now in its partition ${partition}: ${inOneLine(failure)}`)
        await clock.sleep(closedPauseMs, unwanted)
        sinceMs = clock.monotonicMs()
        continue
      }
      if (clock.monotonicMs() - sinceMs > awayMsMax && !unwanted?.aborted) return giveUp(files, failure)
      tell?.(`${silent}: ${failure.message}`)
      await clock.sleep(awayPauseMs, unwanted)
    }
  }

  /** The command itself says nothing for as long as it tries to reach the controller. */
  async function whileTelling<T>(tell: Waiting['tell'], work: () => Promise<T>): Promise<T> {
    const answered = new AbortController()
    const { signal } = answered
    void clock.sleep(slowMs, signal).then(() => signal.aborted || tell?.(slow))
    return work().finally(() => answered.abort())
  }

  /** null: it was submitted. */
  async function sbatch(files: RunDirectory, asked: Parameters<Slurm>[0]): Promise<SlurmAway | SlurmRefused | null> {
    try {
      const answer = await slurm(asked)
      const nativeId = idIn(answer)
      if (nativeId === null) return new SlurmAway(`sbatch told no id of a job: ${beginningOf(answer)}`)
      options.onSubmitted(files.runId, nativeId)
      return null
    } catch (cause) {
      if (cause instanceof SlurmAway) return cause
      if (!(cause instanceof SlurmRefused)) throw cause
      if (closed.test(cause.message)) return cause
      // An earlier try may have begun it.
      if (!(await giveUpRun(layout, files))) return null
      throw new StartFailed(refusalOf(cause.message), `Slurm refused: ${inOneLine(cause)}`, { cause })
    }
  }

  /** Slurm may have taken the submission before it fell silent: only a run that can never begin is given up. */
  async function giveUp(files: RunDirectory, cause: SlurmAway): Promise<void> {
    if (await giveUpRun(layout, files)) throw new StartFailed('NODE_TROUBLE', `${silent}: ${cause.message}`, { cause })
  }

  /** Waits for the submission of another server. */
  async function isSubmitted(files: RunDirectory, unwanted: AbortSignal | undefined): Promise<boolean> {
    const sinceMs = clock.monotonicMs()
    for (; clock.monotonicMs() - sinceMs < othersMs && !unwanted?.aborted; await clock.sleep(lookMs, unwanted))
      if (await isKnown(files)) return true
    return false
  }

  /**
   * Unknown while Slurm does not answer; a submission would not be answered either. A job of Slurm without the directory
   * does not run.
   */
  async function isKnown(files: RunDirectory): Promise<boolean> {
    const records = await readRecords(files)
    if (records === null || records.claim) return isBinding(records)
    const jobs = (await queue.look([records.uid]))?.byRun.get(files.runId)
    return jobs !== undefined && jobs.length > 0
  }

  return (run, unwanted, tell) => {
    const begin = () => start(run, { unwanted, tell })
    const begun = (underWay.get(run.runId) ?? Promise.resolve()).then(begin, begin).finally(() => {
      if (underWay.get(run.runId) === begun) underWay.delete(run.runId)
    })
    underWay.set(run.runId, begun)
    return begun
  }
}

/** How a start waits. */
interface Waiting {
  unwanted: AbortSignal | undefined
  tell: ((info: string) => void) | undefined
}

interface Submission extends Waiting {
  files: RunDirectory
  asked: Parameters<Slurm>[0]
  partition: string
  makeReady(): Promise<boolean>
}

/** A run that was given up is submitted again. */
const isBinding = (records: Records | null) => records?.claim != null && records.claim.by !== 'void'

/** Its directory may be submitted: it is there, and its run was not given up. */
const isUsable = (records: Records | null) => records !== null && records.claim?.by !== 'void'

interface Prepared {
  /** Its files by name. */
  texts: Readonly<Record<string, string>>
  account: Account | null
}

/** false: the directory is there. It appears whole: it is made under another name. */
async function prepare(layout: Layout, files: RunDirectory, prepared: Prepared): Promise<boolean> {
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
    if (['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) return false
    await layout.demandWritable()
    const cause = layout.blame(error)
    throw cause instanceof SharedDirTrouble ? new StartFailed('NODE_TROUBLE', cause.message, { cause }) : cause
  }
}

async function fill(directory: string, { texts, account }: Prepared): Promise<void> {
  for (const [name, text] of Object.entries(texts)) {
    const path = join(directory, name)
    await writeFile(path, text, { flag: 'wx', mode: 0o600 })
    if (account) await lchown(path, account.uid, account.gid)
  }
  if (account) await chown(directory, account.uid, account.gid)
}

/**
 * What `--parsable` prints: the id, and behind a semicolon the name of the cluster. A script of the site that stands for
 * sbatch may print other lines. null: there is no id.
 */
const idIn = (answer: string) => [...answer.matchAll(/^(\d+)(?:;\S*)?$/gm)].at(-1)?.[1] ?? null

const inOneLine = ({ message }: Error) => message.replaceAll('\n', ' ')

/** Words of Slurm for what it takes later: the partition is closed, or one of its limits of submissions is reached. */
const closed = /partition not available|SubmitJob/

/** Words of Slurm for what will be refused again, however often it is asked. */
const badSpec =
  /invalid|violates|not available|can not be satisfied|cannot be satisfied|unrecognized|illegal|not permitted|does not look like/i

const refusalOf = (message: string) => (badSpec.test(message) ? 'BAD_SPEC' : 'START_FAILED')
