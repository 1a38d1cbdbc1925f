import { execFile } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { resolve } from 'node:path/posix'
import { promisify } from 'node:util'
import { machineAmountsOf } from '../../domain/shape.ts'
import { processCountOf } from '../../domain/spec.ts'
import type { Account } from '../accounts/account.ts'
import { isInside, type Mount } from '../backend/data-mounts.ts'
import { type RunSpec, StartFailed } from '../executor.ts'
import { displayPipe, displayVariables } from '../process/display.ts'
import { buildArgv, buildEnvironment, type Environment } from '../process/environment.ts'
import { buildLauncherEnvironment } from '../process/launchers.ts'
import { childFunctions, jobScript, rankLauncher, readScript } from '../process/scripts.ts'
import { begunFileOf } from './begun-file.ts'
import { containerNameOf, displayNameOf } from './handle.ts'
import type { Image } from './image.ts'
import { labels as labelNames } from './labels.ts'
import { createMountCheck, type MountCheck } from './mount-check.ts'
import { networkOf } from './network.ts'
import type { RunFile } from './run-files.ts'

/** The request by which the engine makes the container of a run. */

export interface Making {
  image: Image
  /** null: the user of the image. */
  account: Account | null
  mounts: readonly Mount[]
  labels: Readonly<Record<string, string>>
  files: readonly RunFile[]
  /** Variables of the server that jobs may have. */
  passed: Environment
  /** The engine has an init program, for images without a shell. */
  hasInit: boolean
  isPodman: boolean
  /** Processors of the engine, which refuses a container with more; null: unknown. */
  cpusMax: number | null
  /** Bytes of output that the engine keeps of a container. */
  logBytesMax: number
  /** Directory of the machine's InfiniBand devices. */
  infinibandDir: string
  /** How long after its maximum run time a run is ended by its container, in case no server did. */
  deadlineSlackSeconds: number
}

export interface Made {
  body: unknown
  /** Must exist in the container; null: the job names none, or the check of the mounts enters it. */
  workdir: string | null
  /** null: it has no mounts to check. */
  check: MountCheck | null
  /** Its first process is that of init.sh, and may be unable to make a file. */
  needsBegunFile: boolean
}

/** Maximum processes of one container: stops a fork bomb before the machine does. */
const pidsMax = 32_768
const launchers = ['single', 'multiple', 'mpirun'] as const

export async function bodyOf(run: RunSpec, making: Making): Promise<Made> {
  const { spec, gpuIds } = run
  const { image, account, files, labels, mounts } = making
  const environment = environmentFor(run, making)
  const { memoryBytes } = machineAmountsOf(spec.resources)
  const display = spec.x11 ? displayNameOf(containerNameOf(run.runId)) : null
  const { command, workdir, check } = entranceOf(run, environment, making)
  const body = {
    Image: image.id,
    Entrypoint: [],
    Cmd: command,
    // The engine would make the workdir of the image as root.
    ...(check && isInData(image.workdir, mounts) && { WorkingDir: '/' }),
    // A health check of the image would run beside the job, perhaps before its mounts are checked.
    Healthcheck: { Test: ['NONE'] },
    Env: [
      ...namesToDrop(environment, image),
      ...Object.entries(environment).map(([name, value]) => `${name}=${value}`),
    ],
    User: account ? `${account.uid}:${account.gid}` : image.user,
    Labels: {
      ...labels,
      [labelNames.limit]: String(limitOf(spec, making)),
      ...(display !== null && { [labelNames.display]: display }),
      ...(check && { [labelNames.mountsChecked]: 'yes' }),
    },
    HostConfig: {
      Init: image.shell === null && making.hasInit,
      Binds: files.map(({ source, target }) => `${source}:${target}:ro`),
      // The engine makes no folder for a source that is not there, as it does for Binds.
      Mounts: mounts.map(({ source, target }) => ({ Type: 'bind', Source: source, Target: target })),
      ...(display !== null && { VolumesFrom: [`${display}:ro`] }),
      NanoCpus: nanoCpus(run, making),
      Memory: memoryBytes,
      MemorySwap: memoryBytes,
      PidsLimit: pidsMax,
      // Where the engine maps users (userns-remap), an account of the machine would be another one in its container.
      ...(account && { UsernsMode: 'host' }),
      GroupAdd: account ? await groupsOf(account) : [],
      SecurityOpt: ['no-new-privileges'],
      LogConfig: logConfigOf(making),
      DeviceRequests: gpuIds.length > 0 ? [{ DeviceIDs: gpuIds.map(String), Capabilities: [['gpu']] }] : [],
      ...(spec.resources.infiniband && (await infiniband(making.infinibandDir))),
      ...networkOf(spec).host,
    },
    NetworkingConfig: networkOf(spec).networking,
  }
  return {
    body,
    check,
    workdir,
    needsBegunFile: (image.shell !== null || check !== null) && !isRoot(making),
  }
}

