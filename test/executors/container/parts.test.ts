import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BackendRefused, BackendUnreachable } from '../../../src/executors/backend/unreachable.ts'
import { createContainerExecutor } from '../../../src/executors/container/container.ts'
import { makeRequest } from '../../../src/executors/container/create.ts'
import { Engine, findEngine } from '../../../src/executors/container/engine.ts'
import { chooseDigest, type Image } from '../../../src/executors/container/image.ts'
import { labels } from '../../../src/executors/container/labels.ts'
import { ensureNetworks } from '../../../src/executors/container/network.ts'
import { copyPosition, readPayload } from '../../../src/executors/container/output.ts'
import { makePullQuery } from '../../../src/executors/container/pull.ts'
import { parseStats } from '../../../src/executors/container/samples.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { createLog } from '../../../src/platform/log.ts'
import { machineTime } from '../../support/clock.ts'
import { makeDirectory } from '../../support/directory.ts'
import { makeResources, makeRun } from '../runs.ts'

/** Parsing of responses, without an engine. */

function frame(stream: number, text: string | Buffer): Buffer {
  const header = Buffer.alloc(8)
  header[0] = stream
  header.writeUInt32BE(Buffer.byteLength(text), 4)
  return Buffer.concat([header, Buffer.from(text as string)])
}

async function readAll(pieces: readonly Buffer[], from: unknown, reads = {}) {
  const read = { out: '', err: '', next: from }
  const response = Readable.from(pieces) as unknown as Parameters<typeof readPayload>[0]
  for await (const chunk of readPayload(response, copyPosition(from), reads)) {
    if ('gap' in chunk) throw new Error('a gap')
    read[chunk.stream === 'STDERR' ? 'err' : 'out'] += Buffer.from(chunk.bytes).toString()
    read.next = chunk.next
  }
  return read
}

describe('the output of a container', () => {
  const frames = fc.array(fc.tuple(fc.constantFrom(1, 2), fc.string({ unit: 'binary-ascii', maxLength: 40 })), {
    maxLength: 20,
  })

  it('is complete wherever the connection breaks, and can be resumed at every position', async () => {
    await fc.assert(
      fc.asyncProperty(frames, fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }), async (all, sizes) => {
        const whole = Buffer.concat(all.map(([stream, text]) => frame(stream, text)))
        const pieces: Buffer[] = []
        for (let from = 0, i = 0; from < whole.length; i++) {
          const size = sizes[i % sizes.length] ?? 1
          pieces.push(whole.subarray(from, from + size))
          from += size
        }
        const expected = (stream: number) => all.map(([each, text]) => (each === stream ? text : '')).join('')
        const first = await readAll(pieces, null)
        expect(first).toMatchObject({ out: expected(1), err: expected(2) })
        const half = Math.floor((expected(1).length + expected(2).length) / 2)
        const rest = await readAll(pieces, { bytes: half })
        expect(rest.out.length + rest.err.length).toBe(expected(1).length + expected(2).length - half)
        expect(expected(1).endsWith(rest.out) && expected(2).endsWith(rest.err)).toBe(true)
      }),
    )
  })

  /** The frames in which Docker 20.10 returns output of its log driver `local`. */
  function framesOfDocker20(output: Buffer): Buffer[] {
    const frames: Buffer[] = []
    let from = 0
    for (let isLong = false; from < output.length; ) {
      const end = output.indexOf(10, from)
      const rest = (end < 0 ? output.length : end) - from
      const size = Math.min(rest, 16_384)
      const isWhole = rest < 16_384 && end >= 0
      const line = output.subarray(from, from + size + (isWhole && !isLong ? 1 : 0))
      if (line.length > 0) frames.push(frame(1, line))
      from += size + (isWhole ? 1 : 0)
      isLong = !isWhole
    }
    return frames
  }

  it('restores the newlines of long lines that Docker 20.10 drops', async () => {
    const line = fc.tuple(fc.constantFrom(0, 1, 5, 16_383, 16_384, 16_385, 40_000), fc.constantFrom('', 'z', '\0'))
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 8 }), fc.integer({ min: 100, max: 30_000 }), async (all, size) => {
        // Two long lines in a row may be joined.
        const lines = all.flatMap(([length, end]) => ['y'.repeat(length) + end, 'short'])
        const output = Buffer.from(`${lines.join('\n')}\nend`)
        const whole = Buffer.concat(framesOfDocker20(output))
        const pieces = Array.from({ length: Math.ceil(whole.length / size) }, (_, at) =>
          whole.subarray(at * size, (at + 1) * size),
        )
        const { out, next } = await readAll(pieces, null, { dropsNewlines: true })
        expect(out).toBe(output.toString())
        expect(next).toEqual({ bytes: output.length })
      }),
    )
  })

  it('without frames is an error that shows the output', async () => {
    await expect(readAll([Buffer.from('plain text of a terminal')], null)).rejects.toThrow(/without frames/)
  })
})

