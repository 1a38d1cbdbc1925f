import { expect, test } from 'vitest'
import { reportPool } from '../../../src/domain/machines/pool-report.ts'
import { openTestDomain } from '../../support/domain.ts'
import { submitJobs } from '../../support/submit-jobs.ts'

const { it } = await openTestDomain()

async function warnings(resources: Record<string, unknown>, more: Record<string, unknown> = {}) {
  const [outcome] = await submitJobs(it.domain, it.admin, [{ spec: { command: ['true'], resources, ...more } }])
  if (!outcome || outcome instanceof Error) throw outcome
  return outcome.warnings
}

test('a requested limit that the executor cannot enforce causes a warning', async () => {
  expect(await warnings({ cpu: 1, memoryGib: 1 })).toEqual([])
  const simulated = { version: null, available: true, message: null, unenforced: ['memory', 'cpu', 'pids'] }
  await reportPool(it.domain, 'sim', { executors: { simulated }, unixUserRequired: false, reservedUnixUsers: [] })
  const told = (what: string) => `${what} is planned with, not enforced: executor simulated of pool sim cannot limit it`
  expect(await warnings({ memoryGib: 1 })).toEqual([told('memory')])
  expect(await warnings({ cpu: 1, memoryGib: 1 })).toEqual([told('memory'), told('cpu')])
  expect(await warnings({})).toEqual([])
})

test('a field that this installation does not support causes a warning', async () => {
  const simulated = { version: null, available: true, message: null, unenforced: [], warnings: ['No way home'] }
  await reportPool(it.domain, 'sim', { executors: { simulated }, unixUserRequired: false, reservedUnixUsers: [] })
  expect(await warnings({})).toEqual(['No way home'])
})

test('options that the executor does not accept are refused, and a run time above its limit causes a warning', async () => {
  const [queue = ''] = (await it.domain.db.sql.query<{ name: string }>('SELECT name FROM submission_queue')).map(
    ({ name }) => name,
  )
  const described = { version: null, available: true, message: null, unenforced: [] }
  const simulated = {
    ...described,
    attributes: ['hold', 'qos'],
    insteadOf: { gres: 'set resources: gpu' },
    secondsMax: { [queue]: 300 },
  }
  await reportPool(it.domain, 'sim', { executors: { simulated }, unixUserRequired: false, reservedUnixUsers: [] })
  const attributes = (customAttributes: Record<string, unknown>) => warnings({}, { customAttributes })
  expect(await attributes({ 'simulated.hold': true, 'simulated.qos': 'high', 'other.uid': 0 })).toEqual([])
  await expect(attributes({ 'simulated.uid': '0' })).rejects.toMatchObject({
    violations: [
      {
        path: ['spec', 'customAttributes', 'simulated.uid'],
        message: 'simulated.uid is not an option that a job may set; use one of hold, qos',
      },
    ],
  })
  await expect(attributes({ 'simulated.gres': 'gpu:2' })).rejects.toThrow(
    'simulated.gres is not an option that a job may set; set resources: gpu',
  )
  for (const value of [{}, [], '', 'a\nb', null])
    await expect(attributes({ 'simulated.qos': value })).rejects.toThrow(/must be one line of text/)
  expect(await warnings({}, { maxRunTimeSeconds: 300 })).toEqual([])
  expect(await warnings({}, { maxRunTimeSeconds: 301 })).toEqual([
    `maxRunTimeSeconds 301 exceeds the limit of queue ${queue}: executor simulated ends the job after 300 s`,
  ])
  expect(await warnings({})).toEqual([])
})

test('an X11 display is refused if the configuration names no image for it', async () => {
  const described = { version: null, available: true, message: null, unenforced: [] }
  const report = (displays: boolean) =>
    reportPool(it.domain, 'sim', {
      executors: { simulated: { ...described, displays } },
      unixUserRequired: false,
      reservedUnixUsers: [],
    })
  await report(false)
  expect(await warnings({})).toEqual([])
  const message =
    'Executor simulated has no image for X11 displays; the configuration of the server must name one as simulated.x11Image'
  await expect(warnings({}, { x11: { gpu: false } })).rejects.toMatchObject({
    violations: [{ path: ['spec', 'x11'], message }],
  })
  await report(true)
  expect(await warnings({}, { x11: { gpu: false } })).toEqual([])
})

test('a job for an unreachable backend causes a warning that it waits', async () => {
  const simulated = { version: null, available: false, message: 'No engine answers', unenforced: [] }
  await reportPool(it.domain, 'sim', { executors: { simulated }, unixUserRequired: false, reservedUnixUsers: [] })
  expect(await warnings({})).toEqual([
    'Executor simulated of pool sim is not available now, and the job waits for it: No engine answers',
  ])
})
