import { type Command, Option } from 'commander'
import { createServers } from '../../client/connection/servers.ts'
import type { Cli } from '../frame/cli.ts'
import { Stop, usageError } from '../frame/exit.ts'
import { type Context, type ContextFiles, isContextName } from '../login/context-files.ts'
import {
  type Credential,
  checkToken,
  findProvider,
  logInByOpenId,
  noCredential,
  readLogInFacts,
  readToken,
} from '../login/new-credential.ts'

interface LogInOptions {
  token?: string | true
  device?: true
  context?: string
}

export function registerLoginCommand(program: Command, cli: Cli): void {
  program
    .command('login')
    .argument('[url]', 'the server; default: that of BERTH_URL or of the current context')
    .summary('log in to a server and use it from now on')
    .description('log in to a server by its OpenID provider or with an API token, and make it the current context')
    .addOption(new Option('--token [-]', 'use an API token, typed in or, with "-", from stdin').conflicts('device'))
    .option('--device', 'log in with a browser of another machine')
    .option('--context <context>', 'name of the context (default: the host of the server)')
    .action(async (given: string | undefined, options: LogInOptions) => {
      checkTokenOption(options)
      const { name, url } = findPlace(cli, given, options.context)
      checkName(name)
      const credential = await obtainCredential(cli, url, options)
      await cli.contexts.withLock(name, async () => cli.contexts.write(name, { url, ...credential }))
      cli.contexts.use(name)
      const who = credential.user === null ? '' : ` as ${credential.user}`
      cli.terminal.say(`Logged in to ${url}${who}; the current context is ${name}.`)
      for (const variable of ['BERTH_URL', 'BERTH_TOKEN', 'BERTH_CONTEXT'])
        if (cli.env[variable]) cli.terminal.say(`${variable} is set and comes before the current context.`)
    })
}

function checkName(name: string): void {
  if (!isContextName(name))
    throw usageError(`--context: "${name}" is not a name`, 'use a-z, 0-9 and . _ -, at most 63 characters')
}

function checkTokenOption({ token }: LogInOptions): void {
  if (typeof token !== 'string' || token === '-') return
  if (URL.canParse(token)) throw usageError('--token: the URL stands behind it', 'write "berth login URL --token"')
  throw usageError('--token: other accounts of the machine can read arguments', 'pass it with "berth login --token -"')
}

/** Finds the name of the context to log in to, and its URL. */
function findPlace(cli: Cli, given: string | undefined, flag: string | undefined): { name: string; url: string } {
  if (flag === undefined && given === undefined) {
    const { url, context } = cli.server()
    return { url: normalize(url), name: context ?? findName(cli, normalize(url)) }
  }
  const known = flag === undefined ? null : cli.contexts.find(flag)
  const url = normalize(given ?? known?.url)
  if (known && known.url !== url) throw taken(flag ?? '', known)
  return { name: flag ?? findName(cli, url), url }
}

const taken = (name: string, { url }: Context) =>
  usageError(`context ${name} belongs to ${url}`, 'choose another name with --context')

function normalize(url: string | undefined): string {
  if (url === undefined) throw usageError('the URL of the server is missing', 'write "berth login URL --context NAME"')
  try {
    return createServers(url)
      .endpoint()
      .href.replace(/\/graphql$/, '')
  } catch (error) {
    if (error instanceof TypeError) throw usageError(error.message)
    throw error
  }
}

/** Reads the URL of a context; null: its file is broken or open to other accounts, which must not prevent a log-in. */
function readUrl(contexts: ContextFiles, name: string): string | null {
  try {
    return contexts.find(name)?.url ?? null
  } catch (error) {
    if (error instanceof Stop) return null
    throw error
  }
}

/** Finds the name of the context with this URL, or makes a new name from its host. */
function findName({ contexts }: Cli, url: string): string {
  const same = contexts.list().find((name) => readUrl(contexts, name) === url)
  if (same !== undefined) return same
  const name = new URL(url).host.replace(/[^a-z0-9.-]+/g, '-').replace(/^[^a-z0-9]+/, '')
  const other = contexts.find(name)
  if (other) throw taken(name, other)
  return name
}

async function obtainCredential(cli: Cli, url: string, { token, device }: LogInOptions): Promise<Credential> {
  const facts = await readLogInFacts(url)
  if (facts.singleUser) {
    cli.terminal.say(`${url} has one user and needs no log-in.`)
    return noCredential
  }
  const usesToken = token !== undefined || (!device && findProvider(facts) === null)
  return usesToken
    ? checkToken(url, await readToken(cli, token === '-'))
    : logInByOpenId(cli, { url, facts, device: device === true })
}
