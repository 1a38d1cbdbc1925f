import { execFileSync, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readText } from '../../src/config/read-text.ts'
import { loadConfig } from '../../src/config.ts'
import { makeDirectory } from '../support/directory.ts'

const folder = makeDirectory()

const load = (path: string) => loadConfig({ argv: ['--config', path], env: {}, readFile: readText })

function written(yaml: string): string {
  const path = join(folder, 'berth.yaml')
  writeFileSync(path, yaml)
  return path
}

const webhook = (secret: string) => `webhooks: [{ name: chat, url: "https://chat.example.org", secret: ${secret} }]`
const whsec = `whsec_${Buffer.alloc(32).toString('base64')}`

test.each([
  ['auth: { bootstrapToken: a-long-secret }', true],
  [`auth: { bootstrapToken: "\${TOKEN}" }`, false],
  ['database: { url: "postgres://berth:pass@db/berth" }', true],
  ['database: { url: "postgres://db/berth" }', false],
  [webhook(whsec), true],
  [webhook(`["\${WHSEC}", ${whsec}]`), true],
  [webhook(`"\${WHSEC}"`), false],
  ['webhooks: []', false],
])('a file with %s has a secret: %s', (yaml, hasSecret) => {
  const path = written(yaml)
  const env = { TOKEN: 'a-long-secret', WHSEC: whsec }
  const { secretsFile } = loadConfig({ argv: ['--config', path], env, readFile: readText })
  expect(secretsFile).toBe(hasSecret ? path : null)
})

test.each([
  ['queues: &a [*a]', 'has an alias (*) that contains itself; correct the YAML'],
  ['pools: [{ name: x, limits: &a { b: [{ c: *a }] } }]', 'has an alias (*) that contains itself; correct the YAML'],
  [`pools: ${'['.repeat(50_000)}`, 'correct the YAML'],
  ['# \n'.repeat(400_000), 'has 1200000 characters; keep it below 1048576'],
])('a malformed configuration file is refused with a message of one line: %.60s', (yaml, refusal) => {
  const path = written(yaml)
  expect(() => load(path)).toThrow(new RegExp(`^${path}: [^\\n]*$`))
  expect(() => load(path)).toThrow(refusal)
})

test('a YAML alias is accepted', () => {
  const [, second] = load(
    written('queues: [{ name: a, pool: local, native: &n { p: x } }, { name: b, pool: local, native: *n }]'),
  ).queues
  expect(second?.native).toEqual({ p: 'x' })
})

test('an error message shows only the beginning of a long value', () => {
  expect(() => load(written('x'.repeat(1_000_000)))).toThrow(/^the file: "x{199}… is not a YAML mapping; .{1,60}$/)
})

test('a named pipe, a device or a folder as configuration file is rejected without blocking', () => {
  const pipe = join(folder, 'pipe')
  execFileSync('mkfifo', [pipe])
  for (const path of [pipe, '/dev/zero'])
    expect(() => load(path)).toThrow(`${path}: cannot be read (it is not a file); check the path of --config`)
  expect(() => load(folder)).toThrow(`${folder}: cannot be read`)
  expect(load('/dev/null').logLevel).toBe('info')
})

test('a configuration file that is not UTF-8 is rejected', () => {
  const path = join(folder, 'latin1.yaml')
  writeFileSync(path, Buffer.from('dataDir: /srv/gr\xf6\xdfe', 'latin1'))
  expect(() => load(path)).toThrow(`${path}: cannot be read (it is not in UTF-8)`)
})

test('the configuration file may be a pipe of the shell', () => {
  const program = `import { loadConfig } from './src/config.ts'
    import { readText } from './src/config/read-text.ts'
    console.log(loadConfig({ argv: ['--config', process.argv[1]], env: {}, readFile: readText }).logLevel)`
  for (const command of [
    '"$0" --input-type=module -e "$1" <(echo "logLevel: debug")',
    'echo "logLevel: debug" | "$0" --input-type=module -e "$1" /dev/stdin',
  ]) {
    const { stdout, stderr } = spawnSync('bash', ['-c', command, process.execPath, program], { encoding: 'utf8' })
    expect([stdout, stderr]).toEqual(['debug\n', ''])
  }
})
