import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core'
import { type BerthProcess, startBerthProcess } from '../../support/berth-process.ts'
import { type BerthOptions, type BerthServer, startBerth } from '../../support/berth-server.ts'
import { launchChromium } from '../../support/chromium.ts'
import { CommandLine } from '../../support/command-line.ts'
import { root } from '../../support/sources.ts'

/** The console in a browser, against real servers with real jobs: `npm run test:browser`. */

const waitMsMax = 30_000

/** The secret of the administrator of a server that `startWithUsers` starts. */
export const adminToken = 'a-secret-of-the-administrator-of-the-console'

/** One node without a limit of the machine: jobs run as the account of the tests. */
export const localPools = [
  { name: 'local', executor: 'local', jobsAsRoot: true, nodes: [{ name: 'n1', cpu: 2, memoryGib: 2 }] },
]

/** One browser for all test files of a worker. It ends with the process. */
let browser: Promise<Browser> | undefined

function prepareBrowser(): Promise<Browser> {
  execFileSync(process.execPath, [join(root, 'web/build.ts')])
  return launchChromium()
}

interface Database {
  readonly url: string
  close(): Promise<void>
}

type OpenDatabase = () => Promise<Database>

/** A browser, and servers in a folder. Closing it ends its pages and servers. */
export class Console {
  browser!: Browser
  directory!: string
  /** Errors and warnings of all pages; each report of the content security policy is one of them. */
  readonly complaints: string[] = []
  readonly #contexts: BrowserContext[] = []
  readonly #servers: BerthServer[] = []
  readonly #openDatabase: OpenDatabase | undefined
  readonly #databases = new Map<string, Database>()

  /** Without `openDatabase`, each server has its own embedded PostgreSQL. */
  constructor(openDatabase?: OpenDatabase) {
    this.#openDatabase = openDatabase
  }

  async open(): Promise<void> {
    browser ??= prepareBrowser()
    this.browser = await browser
    this.directory = await mkdtemp(join(tmpdir(), 'berth-console-'))
  }

  async close(): Promise<void> {
    await Promise.all(this.#contexts.map((context) => context.close()))
    await Promise.all(this.#servers.map((server) => server.end()))
    for (const database of this.#databases.values()) await database.close()
    if (this.directory) await rm(this.directory, { recursive: true, force: true })
  }

  /** Opens a fresh profile. With a token, its tabs are logged in to the server. */
  async openContext(
    options: Parameters<Browser['newContext']>[0] = {},
    logIn?: { server: BerthServer; token: string },
  ): Promise<BrowserContext> {
    const context = await this.browser.newContext({ viewport: { width: 1280, height: 860 }, ...options })
    this.#contexts.push(context)
    context.setDefaultTimeout(waitMsMax)
    context.on('weberror', (error) => this.complaints.push(String(error.error())))
    context.on('console', (message) => {
      const isOfNetwork = /^(Failed to load resource|WebSocket connection to)/.test(message.text())
      if (['warning', 'error'].includes(message.type()) && !isOfNetwork) this.complaints.push(message.text())
    })
    await context.addInitScript(`addEventListener('securitypolicyviolation', (event) =>
      console.error('refused by the policy:', event.violatedDirective, event.blockedURI))`)
    if (logIn)
      await context.addInitScript(
        `if (location.origin === '${logIn.server.url}') sessionStorage.setItem('berth-token', '${logIn.token}')`,
      )
    return context
  }

  /** Starts a server with these settings of `berth.yaml`. */
  async start(name: string, settings: object = {}, env: Record<string, string> = {}): Promise<BerthServer> {
    return this.#keep(await startBerth(await this.#prepare(name, settings, env)))
  }

  /** Like `start`, but in a separate process. `restart` restarts it with its data. */
  async startProcess(name: string, settings: object = {}, env: Record<string, string> = {}): Promise<BerthProcess> {
    return this.#keep(await startBerthProcess(await this.#prepare(name, settings, env)))
  }

  async restart(name: string, port: number, env: Record<string, string> = {}): Promise<BerthProcess> {
    return this.#keep(await startBerthProcess({ ...this.#optionsOf(name, env), port }))
  }

  /** Starts a server that requires tokens; `adminToken` is the first token. */
  startWithUsers(name: string, settings: object = {}): Promise<BerthServer> {
    return this.start(name, { pools: localPools, ...settings }, { BERTH_BOOTSTRAP_TOKEN: adminToken })
  }

  #keep<Server extends BerthServer>(server: Server): Server {
    this.#servers.push(server)
    return server
  }

  async #prepare(name: string, settings: object, env: Record<string, string>): Promise<BerthOptions> {
    await writeFile(join(this.directory, `${name}.yaml`), JSON.stringify(settings))
    const database = await this.#openDatabase?.()
    if (database) this.#databases.set(name, database)
    return this.#optionsOf(name, env)
  }

  #optionsOf(name: string, env: Record<string, string>): BerthOptions {
    const folder = join(this.directory, name)
    const { url } = this.#databases.get(name) ?? {}
    const own = {
      BERTH_CONFIG: `${folder}.yaml`,
      BERTH_DATA_DIR: folder,
      ...(url !== undefined && { DATABASE_URL: url }),
    }
    return { dataDir: this.directory, env: { ...own, ...env } }
  }
}

/** Runs the command line against a server. Returns its output; throws if the command fails. */
export async function berth(server: BerthServer, args: readonly string[], token?: string): Promise<string> {
  const folders = { HOME: '', XDG_CONFIG_HOME: '' }
  const env = { ...folders, BERTH_URL: server.url, ...(token && { BERTH_TOKEN: token }) }
  const { code, stdout, stderr } = await new CommandLine(root, env).run(args)
  if (code !== 0) throw new Error(`berth ${args.join(' ')} exited with ${code}: ${stderr}`)
  return stdout.trim()
}

/** Submits a small job that runs a shell script. Returns its id. */
export function submit(server: BerthServer, name: string, script: string, token?: string): Promise<string> {
  return berth(server, ['submit', '--name', name, '--cpu', '0.05', '--mem', '1', '--', 'sh', '-c', script], token)
}

export const row = (page: Page, text: string): Locator => page.getByRole('row').filter({ hasText: text })
