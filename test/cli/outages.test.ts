import { afterEach, expect, it, vi } from 'vitest'
import { reportOutages } from '../../src/cli/watch.ts'
import { RequestFailed } from '../../src/client/connection/failure.ts'

afterEach(() => {
  vi.useRealTimers()
})

it('a live view reports a long outage once, and its end, but no short outage', () => {
  vi.useFakeTimers()
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
  expect(said).toEqual(['berth: No server answers; retrying'])

  outage(null)
  expect(said).toEqual(['berth: No server answers; retrying', 'berth: reconnected'])
})
