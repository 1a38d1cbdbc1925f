import { describe, expect, test } from 'vitest'
import { computeFigures, type Judged, playKnownDay, playMixedDay, playNewDay } from '../../../simulate/days.ts'
import type { Policy } from '../../../src/domain/lanes.ts'
import { drain } from '../../../src/scheduler/plan/drain.ts'
import { forecast } from '../../../src/scheduler/plan/forecast.ts'
import type { Snapshot } from '../../../src/scheduler/plan/model.ts'
import { chooseParts, Draws, type RunTime } from '../../../src/scheduler/plan/run-times.ts'
import { lane, makeLaneState, makeRunning, placedOn, settings, snapshot, waiting } from '../../support/planning.ts'
import { range } from '../../support/pool.ts'
import { isWhole } from '../../support/whole.ts'

const policies = ['PRIORITY', 'FAIR_SHARE'] as const
const drawMs = (of: RunTime, { play = 0, ...job }: { jobId: string; ranMs: number; play?: number }) =>
  new Draws(play).moreMs(of, job)
const runTime = (more: Partial<RunTime> = {}): RunTime => ({
  kind: 'k',
  history: [],
  parts: [],
  statedMs: null,
  ...more,
})

function forecastOf(of: Partial<Snapshot>, times: Record<string, RunTime>, spentMs = () => 0) {
  const policy = settings({ nonPreemptableFraction: 1, ...of.settings })
  const how = { times: new Map(Object.entries(times)), graceMs: 5_000, spentMs }
  return drain(forecast(snapshot({ ...of, settings: policy }), how))
}

describe('forecasts in simulations of several days', () => {
  const days = (day: (seed: number, policy: Policy) => Judged[], policy: Policy, seeds: number[]) =>
    computeFigures(seeds.flatMap((seed) => day(seed, policy)))

  test.each(policies)(
    'have a median error below a tenth of the wait with known run times, and p90 covers 90 % of starts: %s',
    (policy) => {
      const { forecasts, medianError, covered } = days(playKnownDay, policy, range(0, isWhole ? 15 : 4))
      expect(forecasts).toBeGreaterThan(isWhole ? 2_500 : 700)
      expect(medianError).toBeLessThan(0.1)
      expect(covered).toBeGreaterThan(0.85)
      // A single day has 77 to 100 %, so four days vary more than fifteen.
      expect(covered).toBeLessThan(isWhole ? 0.95 : 0.98)
    },
    180_000,
  )

  test.each(policies)(
    'have an error near the bound of decision 24 on a new installation with stated limits: %s',
    (policy) => {
      const { forecasts, medianError } = days(playNewDay, policy, range(0, isWhole ? 12 : 2))
      expect(forecasts).toBeGreaterThan(20)
      expect(medianError).toBeLessThan(policy === 'PRIORITY' ? 0.33 : 0.5)
    },
    120_000,
  )

  test.each(policies)(
    'have an error below a third of the wait with partly unknown run times, and p90 covers four fifths of starts: %s',
    (policy) => {
      const { forecasts, medianError, covered } = days(playMixedDay, policy, range(0, isWhole ? 7 : 4))
      expect(forecasts).toBeGreaterThan(isWhole ? 800 : 250)
      expect(medianError).toBeLessThan(policy === 'PRIORITY' ? 0.2 : 0.33)
      expect(covered).toBeGreaterThan(0.8)
    },
    180_000,
  )
})

