import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { toShape } from '../../../src/domain/shape.ts'
import type { RunSpec } from '../../../src/executors/executor.ts'
import { listNodes } from '../../../src/executors/kubernetes/capacity.ts'
import { annotations, makeHandle, podLabels } from '../../../src/executors/kubernetes/names.ts'
import type { Node, Pod } from '../../../src/executors/kubernetes/objects.ts'
import { makeNodeAffinity, nodeLabels } from '../../../src/executors/kubernetes/placement.ts'
import { makePod as describedPod } from '../../../src/executors/kubernetes/pod.ts'
import { ceilQuantity, floorQuantity, milli } from '../../../src/executors/kubernetes/quantity.ts'
import { makeCommandScript } from '../../../src/executors/kubernetes/script.ts'
import { makeDirectory } from '../../support/directory.ts'
import { makeResources, makeRun } from '../runs.ts'

/** Parsing of responses, and objects of runs, without a cluster. */

describe('the script of a run', () => {
  const directory = makeDirectory()

  function output(run: Parameters<typeof makeRun>, environment: Record<string, string> = {}): string {
    const path = join(directory, 'command')
    writeFileSync(path, makeCommandScript(makeRun(...run), { PASSED: 'server $x' }))
    return execFileSync('/bin/sh', [path, '5', 'ip'], {
      env: { PATH: '/usr/bin:/bin', ...environment },
      encoding: 'utf8',
    })
  }
  const command = ['printf', '%s|', "it's", 'a b', '$HOME', '']

  it('passes every argument unchanged', () => expect(output([{ command }])).toBe("it's|a b|$HOME||"))

  it('expands only variables of the job, of Berth and of the image', () => {
    const environment = [
      { name: 'A', value: `\${IMAGE}-\${BERTH_RUN}` },
      { name: 'A', value: `\${A}:$(id)\`id\`` },
      { name: 'A.B', value: "it's" },
    ]
    const given = {
      executable: 'printf',
      arguments: ['%s|', `\${A}`, `\${NONE}`, `\${PASSED}`, `\${BERTH_REPLICA}`],
      environment,
    }
    const injected = { BERTH_RUN: '1' }
    expect(output([given, { injected }], { IMAGE: 'i "$' })).toBe('i "$-1:$(id)`id`||server $x|5|')
    expect(output([given, { injected }], { PASSED: 'image' })).toContain('|image|')
    expect(output([{ command: ['/usr/bin/env'], environment }])).toContain("A.B=it's\n")
  })

  it('without inheritance sets only the variables of the job and of Berth', () => {
    const environment = [{ name: 'A', value: `x\${IMAGE}` }]
    const given = { command: ['/usr/bin/env'], environment, inheritEnvironment: false }
    const lines = ['A=x', 'BERTH_REPLICA=5', 'MASTER_ADDR=ip', 'PYTHONUNBUFFERED=1']
    for (const workdir of [null, '/'])
      expect(
        output([{ ...given, workdir }], { IMAGE: 'i' })
          .trim()
          .split('\n')
          .toSorted(),
      ).toEqual(lines)
  })

  it.each([true, false])('passes no value as an argument of a program (inheritance: %s)', (inheritEnvironment) => {
    const environment = ['B', 'LANGCHAIN_API_KEY', 'OPTUNA_STORAGE', 'SHELL_TOKEN', 'LC_key', 'PS5_KEY'].map(
      (name) => ({
        name,
        value: `x\${API_KEY}`,
      }),
    )
    const run = makeRun({ command: ['true'], environment, inheritEnvironment }, { injected: { API_KEY: 'value' } })
    const lines = makeCommandScript(run, {}).split('\n')
    expect(lines.filter((line) => line.includes('value'))).toEqual([
      expect.stringMatching(/^export .*'API_KEY=''value'/),
    ])
  })

  it('sets variables that a shell rejects or uses itself', () => {
    const names = ['UID', 'PPID', 'IFS', 'A.B', 'PWD', 'OPTIND', 'PATH']
    const environment = names.map((name) => ({ name, value: name === 'PATH' ? '/usr/bin:/bin:/x' : 'x' }))
    const lines = output([{ command: ['env'], environment }]).split('\n')
    for (const { name, value } of environment) expect(lines).toContain(`${name}=${value}`)
  })
})

