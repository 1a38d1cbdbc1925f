import { Writable } from 'node:stream'
import { describe, expect, it, vi } from 'vitest'
import { parse } from 'yaml'
import { createStop, createStopForFailure, getJobExitCode, seeJobs } from '../../src/cli/frame/exit.ts'
import { createTerminal, measureWidth, readColour } from '../../src/cli/frame/terminal.ts'
import { formatMemory, formatSheet, formatStructured, jobColumns, table } from '../../src/cli/showing/render.ts'
import { RequestFailed } from '../../src/client/connection/failure.ts'
import type { JobRowFragment, JobState } from '../../src/client/generated/graphql.ts'

const stream = (isTTY: boolean) =>
  Object.assign(new Writable({ write: (_chunk, _encoding, done) => done() }), { isTTY })
const terminal = (isTTY: boolean, env: Record<string, string> = {}) =>
  createTerminal({ stdout: stream(isTTY), stderr: stream(false), colour: readColour(env) })

const columns = [
  { title: 'ID', cell: (row: string[]) => row[0] ?? '' },
  { title: 'NAME', cell: (row: string[]) => row[1] ?? '', style: () => 'red' as const },
]
const rows = [
  ['a', 'one'],
  ['longer', 'two'],
]

function createJobRow(given: Partial<JobRowFragment>): JobRowFragment {
  return {
    ...{ id: 'job_1', version: 1, name: 'train', state: 'RUNNING', psijState: 'ACTIVE', attempt: 1 },
    ...{ stateReason: null, stateInfo: null, exitCode: null, nativeId: null, startedAt: null, finishedAt: null },
    queue: { id: 'queue_1', name: 'default' },
    user: { id: 'user_1', name: 'ann' },
    createdAt: '2026-01-01T00:00:00Z',
    ...given,
  }
}