describe('the simulation of the queue', () => {
  const whole = (id: string, more = {}) => lane(id, { shape: { gpu: 8 }, ...more })
  const running = (of = whole('r')) => [
    makeRunning(of, waiting(of.id, 900), { placements: [placedOn('n1', { gpuIds: range(0, 8), memoryBytes: 1 })] }),
  ]

  test('is made only once if all run times are stated maxima and jobs start one after the other', () => {
    const found = forecastOf(
      { lanes: [makeLaneState(whole('a'), [1, 2])], running: running() },
      { j900: runTime({ statedMs: 60_000 }), j1: runTime({ statedMs: 10_000 }), j2: runTime({ statedMs: 10_000 }) },
    )
    expect(found.plays).toBe(1)
    expect(found.basis).toEqual({ history: 0, parts: 0, stated: 3, unknown: 0 })
    expect(Object.fromEntries(found.starts)).toEqual({
      j1: { p50Ms: 60_000, p90Ms: 60_000 },
      j2: { p50Ms: 70_000, p90Ms: 70_000 },
    })
  })

  test('forecasts no start behind a run whose end is unknown', () => {
    const found = forecastOf({ lanes: [makeLaneState(whole('a'), [1])], running: running() }, { j900: runTime() })
    expect(found.starts.size).toBe(0)
    expect(found.unknown).toEqual(['j900'])
  })

  test('forecasts no start behind the loaded part of a lane', () => {
    const known = makeLaneState(whole('a'), [1, 2])
    const times = { j1: runTime({ statedMs: 1_000 }), j2: runTime({ statedMs: 1_000 }) }
    expect([...forecastOf({ lanes: [{ ...known, waiting: 9 }] }, times).starts.keys()]).toEqual(['j1', 'j2'])
  })

  test('ends an evicted run after its grace period, and runs the job again', () => {
    const victim = whole('v', { preemptable: true, restartable: true, account: 'v', priority: 0 })
    const found = forecastOf(
      {
        lanes: [makeLaneState(whole('a', { account: 'a', priority: 30 }), [1])],
        running: running(victim),
        settings: settings({ preemptLowerPriority: true }),
      },
      { j900: runTime({ statedMs: 3_600_000 }), j1: runTime({ statedMs: 10_000 }) },
    )
    expect(found.starts.get('j1')).toEqual({ p50Ms: 5_000, p90Ms: 5_000 })
    expect(found.starts.get('j900')?.p50Ms).toBe(15_000)
  })

  test('keeps the result of the first simulation when the forecast takes too long', () => {
    let steps = 0
    const lanes = [makeLaneState(whole('a'), range(0, 30))]
    const times = Object.fromEntries(
      range(0, 30).map((at) => [`j${at}`, runTime({ history: range(1, 20), statedMs: 20 })]),
    )
    const found = forecastOf({ lanes }, times, () => 10 * ++steps)
    expect(found.starts.size).toBeGreaterThan(0)
    expect(found.starts.size).toBeLessThan(30)
    expect(found.plays).toBeLessThan(20)
  })

  test('does not change the state of the pool that it copies', () => {
    const of = snapshot({ lanes: [makeLaneState(whole('a'), [1, 2])], running: running() })
    const before = structuredClone(of)
    forecastOf(of, { j900: runTime({ statedMs: 60_000 }), j1: runTime({ statedMs: 1 }), j2: runTime({ statedMs: 1 }) })
    expect(of).toEqual(before)
  })
})

describe('a simulated run time', () => {
  const history = range(1, 20).map((at) => at * 1_000)
  const drawn = (of: RunTime, ranMs = 0) => range(0, 200).map((play) => drawMs(of, { jobId: 'j', ranMs, play }))

  test('is drawn from earlier runs, and stays within the limit', () => {
    const values = drawn(runTime({ history, statedMs: 15_000 })).map(Number)
    expect(values.every((ms) => ms <= 15_000 && (ms === 15_000 || history.includes(ms)))).toBe(true)
    expect(new Set(values).size).toBeGreaterThan(10)
    expect(drawn(runTime({ history, statedMs: 15_000 }))).toEqual(values)
  })

  test('of a running job exceeds its elapsed time; beyond all earlier runs it is twice the elapsed time', () => {
    expect(drawn(runTime({ history }), 17_500).every((ms) => ms === 17_500 || [500, 1_500].includes(Number(ms)))).toBe(
      true,
    )
    expect(drawMs(runTime({ history }), { jobId: 'j', ranMs: 30_000 })).toBe(30_000)
    expect(drawMs(runTime({ history, statedMs: 40_000 }), { jobId: 'j', ranMs: 30_000 })).toBe(10_000)
  })

  test('without enough earlier runs is the part of the stated maximum that earlier jobs took', () => {
    const values = drawn(runTime({ history: [5], parts: [0.1, 0.5], statedMs: 60_000 })).map(Number)
    expect(new Set(values)).toEqual(new Set([6_000, 30_000]))
    expect(drawMs(runTime({ parts: [0.1, 0.5], statedMs: 60_000 }), { jobId: 'j', ranMs: 50_000 })).toBe(10_000)
    expect(drawMs(runTime({ history: [5] }), { jobId: 'j', ranMs: 0 })).toBe(5)
  })

  test('is taken from similar maxima of the user, then of the pool, then from any maximum', () => {
    const runs = (statedMs: number, ...parts: number[]) => parts.map((part) => ({ part, statedMs }))
    const own = [...runs(60_000, 0.1, 0.2, 0.3), ...runs(600_000, 0.7)]
    const pool = [...own, ...runs(600_000, 0.8, 0.9)]
    expect(chooseParts(own, pool, 50_000)).toEqual([0.1, 0.2, 0.3])
    expect(chooseParts(own, pool, 500_000)).toEqual([0.7, 0.8, 0.9])
    expect(chooseParts(own, pool, 5_000)).toEqual([0.1, 0.2, 0.3, 0.7])
    expect(chooseParts(own.slice(0, 2), pool, 5_000)).toEqual(pool.map(({ part }) => part))
  })

  test('with too few earlier runs is the stated maximum, or unlimited', () => {
    expect(drawMs(runTime({ history: [5, 5], statedMs: 60_000 }), { jobId: 'j', ranMs: 10_000 })).toBe(50_000)
    expect(drawMs(runTime(), { jobId: 'j', ranMs: 0 })).toBeNull()
  })
})
