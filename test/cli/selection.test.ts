import { Command } from 'commander'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Cli } from '../../src/cli/frame/cli.ts'
import { ContextFiles } from '../../src/cli/login/context-files.ts'
import { pickFilterFlags, readFilter, readOrder } from '../../src/cli/reading/filter.ts'
import { actOnChosen, addSelectionFlags, type SelectionAnswer } from '../../src/cli/reading/selection.ts'
import type { JobSelection } from '../../src/client/generated/graphql.ts'

/** A fake server with matching jobs, of which it changes three in each request. */
interface Done {
  __typename: 'CancelJobSuccess'
  id: string
}
let matching: string[]
let refused: string[]
let requests: JobSelection[]
let said: string[]
let exitCode: number | undefined
let answer: boolean | null

beforeEach(() => {
  matching = Array.from({ length: 8 }, (_, i) => `job_${i}`)
  refused = []
  requests = []
  said = []
  exitCode = undefined
  answer = null
})

const refusal = {
  __typename: 'NotFoundProblem',
  code: 'NOT_FOUND',
  message: 'Job not found',
  retryable: false,
} as const

function change(ids: readonly string[]): SelectionAnswer<Done> {
  const results = ids.map((id) => ({
    jobId: id,
    result: refused.includes(id) ? refusal : { __typename: 'CancelJobSuccess' as const, id },
  }))
  matching = matching.filter((id) => !ids.includes(id))
  return { results, remaining: matching.length }
}

async function request(selection: JobSelection): Promise<SelectionAnswer<Done>> {
  requests.push(selection)
  if (selection.jobIds) return change(selection.jobIds)
  const actualCount = matching.length
  if (selection.matching?.expectedCount !== actualCount)
    return { __typename: 'CountMismatchProblem', code: 'COUNT_MISMATCH', message: 'no', retryable: false, actualCount }
  return change(matching.slice(0, 3))
}

const cli = (): Cli => ({
  terminal: {
    write: async () => undefined,
    say: (line) => void said.push(line),
    progress: () => undefined,
    notify: () => undefined,
    openScreen: () => null,
    colour: false,
    columns: 80,
    rows: 24,
  },
  contexts: new ContextFiles({}),
  useContext: () => undefined,
  server: () => {
    throw new Error('no server')
  },
  connection: () => {
    throw new Error('not connected')
  },
  env: {},
  cwd: '/',
  readStdin: async () => '',
  stdio: () => {
    throw new Error('no streams')
  },
  leaveOnInterrupt: () => undefined,
  readKeys: null,
  exitWith: (code) => {
    exitCode = code
  },
  ask: answer === null ? null : async () => answer === true,
  askSecret: null,
  becomeProgram: () => undefined,
  ended: new AbortController().signal,
})

async function cancel(...args: string[]): Promise<string[]> {
  const command = addSelectionFlags(new Command('cancel').argument('[job...]').option('--reason <text>'))
  command.parse(args, { from: 'user' })
  const act = { verb: 'cancel', past: 'cancelled', success: 'CancelJobSuccess', request } as const
  const { done } = await actOnChosen(cli(), command, command.args, act)
  return done.map(({ id }) => id)
}

