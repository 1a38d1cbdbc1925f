import { globSync } from 'node:fs'
import { chmod, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Db, openDb } from '../../src/platform/db.ts'
import { createLog } from '../../src/platform/log.ts'
import { type BerthProcess, startBerthProcess } from './berth-process.ts'
import { freePort } from './berth-server.ts'
import { makeDirectory } from './directory.ts'
import { until } from './until.ts'

const backMsMax = 120_000

/** A server with its own PostgreSQL. A test kills either with `kill -9`, and both return at the same address. */
export class KillableServer {
  readonly dataDir: string
  readonly #port: number
  #process: BerthProcess

  private constructor(dataDir: string, port: number, started: BerthProcess) {
    this.dataDir = dataDir
    this.#port = port
    this.#process = started
  }

  static async start(): Promise<KillableServer> {
    const dataDir = makeDirectory()
    await chmod(dataDir, 0o711) // Under root the database runs as another account.
    const port = await freePort()
    return new KillableServer(dataDir, port, await startBerthProcess({ dataDir, port }))
  }

  get url(): string {
    return this.#process.url
  }

  async kill(what: 'server' | 'database'): Promise<void> {
    if (what === 'server') {
      await this.#process.end('SIGKILL')
      this.#process = await startBerthProcess({ dataDir: this.dataDir, port: this.#port })
      return
    }
    const [file = ''] = globSync(join(this.dataDir, 'postgres/**/postmaster.pid'))
    process.kill(Number((await readFile(file, 'utf8')).split('\n')[0]), 'SIGKILL')
    await until(async () => (await fetch(`${this.url}/readyz`)).ok, {
      what: 'the database is back',
      timeoutMs: backMsMax,
    })
  }

  async withDatabase<T>(work: (db: Db) => Promise<T>): Promise<T> {
    const home = join(this.dataDir, 'postgres')
    const [password, at] = await Promise.all(
      ['cluster/password', 'port'].map((name) => readFile(join(home, name), 'utf8')),
    )
    const url = `postgresql://berth:${password}@127.0.0.1:${at?.trim()}/berth`
    const db = openDb({ address: { url }, connectionsMax: 2, log: createLog('silent'), applicationName: 'test' })
    try {
      return await work(db)
    } finally {
      await db.close()
    }
  }

  end = () => this.#process.end()
}
