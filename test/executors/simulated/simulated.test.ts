import { appendFile, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { StartFailed } from '../../../src/executors/executor.ts'
import { createSimulatedExecutor } from '../../../src/executors/simulated/simulated.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { createLog } from '../../../src/platform/log.ts'
import { createFakeClock, machineTime } from '../../support/clock.ts'
import { makeDirectory } from '../../support/directory.ts'
import { until } from '../../support/until.ts'
import { type Behaviour, contract } from '../contract.ts'
import { makeRun, observe, read } from '../runs.ts'

const log = createLog('warn')

function environmentOf({ lines, exitCode, endless, ignoresTerm }: Behaviour) {
  const values = {
    SIM_LOG_LINES: lines ?? 0,
    SIM_EXIT_CODE: exitCode ?? 0,
    SIM_RUN_SECONDS: endless ? 3_600 : 0,
    SIM_IGNORE_TERM_SECONDS: ignoresTerm ? 3_600 : 0,
  }
  return Object.entries(values).map(([name, value]) => ({ name, value: String(value) }))
}

contract('simulated', async () => {
  const dataDir = makeDirectory()
  return {
    open: () => createSimulatedExecutor({ dataDir, clock: systemClock, time: machineTime, log }),
    run: (behaviour) => makeRun({ environment: environmentOf(behaviour) }),
    starts: async () => null,
  }
})

describe('the simulated executor', () => {
  let dataDir: string
  beforeEach(async () => {
    dataDir = makeDirectory()
  })

  const open = async (clock = createFakeClock()) => ({
    clock,
    executor: await createSimulatedExecutor({ dataDir, clock, time: clock, log }),
  })
  const simulated = (values: Record<string, number | string>, nodes = ['n1']) =>
    makeRun({ environment: Object.entries(values).map(([name, value]) => ({ name, value: String(value) })) }, { nodes })

  it('runs jobs by the given clock', async () => {
    const { executor, clock } = await open()
    const handle = await executor.start(simulated({ SIM_START_SECONDS: 2, SIM_RUN_SECONDS: 1.5, SIM_EXIT_CODE: 9 }))
    const began = clock.nowMs()
    expect(await observe(executor, handle)).toMatchObject({ state: 'starting' })
    await clock.advance(2_000)
    expect(await observe(executor, handle)).toMatchObject({ state: 'running', startedAt: new Date(began + 2_000) })
    await clock.advance(1_499)
    expect(await observe(executor, handle)).toMatchObject({ state: 'running' })
    await clock.advance(1)
    const finishedAt = new Date(began + 3_500)
    expect(await observe(executor, handle)).toMatchObject({ state: 'ended', exitCode: 9, signal: null, finishedAt })
    await executor.close()
  })

  it.each([
    [{ SIM_IGNORE_TERM_SECONDS: 5 }, 10_000, 5_000, 143],
    [{ SIM_IGNORE_TERM_SECONDS: 20 }, 10_000, 10_000, 137],
    [{ SIM_IGNORE_TERM_SECONDS: 20, SIM_RUN_SECONDS: 3 }, 10_000, 3_000, 0],
    [{ SIM_START_SECONDS: 7 }, 10_000, 0, 143],
  ])(
    'with %o and a stop request with a grace period of %i ms ends after %i ms with exit code %i',
    async (values, graceMs, endsAfterMs, exitCode) => {
      const { executor, clock } = await open()
      const handle = await executor.start(simulated({ SIM_RUN_SECONDS: 100, ...values }))
      await executor.stop(handle, graceMs)
      if (endsAfterMs > 0) {
        await clock.advance(endsAfterMs - 1)
        expect(await observe(executor, handle)).toMatchObject({ state: 'running' })
        await clock.advance(1)
      }
      expect(await observe(executor, handle)).toMatchObject({ state: 'ended', exitCode, stopped: true })
      await executor.close()
    },
  )

  it('keeps the state and the output of a node that is unreachable for a while', async () => {
    const { executor, clock } = await open()
    const handle = await executor.start(simulated({ SIM_RUN_SECONDS: 5, SIM_LOG_LINES: 2 }, ['n2']))
    await writeFile(join(dataDir, 'sim-silent'), 'n7\nn2\n')
    expect(await observe(executor, handle)).toMatchObject({ state: 'unreachable' })
    await expect(executor.stop(handle, 0)).rejects.toThrow('n2')
    await expect(executor.start(simulated({}, ['n2']))).rejects.toThrow(StartFailed)
    const reading = read(executor, handle)
    await clock.advance(10_000)
    expect(await observe(executor, handle)).toMatchObject({ state: 'unreachable' })
    await rm(join(dataDir, 'sim-silent'))
    expect(await observe(executor, handle)).toMatchObject({ state: 'ended', exitCode: 0, stopped: false })
    let out = ''
    void reading.then((all) => {
      out = all.out
    })
    // The reader polls files, so its last pause may begin at any time.
    await until(() => clock.advance(5_000).then(() => out), { what: 'the reader looks again' })
    expect(out).toBe('line 1\nline 2\n')
    await executor.close()
  })

  it('reads stop requests written by another server, except incomplete lines', async () => {
    const clock = createFakeClock()
    const [one, other] = [await open(clock), await open(clock)]
    const handle = await one.executor.start(simulated({ SIM_RUN_SECONDS: 100 }))
    const stops = join(dataDir, 'sim-stops', JSON.parse(handle).runId)
    await appendFile(stops, '1')
    expect(await observe(other.executor, handle)).toMatchObject({ state: 'running' })
    await appendFile(stops, ' 1\n')
    await one.executor.stop(handle, 1_000)
    expect(await observe(other.executor, handle)).toMatchObject({ state: 'ended', stopped: true })
    await one.executor.close()
    await other.executor.close()
  })

  it('keeps the stop requests of a run until the run is removed, for all servers', async () => {
    const clock = createFakeClock()
    const [one, other] = [await open(clock), await open(clock)]
    const handle = await one.executor.start(simulated({ SIM_RUN_SECONDS: 100, SIM_IGNORE_TERM_SECONDS: 100 }))
    await one.executor.stop(handle, 50_000)
    await other.executor.stop(handle, 10_000)
    await clock.advance(10_000)
    for (const { executor } of [one, other])
      expect(await observe(executor, handle)).toMatchObject({ state: 'ended', exitCode: 137, stopped: true })
    await one.executor.forget?.(handle)
    expect(await readdir(join(dataDir, 'sim-stops'))).toEqual([])
    for (const { executor } of [one, other]) await executor.close()
  })

  it.each(['soon', '-1', 'Infinity'])('rejects SIM_RUN_SECONDS=%s', async (value) => {
    const { executor } = await open()
    await expect(executor.start(simulated({ SIM_RUN_SECONDS: value }))).rejects.toMatchObject({ reason: 'BAD_SPEC' })
    await executor.close()
  })
})