describe('a command on all jobs that match', () => {
  it('requires --yes without a terminal, and prints the number of jobs', async () => {
    await expect(cancel('--queue', 'a')).rejects.toMatchObject({ exitCode: 2, message: 'the filters match 8 jobs' })
    expect(matching).toHaveLength(8)
  })

  it('asks for confirmation on a terminal', async () => {
    answer = false
    await expect(cancel('--queue', 'a')).rejects.toMatchObject({ exitCode: 3, message: 'nothing was changed' })
    expect(matching).toHaveLength(8)
    answer = true
    expect(await cancel('--queue', 'a')).toHaveLength(8)
  })

  it('ends with the error of its first request if the server refuses it', async () => {
    const command = addSelectionFlags(new Command('cancel')).parse(['--queue', 'a', '--yes'], { from: 'user' })
    const act = {
      verb: 'cancel',
      past: 'cancelled',
      success: 'CancelJobSuccess',
      request: async () => refusal,
    } as const
    await expect(actOnChosen<Done>(cli(), command, [], act)).rejects.toMatchObject({ exitCode: 5 })
  })

  it('only counts the jobs with --dry-run', async () => {
    expect(await cancel('--queue', 'a', '--dry-run')).toEqual([])
    expect(said).toEqual(['berth: 8 jobs would be cancelled'])
    expect(matching).toHaveLength(8)
  })

  it('repeats the request until no job is left, and reports each refused job once', async () => {
    refused = ['job_1', 'job_4']
    expect(await cancel('--queue', 'a', '--yes')).toHaveLength(6)
    expect(said).toEqual(['berth: job_1, job_4: Job not found; "berth ls" lists your jobs'])
    expect(exitCode).toBe(5)
  })

  it('reports many refused jobs in one line if the reason is the same', async () => {
    refused = ['job_1', 'job_2', 'job_3', 'job_4', 'job_5']
    await cancel(...refused)
    expect(said).toEqual(['berth: job_1, job_2, job_3 and 2 more: Job not found; "berth ls" lists your jobs'])
  })

  it('does not report a refused job that a later request changes', async () => {
    const last = matching.at(-1) ?? ''
    refused = [last]
    const asked = async (selection: JobSelection) => {
      const answer = await request(selection)
      // The refused job still matches, and the next request changes it.
      if ('results' in answer && answer.results.some(({ jobId }) => jobId === last) && refused.length > 0) {
        refused = []
        matching = [last]
        return { ...answer, remaining: 1 }
      }
      return answer
    }
    const command = addSelectionFlags(new Command('cancel')).parse(['--queue', 'a', '--yes'], { from: 'user' })
    const act = { verb: 'cancel', past: 'cancelled', success: 'CancelJobSuccess', request: asked } as const
    expect((await actOnChosen<Done>(cli(), command, [], act)).done).toHaveLength(8)
    expect({ said, exitCode }).toEqual({ said: [], exitCode: undefined })
  })

  it('continues if fewer jobs match than were counted, as after a lost response', async () => {
    const cancelled = cancel('--queue', 'a', '--yes')
    matching = matching.slice(2)
    expect(await cancelled).toHaveLength(6)
  })

  it('stops when more jobs match than were counted', async () => {
    answer = true
    const asking = cli()
    const command = addSelectionFlags(new Command('cancel').option('--reason <text>'))
    command.parse(['--queue', 'a'], { from: 'user' })
    const ask = async () => {
      matching.push('job_new')
      return true
    }
    const act = { verb: 'cancel', past: 'cancelled', success: 'CancelJobSuccess', request } as const
    await expect(actOnChosen({ ...asking, ask }, command, [], act)).rejects.toMatchObject({
      exitCode: 3,
      message: '0 jobs cancelled; more jobs match now',
    })
    expect(matching).toHaveLength(9)
  })

  it('is refused with both jobs and filters, and with neither', async () => {
    await expect(cancel('job_1', '--queue', 'a')).rejects.toMatchObject({ exitCode: 2 })
    await expect(cancel()).rejects.toMatchObject({ exitCode: 2, message: 'the job is missing' })
    expect(await cancel('job_1', 'job_2')).toEqual(['job_1', 'job_2'])
    expect(requests).toEqual([{ jobIds: ['job_1', 'job_2'] }])
  })
})

describe('filter flags', () => {
  const filterOf = (...args: string[]) => {
    const command = addSelectionFlags(new Command('cancel').option('--reason <text>').exitOverride())
    command.configureOutput({ writeErr: () => undefined }).parse(args, { from: 'user' })
    return readFilter(cli(), pickFilterFlags(command))
  }

  it.each([
    [['--state', 'active,queued'], { states: ['STARTING', 'RUNNING', 'CANCELLING', 'QUEUED'] }],
    [['-s', 'failed', '-s', 'cancelled'], { states: ['FAILED', 'CANCELLED'] }],
    [
      ['-l', 'sweep=lr', '--label', 'kept', '--tag', 't'],
      { labels: [{ key: 'sweep', value: 'lr' }, { key: 'kept' }, { key: 't', value: '' }] },
    ],
    [['--pool', 'a,b', '--node', 'n1'], { pools: ['a', 'b'], node: 'n1' }],
    [['--since', '2026-01-02'], { createdAfter: '2026-01-02T00:00:00.000Z' }],
    [['--with-reason', 'exit-code', '--reason', 'a text'], { stateReasons: ['EXIT_CODE'] }],
    [[], {}],
  ])('are converted to a filter: %j', async (args, filter) => {
    expect(await filterOf(...args)).toEqual(filter)
  })

  it.each([
    ['--state', 'late'],
    ['--since', '2026-02-30'],
    ['--label', '=x'],
    ['--with-reason', 'hunger'],
  ])('are refused if a value is invalid: %s %s', async (...args) => {
    await expect((async () => filterOf(...args))()).rejects.toMatchObject({ code: 'commander.invalidArgument' })
  })

  it('include the sort field of the list', () => {
    expect(readOrder('started')).toEqual({ field: 'STARTED_AT', direction: 'DESC' })
    expect(readOrder('priority:asc')).toEqual({ field: 'PRIORITY', direction: 'ASC' })
    expect(() => readOrder('colour')).toThrow('Expected created')
  })
})
