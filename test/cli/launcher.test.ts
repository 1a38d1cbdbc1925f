import { execFile } from 'node:child_process'
import { copyFile, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { root } from '../support/sources.ts'

const run = promisify(execFile)
const env = { PATH: '/usr/bin:/bin' }
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'berth-launcher-'))
})
afterAll(() => rm(folder, { recursive: true }))

it('runs from any folder, through symbolic links, with its own Node', async () => {
  await symlink(join(root, 'berth'), join(folder, 'one'))
  await symlink('one', join(folder, 'two'))
  const { stdout } = await run(join(folder, 'two'), ['--version'], { cwd: '/', env })
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
})

it('is found through PATH', async () => {
  const { stdout } = await run('two', ['--version'], { cwd: '/', env: { PATH: `${folder}:${env.PATH}` } })
  expect(stdout).toMatch(/^\d/)
})

it('says what to do where nothing is installed', async () => {
  await copyFile(join(root, 'berth'), join(folder, 'berth'))
  await expect(run(join(folder, 'berth'), [], { env })).rejects.toMatchObject({
    code: 1,
    stderr: `berth: its packages are not installed; run: cd '${folder}' && npm ci\n`,
  })
})

it('names the Node that is needed where an older one is found, which has no WebSocket', async () => {
  const older = { ...env, NODE_OPTIONS: '--no-experimental-websocket' }
  await expect(run(join(folder, 'two'), ['ls'], { env: older })).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^berth: Berth needs Node 22.22 or newer; this is v[\d.]+; install a newer Node\n$/),
  })
  const program = `import('${join(root, 'src/client/index.ts')}').then(({ createClient }) => createClient({ url: 'http://a' }))`
  await expect(run(process.execPath, ['-e', program], { env: older })).rejects.toMatchObject({
    stderr: expect.stringContaining('TypeError: There is no WebSocket here: use Node 22 or newer'),
  })
})
