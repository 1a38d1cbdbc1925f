import { chown, lchown, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../platform/clock.ts'
import { troubleOf } from '../../platform/troubles.ts'
import { type Account, type AccountRules, accountOf, changeTo } from '../account.ts'
import { type Handle, type RunSpec, StartFailed } from '../executor.ts'
import { batchScriptOf, closureFile, jobFileOf } from './command.ts'
import { type Slurm, SlurmAway, SlurmRefused } from './commands.ts'
import { type ClusterLimits, optionsOf } from './options.ts'
import { directoryOf, type Layout, type RunDirectory, readRecords, removeRun, takeClaim } from './run-files.ts'
import type { Queue } from './squeue.ts'

/**
 * Submits a run to Slurm. The order of things makes every moment of a crash harmless: the directory of the run is
 * complete before Slurm hears of it, and a submission whose answer was lost is looked for by its comment, and by the
 * claim of its batch script, before there is another one. If there are two in the end, the claim lets one of them begin.
 *
 * The server that makes the directory submits; others find the directory, and look for the submission for `othersMs`.
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
}

const answerMsMax = 60_000
const othersMs = 5_000
const lookMs = 200
/** How long a start waits for a controller that does not answer. */
const awayMsMax = 60_000
const awayPauseMs = 1_000

export type Submit = (run: RunSpec) => Promise<Handle>

export function createSubmit(options: SubmitOptions): Submit {
  const { slurm, queue, layout, accounts, clock } = options
  const underWay = new Map<string, Promise<Handle>>()

  async function start(run: RunSpec): Promise<Handle> {
    const files = directoryOf(layout, run.runId)
    if (!files) throw new StartFailed('BAD_SPEC', `Not the id of a run: ${run.runId}`)
    if ((await readRecords(files))?.claim) return run.runId
    const account = await accountOf(run.unixUser, accounts)
    const args = ['--parsable', ...optionsOf(run, options.limits)]
    const job = jobFileOf(run, { ...options, directory: files.directory, account })
    const closure = run.closure === null ? {} : { [closureFile]: run.closure }
    const texts = { job, stdout: '', stderr: '', ...closure }
    if (!(await prepare(layout, files, { texts, account })) && (await isSubmitted(files))) return run.runId
    const input = batchScriptOf(files.directory, options.streamBytesMax)
    await submit(files, { as: changeTo(account), command: 'sbatch', args, input, timeoutMs: answerMsMax })
    return run.runId
  }

  async function submit(files: RunDirectory, asked: Parameters<Slurm>[0]): Promise<void> {
    for (const sinceMs = clock.monotonicMs(); ; await clock.sleep(awayPauseMs)) {
      const away = await sbatch(files, asked)
      if (away === null || (await isKnown(files))) return
      if (clock.monotonicMs() - sinceMs > awayMsMax) throw await givenUp(files, away)
    }
  }

  /** null: it was submitted. */
  async function sbatch(files: RunDirectory, asked: Parameters<Slurm>[0]): Promise<SlurmAway | null> {
    try {
      await slurm(asked)
      return null
    } catch (error) {
      if (error instanceof SlurmAway) return error
      throw error instanceof SlurmRefused ? await refusedBy(files, error) : error
    }
  }

  /** Slurm may have taken the submission before it fell silent: only a run that can never begin is given up. */
  async function givenUp(files: RunDirectory, cause: SlurmAway): Promise<Error> {
    if (!(await takeClaim(files, { by: 'void' }))) return cause
    await removeRun(files)
    return new StartFailed('NODE_TROUBLE', `Slurm does not answer: ${cause.message}`, { cause })
  }

  async function refusedBy(files: RunDirectory, cause: SlurmRefused): Promise<StartFailed> {
    if (await takeClaim(files, { by: 'void' })) await removeRun(files)
    return new StartFailed(refusalOf(cause.message), `Slurm refused: ${cause.message.replaceAll('\n', ' ')}`, { cause })
  }

  /** Waits for the submission of another server. */
  async function isSubmitted(files: RunDirectory): Promise<boolean> {
    for (const sinceMs = clock.monotonicMs(); clock.monotonicMs() - sinceMs < othersMs; await clock.sleep(lookMs))
      if (await isKnown(files)) return true
    return false
  }

  /** Unknown while Slurm does not answer; a submission would not be answered either. */
  async function isKnown(files: RunDirectory): Promise<boolean> {
    const records = await readRecords(files)
    if (records?.claim) return true
    const jobs = (await queue.look(records ? [records.uid] : []))?.byRun.get(files.runId)
    return jobs !== undefined && jobs.length > 0
  }

  return (run) => {
    const known = underWay.get(run.runId)
    if (known) return known
    const begun = start(run).finally(() => underWay.delete(run.runId))
    underWay.set(run.runId, begun)
    return begun
  }
}

interface Prepared {
  /** Its files by name. */
  texts: Readonly<Record<string, string>>
  account: Account | null
}

/** false: another server made the directory. It appears whole: it is made under another name. */
async function prepare(layout: Layout, files: RunDirectory, prepared: Prepared): Promise<boolean> {
  let fresh = ''
  try {
    fresh = await mkdtemp(join(layout.own, `${files.runId}.`))
    await fill(fresh, prepared)
    await rename(fresh, files.directory)
    return true
  } catch (error) {
    if (fresh !== '') await rm(fresh, { recursive: true, force: true })
    if (['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) return false
    const trouble = troubleOf(error)
    if (!trouble) throw error
    throw new StartFailed('NODE_TROUBLE', `The shared directory cannot be written: ${trouble.kind}`, { cause: error })
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

/** Words of Slurm for what will be refused again, however often it is asked. */
const badSpec =
  /invalid|not available|can not be satisfied|cannot be satisfied|unrecognized|illegal|not permitted|does not look like/i

const refusalOf = (message: string) => (badSpec.test(message) ? 'BAD_SPEC' : 'START_FAILED')
