import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type BerthServer, startBerth } from '../support/berth-server.ts'
import { createDatabase, openDatabase } from '../support/database.ts'
import { makeDirectory } from '../support/directory.ts'
import { mutate, personWith } from '../support/people.ts'
import { root } from '../support/sources.ts'
import { until } from '../support/until.ts'

/** A server's access mode is decided at its start; real processes share one database. */
const secret = 'bootstrap-secret-of-this-test'
const dataDir = makeDirectory()

const database = await openDatabase()

const started = async (env: Record<string, string> = {}, args: readonly string[] = []): Promise<BerthServer> =>
  startBerth({ dataDir, env: { DATABASE_URL: database.url, ...env }, args })

/** Returns the error message of a server that does not start. */
async function refused(env: Record<string, string> = {}, args: readonly string[] = []): Promise<string> {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env
  const child = spawn(process.execPath, [join(root, 'src/main.ts'), ...args], {
    cwd: dataDir,
    env: {
      PATH,
      HOME,
      NODE_COMPILE_CACHE,
      BERTH_DATA_DIR: dataDir,
      BERTH_PORT: '0',
      // On a slow machine there are additional warnings.
      BERTH_LOG_LEVEL: 'fatal',
      DATABASE_URL: database.url,
      ...env,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let output = ''
  child.stderr.on('data', (data) => (output += data))
  const [code] = (await once(child, 'close')) as [number | null]
  expect(code).toBe(1)
  return output
}

const info = '{ serverInfo { singleUser } }'

describe('the access mode of a server', () => {
  it('is single-user without users and tokens, and then serves only on loopback', async () => {
    expect(await refused({ BERTH_HOST: '0.0.0.0' })).toMatch(/^server.host: "0.0.0.0" is reachable.*bootstrapToken/)
    const server = await started()
    const local = personWith(server.url, '')
    expect(await local.data(info)).toEqual({ serverInfo: { singleUser: true } })
    expect((await local.data('{ viewer { user { name level } } }'))['viewer'].user).toEqual({
      name: 'local',
      level: 'ADMIN',
    })
    // Users and tokens that are created now take effect at the next start.
    await mutate(local, 'createUser', { input: { name: 'ann', level: 'RESEARCHER' } })
    expect(await local.data(info)).toEqual({ serverInfo: { singleUser: true } })
    await server.end()
  })

  it('prevents the start of a server to which no user could log in', async () => {
    expect(await refused()).toMatch(/^auth: login is required.*no user can log in; set auth.bootstrapToken/)
  })

  it('is multi-user with a bootstrap token, and the server listens on BERTH_HOST', async () => {
    const server = await started({ BERTH_BOOTSTRAP_TOKEN: secret, BERTH_HOST: '0.0.0.0' })
    expect(await personWith(server.url, '').data(info)).toEqual({ serverInfo: { singleUser: false } })
    expect((await personWith(server.url, '').ask('{ viewer { permissions } }')).status).toBe(401)
    const admin = personWith(server.url, secret)
    const { viewer } = await admin.data('{ viewer { user { name level } } }')
    expect(viewer.user).toEqual({ name: 'admin', level: 'ADMIN' })
    expect(server.output()).not.toContain(secret)
    await server.end()
  })

  it('stays multi-user without BERTH_BOOTSTRAP_TOKEN while a token is valid; other processes notice a revocation', async () => {
    const [one, two] = [await started(), await started()]
    const [here, there] = [personWith(one.url, secret), personWith(two.url, secret)]
    const { tokens } = await here.data('{ tokens { nodes { id name } } }')
    expect((await there.data('{ viewer { user { name } } }'))['viewer'].user.name).toBe('admin')
    await here.data('mutation ($id: ID!) { revokeToken(input: { tokenId: $id }) { __typename } }', {
      id: tokens.nodes[0].id,
    })
    expect((await there.ask('{ viewer { user { name } } }')).status).toBe(401)
    await Promise.all([one.end(), two.end()])
    expect(await refused({ BERTH_BOOTSTRAP_TOKEN: secret })).toMatch(/to a new secret/)
  })

  it('is logged with a warning if every account can read the configuration with the bootstrap token', async () => {
    const file = join(dataDir, 'berth.yaml')
    await writeFile(file, `auth: { bootstrapToken: ${secret} }\n`)
    const warning = 'every account of this machine can read the secrets of the file; chmod o-r it'
    for (const [mode, warns] of [
      [0o644, true],
      [0o640, false],
    ] as const) {
      await chmod(file, mode)
      // The token is revoked.
      const output = await refused({ BERTH_LOG_LEVEL: 'warn' }, ['--config', file])
      expect(output).toMatch(/to a new secret/)
      expect(output.includes(warning)).toBe(warns)
    }
  })

  it('is single-user again only after a start with --single-user', async () => {
    expect(await refused()).toMatch(/^auth: login is required/)
    expect(await refused({ BERTH_BOOTSTRAP_TOKEN: 'another-secret-of-this-test' }, ['--single-user'])).toMatch(
      /BERTH_BOOTSTRAP_TOKEN: is set, which /,
    )
    expect(await refused({ BERTH_HOST: '0.0.0.0' }, ['--single-user'])).toMatch(/^server.host: "0.0.0.0" is reachable/)
    const server = await started({}, ['--single-user'])
    expect(await personWith(server.url, '').data(info)).toEqual({ serverInfo: { singleUser: true } })
    await server.end()
    const again = await started()
    expect(await personWith(again.url, '').data(info)).toEqual({ serverInfo: { singleUser: true } })
    await again.end()
  })

  it('of a running single-user server changes when another server on the same database has users', async () => {
    await using opened = new AsyncDisposableStack()
    const { url: DATABASE_URL } = opened.use(await createDatabase())
    const start = async (env: Record<string, string>, args: readonly string[] = []) => {
      const server = await started({ DATABASE_URL, ...env }, args)
      opened.defer(async () => void (await server.end()))
      return server
    }
    const alone = await start({}, ['--single-user'])
    const anonymous = personWith(alone.url, '')
    expect(await anonymous.data(info)).toEqual({ serverInfo: { singleUser: true } })
    await start({ BERTH_BOOTSTRAP_TOKEN: secret })
    const isRefused = () =>
      anonymous.data('{ viewer { permissions } }').then(
        () => false,
        () => true,
      )
    await until(isRefused, { what: 'the server refuses anonymous callers' })
    const nameOf = () =>
      personWith(alone.url, secret)
        .data('{ viewer { user { name } } }')
        .then(
          ({ viewer }) => viewer.user.name,
          () => null,
        )
    expect(await until(nameOf, { what: 'the server accepts the token' })).toBe('admin')
    expect((await anonymous.ask('{ viewer { permissions } }')).status).toBe(401)
    expect(alone.output()).toContain('another server of this database entered multi-user mode')
  })
})