describe('the description of a container', () => {
  const cuda = { NVIDIA_VISIBLE_DEVICES: 'all' }
  const program = { command: [], shell: ['/bin/sh'], workdir: '/', user: '', volumes: [] }
  const image = { id: 'i', digest: null, environment: cuda, ...program }
  const making = { image, account: null, mounts: [], cpusMax: null, isPodman: false, labels: {}, files: [], passed: {} }
  const limits = { hasInit: false, logBytesMax: 1, infinibandDir: '/nowhere', deadlineSlackSeconds: 10 }

  it('has the digest under which the registry in the image name knows the image', async () => {
    const digests = ['registry.example/a@sha256:1', 'b@sha256:2']
    expect(chooseDigest('b:1', digests)).toBe('sha256:2')
    expect(chooseDigest('registry.example/a:1', digests)).toBe('sha256:1')
    expect(chooseDigest('sha256:3', digests)).toBe('sha256:1')
    expect(chooseDigest('built-here', [])).toBeNull()
    const asked = { ...making, ...limits, image: { ...image, digest: 'sha256:2' } }
    const { body } = await makeRequest(makeRun({ command: ['true'] }), asked)
    expect(body).toMatchObject({ Labels: { 'berth.image-digest': 'sha256:2' } })
  })

  it('hides all GPUs from a job without GPUs, whatever the image and the job set', async () => {
    const environment = [{ name: 'NVIDIA_VISIBLE_DEVICES', value: '0' }]
    const without = await makeRequest(makeRun({ command: ['true'], environment }), { ...making, ...limits })
    expect(without.body).toMatchObject({
      Env: ['PYTHONUNBUFFERED=1', 'NVIDIA_VISIBLE_DEVICES=void'],
      HostConfig: { DeviceRequests: [] },
    })
    const one = await makeRequest(makeRun({ command: ['true'] }, { gpuIds: [3] }), { ...making, ...limits })
    expect(one.body).toMatchObject({
      Env: ['PYTHONUNBUFFERED=1', 'NVIDIA_VISIBLE_DEVICES=all'],
      HostConfig: { DeviceRequests: [{ DeviceIDs: ['3'] }] },
    })
  })

  it('requests at most the processors of the engine', async () => {
    const run = makeRun({ command: ['true'], resources: makeResources({ cpu: 5 }) })
    for (const [cpusMax, NanoCpus] of [
      [null, 5e9],
      [8, 5e9],
      [2, 2e9],
    ] as const)
      expect((await makeRequest(run, { ...making, ...limits, cpusMax })).body).toMatchObject({
        HostConfig: { NanoCpus },
      })
  })

  it('gives the file with the message of the mount check a random name, so that no image has a link there', async () => {
    const mounts = [{ source: '/data/x', target: '/d', identity: '1:2', below: null }]
    const make = () => makeRequest(makeRun({ command: ['true'] }), { ...making, ...limits, mounts })
    const made = await Promise.all([make(), make()])
    const paths = made.map(({ body, check }) => {
      const { Cmd, Labels } = body as { Cmd: string[]; Labels: Record<string, string> }
      expect(Labels[labels.refusal]).toBe(check?.refusalPath)
      return Cmd[Cmd.indexOf(check?.path ?? '') + 1]
    })
    expect(paths).toEqual(made.map(({ check }) => check?.refusalPath))
    for (const path of paths) expect(path).toMatch(/^\/\.berth-[-a-z]+[-0-9a-f]{36}-refusal$/)
    expect(new Set(paths).size).toBe(2)
  })

  it('disables the health check of the image, which could run before the mount check', async () => {
    const { body } = await makeRequest(makeRun({ command: ['true'] }), { ...making, ...limits })
    expect(body).toMatchObject({ Healthcheck: { Test: ['NONE'] } })
  })

  it('lets Open MPI use more ranks than cores, and run as root in images of root, unless the image sets otherwise', async () => {
    const run = makeRun({ command: ['true'], launcher: 'mpirun' })
    const own = 'OMPI_MCA_rmaps_base_oversubscribe'
    const namesOf = async (given: Partial<Image>) => {
      const { body } = await makeRequest(run, { ...making, ...limits, image: { ...image, ...given } })
      return (body as { Env: string[] }).Env
    }
    expect(await namesOf({})).toEqual(expect.arrayContaining([`${own}=1`, 'OMPI_ALLOW_RUN_AS_ROOT=1']))
    expect(await namesOf({ user: 'web' })).not.toContain('OMPI_ALLOW_RUN_AS_ROOT=1')
    expect(await namesOf({ environment: { [own]: '0' } })).toContain(`${own}=0`)
  })
})

