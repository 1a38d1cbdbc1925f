import type { Command } from 'commander'
import { expect, it } from 'vitest'
import type { Cli } from '../../src/cli/frame/cli.ts'
import { complete } from '../../src/cli/frame/completion.ts'
import { examples } from '../../src/cli/frame/examples.ts'
import { createProgram } from '../../src/cli/frame/program.ts'

const cli = {
  connection: () => {
    throw new Error('not connected')
  },
} as unknown as Cli
const program = createProgram(cli, () => 'berth')

function* leaves(command: Command, path: readonly string[] = []): Generator<{ path: string; command: Command }> {
  if (command.commands.length === 0) yield { path: path.join(' '), command }
  for (const each of command.commands) yield* leaves(each, [...path, each.name()])
}
const commands = [...leaves(program)].filter(({ path }) => !path.startsWith('__'))

it('the help has examples of every command, and of these commands only', () => {
  expect(Object.keys(examples).sort()).toEqual(commands.map(({ path }) => path).sort())
})

it.each(commands.map(({ path, command }) => [path, command] as const))(
  'the examples of berth %s use only flags of this command',
  (path, command) => {
    const flags =
      examples[path]
        ?.filter((line) => !line.includes(' | '))
        .flatMap((line) => [...(line.split(' -- ')[0]?.matchAll(/ (--?[a-z][a-z-]*)/g) ?? [])]) ?? []
    const known = command.options.flatMap(({ long, short }) => [long, short])
    expect(flags.map(([, flag]) => flag).filter((flag) => !known.includes(flag))).toEqual([])
  },
)

it.each([
  [['canc'], ['cancel']],
  [['node', 'un'], ['uncordon']],
  [['cancel', '--with'], ['--with-reason']],
  [
    ['ls', '-o', 'js'],
    ['json', 'jsonl'],
  ],
  [['ls', '--state', 'wai'], ['waiting']],
  [['submit', '--', 'l'], []],
])('the arguments %j are completed to %j', async (words, values) => {
  expect((await complete(cli, program, words)).map(({ value }) => value)).toEqual(values)
})

/** Commands that only read. They may check the fields against the result. */
const readers = [
  ...['info', 'why', 'spec', 'diff', 'usage', 'key', 'events', 'workload', 'gpus', 'doctor', 'whoami', 'approve'],
  ...[
    'quota usage',
    'quota ls',
    'reservation ls',
    'rules ls',
    'user ls',
    'user info',
    'team ls',
    'token ls',
    'secret ls',
  ],
  ...['audit ls', 'audit verify', 'context ls', 'webhooks ls', 'webhooks show', 'top'],
]
const values: Readonly<Record<string, string>> = {
  ...{ '--reason': 'x', '--type': 'JOBS_PER_DAY', '--limit': '1', '--cpu': '1', '--mem': '1' },
  ...{ '--project': 'x', '--node': 'n', '--from': '2030-01-01', '--until': '2030-01-02' },
}
const changing = commands.filter(({ path, command }) => {
  const hasFields = command.options.some(({ long }) => long === '--json')
  return hasFields && !readers.includes(path)
})

it.each(changing.map(({ path }) => path))('berth %s refuses an unknown field before its request', async (path) => {
  const fresh = createProgram(cli, () => 'berth', { stdout: process.stdout, stderr: process.stderr })
  const command = path
    .split(' ')
    .reduce((parent, name) => parent.commands.find((each) => each.name() === name) ?? parent, fresh)
  const required = command.registeredArguments.filter((each) => each.required)
  const words = [
    ...path.split(' '),
    ...required.map((each) => each.argChoices?.[0] ?? 'x'),
    ...command.options.filter((each) => each.mandatory).flatMap(({ long = '' }) => [long, values[long] ?? '']),
  ]
  const refused = fresh.parseAsync([...words, '--json', 'no_such_field'], { from: 'user' })
  await expect(refused).rejects.toMatchObject({ exitCode: 2, message: 'unknown field no_such_field' })
})
