import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text as readText } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { CommandLine } from '../support/command-line.ts'
import { makeDirectory } from '../support/directory.ts'
import { code } from '../support/sources.ts'

/** A server that accepts every token but "wrong", and records the tokens that it gets. */
class Recorder {
  readonly tokens: (string | null)[] = []
  singleUser = false
  readonly #name: string
  readonly #server: Server = createServer(async (request, response) => {
    const token = request.headers.authorization?.replace('Bearer ', '') ?? null
    this.tokens.push(token)
    const { query } = JSON.parse(await readText(request)) as { query: string }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(this.#answer(query, token)))
  })

  constructor(name: string) {
    this.#name = name
  }

  async open(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  get contextName(): string {
    return new URL(this.url).host.replace(':', '-')
  }

  #answer(query: string, token: string | null): object {
    const { singleUser } = this
    const facts = { id: 'server', release: '0.1.0', singleUser, oidcIssuer: null, oidcClientId: null, oidcScopes: [] }
    if (query.includes('serverInfo')) return { data: { serverInfo: facts } }
    if (token === null || token === 'wrong')
      return { errors: [{ message: 'The token is not valid', extensions: { code: 'UNAUTHENTICATED' } }] }
    const user = { id: 'user_1', name: `ann of ${this.#name}`, level: 'LEAD' }
    return { data: { viewer: { id: 'v', permissions: [], scopes: ['READ'], expiresAt: null, user } } }
  }
}

const one = new Recorder('one')
const two = new Recorder('two')
let home: string
let account: CommandLine

beforeAll(async () => {
  for (const each of [one, two]) await each.open()
})
afterAll(() => {
  for (const each of [one, two]) each.close()
})
beforeEach(async () => {
  home = makeDirectory()
  account = new CommandLine(home)
})
afterEach(async () => {
  for (const each of [one, two]) {
    each.tokens.length = 0
    each.singleUser = false
  }
})

const logIn = (url: string, token: string, ...more: string[]) =>
  account.run(['login', url, '--token', '-', ...more], { input: `${token}\n` })

async function logInToBoth(): Promise<void> {
  expect((await logIn(one.url, 'token-1', '--context', 'one')).code).toBe(0)
  expect((await logIn(two.url, 'token-2', '--context', 'two')).code).toBe(0)
  one.tokens.length = 0
  two.tokens.length = 0
}

describe('berth login --token', () => {
  it('checks the token with the server before it stores the token', async () => {
    const refused = await logIn(one.url, 'wrong')
    expect(refused).toEqual({
      code: 6,
      stdout: '',
      stderr: `berth: ${one.url} refuses the token; make one in the console, or ask an administrator\n`,
    })
    expect((await account.run(['context', 'ls', '-o', 'ids'])).stdout).toBe('')
    expect(await logIn(one.url, 'token-1')).toMatchObject({
      code: 0,
      stdout: '',
      stderr: `Logged in to ${one.url} as ann of one; the current context is ${one.contextName}.\n`,
    })
    expect((await account.run(['whoami'])).stdout).toMatch(/^user +ann of one\n[\s\S]*valid until +no end\n$/)
  })

  it('replaces the token of a known server, and keeps the name of its context', async () => {
    await logIn(one.url, 'token-1', '--context', 'mine')
    await logIn(`${one.url}/graphql`, 'token-3')
    expect((await account.run(['context', 'ls', '-o', 'ids'])).stdout).toBe('mine\n')
    one.tokens.length = 0
    await account.run(['whoami'])
    expect(one.tokens).toEqual(['token-3'])
  })

  it('refuses the name of a context that belongs to another server', async () => {
    await logIn(one.url, 'token-1', '--context', 'mine')
    expect(await logIn(two.url, 'token-2', '--context', 'mine')).toMatchObject({
      code: 2,
      stderr: `berth: context mine belongs to ${one.url}; choose another name with --context\n`,
    })
    expect(two.tokens).toEqual([])
  })

  it.each([
    [
      ['--token', 'secret'],
      '--token: other accounts of the machine can read arguments; pass it with "berth login --token -"',
    ],
    [['--token', 'http://a'], '--token: the URL stands behind it; write "berth login URL --token"'],
    [['--token'], 'stdin is not a terminal; pass the token with "berth login --token - < file"'],
    [[], 'stdin is not a terminal; pass the token with "berth login --token - < file"'],
    [['--device'], () => `${one.url} offers no log-in by OpenID; use an API token with "berth login --token"`],
    [['--context', '../a'], '--context: "../a" is not a name; use a-z, 0-9 and . _ -, at most 63 characters'],
  ])('is refused in one line with the arguments %j', async (args, message) => {
    const { code, stderr } = await account.run(['login', one.url, ...args])
    const text = typeof message === 'string' ? message : message()
    expect({ code, stderr }).toEqual({ code: 2, stderr: `berth: ${text}\n` })
  })

  it.runIf(process.platform === 'linux')('asks for the token on a terminal without showing it', async () => {
    const command = account.startOnTerminal(['login', one.url, '--token'])
    await command.find(/API token: /)
    command.child.stdin?.write('token-1\r')
    const { code, stdout } = await command.ended
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^API token: \s*Logged in to \S+ as ann of one; [^\n]*\n$/),
    })
    expect(one.tokens).toEqual([null, 'token-1'])
    const interrupted = account.startOnTerminal(['login', one.url, '--token'])
    await interrupted.find(/API token: /)
    interrupted.child.stdin?.write('\u0003')
    expect((await interrupted.ended).code).toBe(130)
  })

  it('stores no token for a server in single-user mode', async () => {
    one.singleUser = true
    expect(await account.run(['login', one.url])).toMatchObject({
      code: 0,
      stderr: `${one.url} has one user and needs no log-in.\nLogged in to ${one.url}; the current context is ${one.contextName}.\n`,
    })
  })
})