describe('an unreachable engine', () => {
  it('delays starts, leaves the state of runs unchanged, and is named in messages', async () => {
    let nowMs = 0
    const directory = makeDirectory()
    const executor = await createContainerExecutor({
      engine: `unix://${directory}/none.sock`,
      directory: join(directory, 'new'),
      environment: {},
      image: 'ubuntu:22.04',
      dataRoots: {},
      clock: {
        monotonicMs: () => nowMs,
        sleep: async (ms) => {
          nowMs += ms
        },
      },
      time: machineTime,
      log: createLog('silent'),
    })
    const run = makeRun({ command: ['true'] })
    await expect(executor.start(run)).rejects.toMatchObject({
      reason: 'BACKEND_AWAY',
      message: expect.stringContaining(`unix://${directory}/none.sock`),
    })
    expect(nowMs).toBeGreaterThan(60_000)
    expect(await executor.inspect([`berth-${run.runId}`])).toEqual([
      { state: 'starting', info: 'The container engine is unreachable' },
    ])
    expect(await executor.describe()).toMatchObject({ available: false, message: expect.stringContaining('none.sock') })
    await executor.close()
  })
})

describe('configured names:', () => {
  it.each([
    ['ubuntu', { fromImage: 'ubuntu', tag: 'latest' }],
    ['ubuntu:22.04', { fromImage: 'ubuntu:22.04' }],
    ['host:5000/team/image', { fromImage: 'host:5000/team/image', tag: 'latest' }],
    ['image@sha256:0123', { fromImage: 'image@sha256:0123' }],
  ])('the image %s is pulled with one tag', (name, query) => expect(makePullQuery(name)).toEqual(query))

  it('the address of an engine comes from the environment, and stays while containers may exist', async () => {
    const directory = makeDirectory()
    const XDG_RUNTIME_DIR = join(directory, 'run')
    expect(await findEngine({ DOCKER_HOST: 'tcp://127.0.0.1:2375' }, directory)).toBe('tcp://127.0.0.1:2375')
    const docker = await findEngine({ XDG_RUNTIME_DIR }, directory)
    expect(docker).toMatch(/^unix:\/\/\//)
    const podman = join(XDG_RUNTIME_DIR, 'podman', 'podman.sock')
    await mkdir(dirname(podman), { recursive: true })
    await writeFile(podman, '')
    await writeFile(join(directory, 'berth-run_1.order'), '')
    expect(await findEngine({ XDG_RUNTIME_DIR }, directory)).toBe(docker)
    await rm(join(directory, 'berth-run_1.order'))
    const isHere = existsSync(docker.slice('unix://'.length))
    expect(await findEngine({ XDG_RUNTIME_DIR }, directory)).toBe(isHere ? docker : `unix://${podman}`)
  })

  it.each(['ssh://ann@host', '/var/run/docker.sock', 'unix://docker.sock', 'fd://'])(
    'an address like %s in DOCKER_HOST is refused when the engine is used',
    async (address) => {
      const asked = new Engine(address, systemClock).get('/version')
      await expect(asked).rejects.toThrow(BackendUnreachable)
      await expect(asked).rejects.toThrow(`${address} is not the address of a container engine; set container.engine`)
    },
  )

  it('the address of an engine may contain spaces', async () => {
    await expect(new Engine('unix:///no such/docker.sock', systemClock).get('/version')).rejects.toThrow(
      'ENOENT /no such/docker.sock',
    )
  })
})

describe('the networks of an engine', () => {
  type Network = { Id: string; Name: string; Created: string }

  /** An engine that does not check for duplicates, like Docker's with concurrent requests. */
  function engineWith(...names: string[]) {
    const networks: Network[] = []
    const add = (Name: string) =>
      networks.push({ Id: `id${networks.length}`, Name, Created: new Date(networks.length).toISOString() })
    for (const name of names) add(name)
    const pause = () => new Promise((resolve) => setImmediate(resolve))
    const engine = {
      async get() {
        await pause()
        return [...networks]
      },
      async post(_path: string, _query: unknown, { Name }: Network) {
        await pause()
        add(Name)
      },
      async delete(path: string) {
        await pause()
        const at = networks.findIndex(({ Id }) => path === `/networks/${Id}`)
        if (at < 0) throw new BackendRefused(404, 'no such network')
        networks.splice(at, 1)
      },
    } as unknown as Engine
    return { engine, names: () => networks.map(({ Name }) => Name).toSorted() }
  }

  it('exist once even if two servers create them at the same time', async () => {
    const { engine, names } = engineWith('other')
    await Promise.all([ensureNetworks(engine), ensureNetworks(engine)])
    expect(names()).toEqual(['berth', 'berth-in', 'other'])
  })

  it('are reduced to one if two exist', async () => {
    const { engine, names } = engineWith('berth', 'berth', 'berth-in', 'berth')
    await ensureNetworks(engine)
    expect(names()).toEqual(['berth', 'berth-in'])
  })
})

describe('the resource use of a container', () => {
  it('is read from the statistics of dockerd, with cgroups version 1', () => {
    const stats = {
      read: '2026-11-24T18:41:19.168123988Z',
      cpu_stats: { cpu_usage: { total_usage: 314_512_738, usage_in_kernelmode: 20_000_000 }, online_cpus: 2 },
      memory_stats: {
        usage: 544_768,
        max_usage: 4_136_960,
        stats: { cache: 204_800, inactive_file: 0, rss: 65_536, total_inactive_file: 4_096 },
        limit: 25_276_502_016,
      },
    }
    expect(parseStats(stats)).toEqual({ cpuSeconds: 0.314512738, memoryBytes: 540_672 })
  })

  it('is read from the statistics of dockerd, with cgroups version 2', () => {
    const stats = {
      cpu_stats: { cpu_usage: { total_usage: 2_000_000_000 } },
      memory_stats: { usage: 10_485_760, stats: { anon: 4_194_304, inactive_file: 1_048_576 } },
    }
    expect(parseStats(stats)).toEqual({ cpuSeconds: 2, memoryBytes: 9_437_184 })
  })

  it('is read from the statistics of Podman', () => {
    const stats = {
      cpu_stats: { cpu_usage: { total_usage: 309_308_382, percpu_usage: [309_028_917, 279_465] }, online_cpus: 2 },
      memory_stats: { usage: 2_326_528, limit: 25_276_502_016 },
    }
    expect(parseStats(stats)).toEqual({ cpuSeconds: 0.309308382, memoryBytes: 2_326_528 })
  })

  it('is unknown for a container that does not run', () => {
    const stopped = { cpu_stats: { cpu_usage: { total_usage: 0 } }, memory_stats: {} }
    expect(parseStats(stopped)).toEqual({})
    expect(parseStats({})).toEqual({})
  })
})
