import { execFile } from 'node:child_process'
import { copyFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { CommandLine } from '../support/command-line.ts'
import { makeDirectory } from '../support/directory.ts'
import { root } from '../support/sources.ts'

const run = promisify(execFile)
const env = { PATH: '/usr/bin:/bin' }
const folder = makeDirectory()

it('berth runs from any folder, through symbolic links, with its own Node', async () => {
  await symlink(join(root, 'berth'), join(folder, 'one'))
  await symlink('one', join(folder, 'two'))
  const { stdout } = await run(join(folder, 'two'), ['--version'], { cwd: '/', env })
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
})

it('berth runs if it is found through PATH', async () => {
  const { stdout } = await run('two', ['--version'], { cwd: '/', env: { PATH: `${folder}:${env.PATH}` } })
  expect(stdout).toMatch(/^\d/)
})

it('berth prints the remedy if its packages are not installed', async () => {
  await copyFile(join(root, 'berth'), join(folder, 'berth'))
  await expect(run(join(folder, 'berth'), [], { env })).rejects.toMatchObject({
    code: 1,
    stderr: `berth: its packages are not installed; run: cd '${folder}' && npm ci\n`,
  })
})

it('berth prints the required Node version if it finds only an older one, without WebSocket', async () => {
  const older = { ...env, NODE_OPTIONS: '--no-experimental-websocket' }
  await expect(run(process.execPath, [join(root, 'src/cli/main.ts'), 'ls'], { env: older })).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^berth: Berth needs Node 22.22 or newer; this is v[\d.]+; install a newer Node\n$/),
  })
  const program = `import('${join(root, 'src/client/index.ts')}').then(({ createClient }) => createClient({ url: 'http://a' }))`
  await expect(run(process.execPath, ['-e', program], { env: older })).rejects.toMatchObject({
    stderr: expect.stringContaining('TypeError: This platform has no WebSocket: use Node 22 or newer'),
  })
})

it('options of the command of a job, before and after --, are not passed to Node', async () => {
  const options = [
    '--env-file',
    '--env-file=x',
    '--experimental-config-file',
    '--experimental-default-config-file',
    ':',
  ]
  for (const words of [options, ['--', ...options], ['a b', "'", '"$HOME"', '', '*', ...options]]) {
    const { stdout } = await run(join(folder, 'two'), ['submit', '--print-spec', 'echo', ...words], { env })
    const command = words[0] === '--' ? ['echo', '--', ...options] : ['echo', ...words]
    expect(parse(stdout)).toEqual({ command })
  }
  const many = Array.from({ length: 2_000 }, (_, number) => String(number))
  const { stdout } = await run(join(folder, 'two'), ['submit', '--print-spec', '--', 'echo', ...many], { env })
  expect(parse(stdout)).toEqual({ command: ['echo', ...many] })
})

it('an option without a value before -- is refused, and does not take -- as its value', async () => {
  const refusal = {
    code: 2,
    stderr: expect.stringMatching(/^berth: option '.+' has no value; write its value before "--"\n$/),
  }
  const launched = run(join(folder, 'two'), ['submit', '--tag', '--', 'true'], { env })
  await expect(launched).rejects.toMatchObject(refusal)
  for (const flag of ['--image', '-f'])
    expect(await new CommandLine(folder).run(['submit', flag, '--', 'true'])).toMatchObject(refusal)
})

it('NODE_OPTIONS is passed on to the command of a job', async () => {
  const theirs = { ...env, NODE_OPTIONS: '--import ./register.js' }
  const { stdout } = await run(join(folder, 'two'), ['submit', '--print-spec', '--env', 'NODE_OPTIONS', 'node'], {
    env: theirs,
  })
  expect(parse(stdout)).toEqual({
    command: ['node'],
    environment: [{ name: 'NODE_OPTIONS', value: '--import ./register.js' }],
  })
})
