import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import {
  bindMigrationAwareSqlAdapterFactory,
  type SqlMigrationAwareDriverAdapterFactory,
} from '@prisma/driver-adapter-utils'
import type { SchemaEngine } from '@prisma/schema-engine-wasm/schema_engine_bg'
import type { Log } from '../src/platform/log.ts'

/**
 * Prisma's schema engine inside this process. Node does not import .wasm files, so the module is put together by hand;
 * it costs 30 ms and 20 MB, and is loaded once.
 *
 * Danger: of `diff` use the targets `empty` and `schemaDatamodel` alone. `url` fails on PostgreSQL 18 (it cannot read
 * the column type "char"), and `migrations` takes the real database for its shadow database and migrates it.
 */
export async function openSchemaEngine(
  adapter: SqlMigrationAwareDriverAdapterFactory,
  log: Log,
): Promise<SchemaEngine> {
  loaded ??= load()
  const { SchemaEngine } = await loaded
  const onLog = (line: string) => log.debug({ line }, 'schema engine')
  return SchemaEngine.new({ datamodels: undefined }, onLog, bindMigrationAwareSqlAdapterFactory(adapter))
}

type Bindings = typeof import('@prisma/schema-engine-wasm/schema_engine_bg')
let loaded: Promise<Bindings> | undefined

async function load(): Promise<Bindings> {
  const bindings = await import('@prisma/schema-engine-wasm/schema_engine_bg')
  const path = createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm/schema_engine_bg')
  const bytes = await readFile(path.replace(/\.js$/, '.wasm'))
  const { instance } = await WebAssembly.instantiate(bytes, {
    './schema_engine_bg.js': { ...bindings, ...idleTimers(bindings) },
  })
  bindings.__wbg_set_wasm(instance.exports)
  const { __wbindgen_start: start } = instance.exports as { __wbindgen_start(): void }
  start()
  return bindings
}

/** The engine arms timers of 10 s (for its lock) and forgets them: they must not keep a process that is done. */
function idleTimers(bindings: Bindings) {
  const names = Object.keys(bindings).filter((name) => name.startsWith('__wbg_setTimeout_'))
  const arm = (run: () => void, ms: number) => setTimeout(run, ms).unref()
  return Object.fromEntries(names.map((name) => [name, arm]))
}