describe('the files of contexts', () => {
  const files = () => join(home, 'config/berth')

  it('can be read only by the account that owns them', async () => {
    await logInToBoth()
    const modes = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)
    expect(await modes(files())).toBe('700')
    expect(await modes(join(files(), 'contexts'))).toBe('700')
    for (const name of ['contexts/one.json', 'contexts/two.json', 'current-context'])
      expect(await modes(join(files(), name))).toBe('600')
    expect((await readdir(join(files(), 'contexts'))).sort()).toEqual(['one.json', 'two.json'])
  })

  it('are refused, with the command that fixes them, if other accounts may read a token in them', async () => {
    await logInToBoth()
    const path = join(files(), 'contexts/two.json')
    await chmod(path, 0o640)
    expect(await account.run(['whoami'])).toEqual({
      code: 2,
      stdout: '',
      stderr: `berth: ${path} holds a token and is open to other accounts; type "chmod 600 ${path}"\n`,
    })
    expect(two.tokens).toEqual([])
    expect((await account.run(['whoami', '--context', 'one'])).code).toBe(0)
    await chmod(path, 0o600)
    expect((await account.run(['whoami'])).code).toBe(0)
  })

  it('are refused, with the next step, if they are not valid JSON', async () => {
    await mkdir(join(files(), 'contexts'), { recursive: true })
    const path = join(files(), 'contexts/one.json')
    await writeFile(path, '{"url": 4', { mode: 0o600 })
    const { code, stderr } = await account.run(['whoami', '--context', 'one'])
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `berth: ${path} is not a context; remove it with "rm ${path}", and log in again\n`,
    })
    expect((await logIn(two.url, 'token-2', '--context', 'two')).code).toBe(0)
    expect((await logIn(two.url, 'token-2')).code).toBe(0)
    expect(await account.run(['context', 'ls', '-o', 'ids'])).toMatchObject({
      code: 2,
      stdout: 'two\n',
      stderr: expect.stringMatching(/^berth: one: .* is not a context; .*\n$/),
    })
  })

  it('are under ~/.config without XDG_CONFIG_HOME', async () => {
    await account.run(['login', one.url, '--token', '-'], { input: 'token-1', env: { XDG_CONFIG_HOME: '' } })
    expect(await readFile(join(home, '.config/berth/current-context'), 'utf8')).toBe(`${one.contextName}\n`)
  })
})