interface Entrance extends Pick<Made, 'workdir' | 'check'> {
  command: readonly string[]
}

/** The check of the mounts goes first, and enters a workdir among them. */
function entranceOf(run: RunSpec, environment: Environment, making: Making): Entrance {
  const { image, mounts } = making
  const given = workdirOf(run.spec.workdir, homeOf(environment, making))
  const workdir = given ?? image.workdir
  const command = commandOf(run, { environment, making, image, workdir })
  const check = createMountCheck(run.runId, mounts)
  if (check === null) return { command, workdir: given, check }
  const isEntered = isInData(workdir, mounts)
  return { command: check.argv(command, isEntered ? workdir : null), workdir: isEntered ? null : given, check }
}

const isInData = (path: string, mounts: readonly Mount[]) =>
  mounts.some(({ target }) => isInside(resolve(path), target))

/** Docker's `local` keeps bytes, where `json-file` replaces those that are not UTF-8, and characters that its records cut. */
const logConfigOf = ({ logBytesMax, isPodman }: Making) => ({
  Type: isPodman ? 'json-file' : 'local',
  Config: { 'max-size': String(logBytesMax), 'max-file': '1', ...(!isPodman && { compress: 'false' }) },
})

/** A pool may declare more processors than the machine has: then a job is planned with them and gets all that there are. */
function nanoCpus({ spec: { resources } }: RunSpec, { cpusMax }: Making): number {
  const { cpuMillis } = machineAmountsOf(resources)
  return Math.min(cpuMillis, (cpusMax ?? Number.POSITIVE_INFINITY) * 1000) * 1e6
}

/** Where NVIDIA's runtime is that of all containers, it would give all GPUs to an image that says so, as those for CUDA do. */
const withoutGpus = { NVIDIA_VISIBLE_DEVICES: 'void' }

/** The variables of the image are the lowest layer; `inheritEnvironment: false` leaves them out. */
function environmentFor(run: RunSpec, making: Making): Environment {
  const { image, passed, files } = making
  const { launcher } = run.spec
  const inherited = run.spec.inheritEnvironment ? { ...passed, ...image.environment } : {}
  const ranks = String(processCountOf(run.spec.resources))
  const injected = {
    ...run.injected,
    ...Object.fromEntries(files.map(({ variable, target }) => [variable, target])),
    ...(run.gpuIds.length === 0 && withoutGpus),
    ...(run.spec.x11 && displayVariables),
    ...(launcher === 'multiple' && { BERTH_RANK: '0', BERTH_RANKS: ranks }),
  }
  const needed = buildLauncherEnvironment(run, isRoot(making))
  return buildEnvironment(
    { ...run, injected },
    { environment: {}, names: [], account: {}, launcher: { ...needed, ...inherited } },
  )
}

/** Seconds after which a container ends its run by itself; 0: never. */
const limitOf = ({ maxRunTimeSeconds }: RunSpec['spec'], { deadlineSlackSeconds }: Making) =>
  maxRunTimeSeconds > 0 ? Math.ceil(maxRunTimeSeconds + deadlineSlackSeconds) : 0
/** Between TERM and KILL of a container that ends its run by itself. */
const fallbackGraceSeconds = 10

