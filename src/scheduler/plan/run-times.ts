/**
 * How long a job may run, as the forecast assumes it. A job with enough earlier runs like it runs as long as one of them;
 * any other job runs until its limit; without a limit it runs without end.
 *
 * A draw is a function of the job and the number of the play: no state, and two forecasts of the same queue agree.
 */
export interface RunTime {
  /** What earlier runs have in common with it. */
  kind: string
  /** How long they ran, in milliseconds; at most `historyMax`. */
  history: readonly number[]
  /** The maximum run time; null: none. */
  limitMs: number | null
}

/** Runs of a history that count: the latest. */
export const historyMax = 20
/** With fewer runs the limit says more. */
const historyMin = 3

export const hasHistory = ({ history }: RunTime): boolean => history.length >= historyMin

/** Draws for one play. */
export class Draws {
  private readonly play: number
  private readonly samples = new Map<string, readonly number[]>()

  constructor(play: number) {
    this.play = play
  }

  /** How much longer the job runs that ran `ranMs` already; null: without a known end. */
  moreMs(of: RunTime, { jobId, ranMs }: { jobId: string; ranMs: number }): number | null {
    const leftMs = of.limitMs === null ? null : Math.max(0, of.limitMs - ranMs)
    if (!hasHistory(of)) return leftMs
    const sample = this.sampleOf(of)
    const longer = ranMs > 0 ? sample.filter((ms) => ms > ranMs) : sample
    const drawn = longer[Math.floor(chance(jobId, this.play) * longer.length)]
    // It has run longer than all before it: as long again.
    const moreMs = drawn === undefined ? ranMs : drawn - ranMs
    return leftMs === null ? moreMs : Math.min(moreMs, leftMs)
  }

  /** A few runs say only roughly how long others take: each play believes another sample of them (bootstrap). */
  private sampleOf({ kind, history }: RunTime): readonly number[] {
    const known = this.samples.get(kind)
    if (known) return known
    const sample = history.map(
      (ms, at) => history[Math.floor(chance(`${kind}/${at}`, this.play) * history.length)] ?? ms,
    )
    this.samples.set(kind, sample)
    return sample
  }
}

/** A number from 0 to 1, without 1, that looks random. */
function chance(text: string, play: number): number {
  let hash = Math.imul(play + 1, 0x9e3779b1)
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32
}
