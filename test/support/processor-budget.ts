import type { Reporter, TestModule } from 'vitest/node'
import { isWhole } from './whole.ts'

/**
 * Prints the most expensive test files, and fails if a file exceeds its processor time: 20 s on an idle machine. The
 * limit is twice that, because a busy machine takes up to twice as long for the same work.
 */
const secondsMax = 40
/** Each start of a server process takes 2.6 s, and each page of a browser one second. */
const separateSecondsMax = 80
const shown = 10

/** Files with a higher limit, with the reason. */
const larger: Readonly<Record<string, number>> = {
  'test/architecture.test.ts': 60, // the compiler reads all sources
  'test/backup/verify.test.ts': 80, // each verification starts a PostgreSQL of its own
  'test/clients/python.test.ts': 120, // mypy without a cache, and an interpreter for each example
  'test/docs.test.ts': 50, // shells that type every command of the guides
  'test/e2e/backup.test.ts': 80, // backups and restores are processes
  'test/e2e/failover.test.ts': 60, // a standby of PostgreSQL
  'test/executors/handler/handler.test.ts': 60, // each run is a Node process
  'test/executors/local/launch.test.ts': 50, // each executor starts a process that starts others
  'test/executors/local/processes.test.ts': 50, // the same
  'test/executors/local/supervision.test.ts': 50, // the same
  'test/platform/postgres/postgres.test.ts': 120, // each test starts a PostgreSQL of its own
  'test/scheduler/plan/fairness.test.ts': 60, // simulates thousands of starts
}

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
      const max = limitOf(path)
      if (isWhole || seconds <= max) continue
      console.error(`${path} took ${seconds.toFixed(1)} s of processor time; it may take ${max}.`)
      process.exitCode = 1
    }
  }
}

const limitOf = (path: string): number =>
  larger[path] ?? (/^test\/(process|browser)\//.test(path) ? separateSecondsMax : secondsMax)
