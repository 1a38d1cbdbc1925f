import { join, resolve } from 'node:path'
import type { Account } from '../accounts/account.ts'
import type { CompleteOptions } from '../backend/executor-options.ts'
import { type RunSpec, StartFailed } from '../executor.ts'
import {
  buildArgv,
  buildEnvironment,
  type Environment,
  encodeEnvironment,
  escapeAssignment,
  expandHome,
} from '../process/environment.ts'
import { buildRootEnvironment } from '../process/launchers.ts'
import {
  childFunctions,
  fileBlockBytes,
  jobScript,
  pathCheck,
  quoteWord,
  rankLauncher,
  readScript,
} from '../process/scripts.ts'
import { type ClusterLimits, countCpusPerTask, countTasks, limitMinutes } from './options.ts'

/** Creates the batch script of a run, and the file `job` in the run's directory, which the script reads. */

interface Commanding extends Pick<CompleteOptions, 'environment' | 'inheritNames'> {
  directory: string
  account: Account | null
  limits: ClusterLimits
}

const batchScript = childFunctions + readScript(import.meta.dirname, 'batch.sh')
/** Sets the environment of the job and Slurm's variables. */
export const environmentScript = readScript(import.meta.dirname, 'enter.sh')
const rankScript = readScript(import.meta.dirname, 'rank.sh')

export const closureFile = 'closure.json'
export const copyFolder = 'snapshot'

/** The batch script contains no secret, because Slurm may show it to other users. */
export function makeBatchScript(directory: string, logBytesMax: number): string {
  // One byte more than is stored, so that a stream over its limit is recognised.
  const blocks = Math.ceil((logBytesMax + 1) / fileBlockBytes)
  return `#!/bin/sh\ndir=${quoteWord(directory)} blocks=${blocks}\n${batchScript}`
}

/** Creates the file `job`: assignments, and the command as the arguments of the script that reads the file. */
export function makeJobFile(run: RunSpec, commanding: Commanding): string {
  const { spec } = run
  const environment = buildSlurmEnvironment(run, commanding)
  const home = commanding.account?.environment['HOME'] ?? commanding.environment['HOME'] ?? '/'
  const workdir = run.openSnapshot
    ? join(commanding.directory, copyFolder, spec.workdir ?? '')
    : expandHome(spec.workdir ?? '~', home)
  const path = (given: string | null) => (given === null ? '' : resolve(workdir, given))
  const streams = [path(spec.stdinPath), path(spec.stdoutPath), path(spec.stderrPath)]
  const { total, perNode } = countTasks(spec.resources)
  const carried = encodeEnvironment(environment, [])
  const assigned = {
    workdir,
    in: streams[0] ?? '',
    out: streams[1] ?? '',
    err: streams[2] ?? '',
    outputs: spec.outputs?.length ? 'yes' : '',
    processes: String(total),
    per_node: String(perNode),
    limit: String(limitMinutes(run, commanding.limits) * 60),
    // Without srun, the script forwards TERM. With srun it must not: Slurm signals the processes itself, and srun would
    // end them at once on TERM.
    forward: usesSrun(run) ? '' : 'yes',
    path_check: pathCheck,
    step: carried.step.at(-1) ?? '',
  }
  const words = wordsOf(run, { environment, path, streams })
  return [
    ...Object.entries(assigned).map(([name, value]) => `${name}=${quoteWord(value)}`),
    ...Object.entries(carried.environment).map(([name, value]) => `export ${name}=${quoteWord(value)}`),
    `set -- ${words.join(' ')}`,
    '',
  ].join('\n')
}

export function buildSlurmEnvironment(
  run: RunSpec,
  { directory, account, environment, inheritNames }: Commanding,
): Environment {
  const { total } = countTasks(run.spec.resources)
  const { MASTER_ADDR: _, ...injected } = run.injected
  const own = {
    ...injected,
    BERTH_RUN_ID: run.runId,
    ...(run.spec.launcher === 'multiple' && { BERTH_RANKS: String(total), ...(total === 1 && { BERTH_RANK: '0' }) }),
    ...(total > 1 && { PSIJ_NODEFILE: `${directory}/nodes` }),
    ...(run.closure !== null && { BERTH_CLOSURE: `${directory}/${closureFile}` }),
  }
  const launcher = buildRootEnvironment(run, account === null && process.getuid?.() === 0)
  return buildEnvironment(
    { ...run, injected: own },
    { environment, names: inheritNames, account: account?.environment ?? {}, launcher },
  )
}

const usesSrun = ({ spec }: RunSpec) =>
  spec.launcher === 'srun' || (spec.launcher === 'multiple' && countTasks(spec.resources).nodes > 1)

interface Wording {
  environment: Environment
  path: (given: string | null) => string
  streams: readonly string[]
}

/** Returns the command line, the outermost words first: stream files, environment, scripts, launcher, command. */
function wordsOf(run: RunSpec, { environment, path, streams }: Wording): string[] {
  const { spec } = run
  const argv = buildArgv(run, environment)
  if (argv.length === 0) throw new StartFailed('BAD_SPEC', 'command: required')
  const scripts = [path(spec.preLaunch), path(spec.postLaunch)]
  const hasScripts = scripts.some((script) => script !== '')
  const ranks = spec.launcher === 'multiple' && !usesSrun(run) ? countTasks(spec.resources).total : 1
  const launcher = [rankLauncher, 'berth', streams[0] ?? '', ...scripts, String(ranks)]
  const around = ['$sourcing', '-c', ...launcher.map(quoteWord)]
  const enter = ['/bin/sh', '-c', quoteWord(environmentScript), 'berth', '"$step"']
  const launched = launchedBy(run, argv, streams[0] ?? '')
  const ranked = ranks > 1 ? [...around, ...enter, ...launched] : [...enter, ...launched]
  // Only scripts need a shell with the environment of the job.
  const sourced = hasScripts ? [...enter, ...around, ...launched] : ranked
  if (streams.every((each) => each === '')) return sourced
  return ['/bin/sh', '-c', ...[jobScript, 'berth', ...streams].map(quoteWord), ...sourced]
}

function launchedBy(run: RunSpec, argv: readonly string[], stdin: string): string[] {
  const { launcher, resources } = run.spec
  const { total, nodes } = countTasks(resources)
  const words = argv.map(quoteWord)
  if (launcher === 'mpirun') return ['mpirun', '-n', String(total), ...words]
  if (usesSrun(run)) {
    const amounts = [`--nodes=${nodes}`, `--ntasks=${total}`, `--cpus-per-task=${countCpusPerTask(resources)}`]
    const rank = launcher === 'multiple' ? ['/bin/sh', '-c', ...[rankScript, 'berth', stdin].map(quoteWord)] : []
    return ['"$srun"', '--export=ALL', '--kill-on-bad-exit=0', ...amounts, ...rank, ...words]
  }
  return escapeAssignment(argv).map(quoteWord)
}
