import type { Command } from 'commander'
import { expect, it } from 'vitest'
import type { Cli } from '../../src/cli/cli.ts'
import { complete } from '../../src/cli/completion.ts'
import { examples } from '../../src/cli/examples.ts'
import { createProgram } from '../../src/cli/program.ts'

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

it('every command has two examples, and no other', () => {
  expect(Object.keys(examples).sort()).toEqual(commands.map(({ path }) => path).sort())
})

it.each(commands.map(({ path, command }) => [path, command] as const))(
  'the examples of %s name its flags',
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
])('%j is completed to %j', async (words, values) => {
  expect((await complete(cli, program, words)).map(({ value }) => value)).toEqual(values)
})
