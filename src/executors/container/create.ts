import { execFile } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path/posix'
import { promisify } from 'node:util'
import { toMachineAmounts } from '../../domain/shape.ts'
import { countProcesses } from '../../domain/spec.ts'
import type { Account } from '../accounts/account.ts'
import { isInside, type Mount } from '../backend/data-mounts.ts'
import { snapshotFolder } from '../backend/snapshot-folder.ts'
import { type RunSpec, StartFailed } from '../executor.ts'
import { displayPipe, displayVariables } from '../process/display.ts'
import { buildArgv, buildEnvironment, type Environment, expandHome } from '../process/environment.ts'
import { buildLauncherEnvironment } from '../process/launchers.ts'
import { childFunctions, jobScript, rankLauncher, readScript } from '../process/scripts.ts'
import { containerName, displayName } from './containers.ts'
import type { Image } from './image.ts'
import { labels as labelNames } from './labels.ts'
import { createMountCheck, type MountCheck } from './mount-check.ts'
import { networkConfig } from './network.ts'
import { notePath, type RunFile } from './run-files.ts'

export interface RequestParts {
  image: Image
  /** null: the user that the image names. */
  account: Account | null
  mounts: readonly Mount[]
  labels: Readonly<Record<string, string>>
  files: readonly RunFile[]
  passed: Environment
  /** The engine has an init program, which is used for images without a shell. */
  hasInit: boolean
  isPodman: boolean
  /** Number of processors of the engine, which refuses containers with more; null: unknown. */
  cpusMax: number | null
  logBytesMax: number
  infinibandDir: string
  /** The engine runs on another machine, whose devices and accounts the server cannot list. */
  isRemote?: boolean
  /** Time after the maximum run time at which the container itself ends its run, in case no server did. */
  deadlineSlackSeconds: number
}

export interface ContainerRequest {
  body: unknown
  /** The user of the command: names or numbers, as `USER:GROUP`, or ''. */
  user: string
  /** The directory that must exist in the container; null: the job has no workdir, or the mount check enters it. */
  workdir: string | null
  check: MountCheck | null
  /** The first process is init.sh, which may lack the permission to create the note file. */
  needsNoteFile: boolean
}

/** Maximum processes of one container, so that a fork bomb does not take down the machine. */
const pidsMax = 32_768
const launchers = ['single', 'multiple', 'mpirun'] as const

export async function makeRequest(run: RunSpec, making: RequestParts): Promise<ContainerRequest> {
  const { spec, gpuIds } = run
  const { image, account, labels, mounts } = making
  const environment = environmentFor(run, making)
  const { memoryBytes } = toMachineAmounts(spec.resources)
  const display = spec.x11 ? displayName(containerName(run.runId)) : null
  const { command, workdir, check, folder } = entranceOf(run, environment, making)
  const user = account ? `${account.uid}:${account.gid}` : image.user
  const body = {
    Image: image.id,
    Entrypoint: [],
    Cmd: command,
    // The engine would create the workdir of the image as root.
    ...(check && isInData(image.workdir, mounts) && { WorkingDir: '/' }),
    ...(run.openSnapshot && { WorkingDir: snapshotFolder }),
    // Disables the health check of the image, which would run beside the job, perhaps before its mounts are checked.
    Healthcheck: { Test: ['NONE'] },
    Env: [
      ...namesToDrop(environment, image),
      ...Object.entries(environment).map(([name, value]) => `${name}=${value}`),
    ],
    User: user,
    Labels: {
      ...labels,
      [labelNames.limit]: String(limitOf(spec, making)),
      ...(display !== null && { [labelNames.display]: display }),
      ...(check && { [labelNames.refusal]: check.refusalPath }),
      [labelNames.workdir]: resolve(folder),
      ...(image.digest !== null && { [labelNames.imageDigest]: image.digest }),
    },
    HostConfig: {
      Init: image.shell === null && making.hasInit,
      // Unlike with Binds, the engine does not create a missing source.
      Mounts: mounts.map(({ source, target }) => ({ Type: 'bind', Source: source, Target: target })),
      ...(display !== null && { VolumesFrom: [`${display}:ro`] }),
      NanoCpus: nanoCpus(run, making),
      Memory: memoryBytes,
      MemorySwap: memoryBytes,
      // The engine's 64 MiB end the worker processes of PyTorch. The files count as memory of the job.
      ShmSize: memoryBytes,
      PidsLimit: pidsMax,
      // Disables userns-remap, which would map the account to another one in the container.
      ...(account && { UsernsMode: 'host' }),
      GroupAdd: account ? (account.groups ?? (await groupsOf(account))) : [],
      SecurityOpt: ['no-new-privileges'],
      LogConfig: logConfigOf(making),
      DeviceRequests: gpuIds.length > 0 ? [{ DeviceIDs: gpuIds.map(String), Capabilities: [['gpu']] }] : [],
      ...(spec.resources.infiniband && (await infiniband(making))),
      ...networkConfig(spec).host,
    },
    NetworkingConfig: networkConfig(spec).networking,
  }
  return {
    body,
    user,
    check,
    workdir,
    needsNoteFile: image.shell !== null && !isRoot(making),
  }
}

