import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Executor } from '../../../src/executors/executor.ts'
import { until } from '../../support/until.ts'
import { clearExecutor, finishRun, makeResources, makeRun, observe, read, untilEnded, untilState } from '../runs.ts'
import { openCluster } from './open-cluster.ts'
import { image, kubeconfig, kubectl, readField } from './real-cluster.ts'

/** Real displays, if there is a cluster and its test image has an X server. */
const hasServer = ['Xvfb', 'xkbcomp', 'xdpyinfo'].every((name) => existsSync(`/usr/bin/${name}`))

type Spec = Parameters<typeof makeRun>[0]
const small = makeResources({ cpu: 0.05, memoryBytes: 64 * 2 ** 20 })
const sh = (text: string, spec: Spec = {}): Spec => ({
  command: ['/bin/sh', '-c', text],
  resources: small,
  x11: { gpu: false },
  ...spec,
})
const asksForIt = "xdpyinfo | grep -c 'dimensions: *1280x960'"

describe.skipIf(kubeconfig === undefined || !hasServer)('an X11 display in a cluster', () => {
  let directory: string
  let executor: Executor

  const open = (x11Image: string | null = image) =>
    openCluster({ kubeconfig, installation: directory, image, x11Image: x11Image ?? undefined })
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'berth-x11-'))
    executor = open()
  })
  afterAll(async () => {
    await clearExecutor(executor)
    await rm(directory, { recursive: true })
  })

  const start = (spec: Spec) => executor.start(makeRun(spec))
  const finish = (spec: Spec) => finishRun(executor, makeRun(spec))
  const display = (handle: string, path: string) =>
    readField('pod', `${handle}-0`, `.status.containerStatuses[?(@.name=="display")]${path}`)

  it.each([null, 'ALL'] as const)(
    'of 1280×960 is ready when the command begins, with isolation %s',
    async (networkIsolation) => {
      const spec = sh("xdpyinfo | grep -E 'dimensions|MIT-SHM'; exit 7", {
        networkIsolation,
        inheritEnvironment: false,
      })
      const { handle, out, ...ended } = await finish({
        ...spec,
        environment: [{ name: 'PATH', value: '/usr/bin:/bin' }],
      })
      expect(out).toMatch(/^ *dimensions: +1280x960 pixels .*\n$/)
      expect(ended).toMatchObject({ exitCode: 7 })
      expect(ended).not.toHaveProperty('info')
      // The display ends with the job without a server.
      await until(async () => (await display(handle, '.state.terminated.exitCode')) === '0', {
        what: 'the display has ended',
      })
    },
  )

  it('is private to its pod, and does not listen on the network', async () => {
    const text = `${asksForIt}; grep -c :1770 /proc/net/tcp; echo $BERTH_REPLICA`
    const handle = await start(sh(text, { resources: { ...small, replicas: 2 } }))
    await untilState(executor, handle, 'running')
    const { out } = await read(executor, handle)
    const { exitCode } = await untilEnded(executor, handle)
    expect(out.split('\n').toSorted()).toEqual(['', '0', '0', '0', '1', '1', '1'])
    expect(exitCode).toBe(0)
  })

  it('ends with its job if the job is stopped or killed, also without the server', async () => {
    const [stopped, killed] = await Promise.all([start(sh('sleep 600')), start(sh('sleep 600'))])
    await untilState(executor, stopped, 'running')
    await untilState(executor, killed, 'running')
    await executor.stop(stopped, 5_000)
    // The command kills its own shell as well, so its exit code is meaningless; a busy kubelet may reject it.
    const kill = ['exec', `${killed}-0`, '-c', 'job', '--', '/bin/sh', '-c', 'kill -KILL -1']
    await until(
      async () => {
        await kubectl(...kill).catch(() => null)
        return (await executor.inspect([killed]))[0]?.state === 'ended'
      },
      { what: 'the job is killed', timeoutMs: 120_000 },
    )
    expect(await untilEnded(executor, stopped, 120_000)).toMatchObject({ exitCode: 143, stopped: true })
    expect(await untilEnded(executor, killed)).toMatchObject({ exitCode: 137, stopped: false })
    for (const handle of [stopped, killed])
      await until(async () => (await display(handle, '.state.terminated.exitCode')) === '0', {
        what: 'the display has ended',
      })
  })

  it('that dies does not end its job, and the job reports the loss at its end', async () => {
    const handle = await start(sh('until ! xdpyinfo >/dev/null 2>&1; do sleep 0.1; done; exit 3'))
    await untilState(executor, handle, 'running')
    await kubectl('exec', `${handle}-0`, '-c', 'display', '--', '/bin/sh', '-c', 'kill -KILL $(pidof Xvfb)')
    expect(await untilEnded(executor, handle)).toMatchObject({
      exitCode: 3,
      info: 'The X11 display ended before the job: exit code 137',
    })
  })

  it('whose image cannot be pulled is reported as the reason why the job waits, and the job can be stopped', async () => {
    const other = await open('localhost/none:1')
    const handle = await other.start(makeRun(sh('echo never')))
    const told = async () => JSON.stringify(await observe(other, handle))
    await until(async () => /"(ErrImagePull|ImagePullBackOff): .*localhost\/none:1/.test(await told()), {
      what: 'it is told',
    })
    expect(await observe(other, handle)).toMatchObject({ state: 'starting' })
    await other.stop(handle, 0)
    expect(await untilEnded(other, handle)).toMatchObject({ exitCode: 143, stopped: true })
    expect((await read(other, handle)).out).toBe('')
    await other.close()
  })

  it('without an image is rejected', async () => {
    const none = await open(null)
    await expect(none.start(makeRun(sh('true')))).rejects.toMatchObject({
      reason: 'BAD_SPEC',
      message: expect.stringContaining('kubernetes.x11Image'),
    })
    await none.close()
  })
})
