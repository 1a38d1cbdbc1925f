export interface UntilOptions {
  /** Name of the condition, for the message. */
  what: string
  timeoutMs?: number
}

const pollMs = 10
/** Only what never happens takes so long, also on a machine that is ten times slower for a minute. */
const timeoutMsDefault = 90_000

/** Waits for a condition that no event announces, and returns its first truthy value. All tests wait with it. */
export async function until<T>(
  condition: () => T | Promise<T>,
  { what, timeoutMs = timeoutMsDefault }: UntilOptions,
): Promise<Exclude<T, false | null | undefined | 0 | ''>> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const value = await condition()
    if (value) return value as Exclude<T, false | null | undefined | 0 | ''>
    if (performance.now() > deadline) throw new Error(`Waited ${timeoutMs} ms in vain until ${what}`)
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
}
