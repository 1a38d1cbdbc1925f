import { describe, expect, test } from 'vitest'
import { InvalidInput } from '../../src/domain/errors.ts'
import { parseSubmission } from '../../src/domain/input.ts'
import type { JobSpec } from '../../src/domain/spec.ts'
import { normaliseSpec } from '../../src/domain/submission/normalise.ts'
import { routeSpec } from '../../src/domain/submission/routing.ts'
import { makeRequest } from '../../src/executors/container/create.ts'
import type { RunSpec } from '../../src/executors/executor.ts'
import { makeNetworkObjects } from '../../src/executors/kubernetes/network.ts'
import { nodeLabels } from '../../src/executors/kubernetes/placement.ts'
import { makePod } from '../../src/executors/kubernetes/pod.ts'
import { makeCommandScript } from '../../src/executors/kubernetes/script.ts'
import { makeDestination } from '../support/destination.ts'
import { makeRun } from './runs.ts'
import { makeOpener } from './snapshot-files.ts'

/**
 * Every field of a spec has an effect: Berth handles it, it changes the request to the backend, or it is rejected by
 * name. A new field fails this test until it has a sample.
 */

/** The default maximum run time depends on these flags. */
const limited = { maxRunTimeSeconds: 60 }

/** A sample of each field, with the fields that it needs. The job that it is compared with has those, too. */
const samples: Record<string, { field: object; beside?: object }> = {
  name: { field: { name: 'n' } },
  labels: { field: { labels: [{ key: 'a', value: 'b' }] } },
  command: { field: { command: ['other'] } },
  executable: { field: { command: null, executable: '/bin/other' } },
  arguments: { field: { arguments: ['a'] }, beside: { command: null, executable: '/bin/true' } },
  handler: { field: { command: null, handler: 'a.ts' } },
  input: { field: { command: null, handler: 'a.ts', input: { a: 1 } } },
  image: { field: { image: 'other' } },
  snapshot: { field: { snapshot: 'snapshot_1' } },
  outputs: { field: { outputs: ['*.csv'] } },
  workdir: { field: { workdir: '/w' } },
  environment: { field: { environment: [{ name: 'A', value: 'b' }] } },
  secrets: { field: { secrets: ['A'] } },
  inheritEnvironment: { field: { inheritEnvironment: false } },
  stdinPath: { field: { stdinPath: '/in' } },
  stdoutPath: { field: { stdoutPath: '/out' } },
  stderrPath: { field: { stderrPath: '/err' } },
  preLaunch: { field: { preLaunch: '/pre' } },
  postLaunch: { field: { postLaunch: '/post' } },
  launcher: { field: { launcher: 'mpirun' } },
  data: { field: { data: ['tmp:/d'] } },
  pull: { field: { pull: 'ALWAYS' } },
  networkIsolation: { field: { networkIsolation: 'IN' } },
  internalDns: { field: { internalDns: { name: 'web', ports: [{ port: 80 }] } } },
  x11: { field: { x11: { gpu: false } } },
  executor: { field: {} },
  queue: { field: { queue: 'default' } },
  team: { field: { team: 't' } },
  project: { field: { project: 'p' } },
  account: { field: { account: 'a' } },
  capacityReservationId: { field: { capacityReservationId: 'res_1' } },
  bid: { field: { bid: 1 } },
  interactive: { field: { interactive: true }, beside: limited },
  preemptable: { field: { preemptable: true }, beside: limited },
  restartable: { field: { restartable: true }, beside: limited },
  resumable: { field: { resumable: true } },
  maxRunTimeSeconds: { field: { maxRunTimeSeconds: 60 } },
  durationSeconds: { field: { durationSeconds: 60 } },
  notBefore: { field: { notBefore: '2026-01-01T00:00:00Z' } },
  estimatedCost: { field: { estimatedCost: 1 } },
  dependsOn: { field: { dependsOn: [{ jobId: 'job_1' }] } },
  onDependencyFailure: { field: { onDependencyFailure: 'WAIT' } },
  retry: { field: { retry: { maxAttempts: 2 } } },
  customAttributes: { field: { customAttributes: { 'slurm.x': 1 } } },
  'resources.cpu': { field: { resources: { cpu: 2 } } },
  'resources.memoryBytes': { field: { resources: { memoryBytes: 2 ** 31 } } },
  'resources.gpu': { field: { resources: { gpu: 1 } } },
  'resources.gpuMemoryBytes': { field: { resources: { gpu: 1, gpuMemoryGib: 8 } }, beside: { resources: { gpu: 1 } } },
  'resources.gpuTensorCores': {
    field: { resources: { gpu: 1, gpuTensorCores: true } },
    beside: { resources: { gpu: 1 } },
  },
  'resources.cudaVersion': { field: { resources: { gpu: 1, cudaVersion: '12.1' } }, beside: { resources: { gpu: 1 } } },
  'resources.cpuModel': { field: { resources: { cpuModel: ['epyc'] } } },
  'resources.gpuModel': { field: { resources: { gpu: 1, gpuModel: ['h100'] } }, beside: { resources: { gpu: 1 } } },
  'resources.infiniband': { field: { resources: { infiniband: true } } },
  'resources.replicas': { field: { resources: { replicas: 2 } } },
  'resources.replicaMasterPort': { field: { resources: { replicaMasterPort: 1234 } } },
  'resources.gpuIds': { field: { resources: { gpu: 1, gpuIds: [0] } }, beside: { resources: { gpu: 1 } } },
  'resources.anyGpu': {
    field: { resources: { gpu: 1, gpuIds: [0], anyGpu: true } },
    beside: { resources: { gpu: 1, gpuIds: [0] } },
  },
  'resources.nodeCount': { field: { resources: { nodeCount: 2 } } },
  'resources.processCount': { field: { resources: { processCount: 2 } }, beside: { launcher: 'mpirun' } },
  'resources.processesPerNode': {
    field: { resources: { nodeCount: 2, cpuCoresPerProcess: 1, processesPerNode: 2 } },
    beside: { resources: { nodeCount: 2, cpuCoresPerProcess: 1 } },
  },
  'resources.cpuCoresPerProcess': { field: { resources: { processCount: 2, cpuCoresPerProcess: 3 } } },
  'resources.gpuCoresPerProcess': { field: { resources: { processCount: 1, gpuCoresPerProcess: 1 } } },
  'resources.exclusiveNodeUse': { field: { resources: { exclusiveNodeUse: true } } },
}

