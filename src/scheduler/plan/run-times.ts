/**
 * Run times for the forecast. The first of these that is known counts: earlier runs of the same kind; the parts of
 * their stated maxima that earlier runs took; the stated maximum. A maximum that is a default is never used. A draw
 * depends only on the job and the number of the simulation, so two forecasts of the same queue agree.
 */
export interface RunTime {
  kind: string
  history: readonly number[]
  /** Earlier run times as parts of stated maximum run times, of the same user or of the pool. */
  parts: readonly number[]
  /** The maximum run time that the submitter stated; null: none. */
  statedMs: number | null
}

export const historyMax = 20
/** With fewer earlier runs, the stated maximum is a better estimate. */
export const historyMin = 3

const partsMax = 200

/** A run with a stated maximum run time that ended by itself. */
export interface StatedRun {
  part: number
  statedMs: number
}

/** Only runs whose maxima differ by at most this factor are compared, because short and long maxima are used unequally. */
const similarFactor = 2.1

/**
 * Returns the parts of the latest runs with a similar maximum: of the user, or with fewer than three, of all users of
 * the pool; without such runs, of runs with any maximum. Both lists begin with the oldest run.
 */
export function chooseParts(
  ofUser: readonly StatedRun[],
  ofPool: readonly StatedRun[],
  statedMs: number | null,
): readonly number[] {
  const isSimilar = (run: StatedRun) =>
    statedMs !== null && run.statedMs <= similarFactor * statedMs && statedMs <= similarFactor * run.statedMs
  const lists = [ofUser.filter(isSimilar), ofPool.filter(isSimilar), ofUser]
  const chosen = lists.find(({ length }) => length >= historyMin) ?? ofPool
  return chosen.slice(-partsMax).map(({ part }) => part)
}

export type Source = 'history' | 'parts' | 'stated' | 'unknown'

export function findSource({ history, parts, statedMs }: RunTime): Source {
  if (history.length >= historyMin) return 'history'
  if (statedMs !== null) return parts.length > 0 ? 'parts' : 'stated'
  return history.length > 0 ? 'history' : 'unknown'
}

export class Draws {
  private readonly play: number
  private readonly samples = new Map<string, readonly number[]>()

  constructor(play: number) {
    this.play = play
  }

  /** Draws the remaining run time of a job that ran `ranMs`; null: the end is unknown. */
  moreMs(of: RunTime, { jobId, ranMs }: { jobId: string; ranMs: number }): number | null {
    const leftMs = of.statedMs === null ? null : Math.max(0, of.statedMs - ranMs)
    const source = findSource(of)
    if (source === 'stated' || source === 'unknown') return leftMs
    const sample = this.sampleOf(of, source)
    const longer = ranMs > 0 ? sample.filter((ms) => ms > ranMs) : sample
    const drawn = longer[Math.floor(computeChance(jobId, this.play) * longer.length)]
    // The job has run longer than all earlier runs, so it is assumed to need the same time again.
    const moreMs = drawn === undefined ? ranMs : drawn - ranMs
    return leftMs === null ? moreMs : Math.min(moreMs, leftMs)
  }

  /** Each simulation uses another sample of the runs (bootstrap), because a few runs are a rough estimate. */
  private sampleOf({ kind, history, parts, statedMs }: RunTime, source: Source): readonly number[] {
    const key = source === 'history' ? kind : `${kind}/${statedMs}`
    const known = this.samples.get(key)
    if (known) return known
    const from = source === 'history' ? history : parts.map((part) => part * (statedMs ?? 0))
    const sample = from.map((ms, at) => from[Math.floor(computeChance(`${key}/${at}`, this.play) * from.length)] ?? ms)
    this.samples.set(key, sample)
    return sample
  }
}

/** A pseudo-random number in [0, 1). */
export function computeChance(text: string, play: number): number {
  let hash = Math.imul(play + 1, 0x9e3779b1)
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32
}
