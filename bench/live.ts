import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { WebSocket } from 'ws'
import { connectApi } from '../test/support/api.ts'
import { type BerthProcess, freePort, startBerth } from '../test/support/berth-process.ts'
import { mutate, type Person, personWith } from '../test/support/people.ts'
import { percentile, printLatencies, printLines } from './harness.ts'
import { cpuShare, memoryOf } from './process-load.ts'
import { withFolder } from './server.ts'
import { openSocket, type Subscribers, subscribeAll } from './subscribers.ts'

/**
 * Live streams beside bare servers (bare-streams.ts): what subscribers cost, how fast one transition reaches all, how fast
 * the output of a job reaches one reader, and how late its lines are. Goals: RSS ≤ 1.3 ×, idle < 5 % of a core, 5,000 reached in p99 <
 * 500 ms, tail ≥ 0.5 ×, lines p50 ≤ 20 ms and p99 ≤ 100 ms.
 *
 * npm run bench:live -- --quick
 */
const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false } } })
const size = values.quick
  ? { sockets: 10, idleSeconds: 5, rounds: 3, logBytes: 32 * 2 ** 20, jobs: 20, lines: 30 }
  : { sockets: 50, idleSeconds: 20, rounds: 10, logBytes: 256 * 2 ** 20, jobs: 100, lines: 200 }
const perSocket = 100
const socketsPerPerson = 10
const secret = 'bootstrap-secret-of-the-benchmark'
const mib = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`
const jobStatus = `subscription ($jobId: ID!) { jobStatus(jobId: $jobId) {
  ... on JobTransitions { job { id state version } transitions { seq to } cursor } } }`

await withFolder(async (dataDir) => {
  const file = join(dataDir, 'output.log')
  await writeFile(file, Buffer.alloc(size.logBytes, 'a line of output, as long as most lines of most programs are\n'))
  const config = join(dataDir, 'berth.yaml')
  await writeFile(
    config,
    `pools: [{ name: local, executor: local, jobsAsRoot: true, nodes: [{ name: n1, cpu: 256, memoryGib: 1024 }] }]\n`,
  )
  const env = { BERTH_CONFIG: config, BERTH_BOOTSTRAP_TOKEN: secret }
  const bare = fork(new URL('./bare-streams.ts', import.meta.url), [file])
  const [bareUrl] = (await once(bare, 'message')) as [string]
  const berth = await startBerth({ dataDir, port: await freePort(), env })
  try {
    await measureSubscribers(berth, bare, bareUrl)
    await measureOutput(berth, bareUrl, file)
    await measureLines(berth)
  } finally {
    bare.disconnect()
    await berth.end()
  }
})

async function measureSubscribers(berth: BerthProcess, bare: ChildProcess, bareUrl: string) {
  const admin = personWith(berth.url, secret)
  const tokens = await Promise.all(Array.from({ length: size.sockets / socketsPerPerson }, (_, n) => addLead(admin, n)))
  const jobId = await submit(admin, {
    command: ['/bin/true'],
    notBefore: new Date(Date.now() + 86_400_000).toISOString(),
  })
  const payload = { query: jobStatus, variables: { jobId } }
  const count = { sockets: size.sockets, perSocket, payload }
  let priority = 0
  const contestants = [
    {
      name: 'bare graphql-ws',
      pid: bare.pid ?? 0,
      wanted: { ...count, url: bareUrl },
      tell: async () => bare.send(''),
    },
    {
      name: 'berth',
      pid: berth.pid,
      wanted: { ...count, url: berth.url, tokenOf: (n: number) => tokens[Math.floor(n / socketsPerPerson)] ?? '' },
      tell: () => mutate(admin, 'setJobPriority', { input: { jobId, priority: ++priority }, wanted: 'job { id }' }),
    },
  ]
  const lines: string[][] = []
  const latencies: Record<string, number[]> = {}
  for (const { name, pid, wanted, tell } of contestants) {
    const before = await memoryOf(pid)
    const subscribers: Subscribers = await subscribeAll(wanted)
    const idle = await cpuShare(pid, size.idleSeconds)
    const after = await memoryOf(pid)
    const each = (after - before) / (size.sockets * perSocket)
    lines.push([name, mib(before), mib(after), `${Math.round(each / 1_024)} KiB`, `${(idle * 100).toFixed(1)} %`])
    const tookMs: number[] = []
    for (let round = 0; round < size.rounds; round++) tookMs.push(...(await subscribers.spread(tell)))
    latencies[name] = tookMs
    subscribers.close()
  }
  const title = `${size.sockets * perSocket} idle jobStatus subscribers, ${size.sockets} sockets`
  printLines(title, [['', 'RSS before', 'RSS with', 'each', 'idle CPU'], ...lines])
  printLatencies('one transition → all of them', latencies)
}

async function submit(person: Person, spec: object): Promise<string> {
  const answer = await mutate(person, 'submitJob', { input: { spec }, wanted: 'job { id }' })
  if (!answer.job) throw new Error(JSON.stringify(answer))
  return answer.job.id
}

async function addLead(admin: Person, n: number): Promise<string> {
  const input = { name: `lead${n}`, level: 'LEAD' }
  const { user } = await mutate(admin, 'createUser', { input, wanted: 'user { id }' })
  const token = { name: 'bench', userId: user.id }
  return (await mutate(admin, 'createToken', { input: token, wanted: 'secret' })).secret
}

async function measureOutput(berth: BerthProcess, bareUrl: string, file: string) {
  const admin = personWith(berth.url, secret)
  const relayed = await relay(bareUrl)
  const jobId = await submit(admin, { command: ['/bin/cat', file] })
  const live = await tail(berth.url, jobId)
  const stored = await tail(berth.url, jobId)
  const rows = { 'bare ws relay': relayed, 'berth, live': live, 'berth, stored': stored }
  const rate = (seconds: number) => size.logBytes / 2 ** 20 / seconds
  printLines(`${mib(size.logBytes)} of output to one reader`, [
    ['', 'MiB/s', 'ratio'],
    ...Object.entries(rows).map(([name, seconds]) => [
      name,
      rate(seconds).toFixed(1),
      `${(relayed / seconds).toFixed(2)} ×`,
    ]),
  ])
}

async function relay(url: string): Promise<number> {
  const began = performance.now()
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/relay`)
  let bytes = 0
  socket.on('message', (data: Buffer) => (bytes += data.length))
  await once(socket, 'close')
  if (bytes !== size.logBytes) throw new Error(`${bytes} bytes were relayed`)
  return (performance.now() - began) / 1_000
}

