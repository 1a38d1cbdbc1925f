import { describe, expect, test } from 'vitest'
import { parseSubmission } from '../../../src/domain/input.ts'
import { findBrokenRules } from '../../../src/domain/submission/spec-rules.ts'

/** The paths of the violations, below `spec`. */
const brokenBy = (spec: Record<string, unknown>) =>
  findBrokenRules(parseSubmission({ spec }).spec, 0).map(({ path }) => path.slice(1).join('.'))

const job = (resources: Record<string, unknown>, rest: Record<string, unknown> = {}) => ({
  command: ['a'],
  resources,
  ...rest,
})
const named = (name: string, ...ports: number[]) => ({
  command: ['a'],
  internalDns: { name, ports: ports.map((port) => ({ port })) },
})

describe('contradicting fields of a spec are refused:', () => {
  test.each<[string, Record<string, unknown>]>([
    ['arguments', { command: ['a'], arguments: ['b'] }],
    ['arguments.1', { executable: 'a', arguments: ['b', `key=\${BERTH_TOKEN}`] }],
    ['handler', { command: ['a'], handler: 'resize' }],
    ['handler', { executable: 'a', handler: 'resize' }],
    ['input', { command: ['a'], input: { width: 1 } }],
    ['resources.memoryGib', job({ memoryGib: 1, memoryBytes: 1_073_741_824 })],
    ['resources.gpuMemoryGib', job({ gpu: 1, gpuMemoryGib: 1, gpuMemoryBytes: 1_073_741_824 })],
    ['resources.cpuCoresPerProcess', job({ cpuCoresPerProcess: 1, cpu: 1 })],
    ['resources.cpuCoresPerProcess', job({ cpuCoresPerProcess: 1, replicas: 2 })],
    ['resources.gpuCoresPerProcess', job({ gpuCoresPerProcess: 1, gpu: 1 })],
    ['resources.cudaVersion', job({ cudaVersion: '12.4' })],
    ['resources.gpuIds', job({ gpu: 2, gpuIds: [0, 0] })],
    ['resources.gpuIds', job({ gpuCoresPerProcess: 2, processCount: 2, gpuIds: [0, 1, 2] })],
    ['resources.gpuIds', job({ gpuCoresPerProcess: 1, nodeCount: 1, processesPerNode: 2, gpuIds: [0] })],
    ['x11.gpu', { command: ['a'], x11: { gpu: true } }],
    ['labels', { command: ['a'], labels: [1, 2].map((value) => ({ key: 'team', value: String(value) })) }],
    ['internalDns.name', { command: ['a'], internalDns: { ports: [{ port: 80 }] } }],
    ['internalDns.ports', { command: ['a'], internalDns: { name: 'web' } }],
    ['internalDns.ports', named('web', 80, 80)],
    ['dependsOn', { command: ['a'], dependsOn: [{ jobId: 'job_1' }, { jobId: 'job_1', on: 'FINISHED' }] }],
  ])('the field %s in %j', (path, spec) => {
    expect(brokenBy(spec)).toEqual([path])
  })

  test('all violations are listed together', () => {
    const paths = brokenBy({ command: ['a'], arguments: ['b'], input: {}, resources: { gpuModel: ['v100'] } })
    expect(paths).toEqual(['arguments', 'input', 'resources.gpuModel'])
  })
})

test.each([
  { executable: 'a', arguments: ['$BERTH_TOKEN', 'b'] },
  { handler: 'resize', input: { width: 1 } },
  { image: 'alpine' },
  job({ memoryGib: 1 }),
  job({ cpuCoresPerProcess: 1, gpuCoresPerProcess: 1, processCount: 2, gpuIds: [0, 1] }),
  job({ gpu: 1, cudaVersion: '12.4', gpuIds: [0] }, { x11: { gpu: true } }),
  job({ gpu: 2, gpuIds: [0], anyGpu: true }),
  job({ processCount: 2, processesPerNode: 2 }),
  named('web', 80, 443),
])('the spec %j is accepted', (spec) => {
  expect(brokenBy(spec)).toEqual([])
})

describe('the name of an account', () => {
  test.each(['a..b', '.a', 'a.', 'a b', 'a/b', 'a\u0007b', 'a\u202eb', 'a\u200bb', '\u0430dmin'])(
    '%j is refused',
    (account) => {
      expect(() => parseSubmission({ spec: { command: ['a'], account } })).toThrow(
        'spec.account: Must consist of letters',
      )
    },
  )

  test.each(['ml', 'ml.vision', 'users.john~doe', "users.o'neil@example~org", 'a-b_c+d'])(
    '%j is accepted',
    (account) => {
      expect(parseSubmission({ spec: { command: ['a'], account } }).spec.account).toBe(account)
    },
  )
})
