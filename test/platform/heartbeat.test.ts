import { expect, it } from 'vitest'
import { getHeartbeatDueMs, getHeartbeatTime } from '../../src/platform/heartbeat.ts'

it('streams that became silent in the same second send their heartbeats together', () => {
  expect([0, 1, 999.9, 1_000].map(getHeartbeatDueMs)).toEqual([15_000, 15_000, 15_000, 16_000])
})

it('heartbeats are due every 15 s, even if each one is sent a little late', () => {
  const due = [getHeartbeatDueMs(300.7)]
  for (const latenessMs of [0, 0.4, 12, 999]) due.push(getHeartbeatDueMs((due.at(-1) ?? 0) + latenessMs))
  expect(due).toEqual([15_000, 30_000, 45_000, 60_000, 75_000])
})

it('heartbeats sent in the same second have the same timestamp', () => {
  expect(getHeartbeatTime(Date.parse('2026-01-01T00:00:07.999Z'))).toEqual(new Date('2026-01-01T00:00:07Z'))
})