/** Seconds from the subscription to the end of the output. */
async function tail(url: string, jobId: string): Promise<number> {
  const query = `subscription ($jobId: ID!) { tail(jobId: $jobId, maxBatchBytes: 262144) { ... on LogBatch { text endOffset isFinal cursor } } }`
  const socket = await openSocket(url, secret)
  const began = performance.now()
  socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query, variables: { jobId } } }))
  let bytes = 0
  socket.on('message', (data: Buffer) => {
    const { payload } = JSON.parse(String(data)) as { payload?: { data?: { tail: { text?: string } } } }
    bytes += payload?.data?.tail.text?.length ?? 0
    if (data.includes('"type":"complete"')) socket.close()
  })
  await once(socket, 'close')
  if (bytes !== size.logBytes) throw new Error(`${bytes} bytes of output arrived`)
  return (performance.now() - began) / 1_000
}

/** Each line says when it was written. */
async function measureLines(berth: BerthProcess) {
  const api = connectApi(berth.url, secret)
  const script = `use Time::HiRes qw(time sleep); $| = 1; for (1..${size.lines}) { printf "%.4f\\n", time * 1000; sleep 0.1 }`
  const spec = { command: ['/usr/bin/perl', '-e', script], resources: { cpu: 1, memoryBytes: 64 * 2 ** 20 } }
  const ids = await api.submitAll(Array.from({ length: size.jobs }, () => spec))
  const lateMs: number[] = []
  await Promise.all(
    ids.map(async (jobId) => {
      const query =
        'subscription ($jobId: ID!, $after: Cursor) { tail(jobId: $jobId, after: $after) { ... on LogBatch { text phase cursor } } }'
      for await (const { text, phase } of api.stream<{ text?: string; phase?: string }>('tail', query, { jobId })) {
        const now = performance.timeOrigin + performance.now()
        if (phase === 'LIVE')
          lateMs.push(
            ...(text ?? '')
              .split('\n')
              .filter(Boolean)
              .map((line) => now - Number(line)),
          )
      }
    }),
  )
  await api.close()
  printLatencies(`lines of ${size.jobs} jobs, ${size.jobs * 10} a second`, { 'written → read': lateMs })
  if (percentile(lateMs, 0.5) < 0) throw new Error('The clocks of this machine disagree')
}
