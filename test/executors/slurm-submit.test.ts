import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { oneUser } from '../../src/executors/account.ts'
import { StartFailed } from '../../src/executors/executor.ts'
import { SlurmAway } from '../../src/executors/slurm/commands.ts'
import { directoryOf, type Layout, openLayout, readRecords } from '../../src/executors/slurm/run-files.ts'
import { createSlurmExecutor } from '../../src/executors/slurm/slurm.ts'
import { createSubmit, type Submit } from '../../src/executors/slurm/submit.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createLog } from '../../src/platform/log.ts'
import { createFakeClock, type FakeClock, machineTime } from '../support/clock.ts'
import { until } from '../support/until.ts'
import { runOf } from './runs.ts'

/** Two servers over one shared directory, while Slurm does not answer. */

let sharedDir: string
let layout: Layout

beforeEach(async () => {
  sharedDir = await mkdtemp(join(tmpdir(), 'berth-submit-'))
  layout = await openLayout(sharedDir, 'cluster')
})
afterEach(() => rm(sharedDir, { recursive: true }))

interface Server {
  clock: FakeClock
  submit: Submit
  /** Slurm takes its submissions; it never shows any. */
  answers: boolean
  asked: number
  taken: number
}

function openServer({ answers = false } = {}): Server {
  const clock = createFakeClock()
  const server = { clock, answers, asked: 0, taken: 0 }
  const submit = createSubmit({
    slurm: async () => {
      server.asked++
      if (!server.answers) throw new SlurmAway('Unable to contact slurm controller')
      server.taken++
      return '1\n'
    },
    queue: { last: null, look: async () => null },
    layout,
    accounts: oneUser,
    environment: {},
    inheritNames: [],
    limits: { deadlineSlackSeconds: 10, minutesMax: () => null, gpuTypes: () => null },
    streamBytesMax: 1024,
    clock,
  })
  return Object.assign(server, { submit })
}

const order = () => runOf({ command: ['true'] })

const filesOf = (runId: string) => {
  const files = directoryOf(layout, runId)
  if (!files) throw new Error(`No id of a run: ${runId}`)
  return files
}
const recordsOf = (runId: string) => readRecords(filesOf(runId))

/** Waits until Slurm was asked again, and the server pauses. */
async function asks(server: Server) {
  const before = server.asked
  const isAgain = async () => {
    if (server.asked === before) await server.clock.advance(1_000)
    return server.asked > before && server.clock.sleeping > 0
  }
  await until(isAgain, { what: 'the server asks Slurm and pauses' })
}

/** Lets seconds pass for the server until the start is over. */
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

/** Two servers that submit the same run, while Slurm answers neither. */
async function askTwice() {
  const [old, next] = [openServer(), openServer()]
  const run = order()
  const start = old.submit(run)
  await asks(old)
  const again = next.submit(run)
  await asks(next)
  return { run, old, start, next, again }
}

it('a start that is not wanted any more ends, and leaves the run to the server that leads then', async () => {
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

it('a run that another server gave up meanwhile is submitted with a directory', async () => {
  const { run, old, start, next, again } = await askTwice()
  expect(await ends(old, start)).toMatchObject({ reason: { reason: 'NODE_TROUBLE' } })
  expect(await recordsOf(run.runId)).toBeNull()
  next.answers = true
  expect(await ends(next, again)).toEqual({ status: 'fulfilled', value: run.runId })
  expect(await recordsOf(run.runId)).toMatchObject({ claim: null })
})

it('a run that a server gave up before it died is submitted anew', async () => {
  const [old, next] = [openServer({ answers: true }), openServer({ answers: true })]
  const run = order()
  await old.submit(run)
  await symlink('void', join(filesOf(run.runId).directory, 'claim'))
  expect(await next.submit(run)).toBe(run.runId)
  expect(next.taken).toBe(1)
  expect(await recordsOf(run.runId)).toMatchObject({ claim: null })
})

it('a server gives up a run that another one gave up, and its job does not pay for it', async () => {
  const { run, old, start, next, again } = await askTwice()
  await symlink('void', join(filesOf(run.runId).directory, 'claim'))
  for (const [server, starting] of [
    [old, start],
    [next, again],
  ] as const)
    expect(await ends(server, starting)).toMatchObject({ reason: { reason: 'NODE_TROUBLE' } })
})

it('a cancelled run of which nothing began does not wait for Slurm', async () => {
  const executor = await createSlurmExecutor({
    sharedDir,
    pool: 'cluster',
    environment: { PATH: '/nowhere' },
    clock: systemClock,
    time: machineTime,
    log: createLog('silent'),
  })
  const run = order()
  await expect(executor.start(run, AbortSignal.abort())).rejects.not.toBeInstanceOf(StartFailed)
  expect(await recordsOf(run.runId)).toMatchObject({ claim: null })
  expect(await executor.find(run.runId)).toBeNull()
  expect(await recordsOf(run.runId)).toBeNull()
  await executor.close()
})