describe('a table', () => {
  it.each([
    ['RUNNING', null, '2 min 0 s'],
    ['SUCCEEDED', '2030-01-31T12:00:05Z', '5.0 s'],
    ['QUEUED', null, '-'],
  ] as const)('shows how long a %s job ran', (state, finishedAt, shown) => {
    const nowMs = vi
      .spyOn(performance, 'now')
      .mockReturnValue(Date.parse('2030-01-31T12:02:00Z') - performance.timeOrigin)
    const text = table(
      terminal(false),
      [createJobRow({ state, startedAt: '2030-01-31T12:00:00Z', finishedAt })],
      jobColumns,
    )
    nowMs.mockRestore()
    expect(text.trimEnd().endsWith(`  ${shown}`)).toBe(true)
  })

  it('is aligned, without trailing spaces', () => {
    expect(table(terminal(false), rows, columns)).toBe('ID      NAME\na       one\nlonger  two\n')
  })

  it('is aligned by the display width of texts', () => {
    const names = [
      ['訓練 🚀', 'wide'],
      ['cafe\u0301', 'combining'],
      ['plain', 'narrow'],
    ]
    expect(table(terminal(false), names, columns)).toBe(
      'ID       NAME\n訓練 🚀  wide\ncafe\u0301     combining\nplain    narrow\n',
    )
  })

  it.each([
    [true, {}, true],
    [true, { NO_COLOR: '1' }, false],
    [false, {}, false],
    [false, { FORCE_COLOR: '1', NO_COLOR: '1' }, true],
    [true, { FORCE_COLOR: '0' }, false],
  ])('with terminal %s and environment %j has colours: %s', (isTTY, env, coloured) => {
    expect(table(terminal(isTTY, env), rows, columns).includes('\u001b[31mone')).toBe(coloured)
  })

  it('truncates names, but not ids, on a narrow terminal', () => {
    const screen = (width: number) =>
      createTerminal({ stdout: Object.assign(stream(true), { columns: width }), stderr: stream(false), colour: false })
    const named = [{ title: 'NAME', cell: (row: string[]) => row[1] ?? '', shrinks: true }, ...columns.slice(0, 1)]
    const long = [['job_1', '很长的'.repeat(20)]]
    expect(table(screen(40), long, named)).toBe(`NAME${' '.repeat(31)}ID\n${'很长的'.repeat(5)}很…  job_1\n`)
    expect(table(screen(15), long, named)).toBe('NAME      ID\n很长的…   job_1\n')
    expect(table(terminal(false), long, named)).toContain('很长的'.repeat(20))
  })

  it.each([60, 80, 200])('of jobs with wide characters fits %i columns', (width) => {
    const names = ['plain', '訓練 🚀 '.repeat(9), '👩‍👩‍👧‍👦 e\u0301 한국어', `long-${'name'.repeat(20)}`]
    const jobs = names.map((name, i) => createJobRow({ id: `job_${String(i).repeat(26)}`, name }))
    const stdout = Object.assign(stream(true), { columns: width })
    const lines = table(createTerminal({ stdout, stderr: stream(false), colour: false }), jobs, jobColumns)
      .trimEnd()
      .split('\n')
    const state = lines[0]?.indexOf('STATE') ?? 0
    for (const line of lines.slice(1)) {
      expect(measureWidth(line)).toBeLessThanOrEqual(width)
      expect(measureWidth(line.slice(0, line.indexOf('RUNNING')))).toBe(state)
    }
  })

  it('shows how long a job ran, also while it is running', () => {
    const startedAt = new Date(Date.now() - 3_600_000 - 90_000).toISOString()
    const finishedAt = new Date(Date.parse(startedAt) + 125_000).toISOString()
    const ran = (job: Partial<JobRowFragment>) => table(terminal(false), [createJobRow(job)], jobColumns).split('\n')[1]
    expect(ran({ startedAt })).toMatch(/ 1 h 1 min$/)
    expect(ran({ startedAt, state: 'SUCCEEDED', finishedAt })).toMatch(/ 2 min 5 s$/)
    // A run that ended, and a job that waits for its next one.
    expect(ran({ startedAt, state: 'QUEUED' })).toMatch(/ -$/)
  })

  it('replaces control characters in texts of other users', () => {
    expect(table(terminal(false), [['a', 'x\u001b[2J\n\u0007']], columns)).toBe('ID  NAME\na   x�[2J��\n')
  })
})

describe('texts of other users', () => {
  const hostile = 'un\u200bseen\u{e0041}no\u001b[2J\u009b31m\u202egnp.exe\u2028\u007fberth: fine'

  it('are printed without control characters, on one line', () => {
    const said: string[] = []
    const stderr = new Writable({
      write(chunk, _encoding, done) {
        said.push(String(chunk))
        done()
      },
    })
    createTerminal({ stdout: stream(true), stderr }).say(`job_1 FAILED: ${hostile}\n`)
    expect(said).toEqual(['job_1 FAILED: un�seen�no�[2J�31m�gnp.exe��berth: fine�\n'])
  })

  it.each(['json', 'yaml'] as const)('are escaped in %s, and read back unchanged', (format) => {
    const value = { reason: hostile, lines: 'one\ntwo', plain: 'plain' }
    const text = formatStructured(value, format)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must be absent
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e]/)
    expect(parse(text)).toEqual(value)
  })
})

it('the sheet of an object omits empty values', () => {
  expect(
    formatSheet(terminal(false), [
      ['job', 'j'],
      ['name', null],
      ['longest', ''],
    ]),
  ).toBe('job  j\n')
})

