/** One thing that goes wrong, again and again under a seed, and what must hold. It rejects when that did not hold. */
export interface Scenario {
  name: string
  run(context: { seed: number; seconds: number; log(line: string): void }): Promise<void>
}

/** Thrown by a scenario that cannot run here; the message names what is absent. */
export class Skipped extends Error {
  override name = 'Skipped'
}
