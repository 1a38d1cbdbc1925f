import { readFile, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { CommandLine, type Ended, type Running } from '../support/command-line.ts'
import { makeDirectory } from '../support/directory.ts'
import { Issuer } from '../support/issuer.ts'
import { followLogInPages } from '../support/login-pages.ts'
import { startServer, type TestServer } from '../support/server.ts'

/** A server with an OpenID provider, and accounts that log in to it with the command line. */
export class LoginWorld {
  readonly issuer = new Issuer()
  server: TestServer | undefined

  async open(options: { isPlain?: boolean; idTokenSeconds?: number } = {}): Promise<void> {
    const issuer = await this.issuer.listen()
    const claims = { userClaim: 'email', levelClaim: 'groups', levels: { research: 'LEAD' }, teamsClaim: null } as const
    this.server = await startServer({
      logIn: { oidc: { issuer, audience: 'berth-web', ...claims } },
      facts: { oidc: { issuer, clientId: 'berth-web', scopes: ['openid', 'profile', 'email', 'offline_access'] } },
    })
    await this.issuer.serve(this.server.url, { idTokenSeconds: 600, ...options })
  }

  async close(): Promise<void> {
    await this.server?.[Symbol.asyncDispose]()
    await this.issuer.close()
  }

  get url(): string {
    return this.server?.url ?? ''
  }

  /** Name of the context that a log-in creates. */
  get contextName(): string {
    return new URL(this.url).host.replace(':', '-')
  }

  /** Creates the command line of a new account without files. */
  async account(): Promise<CommandLine> {
    return new CommandLine(makeDirectory())
  }

  /** Runs `berth login` until the provider redirects. */
  async beginLogIn(account: CommandLine): Promise<{ command: Running; returnUrl: string }> {
    const command = account.begin(['login', this.url])
    const [address] = await command.find(/http:\S+\/auth\?\S+/)
    return { command, returnUrl: await followLogInPages(address, 'ann') }
  }

  async logIn(account: CommandLine): Promise<Ended> {
    const { command, returnUrl } = await this.beginLogIn(account)
    await fetch(returnUrl)
    return command.ended
  }

  contextPath = ({ home }: CommandLine): string => join(home, 'config/berth/contexts', `${this.contextName}.json`)

  async readContext(account: CommandLine) {
    return JSON.parse(await readFile(this.contextPath(account), 'utf8'))
  }

  async changeContext(account: CommandLine, change: object): Promise<void> {
    const context = { ...(await this.readContext(account)), ...change }
    await writeFile(this.contextPath(account), JSON.stringify(context))
  }

  /** Writes a lock held by the process `pid`. */
  lock = (account: CommandLine, pid: number): Promise<void> =>
    writeFile(this.contextPath(account).replace(/json$/, 'lock'), `${hostname()} ${pid} mark`)
}
