import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { beforeEach, expect, it } from 'vitest'
import type { EngineFacts } from '../../../src/executors/container/engine-facts.ts'
import { checkMachine } from '../../../src/executors/container/machine.ts'
import { type MachineLook, parseLook, unseen } from '../../../src/executors/container/machine-look.ts'
import { findTroubles } from '../../../src/executors/container/machine-troubles.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { createLog } from '../../../src/platform/log.ts'
import { machineTime } from '../../support/clock.ts'
import { makeDirectory } from '../../support/directory.ts'
import { answerFacts, listenAsEngine, openOverEngine } from './fake-engine.ts'

const sound: EngineFacts = {
  name: 'Docker 20.10.0',
  version: '20.10.0',
  isPodman: false,
  hasInit: true,
  hasNvidia: false,
  cpusMax: 8,
  memoryBytes: 2 ** 34,
  latencyMs: 3,
  aheadMs: 0,
}

it.each<[string, Partial<EngineFacts>, string[]]>([
  ['the oldest Docker', {}, []],
  [
    'an older Docker',
    { name: 'Docker 20.4.1', version: '20.4.1' },
    ['Docker 20.4.1 is too old: update it to 20.10 or newer'],
  ],
  ['a newer Docker', { version: '28.0.0-rc.1' }, []],
  ['the oldest Podman', { version: '4.0.0', isPodman: true }, []],
  [
    'an older Podman',
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
])('the check of a machine judges %s', (_, facts, troubles) => {
  expect(findTroubles({ ...sound, ...facts })).toEqual(troubles)
})

it.each<[string, Partial<MachineLook>, Partial<EngineFacts>, boolean, string[]]>([
  ['a disk that is 10 % free', { diskFree: 0.1 }, {}, false, []],
  [
    'an almost full disk',
    { diskFree: 0.0999 },
    {},
    false,
    [
      '9 % of the disk of the containers is free: remove images and containers there, for example with "docker system prune"',
    ],
  ],
  ['a machine without GPUs', {}, { hasNvidia: false }, false, []],
  ['a machine with GPUs', {}, { hasNvidia: true }, true, []],
  [
    'a machine with GPUs and without the NVIDIA runtime',
    {},
    { hasNvidia: false },
    true,
    [
      'The GPUs of the node reach no job: the engine has no NVIDIA runtime; install nvidia-container-toolkit, and run "nvidia-ctk runtime configure"',
    ],
  ],
  [
    'a broken driver',
    { gpuFailure: 'driver error' },
    { hasNvidia: true },
    true,
    ['The engine gives containers no GPUs: driver error; repair the driver until "nvidia-smi" works there'],
  ],
])('the check of a machine judges %s', (_, look, facts, hasGpus, troubles) => {
  expect(findTroubles({ ...sound, ...facts }, { ...unseen, ...look }, hasGpus)).toEqual(troubles)
})

it.each<[string, string, ReturnType<typeof parseLook>]>([
  [
    'a disk without GPUs',
    'Filesystem 1024-blocks Used Available Capacity Mounted on\noverlay 1000 900 50 95% /\n==\n==\n',
    { diskFree: 0.05, gpus: [] },
  ],
  [
    'GPUs without a driver',
    'F\noverlay 10 5 5 50% /\n==\nNVIDIA-SMI has failed because no driver answers\n==\nNVIDIA-SMI has failed\n',
    { diskFree: 0.5, gpus: [] },
  ],
  [
    'GPUs',
    'F\noverlay 10 5 5 50% /\n==\nTesla T4, 15360, 7.5, GPU-a\n==\n| CUDA Version: 12.4 |\n',
    {
      diskFree: 0.5,
      gpus: [{ model: 'Tesla T4', uuid: 'GPU-a', memoryGib: 15, tensorCores: true, cuda: ['1.0', '12.4'] }],
    },
  ],
  ['nothing', '', { diskFree: null, gpus: [] }],
])('the check of a machine reads %s', (_, seen, expected) => {
  expect(parseLook(seen)).toEqual(expected)
})

let directory: string
beforeEach(async () => {
  directory = makeDirectory()
})

it('the problems of machines are part of the description of the executor', async () => {
  await listenAsEngine(directory, answerFacts({ version: '19.3.1', aheadMs: -3_600_000 }))
  const executor = await openOverEngine(directory, { image: 'i', clock: systemClock })
  const { version, available, message } = await executor.describe()
  expect({ version, available }).toEqual({ version: '19.3.1', available: true })
  expect(message).toMatch(
    /^Docker 19\.3\.1 is too old: .*\. The clock of the machine is 3(600|599|601) s behind that of the server: /,
  )
})

it.each([
  ['runs a container from the configured image, with limits', 'pool:1', ['sha256:pool']],
  ['runs no container without the configured image', 'absent', []],
])('the check of a machine %s', async (_, image, images) => {
  const bodies: { Image: string; HostConfig: object }[] = []
  const paths: string[] = []
  await listenAsEngine(directory, async (request, response) => {
    const { pathname, search } = new URL(request.url ?? '', 'http://engine')
    paths.push(`${request.method} ${pathname.replace(/^\/v[\d.]+/, '')}${decodeURIComponent(search)}`)
    if (pathname.endsWith('/containers/create')) bodies.push(JSON.parse(await text(request)))
    if (pathname.endsWith('/images/json')) return response.end('[{"Id":"sha256:newest"}]')
    if (pathname.endsWith('/images/pool:1/json')) return response.end('{"Id":"sha256:pool"}')
    if (/images|archive/.test(pathname)) return response.writeHead(404).end('{"message":"no such image"}')
    if (/version|info/.test(pathname)) return answerFacts()(request, response)
    return response.end('{"Id":"c"}')
  })
  const to = { ssh: null, tls: undefined, isRemote: false, environment: {}, image, time: machineTime }
  const log = createLog('silent')
  await checkMachine(`unix://${join(directory, 'engine.sock')}`, { ...to, clock: systemClock, log })
  expect(bodies.map(({ Image: used }) => used)).toEqual(images)
  for (const { HostConfig: host } of bodies)
    expect(host).toMatchObject({ Memory: 2 ** 28, MemorySwap: 2 ** 28, PidsLimit: 32, NanoCpus: 5e8 })
  const prune = 'POST /containers/prune?filters={"label":["berth.owner=check"],"until":["10m"]}'
  expect(paths).toContain(prune)
})

it('the check of a machine reports that its disk is full', async () => {
  await listenAsEngine(directory, (request, response) => {
    if (request.url?.includes('/containers/create'))
      return response.writeHead(500).end('{"message":"mkdir /var/lib/docker/x: no space left on device"}')
    return /version|info/.test(request.url ?? '') ? answerFacts()(request, response) : response.end('{"Id":"sha256:i"}')
  })
  const to = { ssh: null, tls: undefined, isRemote: false, environment: {}, image: 'i', time: machineTime }
  const log = createLog('silent')
  const checked = await checkMachine(`unix://${join(directory, 'engine.sock')}`, { ...to, clock: systemClock, log })
  expect(checked.troubles).toEqual([expect.stringContaining('0 % of the disk of the containers is free')])
})