interface Entrance extends Pick<ContainerRequest, 'workdir' | 'check'> {
  /** The working directory, wherever it is named. */
  folder: string
  command: readonly string[]
}

/**
 * The program that the container starts. The mount check, if needed, comes first and enters a workdir inside a mount.
 */
function entranceOf(run: RunSpec, environment: Environment, making: RequestParts): Entrance {
  const { image, mounts } = making
  const { workdir: asked } = run.spec
  const home = environment['HOME'] ?? (isRoot(making) ? '/root' : '/')
  const given = asked === null ? null : run.openSnapshot ? join(snapshotFolder, asked) : expandHome(asked, home)
  const workdir = given ?? (run.openSnapshot ? snapshotFolder : image.workdir)
  const command = commandOf(run, { environment, making, workdir })
  const check = createMountCheck(mounts)
  if (check === null) return { command, workdir: given, check, folder: workdir }
  const isEntered = isInData(workdir, mounts)
  return {
    command: check.argv(command, isEntered ? workdir : null),
    workdir: isEntered ? null : given,
    check,
    folder: workdir,
  }
}

const isInData = (path: string, mounts: readonly Mount[]) =>
  mounts.some(({ target }) => isInside(resolve(path), target))

/**
 * The log driver `local` keeps all bytes; `json-file` replaces invalid UTF-8 and characters that are split between
 * records.
 */
const logConfigOf = ({ logBytesMax, isPodman }: RequestParts) => ({
  Type: isPodman ? 'json-file' : 'local',
  Config: { 'max-size': String(logBytesMax), 'max-file': '1', ...(!isPodman && { compress: 'false' }) },
})

/** A pool may declare more processors than the machine has; then a job gets all processors of the machine. */
function nanoCpus({ spec: { resources } }: RunSpec, { cpusMax }: RequestParts): number {
  const { cpuMillis } = toMachineAmounts(resources)
  return Math.min(cpuMillis, (cpusMax ?? Number.POSITIVE_INFINITY) * 1000) * 1e6
}

/** Hides GPUs: if NVIDIA's runtime is the default, it gives all GPUs to images that request them, as CUDA images do. */
const withoutGpus = { NVIDIA_VISIBLE_DEVICES: 'void' }

/**
 * The environment of a run. Variables of the image have the lowest precedence; `inheritEnvironment: false` omits them.
 */
