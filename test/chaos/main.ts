import { parseArgs } from 'node:util'
import { clients } from './clients.ts'
import { clocks } from './clocks.ts'
import { crashPoints } from './crash-points.ts'
import { database } from './database.ts'
import { disk } from './disk.ts'
import { logs } from './logs.ts'
import { migrations } from './migrations.ts'
import { playScenarios, type Verdict } from './play.ts'
import type { Scenario } from './scenario.ts'
import { snapshots } from './snapshots.ts'
import { streams } from './streams.ts'
import { supervision } from './supervision.ts'

/**
 * npm run chaos -- --seconds 600, or --only disk-full --seed 42 to see one again.
 *
 * Each file beside this one exports a list of scenarios; the seconds are shared out among them. Exits with 1 when one
 * of them is red, and prints the command that plays it again.
 */
const scenarios: readonly Scenario[] = [
  ...clients,
  ...clocks,
  ...crashPoints,
  ...database,
  ...disk,
  ...logs,
  ...migrations,
  ...snapshots,
  ...streams,
  ...supervision,
]

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '600' },
    seed: { type: 'string' },
    only: { type: 'string' },
    /** Clients and logs have their full size, which takes an hour. */
    full: { type: 'boolean', default: false },
  },
})

const seedMax = 2 ** 31

function refuse(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(2)
}

function wholeNumber(name: 'seconds' | 'seed', text: string): number {
  const value = Number(text)
  if (Number.isInteger(value) && value > 0 && value <= seedMax) return value
  return refuse(`--${name}: "${text}" is not a whole number from 1 to ${seedMax}`)
}

function chosen(): readonly Scenario[] {
  const { only } = values
  if (only === undefined) return scenarios
  const found = scenarios.filter(({ name }) => name === only)
  const known = scenarios.map(({ name }) => name).join(', ')
  return found.length > 0 ? found : refuse(`--only: there is no scenario "${only}"; there are: ${known}`)
}

const print = (line: string) => void process.stdout.write(`${line}\n`)

function printTable(verdicts: readonly Verdict[]): void {
  const width = Math.max(8, ...verdicts.map(({ name }) => name.length))
  print(`\n${'scenario'.padEnd(width)}  seconds  verdict`)
  for (const { name, seconds, verdict, why } of verdicts)
    print(`${name.padEnd(width)}  ${seconds.toFixed(1).padStart(7)}  ${verdict}${why ? `: ${why}` : ''}`)
}

const seed = values.seed === undefined ? Math.ceil(Math.random() * seedMax) : wholeNumber('seed', values.seed)
const seconds = wholeNumber('seconds', values.seconds)
print(`Seed ${seed}, ${seconds} s`)
const verdicts = await playScenarios({ scenarios: chosen(), seed, seconds, isFull: values.full, print })
printTable(verdicts)
const red = verdicts.filter(({ verdict }) => verdict === 'RED')
const form = values.full ? ' --full' : ''
for (const { name, share } of red)
  print(`Again: npm run chaos -- --only ${name}${form} --seed ${seed} --seconds ${share}`)
print(`Seed ${seed}: ${red.length} red of ${verdicts.length}`)
process.exit(red.length > 0 ? 1 : 0) // also when a scenario that was given up still holds something open
