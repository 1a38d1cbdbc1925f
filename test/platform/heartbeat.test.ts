import { expect, it } from 'vitest'
import { heartbeatAt, heartbeatDueMs, heartbeatMs } from '../../src/platform/heartbeat.ts'

it('heartbeats are due together, at whole seconds, and never too early', () => {
  expect([0, 1, 999, 1_000].map(heartbeatDueMs)).toEqual([15_000, 16_000, 16_000, 16_000])
  for (let lastSent = 0; lastSent < 3_000; lastSent += 7) {
    const silentMs = heartbeatDueMs(lastSent) - lastSent
    expect(silentMs).toBeGreaterThanOrEqual(heartbeatMs)
    expect(silentMs).toBeLessThan(heartbeatMs + 1_000)
  }
})

it('heartbeats of one second tell the same moment', () => {
  expect(heartbeatAt(Date.parse('2026-01-01T00:00:07.999Z'))).toEqual(new Date('2026-01-01T00:00:07Z'))
})
