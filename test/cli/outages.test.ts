import { afterEach, expect, it, vi } from 'vitest'
import { reportOutages } from '../../src/cli/showing/watch.ts'
import { RequestFailed } from '../../src/client/connection/failure.ts'

afterEach(() => {
  vi.useRealTimers()
})

it('a live view reports the start and the end of a long outage once, and no short outage', () => {
  vi.useFakeTimers({ now: new Date(2030, 0, 31, 12) })
  const said: string[] = []
  let failure: RequestFailed | null = null
  let changed = () => {}
  const client = {
    outage: () => failure,
    onOutage(listener: () => void) {
      changed = listener
      return () => {}
    },
  }
  const terminal = {
    say: (line: string) => said.push(line),
    write: async () => {},
    colour: false,
    columns: 80,
    rows: Number.POSITIVE_INFINITY,
    progress: () => undefined,
    notify: () => undefined,
    openScreen: () => null,
  }
  const outage = (message: string | null) => {
    failure = message === null ? null : new RequestFailed('UNREACHABLE', message)
    changed()
  }
  reportOutages(client, terminal)

  outage('No server answers')
  vi.advanceTimersByTime(2_000)
  outage(null)
  vi.advanceTimersByTime(10_000)
  expect(said).toEqual([])

  outage('No server answers')
  outage('No server answers')
  vi.advanceTimersByTime(10_000)
  outage('No server answers')
  vi.advanceTimersByTime(10_000)
  const report = 'berth: not live since 2030-01-31 12:00:12: No server answers; retrying'
  expect(said).toEqual([report])

  outage(null)
  expect(said).toEqual([report, 'berth: reconnected'])
})
