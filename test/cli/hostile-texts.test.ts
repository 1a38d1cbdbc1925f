import { beforeAll, describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { measurePool } from '../../src/domain/usage/pool-use.ts'
import { hostileMarkup, hostileSequences } from '../support/hostile-texts.ts'
import { out, writeLog } from '../support/log.ts'
import { useTestServer } from './server-and-cli.ts'

/** Every command shows texts of other users, and no control character in them reaches the terminal. */
const setup = useTestServer()
/** Jobs whose texts are all hostile: `waiting` is QUEUED, `ended` is CANCELLED and has output. */
const jobs = { waiting: '', ended: '' }

const hostile = hostileSequences.join('')
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu
const shown = hostile.replaceAll(unprintable, '\ufffd')
const lines = [...hostileMarkup, ...hostileSequences.map((text) => text.replace('\n', ''))]

beforeAll(async () => {
  const { server } = setup
  const { sql } = server.domain.db
  for (const text of [...hostileMarkup, ...hostileSequences])
    await server.submit({ name: text, labels: [{ key: 'sweep', value: text }], project: text })
  const spec = {
    ...{ name: hostile, labels: [{ key: hostile, value: hostile }], project: hostile },
    ...{ command: ['echo', hostile], environment: [{ name: hostile, value: hostile }] },
  }
  jobs.waiting = await server.submit(spec)
  jobs.ended = await server.submit({ ...spec, command: ['true'] })
  await writeLog(sql, jobs.ended, [out(`${lines.join('\n')}\n`)])
  await run('cancel', jobs.ended, '--reason', hostile)
  await sql.query('UPDATE job SET progress_fraction = 0.5, progress_message = $1', [hostile])
  await sql.query('UPDATE run SET nodes = ARRAY[$1], native_id = $1', [hostile])
  await sql.query('UPDATE node SET name = $1, state_reason = $1', [hostile])
  await sql.query('UPDATE "user" SET name = $1', [hostile])
  await measurePool(sql, 'sim')
})

const run = setup.berth

function expectInert(text: string): void {
  expect(text.replaceAll('\n', '').match(unprintable)).toBe(null)
}

const verbs: readonly (readonly string[])[] = [
  ['ls'],
  ['ls', '--group-by', 'label:sweep'],
  ['ls', '--group-by', 'user'],
  ['info', 'waiting'],
  ['info', 'ended'],
  ['why', 'ended'],
  ['workload'],
  ['events', 'ended'],
  ['spec', 'waiting'],
  ['diff', 'waiting', 'ended'],
  ['usage', '--by', 'user'],
  ['node'],
  ['user', 'ls'],
]
const withJobs = (args: readonly string[]) => args.map((arg) => jobs[arg as keyof typeof jobs] ?? arg)

/** One document, or one JSON line for each event or row. */
function readValues(text: string, format: string): unknown[] {
  if (format !== 'yaml' && /^\{.*\}$/m.test(text))
    return text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
  return parseAllDocuments(text).map((document) => {
    expect(document.errors).toEqual([])
    return document.toJS()
  })
}

/** true: a text in the value has a hostile text, unchanged. */
const hasHostile = (value: unknown): boolean =>
  typeof value === 'string'
    ? hostileSequences.some((text) => value.includes(text) || value.includes(JSON.stringify(text).slice(1, -1)))
    : typeof value === 'object' && value !== null && Object.entries(value).flat().some(hasHostile)

describe.each(verbs)('berth %s %s %s', (...args) => {
  it.each(['table', 'wide'])('prints texts without their control characters with -o %s', async (format) => {
    const { stdout, stderr } = await run(...withJobs(args), '-o', format)
    expectInert(`${stdout}${stderr}`)
    // `spec` and `diff` quote texts.
    expect(stdout).toMatch(/(\ufffd|\\u001b)\[2J/)
    expect(stderr).toBe('')
  })

  it.each(['json', 'jsonl', 'yaml'])('escapes the control characters of texts with -o %s', async (format) => {
    const { stdout, stderr } = await run(...withJobs(args), '-o', format)
    expectInert(`${stdout}${stderr}`)
    expect(hasHostile(readValues(stdout, format))).toBe(true)
  })

  it('prints only ids with -o ids, or refuses it', async () => {
    const { stdout, stderr } = await run(...withJobs(args), '-o', 'ids')
    expectInert(stderr)
    expect(stdout).toMatch(/^(\w+\n)*$/)
  })
})

describe('the output of a job', () => {
  const inert = lines.map((line) => line.replaceAll(unprintable, '\ufffd'))

  it('is printed unchanged, byte for byte', async () => {
    const bytes = `${lines.join('\n')}\n`
    expect(await run('logs', jobs.ended)).toMatchObject({ code: 0, stdout: bytes, stderr: '' })
    const follow = setup.cli.start(['logs', '-f', jobs.ended])
    await follow.find(/seen.*\n/)
    follow.child.kill('SIGINT')
    expect((await follow.ended).stdout).toBe(bytes)
  })

  it('is prefixed with job names without control characters', async () => {
    const { stdout } = await run('logs', jobs.ended, jobs.ended)
    expect(stdout.split('\n').slice(0, lines.length)).toEqual(lines.map((line) => `${shown} | ${line}`))
  })

  it('is printed without control characters in a search', async () => {
    const { stdout } = await run('logs', '--grep', '.', jobs.ended, jobs.ended)
    expect(stdout.split('\n').slice(0, lines.length)).toEqual(inert.map((line, i) => `${shown} | ${i + 1}:${line}`))
  })
})

describe('a live view into a pipe', () => {
  it.each([
    [['top'], /USER[\s\S]*\n\n/],
    [['top', '-o', 'json'], /\n}\n/],
    [['ls', '-w'], new RegExp(`(.*"change".*\n){${hostileMarkup.length}}`)],
  ])('prints no control characters: %j', async (args, pattern) => {
    const live = setup.cli.start(args)
    await live.find(pattern)
    live.child.kill('SIGINT')
    const { stdout, stderr } = await live.ended
    expectInert(`${stdout}${stderr}`)
  })
})

it('a live view on a terminal prints no control characters of the texts of a job', async () => {
  for (const verb of ['ls -w', 'top']) {
    const live = setup.cli.startOnTerminal(verb.split(' '))
    await live.find(/\ufffd\[2J/)
    live.child.stdin?.write('\u0003')
    const { stdout } = await live.ended
    expect(stdout).toContain('\u001b[?1049l')
    for (const acting of ['\u001b[2J', '\u001b]', '\u009b', '\u0007', '\b', '\u202e'])
      expect({ verb, acting, isIn: stdout.includes(acting) }).toEqual({ verb, acting, isIn: false })
  }
})
