import { describe, expect, it } from 'vitest'
import { nodesFormat, parseGpuTypes, parseMinutes, parseNodes } from '../../../src/executors/slurm/capacity.ts'
import { expandHostlist } from '../../../src/executors/slurm/hostlist.ts'
import { countTasks, limitMinutes, makeOptions, optionRules } from '../../../src/executors/slurm/options.ts'
import { Queue } from '../../../src/executors/slurm/squeue.ts'
import { parseQueue, type SlurmJob } from '../../../src/executors/slurm/squeue-output.ts'
import { getJobPhase, parseNodeState } from '../../../src/executors/slurm/state-tables.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { createLog } from '../../../src/platform/log.ts'
import { makeResources, makeRun } from '../runs.ts'

/** The parts of the executor slurm that need no cluster. */

const log = createLog('fatal')
const line = (...fields: readonly string[]) => fields.map((field) => `${field}\x1f`).join('')

it.each([
  ['', []],
  ['n1', ['n1']],
  ['n[1-3,7],gpu01', ['n1', 'n2', 'n3', 'n7', 'gpu01']],
  ['n[08-11]', ['n08', 'n09', 'n10', 'n11']],
  ['r[1-2]n[1-2]', ['r1n1', 'r1n2', 'r2n1', 'r2n2']],
])('the hostlist %s expands to %j', (list, nodes) => {
  expect(expandHostlist(list)).toEqual(nodes)
})

it.each([
  'n[1-99999][1-99999][1-99999]',
  `n[1-${'9'.repeat(400)}]`,
  'n[1-99999999999][2-1],',
  'a[1-0][0-99999],'.repeat(250),
  `n[${'0'.repeat(4_000)}-99999999]`,
  `n${'[0-9]'.repeat(800)}`,
  '['.repeat(4_000),
])('the expansion of the hostlist %.40s is limited', (list) => {
  expect(expandHostlist(list).join().length).toBeLessThan(300_000)
})

it.each([
  ['1-00:00:00', 1440],
  ['2:30:00', 150],
  ['5:00', 5],
  ['infinite', null],
])('the time limit %s is read as %j minutes', (text, minutes) => {
  expect(parseMinutes(text)).toBe(minutes)
})

describe('the queue of Slurm', () => {
  it('is parsed correctly, whatever text a comment contains', () => {
    const own = line(
      '7',
      'run_a',
      '1000',
      'RUNNING',
      'None',
      'n[1-2]',
      '0',
      '1600000000',
      '1700000000',
      '2',
      'cpu=4,mem=2G,node=2,gres/gpu=2',
    )
    const others = line(
      '8',
      'a|b, "c"',
      '1001',
      'PENDING',
      '(ReqNodeNotAvail, UnavailableNodes:n1)',
      '',
      '0',
      'N/A',
      'N/A',
      '0',
      'cpu=1,mem=100M',
    )
    const [first, second, ...rest] = parseQueue(`${own}\n9\x1frun_a\nrun_b\x1f\n${others}\n`)
    const held = { cpus: 4, memoryBytes: 2 * 1024 ** 3, gpus: 2 }
    expect(first).toMatchObject({ id: '7', runId: 'run_a', uid: 1000, nodes: ['n1', 'n2'], held })
    expect([first?.startMs, second?.startMs]).toEqual([1_600_000_000_000, null])
    expect([first?.endMs, second?.endMs]).toEqual([1_700_000_000_000, null])
    expect([first?.restarts, second?.restarts]).toEqual([2, 0])
    expect(second).toMatchObject({ id: '8', state: 'PENDING', nodes: [], held: { memoryBytes: 100 * 1024 ** 2 } })
    expect(rest).toEqual([])
  })

  it('are listed for each run, the oldest first by the number of their ids', async () => {
    const job = (id: string, run: string) => line(id, run, '0', 'RUNNING', 'None', 'n1', '0', '', '', '0', 'cpu=1')
    const text = [job('10', 'run_a'), job('11', 'run_b'), job('9', 'run_a')].join('\n')
    const found = await new Queue(async () => text, systemClock, log).read([])
    const ids = Array.from(found?.byRun ?? [], ([run, jobs]) => [run, jobs.map(({ id }) => id)])
    expect(Object.fromEntries(ids)).toEqual({ run_a: ['9', '10'], run_b: ['11'] })
  })
})

