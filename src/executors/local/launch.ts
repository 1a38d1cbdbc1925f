import { existsSync, readFileSync } from 'node:fs'
import { access, constants, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type RunSpec, StartFailed } from '../executor.ts'
import { type Account, type AccountRules, accountOf } from './account.ts'
import { argvOf, type Environment, environmentOf } from './environment.ts'

/** What the shim of a run is started with. */
export interface Launch {
  file: string
  args: readonly string[]
  cwd: string
  environment: Readonly<Record<string, string>>
  account: Account | null
}

export interface LaunchOptions {
  /** Of the server. */
  environment: Readonly<Record<string, string | undefined>>
  inheritNames: readonly string[]
  accounts: AccountRules
  /** The pool has GPUs: a job that got none must not see any. */
  hasGpus: boolean
  bootId: string
  /** Where the file named by PSIJ_NODEFILE is, made only for runs of several processes. */
  nodeFile: string
  /** How long after its deadline a run is ended by its own shim, in case no server did. */
  deadlineSlackSeconds: number
}

export const launchers = ['single', 'multiple', 'mpirun'] as const

/** Between TERM and KILL when the fallback deadline fires. */
const deadlineGraceSeconds = 30
/** Longer than any machine is up; `sleep` knows no "for ever" everywhere. */
const noLimitSeconds = 2_147_483_647
/** Where commands are looked for when the job's environment has no PATH; the shim's own too. */
const systemPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

const first = (...paths: string[]) => paths.find((path) => existsSync(path)) ?? '/bin/sh'
/** dash starts several times faster than bash and adds nothing to the environment. */
const shell = first('/bin/dash', '/usr/bin/dash')
const sourcingShell = first('/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash')

/** The text is an argument of the shell, so that an upgrade of Berth cannot change a script that a shell is reading. */
const script = (name: string) => readFileSync(join(import.meta.dirname, name), 'utf8').replaceAll(/^ *#.*\n|^\n/gm, '')
const shim = script('shim.sh')
const rankLauncher = script('launch.sh')

export async function launchOf(run: RunSpec, options: LaunchOptions): Promise<Launch> {
  const { spec } = run
  const account = await accountOf(run.unixUser, options.accounts)
  const from = {
    environment: options.environment,
    names: options.inheritNames,
    account: account?.environment ?? {},
  }
  const processes = processCountOf(run)
  const injected = {
    ...run.injected,
    ...gpuEnvironment(run, options.hasGpus),
    ...(processes > 1 ? { PSIJ_NODEFILE: options.nodeFile } : {}),
  }
  const environment = environmentOf({ ...run, injected }, from)
  const { HOME: home = '/' } = account?.environment ?? options.environment
  const cwd = await workdirOf(spec.workdir, home)
  const path = (given: string | null) => (given === null ? '' : resolve(cwd, given))
  const command = await commandOf(run, { environment, processes, path })
  const limit =
    spec.maxRunTimeSeconds > 0 ? Math.ceil(spec.maxRunTimeSeconds + options.deadlineSlackSeconds) : noLimitSeconds
  const args = [run.runId, options.bootId, limit, deadlineGraceSeconds]
    .concat(path(spec.stdinPath), path(spec.stdoutPath), path(spec.stderrPath), namesOf(environment))
    .concat(command)
    .map(String)
  return {
    ...withAccount(['-c', shim, 'berth', ...args], account),
    cwd,
    environment: carried(environment),
    account,
  }
}

/** Processes of the whole run; all run on this machine. */
export function processCountOf({ spec: { resources } }: RunSpec): number {
  if (resources.processCount !== null) return resources.processCount
  return (resources.nodeCount ?? 1) * (resources.processesPerNode ?? 1)
}

function gpuEnvironment({ gpuIds }: RunSpec, hasGpus: boolean): Environment {
  if (!hasGpus && gpuIds.length === 0) return {}
  const ids = gpuIds.join(',')
  return { CUDA_VISIBLE_DEVICES: ids, NVIDIA_VISIBLE_DEVICES: ids }
}

async function workdirOf(given: string | null, home: string): Promise<string> {
  const workdir = given === null ? home : given === '~' ? home : given.replace(/^~\//, `${home}/`)
  const found = await stat(workdir).catch(() => null)
  if (!found?.isDirectory()) throw new StartFailed('WORKDIR_NOT_FOUND', `There is no directory ${workdir}`)
  return workdir
}

interface CommandContext {
  environment: Environment
  processes: number
  path: (given: string | null) => string
}

async function commandOf(run: RunSpec, { environment, processes, path }: CommandContext): Promise<string[]> {
  const { spec } = run
  const argv = argvOf(run, environment)
  if (argv.length === 0) throw new StartFailed('BAD_SPEC', 'There is no command')
  const copies = spec.launcher === 'multiple' ? processes : 1
  if (spec.launcher === 'mpirun') {
    const { PATH = systemPath } = environment
    if (!(await isInPath('mpirun', PATH)))
      throw new StartFailed('BAD_SPEC', 'launcher mpirun: there is no mpirun in the PATH of the job')
    argv.unshift('mpirun', '-n', String(processes))
  } else if (spec.launcher !== 'single' && spec.launcher !== 'multiple') {
    throw new StartFailed('BAD_SPEC', `launcher ${spec.launcher} is none of ${launchers.join(', ')}`)
  }
  if (copies === 1 && spec.preLaunch === null && spec.postLaunch === null) return argv
  const around = [path(spec.preLaunch), path(spec.postLaunch), String(copies)]
  return [sourcingShell, '-c', rankLauncher, 'berth', ...around, ...argv]
}

async function isInPath(name: string, path: string): Promise<boolean> {
  const tries = path.split(':').map((directory) => access(join(directory, name), constants.X_OK))
  return (await Promise.allSettled(tries)).some(({ status }) => status === 'fulfilled')
}

/**
 * The job's variables travel under other names and get their own in the process that becomes the command: none of them
 * (LD_PRELOAD, PATH, IFS) means anything to the shim, nor to the step that changes to another account.
 */
const carried = (environment: Environment) =>
  Object.fromEntries(Object.entries(environment).map(([name, value]) => [`_BERTH_${name}`, value]))

/** A shell passes on only names of its own kind; another is refused rather than lost on the way. */
function namesOf(environment: Environment): string {
  const names = Object.keys(environment)
  const odd = names.find((name) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
  if (odd !== undefined)
    throw new StartFailed('BAD_SPEC', `environment: ${JSON.stringify(odd)} cannot be the name of a variable here`)
  return names.join(' ')
}

function withAccount(args: readonly string[], account: Account | null): Pick<Launch, 'file' | 'args'> {
  if (!account) return { file: shell, args }
  const change = ['--reuid', account.uid, '--regid', account.gid, '--init-groups', '--'].map(String)
  return { file: 'setpriv', args: [...change, shell, ...args] }
}
