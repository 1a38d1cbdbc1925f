import { join } from 'node:path'
import { FolderRefused, type UploadedSnapshot, type UploadProgress, uploadSnapshot } from '../../client/files/index.ts'
import type { Cli } from '../frame/cli.ts'
import type { Env } from '../frame/env.ts'
import { exitCodes, Stop, usageError } from '../frame/exit.ts'

export interface HereOptions {
  here?: boolean
  include?: string[]
  exclude?: string[]
  dryRun?: boolean
}

/** Uploads the current directory as a snapshot. Returns its id; undefined: no --here, or a dry run. */
export async function uploadCurrentFolder(
  cli: Cli,
  { here, include, exclude, dryRun }: HereOptions,
): Promise<string | undefined> {
  if (!here && (include || exclude)) throw usageError('--include and --exclude need --here')
  if (!here || dryRun) return undefined
  const { terminal, cwd } = cli
  const describe = describeProgress()
  const onProgress = (progress: UploadProgress) => {
    const text = describe(progress, performance.now())
    if (text !== null) terminal.progress(text)
  }
  const options = { include, exclude, onProgress, signal: cli.ended, cacheFolder: findCacheFolder(cli.env) }
  try {
    const snapshot = await uploadSnapshot(cli.connection(), cwd, options)
    terminal.progress(null)
    terminal.say(snapshotText(snapshot))
    return snapshot.id
  } catch (error) {
    terminal.progress(null)
    if (!(error instanceof FolderRefused)) throw error
    for (const detail of error.details) terminal.say(`  ${detail}`)
    throw new Stop(exitCodes.refused, error.message, error.remedy)
  }
}

/** Returns the folder of the hash cache; undefined: the user has no home. */
function findCacheFolder({ XDG_CACHE_HOME, HOME }: Env): string | undefined {
  const caches = XDG_CACHE_HOME || (HOME && join(HOME, '.cache'))
  return caches ? join(caches, 'berth') : undefined
}

const shownEveryMs = 100
/** A rate is shown only after this time, because it is too inexact before. */
const rateAfterMs = 1_000

/** The returned function returns null while the last text is fresh. Each attempt of each step has its own rate. */
export function describeProgress(): (progress: UploadProgress, nowMs: number) => string | null {
  let began = { step: '', bytes: 0, atMs: 0 }
  let last = { bytes: 0, atMs: Number.NEGATIVE_INFINITY }
  return ({ step, bytes, totalBytes }, nowMs) => {
    const isNew = step !== began.step || bytes < last.bytes
    if (isNew) began = { step, bytes, atMs: nowMs }
    if (!isNew && bytes < totalBytes && nowMs - last.atMs < shownEveryMs) return null
    last = { bytes, atMs: nowMs }
    const what = `${step === 'READING' ? 'reading' : 'sending'} files: ${formatDecimalBytes(bytes)} of ${formatDecimalBytes(totalBytes)}`
    const passedMs = nowMs - began.atMs
    const perSecond = ((bytes - began.bytes) / passedMs) * 1_000
    if (passedMs < rateAfterMs || perSecond < 1) return what
    return `${what}, ${formatDecimalBytes(perSecond)}/s, ${formatLeft((totalBytes - bytes) / perSecond)} left`
  }
}

const formatLeft = (seconds: number) => (seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`)

function snapshotText(snapshot: UploadedSnapshot): string {
  const { hash, files, bytes, newFiles, sentBytes, git } = snapshot
  const size = `${countFiles(files)}, ${formatDecimalBytes(bytes)} (${newFiles} new, ${formatDecimalBytes(sentBytes)} sent)`
  const changes = git?.changed ? ` + ${countFiles(git.changed, 'changed file')}` : ''
  return `snapshot ${hash.slice(0, 6)}…: ${size}${git?.commit ? `, commit ${git.commit.slice(0, 7)}${changes}` : ''}`
}

export const countFiles = (count: number, noun = 'file') => `${count} ${noun}${count === 1 ? '' : 's'}`

export function formatDecimalBytes(bytes: number): string {
  if (bytes < 1_000) return `${Math.round(bytes)} B`
  const [unit, size] = bytes < 1e6 ? ['kB', 1e3] : bytes < 1e9 ? ['MB', 1e6] : ['GB', 1e9]
  return `${(bytes / Number(size)).toFixed(bytes < 10 * Number(size) ? 1 : 0)} ${unit}`
}