describe('the nodes of Slurm', () => {
  const node = (name: string, state: string, ...rest: readonly string[]) => line(name, state, ...rest)
  const text = [
    node('n1', 'mixed', '3/5/0/8', '4000', '300', 'gpu:a100:2(S:0)', 'gpu:a100:2(IDX:0-1)', 'infiniband,big', 'main'),
    node('n1', 'mixed', '3/5/0/8', '4000', '300', 'gpu:a100:2(S:0)', 'gpu:a100:2(IDX:0-1)', 'infiniband,big', 'short'),
    node('n2', 'drained*', '0/0/8/8', '4000', '0', 'gpu:h100:1,gpu:1', '(null)', '(null)', 'main'),
    node('n3', 'idle*', '0/8/0/8', '4000', '0', '(null)', '(null)', '(null)', 'old'),
  ].join('\n')
  const ours = { nodes: ['n1', 'n9'], held: { cpus: 4, memoryBytes: 200 * 1024 ** 2, gpus: 2 } } as unknown as SlurmJob

  it('are read once for all partitions, with the amounts that others use', () => {
    expect(nodesFormat).toContain('NodeList')
    const nodes = parseNodes(text, [ours], log)
    expect(nodes.map(({ name, state }) => [name, state])).toEqual([
      ['n1', 'READY'],
      ['n2', 'CORDONED'],
      ['n3', 'LOST'],
    ])
    expect(nodes[0]).toMatchObject({
      cpuMillis: 8000,
      infiniband: true,
      gpus: [{ model: 'a100' }, { model: 'a100' }],
      heldByOthers: { cpuMillis: 1000, memoryBytes: 200 * 1024 ** 2, gpus: 1 },
    })
  })

  it('have the GPU types of their partitions', () => {
    expect([...parseGpuTypes(text)]).toEqual([
      ['main', ['a100', 'h100', 'gpu']],
      ['short', ['a100']],
      ['old', []],
    ])
  })
})

it('jobs and nodes in unknown states are ignored', () => {
  expect(getJobPhase('NEW_IN_99')).toBeNull()
  expect(parseNodeState('new_in_99')).toBeNull()
  expect(parseNodeState('mixed-')).toBe('READY')
  expect(parseNodeState('idle$')).toBe('CORDONED')
})

