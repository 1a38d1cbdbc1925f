import { execFileSync } from 'node:child_process'
import { chmod, chown, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { findAccount, singleUserRules } from '../../../src/executors/accounts/account.ts'
import { type DataRules, mountRoots, openMounts } from '../../../src/executors/backend/data-mounts.ts'
import { mountCheckProgram } from '../../../src/executors/container/mount-check.ts'
import { makeDirectory } from '../../support/directory.ts'

let directory: string
let root: string

beforeEach(async () => {
  directory = makeDirectory()
  root = join(directory, 'root')
  await mkdir(join(root, 'x'), { recursive: true })
  await chmod(directory, 0o755)
})

async function openAll(data: readonly string[], rules: Partial<DataRules> = {}) {
  const all = { roots: { data: root }, hasUsers: true, account: null, reserved: [], ...rules }
  await using open = await openMounts(data, all)
  return open.mounts
}
const refusal = (data: readonly string[], rules: Partial<DataRules> = {}) =>
  openAll(data, rules).then(
    () => 'mounted',
    (error: Error) => error.message,
  )

describe('the source of a data mount', () => {
  it('must be below a configured root after links are resolved', async () => {
    await symlink('/etc', join(root, 'out'))
    await mkdir(join(directory, 'beside'))
    await symlink(join(directory, 'beside'), join(root, 'aside'))
    await symlink(join(root, 'x'), join(root, 'in'))
    await writeFile(join(root, 'file'), '')
    expect(await openAll(['data/in:/d', `${root}/x:/e/`])).toMatchObject([
      { source: join(root, 'x'), target: '/d', below: { root, way: 'x' } },
      { source: join(root, 'x'), target: '/e', below: { root, way: 'x' } },
    ])
    const outside = ['data/out:/d', 'data/aside:/d', 'data/../beside:/d', 'data/..:/d', '/etc:/d']
    const refused = [...outside, 'data/none:/d', 'data/file:/d', '/no/such/path:/d']
    for (const each of refused)
      expect(await refusal([each])).toMatch(/ is not a directory below a data root; there are data$/)
    expect(await refusal(['other:/d'])).toBe('data other:/d: the data root other does not exist; there are data')
  })

  it.runIf(process.getuid?.() === 0)('must be a folder that the account of the job can enter', async () => {
    const account = await findAccount('nobody', singleUserRules)
    await mkdir(join(root, 'alice', 'private'), { recursive: true })
    await chown(join(root, 'alice'), 12345, 12345)
    await chmod(join(root, 'alice'), 0o700)
    await symlink(join(root, 'alice', 'private'), join(root, 'x', 'link'))
    expect(await openAll(['data/x:/d'], { account })).toHaveLength(1)
    for (const source of ['data/alice', 'data/alice/private', 'data/x/link', 'data/none'])
      expect(await refusal(['data/x:/e', `${source}:/d`], { account })).toMatch(
        / is not a directory below a data root that the account nobody can enter; there are data$/,
      )
    expect(await openAll(['data/alice/private:/d'])).toHaveLength(1)
  })
})

describe('the target of a data mount', () => {
  it.each([
    [['data/x:/d', 'data/x:/d/e'], '/d/e is mounted too, and would lie inside /d'],
    [['data/x:/d', 'data/x:/d/'], '/d is mounted too'],
    [['data/x:/'], 'is mounted too, and would lie inside /'],
    [['data/x:/d/../etc'], '/etc/hosts is mounted too, and would lie inside /etc'],
    [['data/x:/berth'], '/berth/nodes is mounted too'],
  ])('may not contain another mount: %j', async (data, message) => {
    expect(await refusal(data, { reserved: ['/berth/nodes'] })).toContain(message)
    expect(await openAll(['data/x:/d', 'data/x:/de'])).toHaveLength(2)
  })
})

const architecture = { x64: 'amd64', arm64: 'arm64' }[process.arch as string]

describe('a data mount on another machine', () => {
  const rules = { roots: { sets: '/srv/sets', home: '/home' }, hasUsers: true, account: null, reserved: [] }
  const chosen = (entry: string, given: Partial<DataRules> = {}) =>
    mountRoots([entry], { ...rules, ...given }).mounts.map(({ source, target }) => `${source} ${target}`)

  it.each(['sets:/d', 'sets/:/d', '/srv/sets:/d'])('is accepted if it is a whole data root: %s', (entry) =>
    expect(chosen(entry).join()).toMatch(/^\/srv\/sets\/? \/d$/),
  )

  it.each([
    ['sets/a:/d', 'a job mounts a whole data root'],
    ['sets/../../etc:/d', 'a job mounts a whole data root'],
    ['/etc:/d', 'a job mounts a whole data root'],
    ['none:/d', 'the data root none does not exist; there are sets, home'],
    ['sets:/proc', '/proc is mounted too'],
  ])('is refused if it is not a whole data root: %s', (entry, message) => expect(() => chosen(entry)).toThrow(message))

  it('may have any folder as its source for a single user without configured roots', () => {
    expect(chosen('/etc:/d', { roots: {}, hasUsers: false })).toEqual(['/etc /d'])
    expect(() => chosen('/etc:/d', { roots: {} })).toThrow('the configuration has none')
  })
})

describe.runIf(process.platform === 'linux' && architecture)('the script that checks data mounts', () => {
  const result = () => join(directory, 'result')
  async function run(...args: readonly string[]): Promise<string> {
    const path = join(directory, 'check')
    await writeFile(path, mountCheckProgram(architecture ?? ''), { mode: 0o755 })
    try {
      return execFileSync(path, [result(), ...args], { encoding: 'utf8', env: { PATH: '/nowhere:/usr/bin:/bin' } })
    } catch (error) {
      const { status } = error as { status: number }
      return `${status} ${execFileSync('cat', [result()], { encoding: 'utf8' })}`
    }
  }
  const identityOf = async (data: string) => (await openAll([data]))[0]?.identity ?? ''

  it('runs the command if each mounted folder is the one that was checked', async () => {
    const pairs = [join(root, 'x'), await identityOf('data/x:/d'), root, await identityOf('data:/d')]
    expect(await run(root, ...pairs, '--', 'sh', '-c', 'pwd; echo "$0"', 'a b')).toBe(`${root}\na b\n`)
    expect(await run('.', '--', '/bin/echo', '--')).toBe('--\n')
  })

  it('rejects a replaced folder, and a path through a link', async () => {
    const identity = await identityOf('data/x:/d')
    await rename(root, join(directory, 'moved'))
    await symlink('moved', root)
    expect(await run('.', join(root, 'x'), identity, '--', 'true')).toBe('125 mount\n')
    await rm(root)
    await mkdir(join(root, 'x'), { recursive: true })
    await rm(result())
    expect(await run('.', join(root, 'x'), identity, '--', 'true')).toBe('125 mount\n')
    await rm(result())
    expect(await run('.', join(root, 'none'), identity, '--', 'true')).toBe('125 mount\n')
  })

  it('rejects a working directory that it cannot enter', async () => {
    expect(await run(join(root, 'none'), '--', 'true')).toBe('125 workdir\n')
  })

  it('exits with the codes of a shell if the command cannot be executed', async () => {
    await writeFile(result(), '')
    await writeFile(join(root, 'text'), 'no program', { mode: 0o644 })
    expect(await run('.', '--', 'no-such-command')).toBe('127 ')
    expect(await run('.', '--', join(root, 'text'))).toBe('126 ')
    expect(await run('.', '--', join(root, 'text', 'x'))).toBe('127 ')
  })
})
