import { EventEmitter, on } from 'node:events'
import { expect, test } from 'vitest'
import { Random } from '../../simulate/random.ts'
import { findViolations } from '../../src/domain/selfcheck/selfcheck.ts'
import { submitAll } from '../../src/domain/submission/submit.ts'
import type { Executor, Observation } from '../../src/executors/executor.ts'
import { createTestDomain, simNode } from '../support/domain.ts'
import { startScheduler } from '../support/leader.ts'
import { until } from '../support/until.ts'

/**
 * Executors of one pool share its devices. Each receives the devices of a run and does not know the other executors.
 */
const card = { model: 'a100', memoryGib: 80, tensorCores: true, cuda: [] }
const devices = Array.from({ length: 16 }, (_, index) => ({ index, ...card }))
const jobs = 100
const runMsMax = 5

/** The devices in use, and every start that got a device in use. */
class Devices {
  readonly #users = new Map<number, string>()
  readonly clashes: string[] = []
  started = 0

  take(runId: string, gpuIds: readonly number[]): void {
    this.started++
    for (const id of gpuIds) {
      if (this.#users.has(id)) this.clashes.push(`${runId} got device ${id} of ${this.#users.get(id)}`)
      this.#users.set(id, runId)
    }
  }

  giveBack(gpuIds: readonly number[]): void {
    for (const id of gpuIds) this.#users.delete(id)
  }
}

/** An executor whose runs take up to `runMsMax`, and which reports the end of a run at once. */
function shortRuns(name: string, random: Random, machine: Devices): Executor {
  const runs = new Map<string, Promise<void>>()
  const over = new Set<string>()
  const ends = new EventEmitter()
  const observe = (runId: string): Observation => {
    if (!runs.has(runId)) return { state: 'gone' }
    return over.has(runId) ? { state: 'ended', exitCode: 0, signal: null, stopped: false } : { state: 'running' }
  }
  return {
    name,
    async start({ runId, gpuIds }) {
      if (runs.has(runId)) return runId
      machine.take(runId, gpuIds)
      const end = new Promise<void>((resolve) => setTimeout(resolve, random.between(0, runMsMax))).then(() => {
        machine.giveBack(gpuIds)
        over.add(runId)
        ends.emit('end', runId)
      })
      runs.set(runId, end)
      return runId
    },
    find: async (runId) => (runs.has(runId) ? runId : null),
    inspect: async (handles) => handles.map(observe),
    async *logs(handle) {
      await runs.get(handle)
      yield* []
    },
    async *watch(signal) {
      for await (const [runId] of on(ends, 'end', { signal })) yield runId as string
    },
    stop: async () => {},
    describe: async () => ({ version: null, available: true, message: null }),
    close: async () => {},
  }
}

test('random submissions to the executors local and container never get the same GPU twice', async () => {
  const nodes = [{ ...simNode, devices }]
  await using world = await createTestDomain({ nodes, pool: { executors: ['local', 'container'] } })
  const { database, it } = world
  const random = new Random(20_261_122)
  const machine = new Devices()
  const scheduler = startScheduler(it.domain, {
    local: shortRuns('local', random, machine),
    container: shortRuns('container', random, machine),
  })
  const command = ['true']
  const randomSpec = () => {
    const resources = { cpu: 0.25, memoryGib: 1, gpu: random.of([1, 1, 2, 3, 5]) }
    return random.chance(0.5)
      ? { command, executor: 'local', resources }
      : { command, executor: 'container', image: 'i', resources }
  }
  try {
    await submitAll(
      it.domain,
      it.admin,
      Array.from({ length: jobs }, () => ({ spec: randomSpec() })),
    )
    const left = () => database.db.sql.query("SELECT FROM job WHERE state <> 'SUCCEEDED'")
    await until(async () => (await left()).length === 0, { what: 'all jobs are over' })
  } finally {
    await scheduler.stop()
  }
  expect(machine.clashes).toEqual([])
  expect(machine.started).toBe(jobs)
  expect(await findViolations(database.db.sql)).toEqual([])
})
