import { expect, it } from 'vitest'
import { type DayJob, dayMs, listDayRows, listHours, markMs } from '../../web/pages/overview/day-rows.ts'

const nowMs = Date.parse('2026-11-26T12:34:00Z')
const at = (minutes: number) => new Date(nowMs + minutes * 60_000).toISOString()

const makeJob = (id: string, startedAt: string | null, finishedAt: string | null, pool = 'gpu') =>
  ({ id, startedAt, finishedAt, pool: { name: pool }, user: { name: 'ann' } }) as DayJob

const list = (jobs: readonly DayJob[]) =>
  listDayRows(jobs, { by: 'pool', nowMs }).map(({ key, lanes, hidden }) => [
    key,
    hidden,
    ...lanes.map((bars) => bars.map(({ job, fromMs, toMs }) => [job.id, fromMs - nowMs, toMs - nowMs].join(' '))),
  ])

it('jobs at the same time are drawn in separate lanes, and the pool with the most jobs is first', () => {
  const minute = 60_000
  expect(
    list([
      makeJob('other', at(-10), null, 'cpu'),
      makeJob('late', at(-100), at(-60)),
      makeJob('early', at(-300), at(-200)),
      makeJob('beside', at(-250), null),
    ]),
  ).toEqual([
    [
      'gpu',
      0,
      [`early ${-300 * minute} ${-200 * minute}`, `late ${-100 * minute} ${-60 * minute}`],
      [`beside ${-250 * minute} 0`],
    ],
    ['cpu', 0, [`other ${-10 * minute} 0`]],
  ])
})

it('a bar begins at most 24 hours ago, and a job that never started is drawn at its end', () => {
  const minute = 60_000
  const rows = [makeJob('long', at(-3_000), at(-60)), makeJob('never', null, at(-30)), makeJob('starting', null, null)]
  expect(list([...rows, makeJob('before', at(-3_000), at(-2_000))])).toEqual([
    ['gpu', 0, [`long ${-dayMs} ${-60 * minute}`, `never ${-30 * minute} ${-30 * minute}`]],
  ])
})

it('jobs that do not fit into the lanes of a row are counted', () => {
  const jobs = Array.from({ length: 14 }, (_, i) => makeJob(`job${i}`, at(-60), null))
  expect(listDayRows(jobs, { by: 'user', nowMs }).map(({ key, lanes, hidden }) => [key, lanes.length, hidden])).toEqual(
    [['ann', 10, 4]],
  )
})

it('the marks of the axis of the day are full hours', () => {
  const marks = listHours(nowMs)
  expect(marks.every((ms) => ms % 3_600_000 === 0 && ms > nowMs - dayMs && ms < nowMs)).toBe(true)
  expect(marks.slice(1).every((ms, i) => ms - (marks[i] ?? 0) === markMs)).toBe(true)
})