describe('a command', () => {
  it.each<[JobState, number | null, number]>([
    ['SUCCEEDED', 0, 0],
    ['FAILED', 3, 3],
    ['FAILED', null, 70],
    ['FAILED', 0, 70],
    ['INTERRUPTED', 143, 75],
    ['CANCELLED', 143, 130],
  ])('that waits for a job in %s with the exit code %j exits with %i', (state, exitCode, code) => {
    expect(getJobExitCode({ state, exitCode })).toBe(code)
  })

  it.each([
    ['BAD_REQUEST', 2],
    ['GRAPHQL_VALIDATION_FAILED', 2],
    ['NOT_FOUND', 5],
    ['FORBIDDEN', 6],
    ['UNAUTHENTICATED', 6],
    ['UNAVAILABLE', 4],
    ['UNREACHABLE', 4],
    ['QUERY_TOO_COMPLEX', 3],
    ['INTERNAL_SERVER_ERROR', 1],
  ])('that gets the error %s exits with %i', (code, exitCode) => {
    expect(createStopForFailure(new RequestFailed(code, 'no')).exitCode).toBe(exitCode)
  })

  it.each([
    ['INTERNAL_SERVER_ERROR', 'see request id r1 in the log of the server'],
    ['GRAPHQL_VALIDATION_FAILED', undefined],
  ])('that gets the error %s suggests as the next step: %s', (code, next) => {
    expect(createStopForFailure(new RequestFailed(code, 'no', { requestId: 'r1' })).next).toBe(next)
  })

  it('names in an error the field of the input instead of a GraphQL variable', () => {
    const failure = new RequestFailed('BAD_REQUEST', 'Variable "$input.spec.notBefore": DateTime must be RFC 3339')
    expect(createStopForFailure(failure).message).toBe('spec.notBefore: DateTime must be RFC 3339')
  })

  it('names in an error the fields of the input instead of several GraphQL variables', () => {
    const message = 'Variable "$input.spec.command[0]": Not a string; Variable "$input.spec.command[1]": Not a string'
    expect(createStopForFailure(new RequestFailed('BAD_REQUEST', message)).message).toBe(
      'spec.command[0]: Not a string; spec.command[1]: Not a string',
    )
  })

  it('names the command that lists such objects if an object does not exist', () => {
    const problem = { __typename: 'NotFoundProblem', code: 'NOT_FOUND', message: 'no', retryable: false } as const
    expect([createStop(problem, seeJobs).next, createStop(problem).next]).toEqual([seeJobs, undefined])
  })

  it('suggests to set BERTH_URL if the response is not from a Berth server', () => {
    const { exitCode, next } = createStopForFailure(new RequestFailed('BAD_REQUEST', 'no', { isForeign: true }))
    expect({ exitCode, next }).toMatchObject({ exitCode: 2, next: expect.stringContaining('set BERTH_URL') })
  })

  it('adds no advice of its own if the server refuses its headers', () => {
    expect(createStopForFailure(new RequestFailed('FORBIDDEN', 'no', { isForeign: true })).next).toBe(undefined)
    expect(createStopForFailure(new RequestFailed('FORBIDDEN', 'no')).next).toContain('permission')
  })

  it('advises to try again only once', () => {
    const next = (message: string) => createStopForFailure(new RequestFailed('UNAVAILABLE', message)).next
    expect(next('The database is not available; try again')).toBeUndefined()
    expect(next('Bad Gateway')).toBe('try again in a moment')
  })

  it('lists every violation of an invalid input', () => {
    const stop = createStop({
      __typename: 'InvalidInputProblem',
      code: 'INVALID_INPUT',
      message: 'The input is not valid',
      retryable: false,
      violations: [
        { path: ['spec', 'resources', 'cpu'], message: 'must be at least 0.001' },
        { path: ['spec', 'command'], message: 'must not be empty' },
      ],
    })
    expect(stop).toMatchObject({
      exitCode: 2,
      message: 'spec.resources.cpu: must be at least 0.001; spec.command: must not be empty',
    })
  })
})

it.each([
  [0, '0 MiB'],
  [3 * 2 ** 20, '3 MiB'],
  [2 ** 29, '0.5 GiB'],
  [12_101_069_209, '11.27 GiB'],
])('%i bytes of memory are %s', (bytes, text) => {
  expect(formatMemory(bytes)).toBe(text)
})