describe('sbatch options', () => {
  const limits = {
    deadlineSlackSeconds: 10,
    minutesMax: (name: string) => (name === 'short' ? 5 : null),
    gpuTypes: (name: string) => gpuTypes.get(name) ?? null,
  }
  const gpuTypes = new Map<string, readonly string[]>([
    ['default', ['a100', 'a30', 'v100']],
    ['large', ['a100', 'a100_80gb']],
    ['mixed', ['gpu', 'h100']],
    ['plain', ['gpu']],
  ])
  const optionsFor = (...run: Parameters<typeof makeRun>) => makeOptions(makeRun(...run), limits)

  it('contain the requests of the job, and --no-requeue', () => {
    const resources = makeResources({ nodeCount: 2, processesPerNode: 2, cpuCoresPerProcess: 3, gpuCoresPerProcess: 1 })
    const spec = { name: 'a b', project: 'genome', queue: 'main', resources, maxRunTimeSeconds: 60 }
    const options = optionsFor(spec, { reservationNativeId: 'week' })
    for (const option of [
      '--job-name=a b',
      '--account=genome',
      '--reservation=week',
      '--partition=main',
      '--nodes=2',
      '--ntasks=4',
      '--ntasks-per-node=2',
      '--cpus-per-task=3',
      '--gres=gpu:2',
      '--mem=1024M',
      '--time=2',
      '--no-requeue',
    ])
      expect(options).toContain(option)
  })

  it('combine the options of the operator and of the job; those of the job take precedence', () => {
    const native = { partition: 'debug', qos: 'low', account: 'lab' }
    const customAttributes = { 'slurm.qos': 'high', 'slurm.no-kill': true, 'slurm.contiguous': false, 'pbs.x': 1 }
    const options = optionsFor({ customAttributes }, { queueNative: native })
    expect(options).toEqual(expect.arrayContaining(['--partition=debug', '--account=lab', '--qos=high', '--no-kill']))
    expect(options.join(' ')).not.toMatch(/contiguous|pbs/)
  })

  it.each([
    [{ 'slurm.uid': '0' }, /slurm.uid is not an option that a job may set; use one of acctg-freq, /],
    [{ 'slurm.comment': 'run_other' }, /comment is not an option/],
    [{ 'slurm.gres': 'gpu:a100:2' }, /gres is not an option that a job may set; set resources: gpu, gpuModel and /],
    [{ 'slurm.mem': '1T' }, /set resources: memoryGib/],
    [{ 'slurm.cpus-per-gpu': 8 }, /set resources: cpu or cpuCoresPerProcess/],
    [{ 'slurm.nodes': 8 }, /set resources: nodeCount, processCount and processesPerNode/],
    [{ 'slurm.exclusive': true }, /set resources: exclusiveNodeUse/],
    [{ 'slurm.mail-user': 'all@example.org' }, /Slurm sends mail to the account of the job/],
    [{ 'slurm.hold': true }, /slurm.hold is not an option that a job may set; set notBefore/],
    [{ 'slurm.begin': 'now+6' }, /set notBefore/],
    [{ 'slurm.priority': '0' }, /the operator may set it by queues\[\]\.native/],
    [{ 'slurm.hint': 'nomultithread' }, /the operator may set it by queues\[\]\.native/],
    [{ 'slurm.toString': 'x' }, /toString is not an option that a job may set; use one of/],
    [{ 'slurm.qos': ['a'] }, /slurm.qos: \["a"\] must be one line/],
    [{ 'slurm.qos': 'a\nb' }, /must be one line/],
  ])('of a job are refused: %j', (customAttributes, message) => {
    expect(() => optionsFor({ customAttributes })).toThrow(message)
  })

  it('from a job may not set resource amounts', () => {
    const amount =
      /gpus|^gres$|cpus|^mem$|mem-per|^nodes$|ntasks|tres|exclusive|^time|core-spec|thread-spec|^bb$|sockets|cores-per/
    expect(optionRules.attributes.filter((name) => amount.test(name))).toEqual([])
  })

  it('from the operator may set resource amounts', () => {
    expect(optionsFor({}, { queueNative: { 'cpus-per-gpu': '4', 'mail-user': 'ops' } })).toEqual(
      expect.arrayContaining(['--cpus-per-gpu=4', '--mail-user=ops']),
    )
    expect(() => optionsFor({}, { queueNative: { uid: '0' } })).toThrow(/native.uid: uid is not an option for op/)
  })

  it.each([
    [[], 'default', '--gres=gpu:2'],
    [['V100'], 'default', '--gres=gpu:v100:2'],
    [['a', '!100'], 'default', '--gres=gpu:a30:2'],
    [['!h100'], 'default', '--gres=gpu:2'],
    [['h100'], 'default', '--gres=gpu:h100:2'],
    [['a100'], 'large', '--gres=gpu:a100:2'],
    [['100', '80'], 'large', '--gres=gpu:a100_80gb:2'],
    [['!v100'], 'large', '--gres=gpu:2'],
    [['h'], 'mixed', '--gres=gpu:h100:2'],
    [['gpu'], 'plain', '--gres=gpu:2'],
    [['h100'], 'not told yet', '--gres=gpu:h100:2'],
  ])('for GPUs like %j in the partition %s contain %s', (gpuModel, queue, option) => {
    expect(optionsFor({ queue, resources: makeResources({ gpu: 2, gpuModel }) })).toContain(option)
  })

  it.each([
    [['100'], 'default', 'BAD_SPEC', /Slurm takes one type of GPU, and of a100, a30, v100 this matches a100, v100/],
    [['a', 'h'], 'default', 'BAD_SPEC', /this matches none/],
    [['!h100'], 'mixed', 'BAD_SPEC', /of GPUs without a type, h100 this matches GPUs without a type/],
    [['gpu'], 'mixed', 'BAD_SPEC', /this matches GPUs without a type/],
    [['!h100'], 'not told yet', 'NODE_TROUBLE', /Slurm has not reported its types of GPUs yet/],
  ])('for GPUs like %j in the partition %s are refused as %s', (gpuModel, queue, reason, message) => {
    const ask = () => optionsFor({ queue, resources: makeResources({ gpu: 1, gpuModel }) })
    expect(ask).toThrow(expect.objectContaining({ reason, message: expect.stringMatching(message) }))
  })

  it.each([
    [{ processCount: 5 }, { total: 5, perNode: 5, nodes: 1 }],
    [
      { processCount: 5, processesPerNode: 2 },
      { total: 5, perNode: 2, nodes: 3 },
    ],
    [{ nodeCount: 3 }, { total: 3, perNode: 1, nodes: 3 }],
    [
      { nodeCount: 2, processesPerNode: 2 },
      { total: 4, perNode: 2, nodes: 2 },
    ],
  ])('request tasks for %j: %j', (amounts, tasks) => {
    expect(countTasks(makeResources(amounts))).toEqual(tasks)
  })

  it.each([
    [60, 'main', 2],
    [0, 'main', 0],
    [0, 'short', 5],
    [3600, 'short', 5],
  ])('request minutes for a maximum of %i s in the partition %s: %i', (maxRunTimeSeconds, queue, minutes) => {
    expect(limitMinutes(makeRun({ maxRunTimeSeconds, queue }), limits)).toBe(minutes)
  })
})
