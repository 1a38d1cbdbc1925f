import { appendFileSync, readFileSync, statSync } from 'node:fs'
import { nullIfMissingSync } from '../backend/file-errors.ts'
import type { Loss } from '../backend/spool-reader.ts'

/**
 * The journal of a run: records that its shim and the server append (shim.sh). Each record is one write to an O_APPEND
 * file, so lines never mix; an incomplete last line is ignored.
 */

export interface Journal {
  /** The valid claim: the first one. */
  claim: ShimClaim | null
  /** Leader of the job's session and process group; recorded with the claim. */
  session: { pid: number; born: string } | null
  /**
   * Uptime in seconds at which the grace period of the earliest stop ends; null: the run was not stopped before its
   * end.
   */
  stopUp: number | null
  /** Set if the fallback deadline fired before any stop, with the uptime (null: unknown). */
  deadline: { up: number | null } | null
  /** true: TERM was sent because of a stop or the deadline. */
  isTermSent: boolean
  exit: { code: number; up: number | null } | null
  limited: readonly string[]
  /** null: unknown. */
  used: Used | null
  /** Output that is missing in the spool, in the order of the records. */
  losses: Loss[]
}

export interface Used {
  cpuSeconds: number | null
  maxMemoryBytes: number | null
  /** Number of its processes that the kernel killed at the memory limit. */
  oomKills: number
}

const lossWords = { cut: 'LOST', full: 'DISK_FULL', over: 'OVER_LIMIT' } as const

export interface ShimClaim {
  /** Process id of the shim; 0: the server took the claim, so that no shim can take it any more. */
  pid: number
  born: string
  boot: string
  /** Uptime in seconds; null: this system does not report it. */
  up: number | null
  /** Uptime in seconds at which the fallback deadline fires; null: no deadline. */
  due: number | null
  /** null: the job has no cgroup. */
  cgroup: string | null
}

/**
 * Reads the journal; null: it is missing. Reads synchronously, because the thread pool would take ten times as long.
 */
export const readJournal = (path: string): Journal | null =>
  nullIfMissingSync(() => parseJournal(readFileSync(path, 'utf8')))

/**
 * Returns a function that reads the recorded losses. Each poll of the output calls it, so it reads the journal again
 * only if its size changed.
 */
export function trackLosses(path: string): () => readonly Loss[] {
  let size = 0
  let losses: readonly Loss[] = []
  return () => {
    const sizeNow = statSync(path, { throwIfNoEntry: false })?.size ?? 0
    if (sizeNow !== size) losses = readJournal(path)?.losses ?? []
    size = sizeNow
    return losses
  }
}

function parseJournal(text: string): Journal {
  const journal: Journal = {
    claim: null,
    session: null,
    stopUp: null,
    deadline: null,
    isTermSent: false,
    exit: null,
    limited: [],
    used: null,
    losses: [],
  }
  for (const line of text.slice(0, text.lastIndexOf('\n') + 1).split('\n')) {
    const [word = '', ...fields] = line.split(' ')
    if (!takeFact(journal, { word, fields, line }) && !journal.exit) takeStep(journal, word, fields)
  }
  return journal
}

/** Handles records that are valid at any time, also after the exit record. */
function takeFact(journal: Journal, { word, fields, line }: { word: string; fields: string[]; line: string }): boolean {
  if (word === 'claim') journal.claim ??= parseClaim(fields)
  else if (word === 'cut' || word === 'full' || word === 'over') journal.losses.push(...parseLoss(word, fields))
  else if (word === 'limited') journal.limited = fields
  else if (word === 'used') journal.used = parseUsed(fields)
  else if (/^\d+m[\d.]+s$/.test(word)) journal.used = parseTimes(line)
  else return false
  return true
}

/** Handles records that are valid only before the exit record. */
function takeStep(journal: Journal, word: string, fields: readonly string[]): void {
  if (word === 'session') journal.session ??= { pid: Number(fields[0]), born: fields[1] ?? '' }
  if (word === 'stop') journal.stopUp = least(journal.stopUp, amount(fields[1]))
  if (word === 'deadline' && journal.stopUp === null) journal.deadline ??= { up: amount(fields[0]) }
  if (word === 'term') journal.isTermSent = true
  if (word === 'exit' && isCode.test(fields[0] ?? '')) journal.exit = { code: Number(fields[0]), up: amount(fields[1]) }
}

const isCode = /^\d{1,3}$/
const least = (one: number | null, other: number | null) =>
  one === null || other === null ? (one ?? other) : Math.min(one, other)

function parseClaim([pid, born = '', boot = '', up, due, cgroup = '-']: readonly string[]): ShimClaim {
  return { pid: Number(pid), born, boot, up: amount(up), due: amount(due), cgroup: cgroup === '-' ? null : cgroup }
}

function parseUsed([usec, peak, oom]: readonly string[]): Used {
  const micro = amount(usec)
  return {
    cpuSeconds: micro === null ? null : micro / 1e6,
    maxMemoryBytes: amount(peak),
    oomKills: amount(oom) ?? 0,
  }
}

/** Parses the times that the shim writes in two lines, of which the second replaces the first. */
function parseTimes(line: string): Used {
  const times = [...line.matchAll(/(\d+)m([\d.]+)s/g)].map(([, minutes, rest]) => Number(minutes) * 60 + Number(rest))
  return { cpuSeconds: times.reduce((sum, each) => sum + each, 0), maxMemoryBytes: null, oomKills: 0 }
}

function parseLoss(word: keyof typeof lossWords, [stream, text]: readonly string[]): Loss[] {
  const bytes = amount(text)
  if (bytes === null) return []
  const loss = { stream: stream === 'stderr' ? ('stderr' as const) : ('stdout' as const), gap: lossWords[word] }
  return [word === 'over' ? { ...loss, after: null, bytes } : { ...loss, after: bytes, bytes: 0 }]
}

/** Returns null if the value is unknown, or a full disk cut off the record. */
const amount = (text: string | undefined) =>
  text !== undefined && /^\d{1,15}(\.\d+)?$/.test(text) ? Number(text) : null

/**
 * Appends a record, after ending an incomplete record that a full disk may have left. false: the run has no directory.
 */
const append = (path: string, text: string): boolean =>
  nullIfMissingSync(() => appendFileSync(path, `~\n${text}`, { mode: 0o600 })) !== null

/** Records a stop. false: the run has no directory. */
export function recordStop(path: string, { graceSeconds, up }: { graceSeconds: number; up: number }): boolean {
  return append(path, `stop ${graceSeconds.toFixed(3)} ${up.toFixed(2)}\n`)
}

/**
 * Takes the claim for the server, so that no shim can take it later; the journal shows whether a shim was first. false:
 * the run has no directory.
 */
export function recordVoid(path: string, boot: string): boolean {
  return append(path, `claim 0 0 ${boot} - - -\n`)
}

export function recordDeadline(path: string, up: number): void {
  append(path, `deadline ${up.toFixed(2)}\n`)
}

export function recordTermSignal(path: string): void {
  append(path, 'term\n')
}

/** Records that the readers of the output end before reading all bytes. */
export function recordCuts(path: string, { stdout, stderr }: { stdout: number; stderr: number }): void {
  append(path, `cut stdout ${stdout}\ncut stderr ${stderr}\n`)
}