/** Fields that Berth handles with every executor. */
const ofBerth = new Set(
  `labels secrets executor queue team project account capacityReservationId bid interactive preemptable restartable resumable notBefore
   estimatedCost dependsOn onDependencyFailure retry customAttributes resources.replicaMasterPort`.split(/\s+/),
)
/** Fields by which Berth chooses the GPUs of a run, if the backend does not. */
const ofPlanner = new Set(
  `resources.gpu resources.gpuMemoryBytes resources.gpuTensorCores resources.cudaVersion resources.cpuModel resources.gpuModel
   resources.gpuIds resources.anyGpu resources.gpuCoresPerProcess resources.exclusiveNodeUse`.split(/\s+/),
)
/** Each pod runs the command once, and the command starts its processes. */
const ofCommand = new Set(['resources.processCount'])

const secret = { metadata: { name: 's', uid: 'u', resourceVersion: '1' } }
const labels = { [nodeLabels.gpuModel]: 'H100', [nodeLabels.cpuModel]: 'epyc' }
const nodes = [{ metadata: { name: 'n', uid: 'n', resourceVersion: '1', labels }, spec: {}, status: {} }]

const mountsOf = ({ spec: { data } }: RunSpec) =>
  data.map(() => ({ source: '/tmp', target: '/d', below: null, identity: null }))

