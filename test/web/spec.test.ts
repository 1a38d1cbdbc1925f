import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { buildSpec } from '../../src/cli/reading/spec.ts'
import { formatPsij } from '../../web/features/spec/psij-copy.ts'
import { formatCommandLine, formatPython, formatYaml } from '../../web/features/spec/spec-copies.ts'
import { type Spec, toCopyInput, toFilledIn, toSpecInput } from '../../web/features/spec/spec-input.ts'

const gib = 1024 ** 3

/** The stored spec of `berth submit --gpu 2 --mem 16 -- python train.py`. */
const stored = {
  name: null,
  command: ['python', 'train.py', 'a b'],
  executable: null,
  arguments: null,
  queue: 'gpu',
  executor: 'SLURM',
  account: 'users.ann',
  resources: {
    cpu: 1,
    memoryBytes: 16 * gib,
    gpu: 2,
    gpuModel: ['v100'],
    gpuMemoryBytes: null,
    anyGpu: false,
    replicas: 1,
  },
  maxRunTimeSeconds: 172_800,
  dependsOn: [],
  onDependencyFailure: 'CANCEL',
  retry: null,
  interactive: false,
  preemptable: false,
  restartable: false,
  inheritEnvironment: true,
  environment: [{ name: 'LR', value: '0.1' }],
  labels: [
    { key: 'sweep', value: 'lr' },
    { key: 'tag', value: '' },
  ],
  launcher: 'single',
  internalDns: null,
  x11: null,
} as unknown as Spec

const short = {
  command: ['python', 'train.py', 'a b'],
  queue: 'gpu',
  executor: 'SLURM',
  environment: [{ name: 'LR', value: '0.1' }],
  labels: [
    { key: 'sweep', value: 'lr' },
    { key: 'tag', value: '' },
  ],
  resources: { memoryGib: 16, gpu: 2, gpuModel: ['v100'] },
}

it('toSpecInput removes the default values of the server', () => {
  expect(toSpecInput(stored)).toEqual(short)
})

it('toSpecInput keeps values that differ from the defaults', () => {
  const spec = { ...stored, inheritEnvironment: false, account: 'ml.nlp', preemptable: true }
  expect(toSpecInput(spec)).toEqual({
    ...short,
    inheritEnvironment: false,
    account: 'ml.nlp',
    preemptable: true,
    maxRunTimeSeconds: 172_800,
  })
})

it('toFilledIn returns the default values that the server added', () => {
  expect(toFilledIn(stored)).toEqual({
    account: 'users.ann',
    maxRunTimeSeconds: 172_800,
    onDependencyFailure: 'CANCEL',
    interactive: false,
    preemptable: false,
    restartable: false,
    inheritEnvironment: true,
    launcher: 'single',
    resources: { cpu: 1, anyGpu: false, replicas: 1 },
  })
})

it('formatYaml formats a job file that the command line reads', () => {
  const spec = buildSpec({
    yaml: formatYaml(short),
    flags: { inheritEnv: true },
    command: [],
    env: {},
    warn: () => undefined,
  })
  expect(spec).toEqual(short)
})

it('formatCommandLine uses a flag for each field, and quotes words', () => {
  expect(
    formatCommandLine({ ...short, maxRunTimeSeconds: 7_200, resources: { ...short.resources, anyGpu: true } } as never),
  ).toBe(
    "berth submit --queue gpu --executor SLURM --env LR=0.1 --label sweep=lr --tag tag --mem 16 --gpu 2 --set 'resources.gpuModel=[\"v100\"]' --set resources.anyGpu=true --max-run-time 7200s -- python train.py 'a b'",
  )
})

it('formatPython uses Python literals', () => {
  const text = formatPython({ command: ['x'], preemptable: true }, 'http://127.0.0.1:4000/')
  expect(text).toContain('"preemptable": True')
  expect(text).toContain('"http://127.0.0.1:4000/graphql"')
})

it('formatPsij names the fields that PSI/J does not have', () => {
  const text = formatPsij(short as never, 'http://127.0.0.1:4000/')
  expect(text).toContain('// PSI/J has no field for: labels, resources.memoryGib, resources.gpuModel')
  expect(text).toContain('"gpuCoresPerProcess":2')
  expect(text).toContain('arguments: ["train.py","a b"]')
})

it('formatYaml quotes texts that YAML would read as other types', () => {
  expect(parse(formatYaml({ name: '0.1', command: ['yes', 'a: b'] }))).toEqual({
    name: '0.1',
    command: ['yes', 'a: b'],
  })
})

it.each([
  { title: 'a job of another person', isOwn: false, account: 'vision', team: 'vision', copied: {} },
  { title: 'an own job without a team', isOwn: true, account: 'users.ann', team: null, copied: {} },
  { title: 'an own job of a team', isOwn: true, account: 'vision', team: 'vision', copied: { team: 'vision' } },
  {
    title: 'an own job of a part of a team',
    isOwn: true,
    account: 'vision.nlp',
    team: 'vision',
    copied: { team: 'vision', account: 'vision.nlp' },
  },
])('a copy of $title has the team and the account $copied', ({ isOwn, account, team, copied }) => {
  const input = toCopyInput({ ...stored, account, team } as unknown as Spec, isOwn)
  expect({ team: input.team, account: input.account }).toEqual({ team: undefined, account: undefined, ...copied })
})
