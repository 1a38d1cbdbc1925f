import { describe, expect, test } from 'vitest'
import {
  type Ageing,
  computeCutoffs,
  computeEffectivePriority,
  effectivePrioritySql,
  findNextRiseMs,
  listAgedSteps,
  type Moment,
} from '../../src/domain/ageing.ts'
import { createDatabase } from '../support/database.ts'

const nowMs = 1_800_000_000_000
const bands = [0, 5, 10, 20, 25, 30, 40]
const waits = [-500, 0, 1, 999, 1_000, 1_001, 2_000, 2_999, 3_000, 3_001, 60_000]
const moments: Moment[] = [0, 1_000].map((thresholdMs) => ({ nowMs, thresholdMs }))
const flags = [true, false]

const ageings: Ageing[] = bands.flatMap((band) =>
  waits.flatMap((wait) =>
    flags.flatMap((overridden) => flags.map((open) => ({ band, overridden, open, sinceMs: nowMs - wait }))),
  ),
)
const each = moments.flatMap((moment) => ageings.map((ageing) => ({ ageing, moment })))

test('a priority rises by 10 for every full starvation threshold of waiting, up to 30', () => {
  const at = (band: number, wait: number) =>
    computeEffectivePriority(
      { band, overridden: false, open: true, sinceMs: nowMs - wait },
      { nowMs, thresholdMs: 1_000 },
    )
  expect([at(0, 999), at(0, 1_000), at(0, 2_999), at(0, 3_000), at(0, 60_000)]).toEqual([0, 10, 20, 30, 30])
  expect([at(20, 1_000), at(30, 9_000), at(25, 9_000)]).toEqual([30, 30, 25])
})

test('a priority has risen at the computed time of its rise, also if the wait began between two milliseconds', () => {
  for (let tenths = 240; tenths < 20_000; tenths++) {
    const ageing = { band: 0, overridden: false, open: true, sinceMs: tenths / 10 }
    const dueMs = findNextRiseMs(ageing, { nowMs: ageing.sinceMs, thresholdMs: 1_000 }) ?? 0
    expect(computeEffectivePriority(ageing, { nowMs: dueMs, thresholdMs: 1_000 })).toBe(10)
  }
})

describe('ageing is computed consistently', () => {
  test('for the next rise: the priority rises exactly at the computed time', () => {
    for (const { ageing, moment } of each) {
      const now = computeEffectivePriority(ageing, moment)
      const at = (ms: number) => computeEffectivePriority(ageing, { ...moment, nowMs: ms })
      const riseMs = findNextRiseMs(ageing, moment)
      if (riseMs === null) expect(at(nowMs + 1_000_000)).toBe(now)
      else expect([at(riseMs - 1), at(riseMs)]).toEqual([now, now + 10])
    }
  })

  test('for the entries of a band that have a given priority now', () => {
    for (const { ageing, moment } of each.filter(({ ageing: { open } }) => open)) {
      const { sinceMs } = ageing
      const mine = listAgedSteps(ageing, moment).filter(
        ({ afterMs, untilMs }) => sinceMs > afterMs && sinceMs <= untilMs,
      )
      expect(mine.map(({ priority }) => priority)).toEqual([computeEffectivePriority(ageing, moment)])
    }
  })

  test('for the entries of a band that are ahead of a priority', () => {
    for (const { ageing, moment } of each.filter(({ ageing: { open, overridden } }) => open && !overridden))
      for (const priority of bands) {
        const { wholeMs, tiedMs } = computeCutoffs(ageing.band, priority, moment)
        const own = computeEffectivePriority(ageing, moment)
        expect([ageing.sinceMs <= wholeMs, ageing.sinceMs <= Math.max(wholeMs, tiedMs)]).toEqual([
          own > priority,
          own >= priority,
        ])
      }
  })

  test('in SQL and in TypeScript', async () => {
    const database = await createDatabase()
    const rows = await database.db.sql.query<Ageing & Moment & { priority: number }>(
      `SELECT q.band, l.overridden, q.open, q.since AS "sinceMs", q.now AS "nowMs", pl.threshold AS "thresholdMs", (${effectivePrioritySql.replaceAll(
        'berth_now()',
        'to_timestamp(q.now / 1000)',
      )})::int AS priority
       FROM (SELECT band, open, since, now, to_timestamp(since / 1000) AS eligible_at, overridden, threshold FROM jsonb_to_recordset($1::text::jsonb) AS r(
         band int, open boolean, since float8, now float8, overridden boolean, threshold float8)) q
       CROSS JOIN LATERAL (SELECT q.overridden) l
       CROSS JOIN LATERAL (SELECT q.threshold, jsonb_build_object('starvationThresholdSeconds', q.threshold / 1000) AS "values") pl`,
      [
        JSON.stringify(
          each.map(({ ageing: { sinceMs, ...ageing }, moment }) => ({
            ...ageing,
            since: sinceMs,
            now: moment.nowMs,
            threshold: moment.thresholdMs,
          })),
        ),
      ],
    )
    await database.close()
    expect(rows).toHaveLength(each.length)
    expect(rows.filter(({ priority, ...row }) => priority !== computeEffectivePriority(row, row))).toEqual([])
  })
})
