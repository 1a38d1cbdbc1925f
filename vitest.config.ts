import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/support/longest-first.ts'
import { ProcessorBudget } from './test/support/processor-budget.ts'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/support/each-file.ts'],
    globalSetup: ['test/support/postgres.ts', 'test/support/interpreter.ts'],
    pool: 'forks',
    // Of two cores: many tests wait for a server, a browser or PostgreSQL.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    // Files of a worker share its modules: loading them again takes longer than most files.
    isolate: false,
    // Node loads the modules itself, as it does for users.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // The console imports the client by the name of the package.
    execArgv: ['--conditions=berth-source'],
    // Workers, and the servers that they start, load what was compiled before.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/berth') },
    // Only what hangs takes so long, also on a machine that is ten times slower for a minute.
    testTimeout: 120_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 30_000 } },
    reporters: ['default', 'json', new ProcessorBudget()],
    outputFile: { json: join(import.meta.dirname, 'node_modules/.cache/berth/tests.json') },
    restoreMocks: true,
  },
})
