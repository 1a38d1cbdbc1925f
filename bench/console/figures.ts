import { printLines } from '../harness.ts'

/** Measured values with their limits: smaller is better. */
interface Figure {
  name: string
  value: number
  goal: number
  unit: string
}

const figures: Figure[] = []

export function addFigure(name: string, value: number, goal: number, unit: string): void {
  figures.push({ name, value, goal, unit })
  process.stdout.write(`${name}: ${format(value, unit)}\n`)
}

/** The smallest of several repetitions, because other load on the machine only adds time. */
export async function measureBest(turns: number, measure: () => Promise<number>): Promise<number> {
  let best = Number.POSITIVE_INFINITY
  for (let turn = 0; turn < turns; turn++) best = Math.min(best, await measure())
  return best
}

export function printFigures(): void {
  const rows = figures.map(({ name, value, goal, unit }) => [
    name,
    format(value, unit),
    `≤ ${format(goal, unit)}`,
    value <= goal ? 'ok' : 'MISSED',
  ])
  printLines('The console', [['', 'measured', 'goal', ''], ...rows])
}

const format = (value: number, unit: string) => `${Number(value.toFixed(value < 10 ? 3 : 0))} ${unit}`.trim()
