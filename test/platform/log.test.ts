import { expect, test } from 'vitest'
import { createLog } from '../../src/platform/log.ts'
import { Outage } from '../../src/platform/troubles.ts'
import { Unavailable } from '../../src/platform/tx.ts'
import { recordLines } from '../support/recorded-lines.ts'
import { until } from '../support/until.ts'

const refused = () => Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'ECONNREFUSED' })
const away = () => new Unavailable('The database is not available', { cause: refused() })
const full = () => Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
const quietMs = 100

test('an outage is logged when it begins and ends, for each component', async () => {
  const { destination, lines } = recordLines()
  const log = createLog('warn', { destination, quietMs })
  for (let failures = 1; failures <= 200; failures++) {
    log.error({ err: away(), loop: 'feed', failures }, 'a pass failed')
    log.child({ request: failures }).warn({ err: refused() }, 'a request failed')
  }
  expect(lines).toMatchObject([
    {
      msg: 'a pass failed',
      loop: 'feed',
      trouble: 'The database is not available: connect ECONNREFUSED 127.0.0.1:5432',
    },
    { msg: 'a request failed', trouble: 'The database is not available: connect ECONNREFUSED 127.0.0.1:5432' },
  ])
  await until(() => lines.length === 4, { what: 'it is over' })
  const over = { failures: 200, since: expect.stringContaining('T'), until: expect.stringContaining('T') }
  expect(lines.slice(2)).toMatchObject([
    { msg: 'over: a pass failed (feed)', ...over },
    { msg: 'over: a request failed', ...over },
  ])
  expect(JSON.stringify(lines)).not.toContain('stack')
  log.error({ err: away(), loop: 'feed' }, 'a pass failed')
  expect(lines).toHaveLength(5)
})

test('the log reports an outage of another kind at once', () => {
  const { destination, lines } = recordLines()
  const log = createLog('warn', { destination })
  const databaseFull = Object.assign(new Error('could not extend file "base/1/2"'), { code: '53100' })
  for (const err of [away(), full(), databaseFull, away(), full(), databaseFull]) log.error({ err }, 'a pass failed')
  expect(lines).toMatchObject([
    { trouble: 'The database is not available: connect ECONNREFUSED 127.0.0.1:5432' },
    { trouble: 'ENOSPC: no space left on device, write' },
    { trouble: 'The disk of the database is full: could not extend file "base/1/2"' },
  ])
})

test('an outage of the environment is logged once for each component', () => {
  const { destination, lines } = recordLines()
  const log = createLog('warn', { destination })
  for (let failures = 0; failures < 3; failures++)
    log.error({ err: new Outage('The data directory is missing'), loop: 'overdue runs' }, 'a pass failed')
  expect(lines).toMatchObject([{ level: 40, loop: 'overdue runs', trouble: 'The data directory is missing' }])
  expect(lines).toHaveLength(1)
})

test('an outage is logged once even if its message changes', () => {
  const { destination, lines } = recordLines()
  const log = createLog('warn', { destination })
  for (let start = 1; start < 3; start++) log.error({ err: new Unavailable(`no start: line ${start}`) }, 'not back')
  expect(lines).toMatchObject([{ trouble: 'no start: line 1', msg: 'not back' }])
})

test('every unexpected error is logged with its stack', () => {
  const { destination, lines } = recordLines()
  const log = createLog('warn', { destination })
  for (let turn = 0; turn < 2; turn++) log.error({ err: new TypeError('undefined is not a function') }, 'a pass failed')
  const err = { message: 'undefined is not a function', stack: expect.stringContaining('log.test.ts') }
  expect(lines).toMatchObject([{ err }, { err }])
})
