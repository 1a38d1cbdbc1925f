import { join, resolve } from 'node:path'
import { type Account, findAccount, switchToAccount } from '../accounts/account.ts'
import type { CompleteOptions } from '../backend/executor-options.ts'
import type { RunSpec } from '../executor.ts'
import { buildEnvironment, type Environment, expandHome } from '../process/environment.ts'
import { buildLauncherEnvironment, buildNodeFile } from '../process/launchers.ts'
import { jobScript } from '../process/scripts.ts'
import { commandFolder } from '../process/search-path.ts'
import { buildCommand, buildRankEnvironment } from './command.ts'
import { writeNodeFile, writeSecretFile } from './run-files.ts'
import { newSession, shell, workdirScript } from './shell.ts'
import { copySnapshot } from './snapshot-copy.ts'
import type { RunFiles } from './spool.ts'
import { unsentClosureVariable } from './unsent-closures.ts'
import { recordWorkdir } from './workdir.ts'

export interface Launch {
  argv: readonly string[]
  /** Seconds until the fallback deadline; 0: no deadline. */
  limitSeconds: number
  cwd: string
  /** The PATH in which the account must find mpirun; '' if the launcher does not use mpirun. */
  mpirunPath: string
  environment: Readonly<Record<string, string>>
  account: Account | null
  /** stdinPath, stdoutPath and stderrPath; '' if absent. */
  paths: readonly string[]
}

interface LaunchOptions extends CompleteOptions {
  /** true: the pool has GPUs, so they must be hidden from jobs without GPUs. */
  hasGpus: boolean
  files: RunFiles
  /** Fires when the run is no longer wanted. */
  signal: AbortSignal | undefined
}

/** Variable by which the processes of a run without a cgroup are found. */
export const runIdVariable = 'BERTH_RUN_ID'

export async function buildLaunch(run: RunSpec, options: LaunchOptions): Promise<Launch> {
  const { spec } = run
  const { files } = options
  const account = await findAccount(run.unixUser, options.accounts)
  const environment = buildEnvironment(await injectVariables(run, account, options), {
    environment: addCommandFolder(options.environment),
    names: options.inheritNames,
    account: addCommandFolder(account?.environment ?? {}),
    launcher: buildLauncherEnvironment(run, account === null && process.getuid?.() === 0),
  })
  const { HOME: home = '/' } = account?.environment ?? options.environment
  const cwd = run.openSnapshot
    ? join(await copySnapshot(run.openSnapshot, { ...options, ...files, account }), spec.workdir ?? '')
    : expandHome(spec.workdir ?? '~', home)
  if (spec.outputs?.length) await recordWorkdir(files, { cwd, account })
  const path = (given: string | null) => (given === null ? '' : resolve(cwd, given))
  const paths = [path(spec.stdinPath), path(spec.stdoutPath), path(spec.stderrPath)]
  const command = await buildCommand(run, environment, path)
  const streams = paths.some((each) => each !== '') ? [shell, '-c', jobScript, 'berth', ...paths] : []
  // The job enters the directory with the permissions of its account, not of the server.
  const enter = account ? [...switchToAccount(account), shell, '-c', workdirScript, 'berth', cwd] : []
  return {
    argv: [...newSession, ...enter, ...streams, ...command.argv],
    limitSeconds: spec.maxRunTimeSeconds > 0 ? Math.ceil(spec.maxRunTimeSeconds + options.deadlineSlackSeconds) : 0,
    cwd,
    mpirunPath: command.mpirunPath,
    environment: command.environment,
    account,
    paths,
  }
}

/** Appends the directory of the `berth` command to PATH. */
const addCommandFolder = <Variables extends LaunchOptions['environment']>(environment: Variables): Variables =>
  environment['PATH'] ? { ...environment, PATH: `${environment['PATH']}:${commandFolder}` } : environment

async function injectVariables(run: RunSpec, account: Account | null, options: LaunchOptions): Promise<RunSpec> {
  const { files } = options
  const { closure } = run
  const { input, handler } = run.spec
  const nodes = buildNodeFile(run)
  const injected = {
    ...run.injected,
    [runIdVariable]: run.runId,
    ...buildGpuEnvironment(run, options.hasGpus),
    ...buildRankEnvironment(run),
    ...(nodes === null ? {} : { PSIJ_NODEFILE: await writeNodeFile(files.nodeFile, nodes, account) }),
    ...(closure === null ? {} : { BERTH_CLOSURE: await writeSecretFile(files.closureFile, closure, account) }),
    ...(input === null ? {} : { BERTH_INPUT: await writeSecretFile(files.inputFile, JSON.stringify(input), account) }),
    ...(handler === null ? {} : { [unsentClosureVariable]: await writeSecretFile(files.unsentFile, '', account) }),
  }
  return { ...run, injected }
}

function buildGpuEnvironment({ gpuIds }: RunSpec, hasGpus: boolean): Environment {
  if (!hasGpus && gpuIds.length === 0) return {}
  const ids = gpuIds.join(',')
  return { CUDA_VISIBLE_DEVICES: ids, NVIDIA_VISIBLE_DEVICES: ids }
}