describe('the server of a command', () => {
  beforeEach(logInToBoth)

  it.each<[string, { args?: string[]; env?: () => Record<string, string>; one?: string[]; two?: (string | null)[] }]>([
    ['is that of the current context', { two: ['token-2'] }],
    ['is that of BERTH_CONTEXT', { env: () => ({ BERTH_CONTEXT: 'one' }), one: ['token-1'] }],
    ['is that of --context', { args: ['--context', 'one'], env: () => ({ BERTH_CONTEXT: 'two' }), one: ['token-1'] }],
    [
      'is that of --context, with its token, even if BERTH_URL and BERTH_TOKEN are set',
      { args: ['--context', 'one'], env: () => ({ BERTH_URL: two.url, BERTH_TOKEN: 'other' }), one: ['token-1'] },
    ],
    ['is that of BERTH_URL', { env: () => ({ BERTH_URL: one.url, BERTH_TOKEN: 'other' }), one: ['other'] }],
    ['receives BERTH_TOKEN, not the token of the context', { env: () => ({ BERTH_TOKEN: 'other' }), two: ['other'] }],
    [
      'receives the token of the context if BERTH_URL has the origin of the context',
      { env: () => ({ BERTH_URL: `${two.url}/graphql` }), two: ['token-2'] },
    ],
  ])('%s', async (_, { args = [], env = () => ({}), one: first = [], two: second = [] }) => {
    expect(await account.run(['whoami', ...args], { env: env() })).toMatchObject({ code: 0, stderr: '' })
    expect([one.tokens, two.tokens]).toEqual([first, second])
  })

  it('does not receive the token of a context with another origin', async () => {
    for (const url of [one.url, one.url.replace('127.0.0.1', 'localhost')]) {
      const { code, stderr } = await account.run(['whoami'], { env: { BERTH_URL: url } })
      expect(code === 6 || code === 4).toBe(true)
      expect(stderr).toMatch(/^berth: .*\n$/)
    }
    expect(new Set(one.tokens)).toEqual(new Set([null]))
    expect(two.tokens).toEqual([])
  })

  it('is chosen by --context before or after the command name, and also for @last', async () => {
    for (const args of [
      ['--context', 'one', 'whoami'],
      ['--context=one', 'whoami'],
      ['user', 'info', '--context', 'one'],
      ['user', '--context', 'one', 'info'],
    ])
      await account.run(args)
    const { stderr } = await account.run(['info', '@last', '--context', 'one'])
    expect(stderr).toContain(`no job was submitted to ${one.url} from here`)
    expect([one.tokens, two.tokens]).toEqual([Array(4).fill('token-1'), []])
  })

  it('is not that of the context for "berth up", which looks for a server on this machine', async () => {
    await account.run(['context', 'use', 'one'])
    const { stdout } = await account.run(['up'], { env: { BERTH_PORT: new URL(two.url).port } })
    expect(stdout).toBe(`Berth 0.1.0 is already running at ${two.url}\n`)
    expect([one.tokens, two.tokens]).toEqual([[], [null]])
  })

  it('is chosen by one function, except for a log-in and "berth up"', () => {
    const connecting = code.filter(({ path, text }) => path.startsWith('src/cli/') && /\bcreateClient\(/.test(text))
    const paths = connecting.map(({ path }) => path.slice('src/cli/'.length))
    expect(paths.sort()).toEqual(['commands/up.ts', 'frame/run-command.ts', 'login/new-credential.ts'])
  })

  it('provides the values for shell completion of arguments', async () => {
    await account.run(['__complete', '--', 'ls', '--context', 'one', '--user', ''])
    expect([one.tokens, two.tokens]).toEqual([['token-1'], []])
    const { stdout } = await account.run(['__complete', '--', 'ls', '--context', ''])
    expect(stdout).toBe('one\t\ntwo\t\n')
  })

  it('is an error if the context does not exist', async () => {
    for (const options of [{ env: { BERTH_CONTEXT: 'three' } }, {}]) {
      const args = options.env ? ['whoami'] : ['whoami', '--context', 'three']
      expect(await account.run(args, options)).toEqual({
        code: 5,
        stdout: '',
        stderr: 'berth: Context three not found; the contexts are one, two\n',
      })
    }
    expect([one.tokens, two.tokens]).toEqual([[], []])
  })
})

describe('berth context', () => {
  beforeEach(logInToBoth)

  it('ls lists contexts without their tokens', async () => {
    const { stdout } = await account.run(['context'])
    expect(stdout.split('\n').map((line) => line.split(/ {2,}/).map((cell) => cell.trim()))).toEqual([
      ['CURRENT', 'NAME', 'SERVER', 'USER', 'LOG-IN'],
      ['', 'one', one.url, 'ann of one', 'token'],
      ['*', 'two', two.url, 'ann of two', 'token'],
      [''],
    ])
    expect((await account.run(['context', 'ls', '-o', 'json'])).stdout).not.toContain('token-')
  })

  it('use selects the server of later commands', async () => {
    expect(await account.run(['context', 'use', 'one'])).toMatchObject({
      code: 0,
      stderr: `The current context is one: ${one.url}\n`,
    })
    await account.run(['whoami'])
    expect([one.tokens, two.tokens]).toEqual([['token-1'], []])
  })

  it('rm removes contexts, and does not make another context the current one', async () => {
    expect((await account.run(['context', 'rm', 'two', 'three'])).code).toBe(5)
    const { stdout } = await account.run(['context', 'ls', '-o', 'json'])
    expect(JSON.parse(stdout)).toMatchObject([{ id: 'one', isCurrent: false }])
    expect((await account.run(['logout'])).stderr).toMatch(/^berth: a current context is missing; /)
  })
})

describe('berth logout', () => {
  it('removes the token of one context only', async () => {
    await logInToBoth()
    expect(await account.run(['logout', '--context', 'one'], { env: { BERTH_TOKEN: 'other' } })).toMatchObject({
      code: 0,
      stderr: `Logged out of ${one.url} (context one).\nBERTH_TOKEN is still set.\n`,
    })
    expect(await account.run(['logout', '--context', 'one'])).toMatchObject({
      code: 0,
      stderr: 'Context one had no log-in.\n',
    })
    expect((await account.run(['whoami', '--context', 'one'])).code).toBe(6)
    expect((await account.run(['whoami'])).code).toBe(0)
    expect(one.tokens).toEqual([null])
  })
})
