import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Executor } from '../../../src/executors/executor.ts'
import { until } from '../../support/until.ts'
import { clearExecutor, makeResources, makeRun, observe, read, untilEnded } from '../runs.ts'
import { openCluster } from './open-cluster.ts'
import { image, kubeconfig, kubectl, onlyNode } from './real-cluster.ts'

/** Mounts of a pod. */
describe.skipIf(kubeconfig === undefined)('a pod of a cluster', () => {
  let directory: string
  let executor: Executor

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'berth-kubernetes-'))
    executor = openCluster({ kubeconfig, installation: directory, image, dataRoots: { data: directory } })
  })
  afterAll(async () => {
    await clearExecutor(executor)
    await rm(directory, { recursive: true })
  })

  const resources = makeResources({ cpu: 0.05, memoryBytes: 64 * 2 ** 20 })
  const start = (text: string, data: string, more: Parameters<typeof makeRun>[0] = {}) =>
    executor.start(makeRun({ command: ['/bin/sh', '-c', text], data: [data], resources, ...more }))

  it('mounts data below a root, and rejects paths and links that lead outside the root', async () => {
    await mkdir(join(directory, 'sub'))
    await writeFile(join(directory, 'sub', 'in'), 'from the machine\n')
    await symlink('/etc', join(directory, 'link'))
    const mounted = await start('cat in; cat ~/x 2>&1', 'data/sub:/d', {
      workdir: '/d',
      environment: [{ name: 'HOME', value: '/d' }],
    })
    // Uses one stream, because the order of two streams is undefined.
    expect((await read(executor, mounted)).out).toMatch(/^from the machine\n.*\/d\/x/)
    for (const data of ['/etc:/d', 'data/../..:/d', 'data/link:/d', 'other:/d', 'data/none:/d'])
      await expect(start('true', data)).rejects.toMatchObject({ reason: 'BAD_SPEC' })
  })

  it('does not follow a link that replaces a mounted folder after the check', async () => {
    const { metadata } = await onlyNode()
    const [folder, outside] = [join(directory, 'exchanged'), await mkdtemp(join(tmpdir(), 'berth-outside-'))]
    await mkdir(folder)
    await writeFile(join(outside, 'secret'), 'secret\n')
    await kubectl('cordon', metadata.name)
    const handle = await start('cat /d/secret', 'data/exchanged:/d').finally(async () => {
      await rm(folder, { recursive: true })
      await symlink(outside, folder)
      await kubectl('uncordon', metadata.name)
    })
    const isRefused = async () => JSON.stringify(await observe(executor, handle)).includes('subPath')
    await until(isRefused, { what: 'the kubelet refuses the way', timeoutMs: 60_000 })
    await executor.stop(handle, 0)
    await untilEnded(executor, handle, 90_000)
    for (const path of [folder, outside]) await rm(path, { recursive: true })
  }, 180_000)
})
