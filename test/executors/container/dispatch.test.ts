import { expect, it } from 'vitest'
import { type MachineExecutor, MachinesExecutor } from '../../../src/executors/container/machines.ts'
import { type Executor, type Observation, StartFailed } from '../../../src/executors/executor.ts'
import { createLog } from '../../../src/platform/log.ts'
import { fastClock } from '../cluster-server.ts'
import { makeRun } from '../runs.ts'

/** The executor of several machines, over executors whose responses the test sets. */

function machine(answers: Partial<MachineExecutor> = {}): MachineExecutor {
  return {
    name: 'container',
    start: async ({ runId }) => `berth-${runId}`,
    find: async () => null,
    inspect: async (handles) => handles.map((handle): Observation => ({ state: 'running', nativeId: handle })),
    async *logs() {},
    stop: async () => undefined,
    async *watch() {},
    async *outputs() {},
    forget: async () => undefined,
    list: async () => [],
    sample: async (runs) => runs.map(() => ({})),
    exec: () => never(),
    connect: () => never(),
    silent: async () => [],
    describe: async () => ({ version: '24.0', available: true, message: null }),
    close: async () => undefined,
    ...answers,
  }
}

const over = (machines: Record<string, MachineExecutor>) =>
  new MachinesExecutor({ machines: new Map(Object.entries(machines)), clock: fastClock(100), log: createLog('silent') })
const never = () => new Promise<never>(() => undefined)
const frozen = machine({ inspect: never, silent: never, list: never, sample: never })

it('a run starts on its node, and its handle names that node', async () => {
  const run = { ...makeRun({}), nodes: ['b'] }
  const told: string[] = []
  const start: Executor['start'] = async ({ runId }, _, tell) => {
    tell?.('Pulling the image x')
    return `berth-${runId}`
  }
  expect(await over({ a: machine(), b: machine({ start }) }).start(run, undefined, (info) => told.push(info))).toBe(
    `b/berth-${run.runId}`,
  )
  expect(told).toEqual(['b: Pulling the image x'])
})

it('a start that fails names the machine, and the run may start on another machine', async () => {
  const start = () => Promise.reject(new StartFailed('BACKEND_AWAY', 'no answer'))
  await expect(over({ a: machine({ start }) }).start({ ...makeRun({}), nodes: ['a'] })).rejects.toMatchObject({
    reason: 'NODE_TROUBLE',
    message: 'a: no answer',
  })
  await expect(over({}).start({ ...makeRun({}), nodes: ['x'] })).rejects.toMatchObject({ reason: 'NODE_TROUBLE' })
})

it('a run whose nodes are known is searched for only on those nodes', async () => {
  const find = async (runId: string) => `berth-${runId}`
  const executor = over({ a: machine({ find: never }), b: machine({ find }) })
  expect(await executor.find('r', ['b'])).toBe('b/berth-r')
  expect(await over({ a: machine(), b: machine({ find }) }).find('r')).toBe('b/berth-r')
  expect(await executor.find('r', ['gone'])).toBeNull()
})

it('a machine that does not respond delays no other machine, and its runs are unreachable', async () => {
  const executor = over({ a: frozen, b: machine() })
  expect(await executor.inspect(['b/two', 'a/one', 'x/three', 'four'])).toEqual([
    { state: 'running', nativeId: 'two' },
    { state: 'unreachable', info: 'a: no answer within 5 s' },
    { state: 'unreachable', info: expect.stringContaining('names no engine for the node x') },
    { state: 'gone', info: 'The container does not exist' },
  ])
  expect(await executor.silent(['b', 'a', 'x'])).toEqual(['a', 'x'])
  expect(await executor.list()).toEqual([])
  const runs = ['b/two', 'a/one'].map((handle) => ({ handle, gpuIds: [] }))
  expect(await executor.sample(runs)).toEqual([{}, {}])
})

it('runs are listed, stopped and removed under the name of their node', async () => {
  const asked: string[] = []
  const a = machine({
    list: async () => [{ runId: 'one', handle: 'berth-one' }],
    stop: async (handle) => void asked.push(`stop ${handle}`),
    forget: async (handle) => void asked.push(`forget ${handle}`),
  })
  const executor = over({ a, b: machine() })
  expect(await executor.list()).toEqual([{ runId: 'one', handle: 'a/berth-one' }])
  await executor.stop('a/berth-one', 0)
  await executor.forget('a/berth-one')
  expect(asked).toEqual(['stop berth-one', 'forget berth-one'])
  await expect(executor.stop('x/berth-one', 0)).rejects.toThrow('names no engine for the node x')
})

it('the events of all machines are passed on until the caller cancels', async () => {
  const watching = (handle: string) =>
    machine({
      async *watch(signal) {
        yield handle
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
      },
    })
  const cancelled = new AbortController()
  const seen: string[] = []
  for await (const handle of over({ a: watching('one'), b: watching('two') }).watch(cancelled.signal)) {
    seen.push(handle)
    if (seen.length === 2) cancelled.abort()
  }
  expect(seen.toSorted()).toEqual(['a/one', 'b/two'])
})

it('the executor is available while one machine is, and names each machine that is not', async () => {
  const away = { version: null, available: false, message: 'Container engine unreachable: no answer' }
  const executor = over({ a: machine(), b: machine({ describe: async () => away }) })
  expect(await executor.describe()).toMatchObject({
    version: '24.0',
    available: true,
    message: 'b: Container engine unreachable: no answer',
    machines: {
      a: { engine: null, latencyMs: null, silence: null, troubles: [] },
      b: { engine: null, latencyMs: null, silence: 'Container engine unreachable: no answer', troubles: [] },
    },
  })
})

it('the output of a run waits if the configuration does not contain the node of the run', async () => {
  const cancelled = new AbortController()
  const chunks = over({}).logs('x/one', null, cancelled.signal)[Symbol.asyncIterator]()
  const first = chunks.next()
  cancelled.abort()
  expect(await first).toMatchObject({ done: true })
})

it('connections are opened to machines that are added, and closed to machines that are removed', async () => {
  let engines = new Map([['b', 'ssh://b']])
  const log: string[] = []
  const executor = new MachinesExecutor({
    machines: new Map([['a', machine()]]),
    added: {
      read: async () => engines,
      open: async (node, engine) => {
        log.push(`open ${node} ${engine}`)
        return machine({ close: async () => void log.push(`close ${node}`) })
      },
    },
    clock: fastClock(100),
    log: createLog('silent'),
  })
  const run = { ...makeRun({}), nodes: ['b'] }
  expect(await executor.start(run)).toBe(`b/berth-${run.runId}`)
  expect(await executor.silent(['a', 'b', 'c'])).toEqual(['c'])
  engines = new Map([
    ['b', 'ssh://other'],
    ['c', 'ssh://c'],
  ])
  expect(await executor.silent(['a', 'b', 'c'])).toEqual([])
  engines = new Map()
  expect(await executor.silent(['a', 'b', 'c'])).toEqual(['b', 'c'])
  expect(log).toEqual(['open b ssh://b', 'close b', 'open b ssh://other', 'open c ssh://c', 'close b', 'close c'])
})
