import { constants, type Stats } from 'node:fs'
import { type FileHandle, lstat, open, opendir, readdir, readlink, rm, symlink, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { nullIfMissing, nullOnCode } from '../backend/file-errors.ts'
import { isStopFile } from '../backend/requested-stops.ts'
import { removeFolder } from '../backend/snapshot-files.ts'
import type { Loss, Spool } from '../backend/spool-reader.ts'
import type { Handle, RunUsage, StartFailed } from '../executor.ts'
import { forgottenSuffix } from './forgotten.ts'
import { expandHostlist } from './hostlist.ts'
import { clusterLink, type Layout, SharedDirTrouble } from './layout.ts'

/**
 * The directory of a run below `sharedDir` (batch.sh). The job can change everything in it. So links are not followed,
 * and only regular files that belong to the account of the run are read.
 */

export interface RunDirectory {
  runId: Handle
  directory: string
}

/** Returns null if the run id is invalid. Only this function turns ids into paths. */
export const findRunDirectory = ({ runs }: Layout, runId: string): RunDirectory | null =>
  /^[A-Za-z0-9_-]{1,128}$/.test(runId) ? { runId, directory: join(runs, runId) } : null

type RunClaim =
  | { by: 'job'; id: string; node: string }
  /** The run was stopped before it began, so it will never begin. */
  | { by: 'void' }
  | { by: 'refused'; reason: StartFailed['reason']; message: string }

/** Times are those of the file system's clock. */
export interface Records {
  uid: number
  claim: RunClaim | null
  begun: Begun | null
  exit: { atMs: number; code: number; why: 'term' | 'late' | null; usage: RunUsage } | null
  /** true: Slurm began the job a second time, and the batch script did nothing. */
  again: boolean
  failed: { reason: StartFailed['reason']; message: string } | null
  losses: readonly Loss[]
}

interface Begun {
  atMs: number
  /** The same time by the node's clock; null: the job changed the record. */
  nodeMs: number | null
  nodes: readonly string[]
  gpuIds: readonly number[]
}

/** null: the directory is missing, or not visible on this machine. */
export async function readRecords({ directory }: RunDirectory): Promise<Records | null> {
  const owner = await nullIfMissing(lstat(directory))
  const names = owner && (await nullIfMissing(list(directory)))
  if (!owner || !names) return null
  const isWhole = names.size < namesMax
  const read = async (name: string) => (names.has(name) || !isWhole ? await readText(join(directory, name)) : null)
  const atMs = async (name: string) => (await nullIfMissing(lstat(join(directory, name))))?.mtimeMs ?? 0
  const [claim, begun, exit] = await Promise.all([read('claim'), read('begun'), read('exit')])
  const [word = '', reason = ''] = exit?.split(' ') ?? []
  const failed = word === 'failed' && exit ? { reason: reasonOf(reason), message: textAfter(exit, 2) } : null
  return {
    uid: owner.uid,
    claim: claim === null ? null : parseClaim(claim),
    begun: begun === null ? null : { atMs: await atMs('begun'), ...parseBegun(begun) },
    exit: exit === null || !isExit.test(exit) ? null : { atMs: await atMs('exit'), ...parseExit(exit) },
    again: (await read('again')) !== null,
    failed,
    losses: await readLosses([...names], read),
  }
}

/** Maximum entries that are read, because a job may create any number. */
const namesMax = 4_096
const lossesMax = 1_000

/**
 * Lists the directory. On a network file system a listing is up to date, while a look-up of a single name may be
 * cached.
 */
async function list(directory: string): Promise<Set<string>> {
  const names = new Set<string>()
  for await (const { name } of await opendir(directory)) if (names.add(name).size === namesMax) break
  return names
}

const readText = (path: string) => nullOnCode('EINVAL', nullIfMissing(readlink(path)))
/** The format of an exit record. The job may write any other text; then Slurm's exit code counts. */
const isExit = /^(1?\d?\d|2[0-4]\d|25[0-5])( |$)/
const isGpuId = /^\d{1,4}$/

function parseClaim(text: string): RunClaim {
  const [by, first = '', second = ''] = text.split(' ')
  if (by === 'job') return { by, id: first, node: second }
  return by === 'refused' ? { by, reason: reasonOf(first), message: textAfter(text, 2) } : { by: 'void' }
}

function parseBegun(text: string) {
  const [nodes = '', gpus = '', nodeMs = ''] = text.split(' ')
  return {
    nodeMs: /^\d+$/.test(nodeMs) ? Number(nodeMs) : null,
    nodes: expandHostlist(nodes),
    gpuIds: gpus.split(',').flatMap((id) => (isGpuId.test(id) ? Number(id) : [])),
  }
}

const whys = ['term', 'late'] as const

function parseExit(text: string) {
  const [code, why, cpu, memory] = text.split(' ')
  return { code: Number(code), why: whys.find((known) => known === why) ?? null, usage: usageOf(cpu, memory) }
}

function usageOf(cpu = '-', memory = '-'): RunUsage {
  const isKnown = (amount: string) => /^\d+$/.test(amount)
  return {
    ...(isKnown(cpu) && { cpuSeconds: Number(cpu) / 1e6 }),
    ...(isKnown(memory) && { maxMemoryBytes: Number(memory) }),
  }
}

const textAfter = (text: string, words: number) => text.split(' ').slice(words).join(' ')

/**
 * Reasons that a record may give. NODE_TROUBLE is excluded, because it is retried without a limit, and a job can write
 * the record.
 */
const reasons = ['BAD_SPEC', 'WORKDIR_NOT_FOUND'] as const
const reasonOf = (word: string): StartFailed['reason'] => reasons.find((reason) => reason === word) ?? 'START_FAILED'

async function readLosses(names: readonly string[], read: (name: string) => Promise<string | null>): Promise<Loss[]> {
  const marks = names.flatMap((name) => {
    const [, word, stream, number] = name.match(/^(full|over)\.(stdout|stderr)(?:\.(\d+))?$/) ?? []
    return stream === 'stdout' || stream === 'stderr'
      ? [{ name, word, stream, number: Number(number ?? 0) } as const]
      : []
  })
  // Takes the earliest records, so that every read takes the same ones.
  const first = marks.toSorted((one, other) => one.number - other.number).slice(0, lossesMax)
  const losses = first.map(async ({ name, word, stream }): Promise<readonly Loss[]> => {
    const text = (await read(name)) ?? ''
    if (!/^\d{1,15}$/.test(text)) return []
    const amount = Number(text)
    return word === 'over'
      ? [{ stream, gap: 'OVER_LIMIT', after: null, bytes: amount }]
      : [{ stream, gap: 'DISK_FULL', after: amount, bytes: 0 }]
  })
  const order = ({ after }: Loss) => after ?? Number.POSITIVE_INFINITY
  return (await Promise.all(losses)).flat().toSorted((one, other) => order(one) - order(other))
}

/** Takes the claim; false: it is taken. A message is shortened to the maximum length of a link. */
export async function takeClaim(
  { directory }: RunDirectory,
  claim: Exclude<RunClaim, { by: 'job' }>,
): Promise<boolean> {
  const text =
    claim.by === 'void' ? 'void' : `refused ${claim.reason} ${claim.message.replaceAll('\n', ' ').slice(0, 900)}`
  return (await nullOnCode('EEXIST', symlink(text, join(directory, 'claim')))) !== null
}

/** Prevents a run from beginning and removes its directory. false: the run has already begun or failed. */
export async function giveUpRun(layout: Layout, files: RunDirectory): Promise<boolean> {
  const isTaken = await nullIfMissing(takeClaim(files, { by: 'void' }))
  if (isTaken === false && (await readRecords(files))?.claim?.by !== 'void') return false
  if (isTaken === null) await layout.checkReadable()
  await removeRun(files)
  return true
}

/** true: the directory of the run was removed. false: it exists, or the directories cannot be read now. */
export async function isRemoved(layout: Layout, { directory }: RunDirectory): Promise<boolean> {
  try {
    await layout.checkReadable()
    return (await nullIfMissing(lstat(directory))) === null
  } catch (error) {
    if (layout.explainError(error) instanceof SharedDirTrouble) return false
    throw error
  }
}

export const removeRun = ({ directory }: RunDirectory): Promise<void> => removeFolder(directory)

const draftMsMax = 3_600_000

/** Removes unfinished directories that killed servers left, for example with the token of a run. */
export async function removeDrafts(layout: Layout): Promise<void> {
  const names = (await nullIfMissing(readdir(layout.own))) ?? []
  const nowMs = names.length > 0 ? await readFileClock(layout) : 0
  for (const name of names) {
    const path = join(layout.own, name)
    const isDraft = !isStopFile(name) && !name.endsWith(forgottenSuffix) && name !== clusterLink
    const writtenMs = isDraft ? (await nullIfMissing(lstat(path)))?.mtimeMs : undefined
    if (writtenMs !== undefined && nowMs - writtenMs > draftMsMax) await rm(path, { recursive: true, force: true })
  }
}

/**
 * Opens the files at each read, because an open file on a network file system may be out of date. `bytesMax`: maximum
 * size to read, because jobs create files of any size.
 */
export function openRunSpool({ directory }: RunDirectory, uid: number, bytesMax: number): Spool {
  const paths = { out: join(directory, 'stdout'), err: join(directory, 'stderr') }
  return {
    async read(stream, buffer, at) {
      await using file = await openOwn(paths[stream], uid)
      const length = Math.min(buffer.length, bytesMax - at)
      return file === null || length <= 0 ? 0 : (await file.read(buffer, 0, length, at)).bytesRead
    },
    async size(stream) {
      await using file = await openOwn(paths[stream], uid)
      return file === null ? 0 : (await file.stat()).size
    },
  }
}

/** Opens a file; null: it is missing, or is not a readable regular file of the account. */
async function openOwn(path: string, uid: number): Promise<FileHandle | null> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  const isOwn = (file: Stats) => file.isFile() && file.uid === uid
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(async (error) => {
    const found = await nullIfMissing(lstat(path))
    if (found && isOwn(found) && found.mode & constants.S_IRUSR) throw error
    return null
  })
  if (!file || isOwn(await file.stat())) return file
  await file.close()
  return null
}

export async function readFileClock({ own }: Layout): Promise<number> {
  const path = join(own, `now.${process.pid}.${probes++}`)
  await symlink('now', path)
  const { mtimeMs } = await lstat(path)
  await unlink(path)
  return mtimeMs
}

let probes = 0
