import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type EngineFacts, findTroubles } from '../../../src/executors/container/engine-facts.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { answerFacts, listenAsEngine, openOverEngine } from './fake-engine.ts'

const sound: EngineFacts = {
  name: 'Docker 20.10.0',
  version: '20.10.0',
  isPodman: false,
  hasInit: true,
  hasNvidia: false,
  cpusMax: 8,
  memoryBytes: 2 ** 34,
  aheadMs: 0,
}

it.each<[string, Partial<EngineFacts>, string[]]>([
  ['the oldest Docker', {}, []],
  [
    'an older one',
    { name: 'Docker 20.4.1', version: '20.4.1' },
    ['Docker 20.4.1 is too old: update it to 20.10 or newer'],
  ],
  ['a newer one', { version: '28.0.0-rc.1' }, []],
  ['the oldest Podman', { version: '4.0.0', isPodman: true }, []],
  [
    'an older one',
    { name: 'Podman 3.4.2', version: '3.4.2', isPodman: true },
    ['Podman 3.4.2 is too old: update it to 4.0 or newer'],
  ],
  ['a clock that is unknown', { aheadMs: null }, []],
  ['a clock that is 5 s off', { aheadMs: -5_200 }, []],
  [
    'a slow clock',
    { aheadMs: -6_000 },
    ['The clock of the machine is 6 s behind that of the server: run "timedatectl set-ntp true" on both'],
  ],
  [
    'a fast clock',
    { aheadMs: 3_600_000 },
    ['The clock of the machine is 3600 s ahead of that of the server: run "timedatectl set-ntp true" on both'],
  ],
])('%s is judged', (_, facts, troubles) => {
  expect(findTroubles({ ...sound, ...facts })).toEqual(troubles)
})

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'berth-engine-facts-'))
})
afterEach(() => rm(directory, { recursive: true }))

it('troubles stand in the description of the executor', async () => {
  const engine = await listenAsEngine(directory, answerFacts({ version: '19.3.1', aheadMs: -3_600_000 }))
  const executor = await openOverEngine(directory, { image: 'i', clock: systemClock })
  const { version, available, message } = await executor.describe()
  expect({ version, available }).toEqual({ version: '19.3.1', available: true })
  expect(message).toMatch(
    /^Docker 19\.3\.1 is too old: .*\. The clock of the machine is 3(600|599|601) s behind that of the server: /,
  )
  await executor.close()
  await engine.close()
})