export const initScript = childFunctions + readScript(import.meta.dirname, 'init.sh')

/** The engine adds the variables of the image; a name without a value removes one. */
const namesToDrop = (environment: Environment, image: Image) =>
  Object.keys(image.environment).filter((name) => environment[name] === undefined)

const isRoot = ({ account, image: { user } }: Making) => account === null && /^(0|root|)(:.*)?$/.test(user)

const homeOf = (environment: Environment, making: Making) => environment['HOME'] ?? (isRoot(making) ? '/root' : '/')

function workdirOf(given: string | null, home: string): string | null {
  return given === null ? null : given === '~' ? home : given.replace(/^~\//, `${home}/`)
}

interface Commanding {
  making: Making
  environment: Environment
  image: Image
  workdir: string
}

/** The command of the job, wrapped in what its launcher, scripts, files and workdir need, from the inside out. */
function commandOf(run: RunSpec, { environment, making, image, workdir }: Commanding): readonly string[] {
  const { spec } = run
  const given = buildArgv(run, environment)
  const argv = launched(run, given.length > 0 ? given : image.command)
  const path = (each: string | null) => (each === null ? '' : resolve(workdir, each))
  const ranks = spec.launcher === 'multiple' ? processCountOf(spec.resources) : 1
  const scripts = [path(spec.preLaunch), path(spec.postLaunch)]
  const files = [path(spec.stdinPath), path(spec.stdoutPath), path(spec.stderrPath)]
  const has = (paths: readonly string[]) => paths.some((each) => each !== '')
  const shell = (why: string): readonly string[] => {
    if (image.shell) return image.shell
    throw new StartFailed('BAD_SPEC', `The image ${spec.image ?? image.id} has no /bin/sh, which ${why} needs`)
  }
  const sourced =
    has(scripts) || ranks > 1
      ? [
          ...shell('a script or a launcher'),
          '-c',
          rankLauncher,
          'berth',
          files[0] ?? '',
          ...scripts,
          String(ranks),
          ...argv,
        ]
      : argv
  const piped = has(files) ? [...shell('a path for a stream'), '-c', jobScript, 'berth', ...files, ...sourced] : sourced
  const entered = spec.workdir === null ? piped : [...shell('a workdir'), '-c', enter, 'berth', workdir, ...piped]
  if (image.shell === null && spec.x11 === null) return entered
  const limits = [String(limitOf(spec, making)), String(fallbackGraceSeconds)]
  const own = [...limits, spec.x11 ? displayPipe : '', begunFileOf(run.runId)]
  return [...shell('x11'), '-c', initScript, 'berth', ...own, ...entered]
}

const enter = 'cd -- "$1" || exit 126; shift; exec "$@"'

function launched({ spec: { launcher, resources } }: RunSpec, argv: readonly string[]): readonly string[] {
  if (argv.length === 0) throw new StartFailed('BAD_SPEC', 'There is no command, and the image has none')
  if (launcher === 'mpirun') return ['mpirun', '-n', String(processCountOf(resources)), ...argv]
  if (launchers.some((known) => known === launcher)) return argv
  throw new StartFailed('BAD_SPEC', `launcher ${launcher} is none of ${launchers.join(', ')}`)
}

const execute = promisify(execFile)

/** All groups of the account on this machine, so that shared data can be read. */
async function groupsOf({ name }: Account): Promise<string[]> {
  const { stdout } = await execute('id', ['-G', '--', name])
  return stdout.trim().split(/\s+/)
}

/** All devices of the machine, and the right to lock the memory that they write to. */
async function infiniband(directory: string): Promise<{ Devices: unknown[]; CapAdd: string[] }> {
  const names = await readdir(directory).catch(() => [])
  if (names.length === 0)
    throw new StartFailed('START_FAILED', `resources.infiniband: this machine has no devices in ${directory}`)
  const devices = names.map((name) => `${directory}/${name}`)
  return {
    Devices: devices.map((path) => ({ PathOnHost: path, PathInContainer: path, CgroupPermissions: 'rwm' })),
    CapAdd: ['IPC_LOCK'],
  }
}
