/**
 * Run times for the forecast. If enough earlier runs of the same kind are known, the run time is drawn from them;
 * otherwise it is the maximum run time, or unlimited. A draw depends only on the job and the number of the simulation,
 * so two forecasts of the same queue agree.
 */
export interface RunTime {
  kind: string
  history: readonly number[]
  limitMs: number | null
}

export const historyMax = 20
/** With fewer earlier runs, the maximum run time is the better estimate. */
const historyMin = 3

export const hasHistory = ({ history }: RunTime): boolean => history.length >= historyMin

export class Draws {
  private readonly play: number
  private readonly samples = new Map<string, readonly number[]>()

  constructor(play: number) {
    this.play = play
  }

  /** Remaining run time of a job that ran `ranMs`; null: without a known end. */
  moreMs(of: RunTime, { jobId, ranMs }: { jobId: string; ranMs: number }): number | null {
    const leftMs = of.limitMs === null ? null : Math.max(0, of.limitMs - ranMs)
    if (!hasHistory(of)) return leftMs
    const sample = this.sampleOf(of)
    const longer = ranMs > 0 ? sample.filter((ms) => ms > ranMs) : sample
    const drawn = longer[Math.floor(chance(jobId, this.play) * longer.length)]
    // The job has run longer than all earlier ones: assume as long again.
    const moreMs = drawn === undefined ? ranMs : drawn - ranMs
    return leftMs === null ? moreMs : Math.min(moreMs, leftMs)
  }

  /** A few runs are a rough estimate, so each simulation uses another sample of them (bootstrap). */
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

/** A pseudo-random number in [0, 1). */
function chance(text: string, play: number): number {
  let hash = Math.imul(play + 1, 0x9e3779b1)
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32
}