/** The request to the backend. */
const askedOf: Record<string, (run: RunSpec) => Promise<unknown>> = {
  async container(run) {
    const image = {
      id: run.spec.image ?? 'i',
      digest: null,
      environment: { A: 'image' },
      command: [],
      shell: ['/bin/sh'],
    }
    return makeRequest(run, {
      image: { ...image, workdir: '/', user: '', volumes: [] },
      account: null,
      mounts: mountsOf(run),
      cpusMax: null,
      isPodman: false,
      labels: { name: run.spec.name ?? '' },
      files: [],
      passed: {},
      hasInit: true,
      logBytesMax: 1,
      infinibandDir: import.meta.dirname,
      deadlineSlackSeconds: 1,
    })
  },
  async kubernetes(run) {
    const images = { image: 'i', x11Image: 'x', imagePullSecrets: [] }
    const made = { owner: 'us', ...images, secret, nodes, nowMs: 0 }
    return [
      makePod({ ...made, run, mounts: mountsOf(run) }, 0),
      makeNetworkObjects(run, 'us', secret),
      makeCommandScript(run, { PASSED: 'x' }),
    ]
  },
}

/** The container executor pulls before it makes the request, and reads outputs after the run. */
const notHere: Record<string, ReadonlySet<string>> = {
  container: new Set([...ofPlanner, 'pull', 'outputs']),
  kubernetes: ofCommand,
}

function specOf(executor: string, input: object): JobSpec {
  const { spec } = parseSubmission({ spec: { command: ['true'], ...input, executor } })
  const destination = makeDestination(executor, { relaxReplicas: true, deviceIds: [0] })
  return normaliseSpec(spec, { route: routeSpec(spec, [destination]), account: 'users.test', destination: undefined })
    .spec
}

/** Returns null if the spec is rejected with a violation that names one of the fields and the executor. */
function acceptedSpec(executor: string, input: object): JobSpec | null {
  try {
    return specOf(executor, input)
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error
    const given = { ...input, ...('resources' in input ? (input.resources as object) : {}) }
    const isNamed = (path: readonly string[]) => path.some((part) => part in given)
    for (const { path, message } of error.violations)
      expect([isNamed(path), message]).toEqual([true, expect.stringContaining(executor)])
    return null
  }
}

async function verdictOf(executor: string, name: string): Promise<'HONOURED' | 'BERTH' | 'REFUSED'> {
  const { field, beside: wanted = {} } = samples[name] ?? { field: {} }
  const beside = acceptedSpec(executor, wanted) === null ? {} : wanted
  const ask = (spec: JobSpec) => {
    const openSnapshot = spec.snapshot ? makeOpener({}) : null
    return askedOf[executor]?.({ ...makeRun({}), runId: 'run_1', jobId: 'job_1', spec, openSnapshot })
  }
  const spec = acceptedSpec(executor, { ...beside, ...field })
  if (spec === null) return 'REFUSED'
  const [without, having] = [await ask(specOf(executor, beside)), await ask(spec)]
  return JSON.stringify(without) === JSON.stringify(having) ? 'BERTH' : 'HONOURED'
}

test('every field of a spec has a sample', () => {
  const { resources, ...plain } = makeRun({}).spec
  const names = [...Object.keys(plain), ...Object.keys(resources).map((name) => `resources.${name}`)]
  expect(Object.keys(samples).toSorted()).toEqual(names.toSorted())
})

describe.each(Object.keys(askedOf))('the executor %s', (executor) => {
  const isBerths = (name: string) => ofBerth.has(name) || notHere[executor]?.has(name) === true

  test.each(Object.keys(samples))('honours or refuses the field %s', async (name) => {
    const verdict = await verdictOf(executor, name)
    if (verdict !== 'REFUSED') expect(verdict).toBe(isBerths(name) ? 'BERTH' : 'HONOURED')
  })
})

test('a container has the memory of its job as shared memory', async () => {
  const spec = specOf('container', { resources: { memoryGib: 2 } })
  expect(await askedOf['container']?.(makeRun(spec))).toMatchObject({ body: { HostConfig: { ShmSize: 2 * 2 ** 30 } } })
})
