import { expect, test } from 'vitest'
import { parseSubmission } from '../../../src/domain/input.ts'
import { normaliseSpec } from '../../../src/domain/submission/normalise.ts'

const route = { queue: 'q', pool: 'p', policy: 'PRIORITY', executor: 'local' } as const

function warningsOf(command: string[]) {
  const { spec } = parseSubmission({ spec: { command } })
  return normaliseSpec(spec, { route, account: 'users.ann', destination: undefined }).warnings
}

test('a command of one word with spaces causes a warning that shows the command for a shell', () => {
  expect(warningsOf(['echo hi'])).toEqual([
    'command has one word with spaces, so it is run as the name of a program; for a shell command give ["sh", "-c", "echo hi"]',
  ])
})

test.each([[['echo', 'a b']], [['/opt/My App/run']], [['true']]])('the command %j causes no warning', (command) => {
  expect(warningsOf(command)).toEqual([])
})
