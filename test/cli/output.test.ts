import { Writable } from 'node:stream'
import { Command } from 'commander'
import { expect, it } from 'vitest'
import { createTerminal } from '../../src/cli/frame/terminal.ts'
import { addOutputOption, createRowPrinter, type OutputOptions } from '../../src/cli/showing/output.ts'
import { JobRowFragmentDoc } from '../../src/client/generated/graphql.ts'

interface Row {
  id: string
  state: string
  user: { id: string; name: string } | null
}

const rows: readonly Row[] = [
  { id: 'job_1', state: 'RUNNING', user: { id: 'user_1', name: 'ann' } },
  { id: 'job_2', state: 'QUEUED', user: null },
]

const print = createRowPrinter<Row>([
  { title: 'ID', cell: ({ id }) => id },
  { title: 'USER', cell: ({ user }) => user?.name ?? '-', wide: true },
])

async function printed(args: readonly string[], given: readonly Row[] = rows): Promise<string> {
  let text = ''
  const stdout = new Writable({
    write(chunk, _encoding, done) {
      text += String(chunk)
      done()
    },
  })
  const command = addOutputOption(new Command('ls'), [JobRowFragmentDoc])
    .exitOverride()
    .configureOutput({ writeErr: () => undefined })
    .action(({ output }: OutputOptions) =>
      print({ terminal: createTerminal({ stdout, stderr: stdout }) }, given, output),
    )
  await command.parseAsync(args, { from: 'user' })
  return text
}

it.each([
  [[], 'ID\njob_1\njob_2\n'],
  [['-o', 'wide'], 'ID     USER\njob_1  ann\njob_2  -\n'],
  [['-o', 'ids'], 'job_1\njob_2\n'],
  [['-o', 'jsonl', '--json', 'id'], '{"id":"job_1"}\n{"id":"job_2"}\n'],
  [['--json', 'id,user.name', '-o', 'jsonl'], '{"id":"job_1","user":{"name":"ann"}}\n{"id":"job_2","user":null}\n'],
  [['--json', 'state', '-o', 'yaml'], '- state: RUNNING\n- state: QUEUED\n'],
])('a list is printed as specified with %j', async (args, text) => {
  expect(await printed(args)).toBe(text)
})

it('a list is printed with whole objects as JSON', async () => {
  expect(JSON.parse(await printed(['-o', 'json']))).toEqual(rows)
  expect(JSON.parse(await printed(['--json', 'user,id']))).toEqual(rows.map(({ user, id }) => ({ user, id })))
})

it.each([rows, []].map((given) => [given.length, given] as const))(
  'a list of %i rows refuses a field that its rows do not have',
  async (_, given) => {
    const refused = printed(['--json', 'id,user.colour'], given)
    await expect(refused).rejects.toMatchObject({
      exitCode: 2,
      message: 'unknown field user.colour',
      next: expect.stringMatching(/^the fields are id, version, name, .*user, user\.id, user\.name, /),
    })
  },
)

it.each([
  ['-o', 'xml'],
  ['--json', ','],
])('a list refuses %s %s', async (...args) => {
  await expect(printed(args)).rejects.toMatchObject({ code: 'commander.invalidArgument' })
})

it('a notification is sent only to a terminal, without control characters of a job', () => {
  let text = ''
  const write = (chunk: unknown, _encoding: string, done: () => void) => {
    text += String(chunk)
    done()
  }
  const stdout = new Writable({ write: (_chunk, _encoding, done) => done() })
  createTerminal({ stdout, stderr: new Writable({ write }) }).notify('job: SUCCEEDED')
  expect(text).toBe('')
  const stderr = Object.assign(new Writable({ write }), { isTTY: true })
  createTerminal({ stdout, stderr }).notify('a\u0007\u001bb: SUCCEEDED')
  expect(text).toBe('\u001b]9;a\ufffd\ufffdb: SUCCEEDED\u0007\u0007')
})
