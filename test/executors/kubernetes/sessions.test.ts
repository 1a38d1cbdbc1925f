import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ExecProcess } from '../../../src/executors/executor.ts'
import { ClusterApi } from '../../../src/executors/kubernetes/cluster.ts'
import { execInPod } from '../../../src/executors/kubernetes/exec.ts'
import type { KubernetesExecutor } from '../../../src/executors/kubernetes/kubernetes.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { machineTime } from '../../support/clock.ts'
import { makeDirectory } from '../../support/directory.ts'
import { until } from '../../support/until.ts'
import { clearExecutor, makeResources, makeRun, read, untilEnded, untilState } from '../runs.ts'
import { makeOpener } from '../snapshot-files.ts'
import { openCluster } from './open-cluster.ts'
import { image, kubeconfig } from './real-cluster.ts'
import { startSnapshotServer } from './snapshot-server.ts'

/** Sessions and snapshots of real pods, beyond the contract. */

const small = makeResources({ cpu: 0.05, memoryBytes: 64 * 2 ** 20 })

describe.skipIf(kubeconfig === undefined)('in a cluster', () => {
  const directory = makeDirectory()
  let executor: KubernetesExecutor
  let snapshots: Awaited<ReturnType<typeof startSnapshotServer>>

  beforeAll(async () => {
    snapshots = await startSnapshotServer()
    executor = snapshots.attach(openCluster({ kubeconfig, image, installation: directory }))
  })
  afterAll(async () => {
    await clearExecutor(executor)
    snapshots?.close()
  })

  const exec = (handle: string, script: string) =>
    executor.exec(handle, { command: ['/bin/sh', '-c', script], size: null, unixUser: null })

  async function outputOf(process: ExecProcess): Promise<string> {
    process.stdin.end()
    return text(process.stdout)
  }

  it('a port of the pod can be reached, and a port that refuses connections is reported', async () => {
    const command = ['/bin/sh', '-c', 'while :; do nc -l -p 8888 -e /bin/echo hello; done']
    const handle = await executor.start(makeRun({ command, resources: small }))
    await untilState(executor, handle, 'running')
    await until(async () => (await text(await executor.connect(handle, 8888)).catch(() => '')) === 'hello\n', {
      what: 'the port answers',
    })
    await expect(text(await executor.connect(handle, 8889))).rejects.toThrow('Port 8889 of the pod refuses connections')
    await executor.stop(handle, 0)
    await untilEnded(executor, handle)
  })

  it('a session has the environment and the directory of the job', async () => {
    const spec = { command: ['sleep', '600'], workdir: '/tmp', environment: [{ name: 'A', value: 'of the job' }] }
    const handle = await executor.start(makeRun({ ...spec, resources: small }, { injected: { BERTH_RUN: '1' } }))
    await untilState(executor, handle, 'running')
    expect(await outputOf(await exec(handle, 'pwd; echo "$A $BERTH_RUN $BERTH_REPLICA"'))).toBe(
      '/tmp\nof the job 1 0\n',
    )
    await executor.stop(handle, 0)
    await untilEnded(executor, handle)
  })

  it('a command without a terminal ends if its server dies', async () => {
    const handle = await executor.start(makeRun({ command: ['sleep', '600'], resources: small }))
    await untilState(executor, handle, 'running')
    const cluster = new ClusterApi({ kubeconfig, environment: {} }, { clock: systemClock, time: machineTime })
    const open = cluster.openSocket.bind(cluster)
    const sockets: Duplex[] = []
    cluster.openSocket = async (...given) => {
      const socket = await open(...given)
      sockets.push(socket)
      return socket
    }
    const command = ['/bin/sh', '-c', 'echo begun; exec sleep 4321']
    const process = await execInPod(handle, { command, size: null, unixUser: null }, cluster)
    await once(process.stdout, 'data')
    for (const socket of sockets) socket.destroy()
    cluster.close()
    const count = "grep -l '[s]leep.4321' /proc/[0-9]*/cmdline | wc -l"
    await until(async () => (await outputOf(await exec(handle, count))) === '0\n', { what: 'the command ended' })
    await executor.stop(handle, 0)
    await untilEnded(executor, handle)
  })

  it('each pod of a run has its own copy of the snapshot', async () => {
    const command = ['/bin/sh', '-c', 'cat in.txt; echo >>in.txt "$BERTH_REPLICA"; sleep 2; cat in.txt']
    const run = makeRun({ command, resources: { ...small, replicas: 2 } })
    const handle = await executor.start({ ...run, openSnapshot: makeOpener({ 'in.txt': { text: 'in\n' } }) })
    const [{ out }, { exitCode }] = await Promise.all([read(executor, handle), untilEnded(executor, handle)])
    expect(exitCode).toBe(0)
    expect(out.trim().split('\n').toSorted()).toEqual(['0', '1', 'in', 'in', 'in', 'in'])
  })
})
