import { inspect } from 'node:util'
import { type Scenario, Skipped } from './scenario.ts'

export interface Verdict {
  name: string
  seconds: number
  /** Granted time, a whole number. */
  share: number
  verdict: 'green' | 'RED' | 'SKIPPED'
  /** The first line of the reason; empty if it is green. */
  why: string
}

interface Play {
  scenarios: readonly Scenario[]
  seed: number
  seconds: number
  isFull: boolean
  print(line: string): void
}

/** Additional time for a scenario to set up and tear down, also on a slow machine. */
const graceSeconds = 180

/**
 * Plays scenarios in order. Each gets an equal share of the remaining time, which includes the shares of skipped ones.
 */
export async function playScenarios({ scenarios, seed, seconds, isFull, print }: Play): Promise<Verdict[]> {
  const verdicts: Verdict[] = []
  const endsAtMs = performance.now() + seconds * 1_000
  for (const [index, scenario] of scenarios.entries()) {
    const leftSeconds = (endsAtMs - performance.now()) / 1_000
    const share = Math.max(1, Math.round(leftSeconds / (scenarios.length - index)))
    print(`\n${scenario.name}: ${share} s`)
    const verdict = await play(scenario, { seed, seconds: share, isFull, log: (line) => print(`  ${line}`) })
    print(`${scenario.name}: ${verdict.verdict}`)
    verdicts.push(verdict)
  }
  return verdicts
}

async function play(scenario: Scenario, context: Parameters<Scenario['run']>[0]): Promise<Verdict> {
  const began = performance.now()
  const failure = await runBounded(scenario, context).then(
    () => null,
    (error: unknown) => error,
  )
  const told = { name: scenario.name, share: context.seconds, seconds: (performance.now() - began) / 1_000 }
  if (failure === null) return { ...told, verdict: 'green', why: '' }
  const why = failure instanceof Error ? failure.message : inspect(failure)
  const isSkipped = failure instanceof Skipped
  context.log(isSkipped ? `SKIPPED: ${why}` : inspect(failure))
  return { ...told, verdict: isSkipped ? 'SKIPPED' : 'RED', why: why.split('\n', 1)[0] ?? '' }
}

/** A scenario that hangs is red; its servers end with the process (support/berth-process.ts). */
async function runBounded(scenario: Scenario, context: Parameters<Scenario['run']>[0]): Promise<void> {
  const seconds = context.seconds + graceSeconds
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`it did not end within ${seconds} s`)), seconds * 1_000)
  await Promise.race([scenario.run(context), late.promise]).finally(() => clearTimeout(timer))
}
