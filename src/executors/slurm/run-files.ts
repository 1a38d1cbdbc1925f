import { execFile } from 'node:child_process'
import { constants, type Stats } from 'node:fs'
import { type FileHandle, lstat, open, opendir, readdir, readlink, rm, rmdir, symlink, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { switchToOwner } from '../accounts/account.ts'
import { unlessCode, unlessMissing } from '../backend/file-errors.ts'
import type { Loss, Spool } from '../backend/spool-reader.ts'
import type { Handle, RunUsage, StartFailed } from '../executor.ts'
import { forgottenEnd } from './forgotten.ts'
import { expandHostlist } from './hostlist.ts'
import { clusterName, type Layout, SharedDirTrouble } from './layout.ts'

/**
 * The directory of a run, below `sharedDir`. It belongs to the account of the run, so the job can change all that is in
 * it: nothing there is followed, and a file is read only if it is an ordinary one of that account. What stands above it
 * belongs to the server. batch.sh says what the links mean.
 */

export interface RunDirectory {
  runId: Handle
  directory: string
}

/** null: not a valid run id. Ids become paths only here. */
export const directoryOf = ({ runs }: Layout, runId: string): RunDirectory | null =>
  /^[A-Za-z0-9_-]{1,128}$/.test(runId) ? { runId, directory: join(runs, runId) } : null

export type RunClaim =
  | { by: 'job'; id: string; node: string }
  /** The run does not start any more, because it was stopped before. */
  | { by: 'void' }
  | { by: 'refused'; reason: StartFailed['reason']; message: string }

/** Moments are those of the clock of the file system. */
export interface Records {
  uid: number
  claim: RunClaim | null
  begun: Begun | null
  exit: { atMs: number; code: number; why: 'term' | 'late' | null; usage: RunUsage } | null
  /** Slurm has begun its job a second time, in which the batch script does nothing. */
  again: boolean
  /** Why the command did not begin. */
  failed: { reason: StartFailed['reason']; message: string } | null
  losses: readonly Loss[]
}

interface Begun {
  atMs: number
  /** The same moment by the clock of the node; null: a run of an older version did not tell it. */
  nodeMs: number | null
  nodes: readonly string[]
  gpuIds: readonly number[]
}

/** null: there is no such directory, or it cannot be seen from here. */
export async function readRecords({ directory }: RunDirectory): Promise<Records | null> {
  const owner = await unlessMissing(lstat(directory))
  const names = owner && (await unlessMissing(list(directory)))
  if (!owner || !names) return null
  const isWhole = names.size < namesMax
  const read = async (name: string) => (names.has(name) || !isWhole ? await readText(join(directory, name)) : null)
  const atMs = async (name: string) => (await unlessMissing(lstat(join(directory, name))))?.mtimeMs ?? 0
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

/** Of entries of the directory of a run: its job may make any number of them. */
const namesMax = 4_096
/** Of records of lost output. */
const lossesMax = 1_000

/** The listing asks a network file system for news; looking for one name might be answered from memory. */
async function list(directory: string): Promise<Set<string>> {
  const names = new Set<string>()
  for await (const { name } of await opendir(directory)) if (names.add(name).size === namesMax) break
  return names
}

/** null: there is no such link. */
const readText = (path: string) => unlessCode('EINVAL', unlessMissing(readlink(path)))
/** The job may write anything else there; then Slurm tells how it ended. */
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

/** What is not a number was not known. */
function usageOf(cpu = '-', memory = '-'): RunUsage {
  const isKnown = (amount: string) => /^\d+$/.test(amount)
  return {
    ...(isKnown(cpu) && { cpuSeconds: Number(cpu) / 1e6 }),
    ...(isKnown(memory) && { maxMemoryBytes: Number(memory) }),
  }
}

const textAfter = (text: string, words: number) => text.split(' ').slice(words).join(' ')

/** Not NODE_TROUBLE, which has no limit of attempts: a job could write it. */
const reasons = ['BAD_SPEC', 'WORKDIR_NOT_FOUND'] as const
const reasonOf = (word: string): StartFailed['reason'] => reasons.find((reason) => reason === word) ?? 'START_FAILED'

async function readLosses(names: readonly string[], read: (name: string) => Promise<string | null>): Promise<Loss[]> {
  const marks = names.flatMap((name) => {
    const [, word, stream, number] = name.match(/^(full|over)\.(stdout|stderr)(?:\.(\d+))?$/) ?? []
    return stream === 'stdout' || stream === 'stderr'
      ? [{ name, word, stream, number: Number(number ?? 0) } as const]
      : []
  })
  // The earliest of them, so that a later look counts the same ones.
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

/** false: something else has the claim. A message longer than a link can be is cut. */
export async function takeClaim(
  { directory }: RunDirectory,
  claim: Exclude<RunClaim, { by: 'job' }>,
): Promise<boolean> {
  const text =
    claim.by === 'void' ? 'void' : `refused ${claim.reason} ${claim.message.replaceAll('\n', ' ').slice(0, 900)}`
  return (await unlessCode('EEXIST', symlink(text, join(directory, 'claim')))) !== null
}

/** Takes care that a run never begins, and removes its directory. false: it has begun, or failed. */
export async function giveUpRun(layout: Layout, files: RunDirectory): Promise<boolean> {
  const isTaken = await unlessMissing(takeClaim(files, { by: 'void' }))
  if (isTaken === false && (await readRecords(files))?.claim?.by !== 'void') return false
  if (isTaken === null) await layout.demand()
  await removeRun(files)
  return true
}

/** Whether the directory of a run was removed; false also if that cannot be said now. */
export async function isRemoved(layout: Layout, { directory }: RunDirectory): Promise<boolean> {
  try {
    await layout.demand()
    return (await unlessMissing(lstat(directory))) === null
  } catch (error) {
    if (layout.blame(error) instanceof SharedDirTrouble) return false
    throw error
  }
}

/**
 * Removes the directory of a run. What is in it belongs to the account of the run, which may change it meanwhile, so a
 * process of that account removes it: a link that appears in the middle leads nowhere.
 */
export async function removeRun({ directory }: RunDirectory): Promise<void> {
  const owner = await unlessMissing(lstat(directory))
  if (!owner) return
  if (owner.uid === process.getuid?.()) return rm(directory, { recursive: true, force: true })
  const [file = '', ...args] = [...switchToOwner(owner), '/bin/sh', '-c', emptyScript, 'berth', directory]
  await run(file, args, { cwd: '/' })
  await unlessMissing(rmdir(directory))
}

/** The job may have left directories that its own account may not change. */
const emptyScript = 'find "$1" -mindepth 1 -delete || { chmod -R u+rwX "$1"; find "$1" -mindepth 1 -delete; }'
const run = promisify(execFile)

/** The longest time for which a server may still be writing a draft. */
const draftMsMax = 3_600_000

/** Removes what servers that were killed left of their work, such as a run with its token that was not there as a whole. */
export async function removeDrafts(layout: Layout): Promise<void> {
  const names = (await unlessMissing(readdir(layout.own))) ?? []
  const nowMs = names.length > 0 ? await readFileClock(layout) : 0
  for (const name of names) {
    const path = join(layout.own, name)
    const isDraft = !name.endsWith('.stop') && !name.endsWith(forgottenEnd) && name !== clusterName
    const writtenMs = isDraft ? (await unlessMissing(lstat(path)))?.mtimeMs : undefined
    if (writtenMs !== undefined && nowMs - writtenMs > draftMsMax) await rm(path, { recursive: true, force: true })
  }
}

/**
 * Reads the two files anew each time, because an open file of a network file system may show old news. No more than
 * `bytesMax` of each: the job may have made a file of any size in its place.
 */
export function spoolOf({ directory }: RunDirectory, uid: number, bytesMax: number): Spool {
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

/** null: there is none, or it is not an ordinary file of the account that this may read. */
async function openOwn(path: string, uid: number): Promise<FileHandle | null> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  const isOwn = (file: Stats) => file.isFile() && file.uid === uid
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(async (error) => {
    const found = await unlessMissing(lstat(path))
    if (found && isOwn(found) && found.mode & constants.S_IRUSR) throw error
    return null
  })
  if (!file || isOwn(await file.stat())) return file
  await file.close()
  return null
}

/** The present moment by the clock of the file system. */
export async function readFileClock({ own }: Layout): Promise<number> {
  const path = join(own, `now.${process.pid}.${probes++}`)
  await symlink('now', path)
  const { mtimeMs } = await lstat(path)
  await unlink(path)
  return mtimeMs
}

let probes = 0
