import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Executor, isOver } from '../../../src/executors/executor.ts'
import { until } from '../../support/until.ts'
import { contract, makeCommand, startsAt } from '../contract.ts'
import { clearExecutor, finishRun, makeResources, makeRun, observe, read, untilEnded, untilState } from '../runs.ts'
import { openCluster } from './open-cluster.ts'
import {
  backdatePlacement,
  frozen,
  image,
  kubeconfig,
  kubectl,
  onlyNode,
  readField,
  reportGpus,
} from './real-cluster.ts'
import { startSnapshotServer } from './snapshot-server.ts'

/** Real pods, if the environment names a cluster. */
const open = async (directory: string) =>
  openCluster({
    kubeconfig,
    installation: directory,
    environment: { PASSED: 'yes', SECRET: 'no' },
    inheritNames: ['PASSED'],
    image,
    dataRoots: { data: directory },
  })

async function clear(directory: string): Promise<void> {
  const executor = await open(directory)
  await clearExecutor(executor)
  await rm(directory, { recursive: true })
}

const small = makeResources({ cpu: 0.05, memoryBytes: 64 * 2 ** 20 })

describe.skipIf(kubeconfig === undefined)('in a cluster', () => {
  let snapshots: Awaited<ReturnType<typeof startSnapshotServer>>
  beforeAll(async () => {
    snapshots = await startSnapshotServer()
  })
  afterAll(() => snapshots.close())

  contract('kubernetes', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'berth-kubernetes-'))
    return {
      open: async () => snapshots.attach(await open(directory)),
      run(behaviour) {
        const run = makeRun({ data: ['data:/marks'], resources: small })
        return { ...run, spec: { ...run.spec, command: makeCommand(behaviour, `/marks/${run.runId}`) } }
      },
      freeze: (work) => frozen('kube-apiserver', work),
      readDescription: (handle) => kubectl('get', 'pods', '-l', `berth/handle=${handle}`, '-o', 'json'),
      starts: ({ runId }) => startsAt(join(directory, runId)),
      remove: () => clear(directory),
    }
  })

  describe('a pod', () => {
    let directory: string
    let executor: Executor

    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), 'berth-kubernetes-'))
      executor = await open(directory)
    })
    afterAll(async () => {
      await executor.close()
      await clear(directory)
    })

    type Spec = Parameters<typeof makeRun>[0]
    const start = (spec: Spec, run: Parameters<typeof makeRun>[1] = {}) =>
      executor.start(makeRun({ resources: small, ...spec }, run))
    const finish = (spec: Spec, run: Parameters<typeof makeRun>[1] = {}) =>
      finishRun(executor, makeRun({ resources: small, ...spec }, run))
    const sh = (text: string, spec: Spec = {}): Spec => ({ command: ['/bin/sh', '-c', text], ...spec })
    const failure = async (spec: Spec) => untilState(executor, await start(spec), 'failed')

    it('has the environment of the image, of the configuration, of the job and of Berth, and no credentials', async () => {
      const environment = [{ name: 'BOTH', value: `\${PASSED}/\${BERTH_RUN}` }]
      const { out } = await finish(
        sh('echo $PATH; echo $PASSED $SECRET; echo $BOTH; ls /var/run/secrets 2>&1; cat $BERTH_CLOSURE', {
          environment,
        }),
        { injected: { BERTH_RUN: '1' }, closure: '{"a":1}' },
      )
      const missing = 'ls: /var/run/secrets: No such file or directory'
      expect(out).toBe(`/usr/sbin:/usr/bin:/sbin:/bin\nyes\nyes/1\n${missing}\n{"a":1}`)
    })

    it('ends with the exit code of its command', async () => {
      const ends = await Promise.all([
        finish({ command: ['no-such-command'] }),
        finish({ command: ['/etc/passwd'] }),
        finish(sh('kill -TERM $$')),
        finish(sh('kill -KILL $$')),
        finish(sh('exit 7')),
        finish(sh('x=a; while :; do x=$x$x; done')),
        finish(sh("trap '' TERM; while :; do sleep 1; done", { maxRunTimeSeconds: 1 })),
      ])
      expect(ends.map(({ exitCode, cause }) => cause ?? exitCode)).toEqual([
        127,
        126,
        143,
        137,
        7,
        'OOM_KILLED',
        'MAX_RUN_TIME',
      ])
    })

    it('that cannot start reports the reason', async () => {
      expect(await failure(sh('true', { workdir: '/nowhere' }))).toMatchObject({ reason: 'WORKDIR_NOT_FOUND' })
      expect(await failure(sh('true', { image: 'localhost/BB:1' }))).toMatchObject({ reason: 'BAD_SPEC' })
      const handle = await start(sh('true', { image: 'localhost/none:1' }))
      await until(
        async () => /"(ErrImagePull|ImagePullBackOff): /.test(JSON.stringify(await observe(executor, handle))),
        {
          what: 'the reason is reported',
        },
      )
      await executor.stop(handle, 0)
      expect(await untilEnded(executor, handle)).toMatchObject({ exitCode: 143, stopped: true })
    })

    it('that another program deletes is reported as gone, and is not created again', async () => {
      const handle = await start(sh('echo x >>/d/began; sleep 600', { data: ['data:/d'] }))
      await untilState(executor, handle, 'running')
      await kubectl('delete', 'pod', `${handle}-0`, '--wait=false')
      expect(await untilState(executor, handle, 'gone')).toMatchObject({ state: 'gone' })
      expect(await readFile(join(directory, 'began'), 'utf8')).toBe('x\n')
    })

    it('has Services and a network policy, which are removed with the run', async () => {
      const ports = [1, 2].map((port) => ({ port, targetPort: 80, protocol: 'TCP' as const }))
      const spec = { internalDns: { name: 'dns-users-test-web', ports }, networkIsolation: 'IN' as const }
      const { handle } = await finish(sh('true', spec))
      const kinds = 'secrets,pods,services,networkpolicies'
      const left = async () =>
        (await kubectl('get', kinds, '-o', 'name', '-l', `berth/handle=${handle}`)).split('\n').filter(Boolean)
      expect((await left()).map((name) => name.replace(handle, '*')).toSorted()).toEqual([
        'networkpolicy.networking.k8s.io/*',
        'pod/*-0',
        'secret/*',
        'service/dns-users-test-web',
      ])
      await executor.forget?.(handle)
      await until(async () => (await left()).length === 0, { what: 'everything is removed' })
    })

    it('of each replica has its number and the address of the first pod, and the first failure ends all pods', async () => {
      const resources = { ...small, replicas: 3, replicaMasterPort: 1234 }
      const text = 'echo $BERTH_REPLICA $MASTER_ADDR:$MASTER_PORT; [ $BERTH_REPLICA != 1 ] || exit 5; sleep 600'
      const handle = await start(sh(text, { resources }), { injected: { MASTER_PORT: '1234' } })
      const [{ out }] = await Promise.all([
        read(executor, handle),
        until(async () => (await observe(executor, handle)).state === 'ended', {
          what: 'all ended',
        }),
      ])
      const { exitCode } = await untilEnded(executor, handle)
      const lines = out.trim().split('\n').toSorted()
      const address = await kubectl('get', 'pod', `${handle}-0`, '-o', 'jsonpath={.status.podIP}')
      expect(lines).toEqual([0, 1, 2].map((replica) => `${replica} ${address}:1234`))
      expect(exitCode).toBe(5)
    })

    it('of each replica reaches the first pod, and has a DNS name', async () => {
      const text = `[ $BERTH_REPLICA = 1 ] || exec nc -l -p $MASTER_PORT -e /bin/echo hello
        until [ -e /d/named ]; do sleep 0.1; done; until nc $MASTER_ADDR $MASTER_PORT 2>/dev/null; do sleep 0.1; done`
      const spec = { resources: { ...small, replicas: 2 }, data: ['data:/d'] }
      const handle = await start(sh(text, spec), { injected: { MASTER_PORT: '1234' } })
      await untilState(executor, handle, 'running')
      const path = 'jsonpath={.subsets[*].addresses[*].hostname}'
      const named = async () => (await kubectl('get', 'endpoints', handle, '-o', path)).split(' ').toSorted().join()
      await until(async () => (await named()) === `${handle}-0,${handle}-1`, { what: 'both have names' })
      await writeFile(join(directory, 'named'), '')
      expect((await read(executor, handle)).out).toBe('hello\n')
      expect((await untilEnded(executor, handle)).exitCode).toBe(0)
    })

    it('keeps timestamps that its command prints', async () => {
      const { out } = await finish(
        sh(
          'for i in 1 2 3; do echo "until 2999-01-01T00:00:00.000000000Z"; date -u +"%Y-%m-%dT23:59:59.999999999Z|%Y-%m-%dT23:59:59.999999999Z and on"; done',
        ),
      )
      expect(out.match(/23:59:59.999999999Z/g)).toHaveLength(6)
      expect(out.match(/2999-01-01T00:00:00.000000000Z\n/g)).toHaveLength(3)
    })

    it('of a run with several pods does not begin while one of them has no node', async () => {
      const nodes = JSON.parse(await kubectl('get', 'nodes', '-o', 'json')).items.length
      const resources = { ...small, nodeCount: nodes + 1 }
      const handle = await start(sh('echo x >>/d/gang', { resources, data: ['data:/d'] }))
      await until(async () => (await kubectl('get', 'pod', `${handle}-0`)).includes('Running'), {
        what: 'one pod is up',
      })
      expect(await observe(executor, handle)).toMatchObject({
        state: 'starting',
        info: expect.stringContaining('nodes are available'),
      })
      await executor.stop(handle, 0)
      await until(async () => isOver(await observe(executor, handle)), { what: 'no pod is left' })
      expect(await observe(executor, handle)).toMatchObject({ state: 'ended', stopped: true })
      await expect(readFile(join(directory, 'gang'))).rejects.toThrow(/ENOENT/)
    })

    it('of a run with several pods is stopped if another pod gets no node', async () => {
      const nodes = JSON.parse(await kubectl('get', 'nodes', '-o', 'json')).items.length
      const resources = { ...small, nodeCount: nodes + 1 }
      const handle = await start(sh('echo x >>/d/given-up', { resources, data: ['data:/d'] }))
      const isUp = async () => (await kubectl('get', 'pods', '-l', `berth/handle=${handle}`)).includes('Running')
      await until(isUp, { what: 'one pod is up' })
      expect(await observe(executor, handle)).toMatchObject({ state: 'starting' })
      await backdatePlacement(`berth/handle=${handle}`, 660_000)
      await observe(executor, handle)
      expect(await untilState(executor, handle, 'failed')).toMatchObject({
        reason: 'NOT_TOGETHER',
        message: expect.stringMatching(/^The cluster placed 1 of 2 pods, .*nodes are available/),
      })
      expect(await isUp()).toBe(false)
      await expect(readFile(join(directory, 'given-up'))).rejects.toThrow(/ENOENT/)
    })

    it('that is lost ends the other replicas', async () => {
      const handle = await start(sh('sleep 600', { resources: { ...small, replicas: 2 } }))
      await untilState(executor, handle, 'running')
      await kubectl('delete', 'pod', `${handle}-1`, '--grace-period=0', '--force')
      expect(await untilState(executor, handle, 'gone')).toMatchObject({ state: 'gone' })
      const left = await kubectl(
        'get',
        'pods',
        '-l',
        `berth/handle=${handle}`,
        '-o',
        'jsonpath={.items[*].status.phase}',
      )
      expect(left).not.toContain('Running')
    })

    it('that was drained is not created again if another leader starts the same run', async () => {
      const run = makeRun({ resources: { ...small, replicas: 2 }, ...sh('sleep 600') })
      const handle = await executor.start(run)
      await untilState(executor, handle, 'running')
      await kubectl('delete', 'pod', `${handle}-1`, '--grace-period=0', '--force')
      expect(await executor.start(run)).toBe(handle)
      await untilState(executor, handle, 'gone')
      expect(await kubectl('get', 'pods', '-l', `berth/handle=${handle}`, '-o', 'name')).not.toContain(`${handle}-1`)
    })

    it('that exceeds its deadline in the kubelet ends with MAX_RUN_TIME after its last byte of output', async () => {
      const text = "exec 2>/dev/null; trap 'echo last; exit 3' TERM; echo first; while :; do sleep 0.1; done"
      const handle = await start(sh(text, { maxRunTimeSeconds: 600 }))
      await untilState(executor, handle, 'running')
      const reading = read(executor, handle)
      await kubectl('patch', 'pod', `${handle}-0`, '-p', '{"spec":{"activeDeadlineSeconds":3}}')
      const end = await untilEnded(executor, handle, 70_000)
      expect(end).toMatchObject({ cause: 'MAX_RUN_TIME' })
      // A kubelet of version 1.20 does not always report how its container ended.
      expect([3, 137]).toContain(end.exitCode)
      expect((await reading).out).toBe('first\nlast\n')
    })

    it('of a run with several pods has no deadline in the kubelet before all of them begin', async () => {
      const resources = { ...small, replicas: 2 }
      const handle = await start(sh('sleep 600', { resources, maxRunTimeSeconds: 100 }))
      expect(await readField('pod', `${handle}-0`, '.spec.activeDeadlineSeconds')).toBe('')
      await untilState(executor, handle, 'running')
      const seconds = Number(await readField('pod', `${handle}-0`, '.spec.activeDeadlineSeconds'))
      expect(seconds).toBeGreaterThanOrEqual(3_700)
      expect(seconds).toBeLessThan(3_760)
      await executor.stop(handle, 0)
    })

    it('has as many GPUs as it requests, of the requested model, and none without a request', async () => {
      const { metadata } = await onlyNode()
      await reportGpus(2, 'Tesla-V100')
      try {
        const gpu = { model: 'Tesla-V100', memoryBytes: 32 * 1024 ** 3 }
        expect(await executor.capacity?.()).toMatchObject([{ gpus: [gpu, gpu] }])
        const filters = { gpuModel: ['v100'], gpuMemoryBytes: 32 * 1024 ** 3 }
        const handle = await start(sh('sleep 600', { resources: { ...small, ...filters, gpu: 2 } }))
        await untilState(executor, handle, 'running')
        expect(await readField('pod', `${handle}-0`, '.spec.nodeName')).toBe(metadata.name)
        const more = await start(sh('true', { resources: { ...small, gpu: 1 } }))
        await until(async () => JSON.stringify(await observe(executor, more)).includes('Insufficient nvidia.com/gpu'), {
          what: 'it says what is missing',
        })
        await executor.stop(handle, 0)
        await untilEnded(executor, more)
        const tooBig = { ...small, ...filters, gpuMemoryBytes: 33 * 1024 ** 3, gpu: 1 }
        const never = await start(sh('true', { resources: tooBig }))
        await until(async () => JSON.stringify(await observe(executor, never)).includes('node affinity'), {
          what: 'no node has such a GPU',
        })
        await executor.stop(never, 0)
        await expect(start(sh('true', { resources: { ...small, gpu: 1, gpuModel: ['h100'] } }))).rejects.toThrow(
          'resources.gpuModel h100: no label nvidia.com/gpu.product matches; nodes have Tesla-V100',
        )
        expect((await finish(sh('echo $NVIDIA_VISIBLE_DEVICES'))).out).toBe('void\n')
        await kubectl('taint', 'node', metadata.name, 'nvidia.com/gpu=present:NoSchedule')
        expect(await executor.capacity?.()).toMatchObject([{ state: 'READY', gpuJobsOnly: true }])
        const away = await start(sh('true'))
        await finish(sh('true', { resources: { ...small, gpu: 1 } }))
        expect(await observe(executor, away)).toMatchObject({
          state: 'starting',
          info: expect.stringContaining('taint'),
        })
        await executor.stop(away, 0)
      } finally {
        await kubectl('taint', 'node', metadata.name, 'nvidia.com/gpu-').catch(() => null)
        await reportGpus(0, null)
      }
    })

    it('that requests InfiniBand has the devices and may lock memory; without devices it reports why it waits', async () => {
      const { metadata } = await onlyNode()
      const label = 'feature.node.kubernetes.io/rdma.available'
      const resources = { ...small, infiniband: true }
      const anywhere = await start(sh('true', { resources }))
      await until(async () => JSON.stringify(await observe(executor, anywhere)).includes('node affinity'), {
        what: 'no node has InfiniBand',
      })
      await kubectl('label', 'node', metadata.name, '--overwrite', `${label}=true`)
      try {
        if (existsSync('/dev/infiniband')) await untilEnded(executor, anywhere)
        else
          await until(async () => JSON.stringify(await observe(executor, anywhere)).includes('/dev/infiniband'), {
            what: 'the missing directory is named',
          })
        const container = '.spec.containers[0]'
        expect(await readField('pod', `${anywhere}-0`, `${container}.securityContext.capabilities.add[0]`)).toBe(
          'IPC_LOCK',
        )
        await executor.stop(anywhere, 0)
        await until(async () => isOver(await observe(executor, anywhere)), { what: 'it is over' })
      } finally {
        await kubectl('label', 'node', metadata.name, `${label}-`)
      }
    })

    it('is not placed on cordoned or tainted nodes, which are listed as CORDONED', async () => {
      const { metadata } = await onlyNode()
      const stateOf = async () => (await executor.capacity?.())?.[0]?.state
      const keeps = async (away: string[], back: string[]) => {
        await kubectl(...away)
        const handle = await start(sh('true'))
        try {
          expect(await stateOf()).toBe('CORDONED')
          await until(async () => JSON.stringify(await observe(executor, handle)).includes('0/1 nodes'), {
            what: 'it has no node',
          })
        } finally {
          await kubectl(...back)
        }
        await untilEnded(executor, handle)
      }
      await keeps(['cordon', metadata.name], ['uncordon', metadata.name])
      const taint = (sign: string) => ['taint', 'node', metadata.name, `test=yes:NoSchedule${sign}`]
      await keeps(taint(''), taint('-'))
      expect(await stateOf()).toBe('READY')
    })

    it('may use the nodes that capacity lists, with their state, processors and GPUs', async () => {
      const [node] = (await executor.capacity?.()) ?? []
      expect(node).toMatchObject({ state: 'READY', gpus: [] })
      expect(node?.cpuMillis).toBeGreaterThan(0)
    })
  })
})
