import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { type BerthServer, freePort, startBerth } from '../support/berth-server.ts'
import { CommandLine } from '../support/command-line.ts'
import { createDatabase, type TestDatabase } from '../support/database.ts'
import { startServer, type TestServer } from '../support/server.ts'

/** A server and a command line that uses it, for all tests of a file. */
class CliSetup<Server extends { url: string }> {
  server!: Server
  cli!: CommandLine
  readonly berth: CommandLine['berth'] = (...args) => this.cli.berth(...args)

  constructor(start: (home: string) => Promise<Server>, end: (server: Server) => PromiseLike<unknown>) {
    let home: string
    beforeAll(async () => {
      home = await mkdtemp(join(tmpdir(), 'berth-cli-'))
      await chmod(home, 0o711) // so that the accounts of runs can enter
      this.server = await start(home)
      this.cli = new CommandLine(home, { BERTH_URL: this.server.url })
    })
    afterAll(async () => {
      if (this.server) await end(this.server)
      await rm(home, { recursive: true, force: true })
    })
  }
}

/** An API server without a leader: submitted jobs stay QUEUED. */
export const useTestServer = (options?: Parameters<typeof startServer>[0]): CliSetup<TestServer> =>
  new CliSetup(
    () => startServer(options),
    (server) => server[Symbol.asyncDispose](),
  )

interface BerthOptions {
  /** The configuration, in YAML. */
  config?: string | (() => string)
  env?: Record<string, string>
}

/** Starts a server that runs jobs. */
export function useBerth({ config = '', env = {} }: BerthOptions = {}) {
  let database: TestDatabase | undefined
  let start: () => Promise<BerthServer>
  const setup = new CliSetup(
    async (dataDir) => {
      const file = join(dataDir, 'berth.yaml')
      await writeFile(file, typeof config === 'string' ? config : config())
      database = await createDatabase()
      const port = await freePort()
      const variables = { DATABASE_URL: database.url, BERTH_CONFIG: file, ...env }
      start = () => startBerth({ dataDir, port, env: variables })
      return start()
    },
    async (server) => {
      await server.end()
      await database?.close()
    },
  )
  return Object.assign(setup, {
    database: () => (database as TestDatabase).db.sql,
    /** Restarts an ended server on the same port. */
    async start() {
      setup.server = await start()
    },
  })
}
