import type { Reporter, TestModule } from 'vitest/node'

/** Prints the most expensive test files, and fails a run in which a file takes more processor time than it may. */

const secondsMax = 20
const shown = 10

/** Files that may take more, each with its limit in seconds and the reason. */
const larger: Readonly<Record<string, { seconds: number; because: string }>> = {}

export class ProcessorBudget implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const files = modules.map((module) => ({
      path: module.relativeModuleId,
      seconds: module.meta().processorSeconds ?? 0,
    }))
    const all = files.reduce((sum, { seconds }) => sum + seconds, 0)
    console.log(`\nProcessor time of ${files.length} files: ${all.toFixed(0)} s, without PostgreSQL. Most of it:`)
    for (const { path, seconds } of files.toSorted((a, b) => b.seconds - a.seconds).slice(0, shown))
      console.log(`${seconds.toFixed(1).padStart(7)} s  ${path}`)
    for (const { path, seconds } of files) {
      const max = larger[path]?.seconds ?? secondsMax
      if (seconds <= max) continue
      console.error(`${path} took ${seconds.toFixed(1)} s of processor time; it may take ${max}.`)
      process.exitCode = 1
    }
  }
}