describe('the description of a pod', () => {
  const described = (run: RunSpec) => {
    const secret = { metadata: { name: 's', uid: 'u', resourceVersion: '1' } }
    const made = { owner: 'us', image: 'i', x11Image: 'x', imagePullSecrets: [] }
    return describedPod({ ...made, mounts: [], nodes: [], nowMs: 0, run, secret }, 0)
  }

  it('contains no command, no value of a variable, no closure, and no privileges', () => {
    const text = 'known to the Secret alone'
    const run = makeRun({ command: [text], environment: [{ name: 'A', value: text }] })
    const pod = described({ ...run, injected: { BERTH_TOKEN: text }, closure: JSON.stringify({ text }) })
    expect(JSON.stringify(pod)).not.toContain(text)
    expect(pod).toMatchObject({
      spec: {
        automountServiceAccountToken: false,
        containers: [{ securityContext: { allowPrivilegeEscalation: false } }],
      },
    })
  })

  it('requests GPUs as a resource, and hides the GPUs of the node if none are requested', () => {
    const none = { env: [{ name: 'NVIDIA_VISIBLE_DEVICES', value: 'void' }] }
    expect(described(makeRun({}))).toMatchObject({ spec: { containers: [none] } })
    const two = described(makeRun({ resources: makeResources({ gpu: 2 }) }))
    expect(two).toMatchObject({
      spec: {
        containers: [{ resources: { limits: { 'nvidia.com/gpu': '2' } } }],
        tolerations: [{ key: 'nvidia.com/gpu', operator: 'Exists' }],
      },
    })
    expect(JSON.stringify(two)).not.toContain('NVIDIA_VISIBLE_DEVICES')
  })

  it('sets the size of shared memory to the memory of the job', () => {
    const { spec } = described(makeRun({ resources: makeResources({ memoryBytes: 2 ** 30 }) })) as {
      spec: Record<string, unknown>
    }
    expect(spec['volumes']).toContainEqual({ name: 'shm', emptyDir: { medium: 'Memory', sizeLimit: String(2 ** 30) } })
    expect(JSON.stringify(spec)).toContain('{"name":"shm","mountPath":"/dev/shm"}')
  })

  it('has a deadline with an extra hour for the pull; for several pods the deadline is set later', () => {
    const limit = { maxRunTimeSeconds: 60 }
    expect(described(makeRun(limit))).toMatchObject({ spec: { activeDeadlineSeconds: 60 + 3_600 } })
    const gang = described(makeRun({ ...limit, resources: makeResources({ replicas: 2 }) }))
    expect(gang).toMatchObject({ metadata: { annotations: { [annotations.deadline]: '3660' } } })
    expect(JSON.stringify(gang)).not.toContain('activeDeadlineSeconds')
  })

  it('waits for the other pods longer than the last pod may need for its node and image', () => {
    const gang = described(makeRun({ resources: makeResources({ replicas: 2 }) }))
    const command = expect.arrayContaining(['berth', String(3 * 3_600)])
    expect(gang).toMatchObject({ spec: { containers: [{ command }] } })
  })
})

describe('resource amounts', () => {
  it.each([
    ['2', 2_000],
    ['100m', 100],
    ['0.1', 100],
    ['1500u', 1],
    ['1e3', 1_000_000],
  ])('of processors are converted: %s', (quantity, millis) => expect(floorQuantity(quantity, milli)).toBe(millis))

  it('of memory are read in all notations', () => {
    expect(floorQuantity('24632892Ki')).toBe(24_632_892 * 1024)
    expect(ceilQuantity('0.5')).toBe(1)
    expect(() => floorQuantity('many')).toThrow('Not a quantity of Kubernetes: many')
  })

  it('of a node are its capacity minus the amounts that others use', () => {
    const node = (name: string, more: Partial<Node['spec']> = {}, ready: 'True' | 'Unknown' = 'True'): Node => ({
      metadata: {
        name,
        uid: name,
        resourceVersion: '1',
        labels: { [nodeLabels.gpuModel]: 'V100', [nodeLabels.gpuMemory]: '32768' },
      },
      spec: more,
      status: {
        allocatable: { cpu: '4', memory: '8Gi', 'nvidia.com/gpu': '2' },
        conditions: [{ type: 'Ready', status: ready }],
      },
    })
    const pod = (owner: string): Pod => ({
      metadata: { name: 'p', uid: 'u', resourceVersion: '1', labels: { [podLabels.owner]: owner } },
      spec: {
        nodeName: 'a',
        containers: [{ resources: { requests: { cpu: '250m', memory: '1Gi', 'nvidia.com/gpu': '1' } } }],
      },
      status: { phase: 'Running' },
    })
    const taint = { key: 'node-role', effect: 'NoSchedule' } as const
    const nodes = [
      node('a'),
      node('b', { unschedulable: true }),
      node('c', { taints: [taint] }),
      node('d', {}, 'Unknown'),
    ]
    const capacity = listNodes(nodes, [pod('us'), pod('them')], 'us')
    expect(capacity.map(({ state }) => state)).toEqual(['READY', 'CORDONED', 'CORDONED', 'LOST'])
    expect(capacity[0]).toMatchObject({
      cpuMillis: 4_000,
      memoryBytes: 8 * 2 ** 30,
      gpus: [{ model: 'V100', memoryBytes: 32 * 2 ** 30 }, { model: 'V100' }],
      heldByOthers: { cpuMillis: 250, memoryBytes: 2 ** 30, gpus: 1 },
    })
  })
})