function environmentFor(run: RunSpec, making: RequestParts): Environment {
  const { image, passed, files } = making
  const { launcher } = run.spec
  const inherited = run.spec.inheritEnvironment ? { ...passed, ...image.environment } : {}
  const ranks = String(countProcesses(run.spec.resources))
  const injected = {
    ...run.injected,
    ...Object.fromEntries(files.map(({ variable, path }) => [variable, path])),
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

const limitOf = ({ maxRunTimeSeconds }: RunSpec['spec'], { deadlineSlackSeconds }: RequestParts) =>
  maxRunTimeSeconds > 0 ? Math.ceil(maxRunTimeSeconds + deadlineSlackSeconds) : 0
const fallbackGraceSeconds = 10

export const initScript = childFunctions + readScript(import.meta.dirname, 'init.sh')

/** The engine adds the variables of the image; a name without a value removes one again. */
const namesToDrop = (environment: Environment, image: Image) =>
  Object.keys(image.environment).filter((name) => environment[name] === undefined)

const isRoot = ({ account, image: { user } }: RequestParts) => account === null && /^(0|root|)(:.*)?$/.test(user)

interface Commanding {
  making: RequestParts
  environment: Environment
  workdir: string
}

function commandOf(run: RunSpec, { environment, making, workdir }: Commanding): readonly string[] {
  const { spec } = run
  const { image } = making
  const given = buildArgv(run, environment)
  const argv = launched(run, given.length > 0 ? given : image.command)
  const path = (each: string | null) => (each === null ? '' : resolve(workdir, each))
  const ranks = spec.launcher === 'multiple' ? countProcesses(spec.resources) : 1
  const scripts = [path(spec.preLaunch), path(spec.postLaunch)]
  const files = [path(spec.stdinPath), path(spec.stdoutPath), path(spec.stderrPath)]
  const has = (paths: readonly string[]) => paths.some((each) => each !== '')
  const shell = (why: string): readonly string[] => {
    if (image.shell) return image.shell
    throw new StartFailed('BAD_SPEC', `The image ${spec.image ?? image.id} has no /bin/sh, which ${why} needs`)
  }
  const ranked = ['-c', rankLauncher, 'berth', files[0] ?? '', ...scripts, String(ranks), ...argv]
  const sourced = has(scripts) || ranks > 1 ? [...shell('a script or a launcher'), ...ranked] : argv
  const piped = has(files) ? [...shell('a path for a stream'), '-c', jobScript, 'berth', ...files, ...sourced] : sourced
  const entered = spec.workdir === null ? piped : [...shell('a workdir'), '-c', enter, 'berth', workdir, ...piped]
  if (image.shell === null && spec.x11 === null) return entered
  const limits = [String(limitOf(spec, making)), String(fallbackGraceSeconds)]
  const own = [...limits, spec.x11 ? displayPipe : '', notePath]
  return [...shell('x11'), '-c', initScript, 'berth', ...own, ...entered]
}

const enter = 'cd -- "$1" || exit 126; shift; exec "$@"'

function launched({ spec: { launcher, resources } }: RunSpec, argv: readonly string[]): readonly string[] {
  if (argv.length === 0) throw new StartFailed('BAD_SPEC', 'command: neither the job nor its image has a command')
  if (launcher === 'mpirun') return ['mpirun', '-n', String(countProcesses(resources)), ...argv]
  if (launchers.some((known) => known === launcher)) return argv
  throw new StartFailed('BAD_SPEC', `launcher ${launcher}: the executor container supports ${launchers.join(', ')}`)
}

const execute = promisify(execFile)

/** All groups of the account on this machine, because shared data may need them. */
async function groupsOf({ name }: Account): Promise<string[]> {
  const { stdout } = await execute('id', ['-G', '--', name])
  return stdout.trim().split(/\s+/)
}

/** All InfiniBand devices of the machine, and the permission to lock memory for them. */
async function infiniband({
  infinibandDir: directory,
  isRemote,
}: RequestParts): Promise<{ Devices: unknown[]; CapAdd: string[] }> {
  // The engine adds all devices of the directory itself.
  const names = isRemote ? [''] : await readdir(directory).catch(() => [])
  if (names.length === 0)
    throw new StartFailed('START_FAILED', `resources.infiniband: this machine has no devices in ${directory}`)
  const devices = names.map((name) => (name === '' ? directory : `${directory}/${name}`))
  return {
    Devices: devices.map((path) => ({ PathOnHost: path, PathInContainer: path, CgroupPermissions: 'rwm' })),
    CapAdd: ['IPC_LOCK'],
  }
}
