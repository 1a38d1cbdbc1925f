import { readdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { singleUserRules } from '../../../src/executors/accounts/account.ts'
import { BackendRefused, BackendUnreachable } from '../../../src/executors/backend/unreachable.ts'
import { StartFailed } from '../../../src/executors/executor.ts'
import { Layout } from '../../../src/executors/slurm/layout.ts'
import { findRunDirectory, readRecords } from '../../../src/executors/slurm/run-files.ts'
import { createSlurmExecutor } from '../../../src/executors/slurm/slurm.ts'
import type { SlurmJob } from '../../../src/executors/slurm/squeue-output.ts'
import { Submitter } from '../../../src/executors/slurm/submit.ts'
import { createLog } from '../../../src/platform/log.ts'
import { createFakeClock, type FakeClock } from '../../support/clock.ts'
import { makeDirectory } from '../../support/directory.ts'
import { until } from '../../support/until.ts'
import { machineParts, makeResources, makeRun } from '../runs.ts'

/** Two servers over one shared directory, while Slurm is unreachable. */

const noRuns = async () => false
let sharedDir: string
let layout: Layout

beforeEach(async () => {
  sharedDir = makeDirectory()
  layout = new Layout(sharedDir, 'cluster', noRuns)
})

interface Server {
  clock: FakeClock
  submit: Submitter['start']
  /** Whether Slurm accepts submissions. */
  answers: boolean
  /** The runs in the queue of Slurm; null: Slurm is unreachable. */
  shows: readonly string[] | null
  /** Responses wait for this promise. */
  thinks: Promise<void>
  asked: number
  taken: number
  /** Output of sbatch. */
  prints: string
  /** Why Slurm rejects submissions; null: it accepts them. */
  refuses: string | null
  /** Ids of reported submissions. */
  told: string[]
}

type Given = Partial<Pick<Server, 'answers' | 'shows' | 'prints' | 'refuses'>> & { gpuTypes?: readonly string[] | null }

function openServer(given: Given = {}): Server {
  const { answers = false, shows = null, prints = '1\n', refuses = null, gpuTypes = null } = given
  const clock = createFakeClock()
  const told: string[] = []
  const server = { clock, answers, shows, thinks: Promise.resolve(), asked: 0, taken: 0, prints, refuses, told }
  const look = async () =>
    server.shows && { beganMs: 0, byRun: new Map(server.shows.map((runId) => [runId, [{} as SlurmJob]])) }
  const submitter = new Submitter({
    slurm: async () => {
      server.asked++
      await server.thinks
      if (!server.answers) throw new BackendUnreachable('Unable to contact slurm controller')
      if (server.refuses !== null) throw new BackendRefused(1, server.refuses)
      server.taken++
      return server.prints
    },
    queue: { read: look },
    layout,
    accounts: singleUserRules,
    environment: {},
    inheritNames: [],
    limits: { deadlineSlackSeconds: 10, minutesMax: () => null, gpuTypes: () => gpuTypes },
    logBytesMax: 1024,
    clock,
    onSubmitted: (_, nativeId) => told.push(nativeId),
  })
  return Object.assign(server, { submit: submitter.start })
}

const order = () => makeRun({ command: ['true'] })

const filesOf = (runId: string) => {
  const files = findRunDirectory(layout, runId)
  if (!files) throw new Error(`No id of a run: ${runId}`)
  return files
}
const recordsOf = (runId: string) => readRecords(filesOf(runId))

/** Waits until Slurm was queried again, and the server pauses. */
async function asks(server: Server) {
  const before = server.asked
  const isAgain = async () => {
    if (server.asked === before) await server.clock.advance(1_000)
    return server.asked > before && server.clock.sleeping > 0
  }
  await until(isAgain, { what: 'the server asks Slurm and pauses' })
}

/** Advances the clock of the server until the start has ended. */
async function ends(server: Server, start: Promise<string>) {
  let isOver = false
  const outcome = Promise.allSettled([start]).finally(() => (isOver = true))
  const passes = async () => {
    await server.clock.advance(1_000)
    return isOver
  }
  await until(passes, { what: 'the start is over' })
  return (await outcome)[0]
}

/** Lets two servers submit the same run while Slurm does not respond. */
async function askTwice() {
  const [old, next] = [openServer(), openServer()]
  const run = order()
  const start = old.submit(run)
  await asks(old)
  const again = next.submit(run)
  await asks(next)
  return { run, old, start, next, again }
}

it('an aborted start leaves the run to the next leader', async () => {
  const [old, next] = [openServer(), openServer({ answers: true })]
  const run = order()
  const dropped = new AbortController()
  const start = old.submit(run, dropped.signal)
  await asks(old)
  dropped.abort()
  expect(await ends(old, start)).not.toMatchObject({ reason: { name: 'StartFailed' } })
  expect(await ends(next, next.submit(run))).toEqual({ status: 'fulfilled', value: run.runId })
  expect(await recordsOf(run.runId)).toMatchObject({ claim: null })
})

it.each([
  ['7\n', '7'],
  ['7;cluster\n', '7'],
  ['Welcome to the cluster\nQuota: 12\n7;cluster\nSubmitted with care\n', '7'],
])('the job id is read from the output of sbatch: %j', async (prints, id) => {
  const server = openServer({ answers: true, prints })
  await server.submit(order())
  expect(server.told).toEqual([id])
})

it('a submission without a job id in its response is searched for in Slurm, and repeated if it is not found', async () => {
  const server = openServer({ answers: true, prints: 'Welcome\n', shows: [] })
  const run = order()
  const start = server.submit(run)
  await asks(server)
  server.shows = [run.runId]
  expect(await ends(server, start)).toMatchObject({ status: 'fulfilled' })
  expect(server).toMatchObject({ taken: 2, told: [] })
})

it('a start reports that it waits for Slurm', async () => {
  const server = openServer()
  const told: string[] = []
  const start = server.submit(order(), undefined, (info) => told.push(info))
  await asks(server)
  expect(told).toContain('Slurm is unreachable: Unable to contact slurm controller')
  server.answers = true
  expect(await ends(server, start)).toMatchObject({ status: 'fulfilled' })
})

it('a start reports that Slurm is slow while its command is retried', async () => {
  const server = openServer({ answers: true })
  const { promise, resolve } = Promise.withResolvers<void>()
  server.thinks = promise
  const told: string[] = []
  const start = server.submit(order(), undefined, (info) => told.push(info))
  await until(() => server.asked === 1, { what: 'Slurm is asked' })
  await server.clock.advance(2_999)
  expect(told).toEqual([])
  await server.clock.advance(1)
  expect(told).toEqual(['Slurm has not answered for 3 s'])
  resolve()
  await start
  expect(server.clock.sleeping).toBe(0)
})

const policy = "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)"

it.each([
  ['a partition that is closed for now', 'Required partition not available (inactive or drain)'],
  ['a limit of submissions', `QOSMaxSubmitJobPerUserLimit\nBatch job submission failed: ${policy}`],
])('a start waits for %s, and reports the partition and the reason', async (_, refusal) => {
  const server = openServer({ answers: true, refuses: refusal, shows: [] })
  const told: string[] = []
  const start = server.submit(makeRun({ command: ['true'], queue: 'night' }), undefined, (info) => told.push(info))
  for (let tries = 0; tries < 20; tries++) await asks(server)
  expect(told).toContain(`Slurm does not accept the job now in its partition night: ${refusal.replace('\n', ' ')}`)
  server.refuses = null
  expect(await ends(server, start)).toMatchObject({ status: 'fulfilled' })
})

it.each([
  ['invalid partition specified: night\nBatch job submission failed: Invalid partition name specified', 'BAD_SPEC'],
  [`QOSMaxWallDurationPerJobLimit\nBatch job submission failed: ${policy}`, 'BAD_SPEC'],
  ['Please name a project', 'START_FAILED'],
])('a permanent refusal by Slurm fails the start: %j', async (refuses, reason) => {
  const server = openServer({ answers: true, refuses })
  await expect(server.submit(order())).rejects.toMatchObject({ reason, message: expect.stringContaining('refused') })
})

it('a run that an earlier submission queued counts as started although Slurm rejects it now', async () => {
  const server = openServer({ answers: true, refuses: 'AssocMaxSubmitJobLimit' })
  const run = order()
  const start = server.submit(run)
  await asks(server)
  server.shows = [run.runId]
  expect(await ends(server, start)).toEqual({ status: 'fulfilled', value: run.runId })
})

it('a run whose directory another server deleted is submitted with a new directory', async () => {
  const { run, old, start, next, again } = await askTwice()
  expect(await ends(old, start)).toMatchObject({ reason: { reason: 'NODE_TROUBLE' } })
  expect(await recordsOf(run.runId)).toBeNull()
  next.answers = true
  expect(await ends(next, again)).toEqual({ status: 'fulfilled', value: run.runId })
  expect(await recordsOf(run.runId)).toMatchObject({ claim: null })
})

it('a run that a killed server gave up is submitted again', async () => {
  const [old, next] = [openServer({ answers: true }), openServer({ answers: true })]
  const run = order()
  await old.submit(run)
  await symlink('void', join(filesOf(run.runId).directory, 'claim'))
  expect(await next.submit(run)).toBe(run.runId)
  expect(next.taken).toBe(1)
  expect(await recordsOf(run.runId)).toMatchObject({ claim: null })
})

it('a run that another server gave up fails with NODE_TROUBLE, which does not count as an attempt', async () => {
  const { run, old, start, next, again } = await askTwice()
  await symlink('void', join(filesOf(run.runId).directory, 'claim'))
  for (const [server, starting] of [
    [old, start],
    [next, again],
  ] as const)
    expect(await ends(server, starting)).toMatchObject({ reason: { reason: 'NODE_TROUBLE' } })
})

const openExecutor = () =>
  createSlurmExecutor({
    sharedDir,
    pool: 'cluster',
    hasRuns: noRuns,
    environment: { PATH: '/nowhere' },
    ...machineParts,
    log: createLog('silent'),
  })

it('a cancelled run that was never submitted does not wait for Slurm', async () => {
  const executor = await openExecutor()
  const run = order()
  await expect(executor.start(run, AbortSignal.abort())).rejects.not.toBeInstanceOf(StartFailed)
  expect(await recordsOf(run.runId)).toMatchObject({ claim: null })
  expect(await executor.find(run.runId)).toBeNull()
  expect(await recordsOf(run.runId)).toBeNull()
  await executor.close()
})

describe('a run whose spec can no longer be submitted', () => {
  /** When the first server submitted the run, the GPUs existed. */
  const submitted = async () => {
    const run = makeRun({ command: ['true'], resources: makeResources({ gpu: 1, gpuModel: ['a100', '!h100'] }) })
    await openServer({ answers: true, gpuTypes: ['a100', 'h100'] }).submit(run)
    return run
  }
  const changed = { answers: true, gpuTypes: ['v100'] }

  it('continues if it was submitted before the change', async () => {
    const run = await submitted()
    const next = openServer({ ...changed, shows: [run.runId] })
    expect(await next.submit(run)).toBe(run.runId)
    expect(await recordsOf(run.runId)).toMatchObject({ claim: null })
    expect(next.taken).toBe(0)
  })

  it('continues if it began meanwhile, although Slurm does not list it', async () => {
    const run = await submitted()
    const next = openServer(changed)
    const start = next.submit(run)
    await until(() => next.clock.sleeping > 0, { what: 'it looks for the submission' })
    await symlink('job 7 n1', join(filesOf(run.runId).directory, 'claim'))
    expect(await ends(next, start)).toEqual({ status: 'fulfilled', value: run.runId })
  })

  it('fails with the reason if Slurm does not have it, so that it can never begin', async () => {
    const run = await submitted()
    const next = openServer({ ...changed, shows: [] })
    expect(await ends(next, next.submit(run))).toMatchObject({ reason: { reason: 'BAD_SPEC' } })
    expect(await recordsOf(run.runId)).toBeNull()
  })

  it('is left untouched when its start is aborted', async () => {
    const run = await submitted()
    const old = openServer(changed)
    const dropped = new AbortController()
    const start = old.submit(run, dropped.signal)
    await until(() => old.clock.sleeping > 0, { what: 'it looks for the submission' })
    dropped.abort()
    expect(await ends(old, start)).not.toMatchObject({ reason: { name: 'StartFailed' } })
    expect(await recordsOf(run.runId)).toMatchObject({ claim: null })
  })
})

describe('an unreadable run directory', () => {
  const makeUnreadable = async (runId: string) => {
    const { directory } = filesOf(runId)
    await rm(directory, { recursive: true, force: true })
    await writeFile(directory, '')
  }

  it('does not end a run that is in the queue of Slurm', async () => {
    await layout.checkReadable()
    const run = order()
    await makeUnreadable(run.runId)
    expect(await openServer({ shows: [run.runId] }).submit(run)).toBe(run.runId)
  })

  it('that could be read before does not end a run that is in the queue of Slurm', async () => {
    const server = openServer()
    const run = order()
    const start = server.submit(run)
    await asks(server)
    await makeUnreadable(run.runId)
    server.shows = [run.runId]
    expect(await ends(server, start)).toEqual({ status: 'fulfilled', value: run.runId })
  })
})

describe('a missing shared folder', () => {
  const away = () => rename(sharedDir, `${sharedDir}.away`)
  const back = () => rename(`${sharedDir}.away`, sharedDir)
  const missing = expect.stringMatching(
    /^sharedDir of pool cluster: \/.* does not exist.*: mount the file system .*ENOENT/,
  )

  it('delays starts, and reports its path and the remedy', async () => {
    const server = openServer({ answers: true, shows: [] })
    await layout.checkReadable()
    await away()
    const run = order()
    expect(await ends(server, server.submit(run))).toMatchObject({
      reason: { reason: 'NODE_TROUBLE', message: missing },
    })
    await back()
    expect(await server.submit(run)).toBe(run.runId)
  })

  it('does not fail a run that Slurm has, or may have', async () => {
    const server = openServer({ answers: true })
    const run = order()
    await server.submit(run)
    await away()
    const start = openServer({ shows: [run.runId] }).submit(run)
    expect(await start).toBe(run.runId)
    const next = openServer()
    const told: string[] = []
    const waiting = next.submit(run, undefined, (info) => told.push(info))
    await until(() => next.clock.sleeping > 0, { what: 'it waits for Slurm or the folder' })
    expect(told).toEqual([missing])
    next.shows = []
    await back()
    next.shows = [run.runId]
    expect(await ends(next, waiting)).toEqual({ status: 'fulfilled', value: run.runId })
  })

  it('is not created by the server', async () => {
    await away()
    await expect(layout.checkReadable()).rejects.toMatchObject({ message: missing })
    await expect(readdir(sharedDir)).rejects.toMatchObject({ code: 'ENOENT' })
    await back()
  })

  it('is reported at the start of the server, and the runs keep their state', async () => {
    await away()
    const executor = await openExecutor()
    expect(await executor.describe()).toMatchObject({ available: false })
    await expect(executor.capacity?.()).rejects.toMatchObject({ message: missing })
    await expect(executor.find('run_x')).rejects.toMatchObject({ message: missing })
    expect(await executor.inspect(['run_x'])).toMatchObject([{ state: 'starting' }])
    expect(await executor.list?.()).toEqual([])
    await back()
    expect(await executor.find('run_x')).toBeNull()
    await executor.close()
  })

  it('is rejected if a file has its path', async () => {
    await rename(sharedDir, `${sharedDir}.away`)
    await writeFile(sharedDir, '')
    await expect(layout.checkReadable()).rejects.toMatchObject({
      message: expect.stringContaining('is not a folder: name'),
    })
    await rm(sharedDir)
    await back()
  })
})