describe('labels of nodes', () => {
  const { gpuModel, gpuCompute, cudaMajor, cudaMinor, cpuModel } = nodeLabels
  const node = (labels: Record<string, string>): Node => ({
    metadata: { name: 'n', uid: 'n', resourceVersion: '1', labels },
    spec: {},
    status: { allocatable: { 'nvidia.com/gpu': '1' } },
  })

  it.each<[Record<string, string>, object]>([
    [
      { [gpuCompute]: '8', [cudaMajor]: '12', [cudaMinor]: '2' },
      { tensorCores: true, cudaVersion: '12.2' },
    ],
    [
      { [gpuCompute]: '6', [cudaMajor]: '11', [cudaMinor]: '0' },
      { tensorCores: false, cudaVersion: '11.0' },
    ],
    [{ [cudaMajor]: '11' }, { tensorCores: false, cudaVersion: null }],
    [{ [cudaMajor]: 'x', [cudaMinor]: '1' }, { cudaVersion: null }],
  ])('%j report the tensor cores and the CUDA version of GPUs', (labels, gpu) =>
    expect(listNodes([node(labels)], [], 'us')[0]?.gpus).toMatchObject([gpu]),
  )

  const terms = (resources: Parameters<typeof makeResources>[0], ...labels: Record<string, string>[]) => {
    const affinity = makeNodeAffinity(toShape(makeResources(resources)), labels.map(node)) as null | {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: { matchExpressions: object[] }[] }
    }
    const found = affinity?.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms ?? []
    return found.map(({ matchExpressions }) => matchExpressions)
  }

  it.each([
    ['11.0', []],
    ['11', []],
    ['11.8', [{ key: cudaMinor, operator: 'Gt', values: ['7'] }]],
    ['11.8.1', [{ key: cudaMinor, operator: 'Gt', values: ['8'] }]],
    ['11.8.0', [{ key: cudaMinor, operator: 'Gt', values: ['7'] }]],
  ])('for CUDA %s require at least that major and minor version', (cudaVersion, minor) => {
    expect(terms({ gpu: 1, cudaVersion })).toEqual([
      [{ key: cudaMajor, operator: 'Gt', values: ['11'] }],
      [{ key: cudaMajor, operator: 'In', values: ['11'] }, ...minor],
    ])
  })

  it('for an excluded GPU model admit nodes without the label', () => {
    const [gold, silver] = ['Gold-6154', 'Silver-4110'].map((name) => ({ [cpuModel]: name }))
    expect(terms({ cpuModel: ['!6154'] }, {})).toEqual([])
    expect(terms({ cpuModel: ['!6154'] }, gold ?? {}, silver ?? {}, {})).toEqual([
      [{ key: cpuModel, operator: 'NotIn', values: ['Gold-6154'] }],
    ])
    expect(terms({ gpu: 1, gpuModel: ['!V100'] }, { [gpuModel]: 'A100' })).toEqual([])
    expect(terms({ cpuModel: ['gold', '!4110'] }, gold ?? {}, silver ?? {})).toEqual([
      [{ key: cpuModel, operator: 'In', values: ['Gold-6154'] }],
    ])
  })
})

describe('the resource request of a pod of others', () => {
  const asks = (cpu: string, more = {}) => ({ resources: { requests: { cpu } }, ...more })
  const held = (spec: object) => {
    const node: Node = { metadata: { name: 'n', uid: 'n', resourceVersion: '1' }, spec: {}, status: {} }
    const pod: Pod = {
      metadata: { name: 'p', uid: 'p', resourceVersion: '1' },
      spec: { nodeName: 'n', containers: [], ...spec },
      status: {},
    }
    return listNodes([node], [pod], 'us')[0]?.heldByOthers.cpuMillis
  }
  const sidecar = asks('500m', { restartPolicy: 'Always' })

  it.each<[string, object, number]>([
    ['the sum of its containers', { containers: [asks('1'), asks('250m')] }, 1_250],
    ['the largest init container', { containers: [asks('1')], initContainers: [asks('2'), asks('3')] }, 3_000],
    ['sidecars as well', { containers: [asks('1')], initContainers: [sidecar, asks('200m')] }, 1_500],
    [
      'sidecars in front of an init container',
      { containers: [asks('1')], initContainers: [sidecar, asks('2')] },
      2_500,
    ],
    ['a request of the whole pod', { containers: [asks('1')], ...asks('4') }, 4_000],
    ['the overhead of the runtime', { containers: [asks('1')], overhead: { cpu: '100m' } }, 1_100],
  ])('is %s', (_, spec, cpuMillis) => expect(held(spec)).toBe(cpuMillis))
})

describe('names', () => {
  it('of runs are valid in Kubernetes', () => {
    expect(makeHandle('run_01ab')).toBe('berth-run-01ab')
    expect(() => makeHandle('../secrets')).toThrow(/Not the id of a run/)
  })
})
