import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { ClientLine, type LineEnd } from '../src/client/channel/client-line.ts'
import { kinds } from '../src/client/channel/frames.ts'
import { type Connection, openConnection } from '../src/client/connection/connection.ts'
import {
  CreateTokenDocument,
  CreateUserDocument,
  JobDocument,
  OpenSessionDocument,
  SubmitJobDocument,
} from '../src/client/generated/graphql.ts'
import { printLatencies, printLines } from './harness.ts'
import { cpuShare, residentBytes } from './process-usage.ts'
import { withServer } from './server.ts'

/**
 * Sessions in a job of the executor local: many short commands, eight at a time, compared with child processes of this
 * process; idle sessions; and a large input through `cat` and back, compared with a direct `cat`.
 */
const commands = Number(process.argv[2] ?? 2_000)
const mebibytes = Number(process.argv[3] ?? 1_024)
const together = 8
const endMsMax = 60_000
const idleOfUser = 20
const idleSeconds = 30
const mebibyte = 2 ** 20
const secret = 'the-secret-of-the-bench'
const config = `
pools: [{ name: local, executor: local, jobsAsRoot: true, nodes: [{ name: here, cpu: 64, memoryGib: 64 }] }]
queues: [{ name: default, pool: local }]
`

interface Place {
  url: string
  pid: number
  connection: Connection
  jobId: string
}

interface Seen {
  share: number
  bytes: number
}

const inMs = (took: number) => `${took.toFixed(0)} ms`

async function open({ url, connection, jobId }: Place, command: string[], take = (_bytes: Uint8Array) => {}) {
  const { openSession } = await connection.request(OpenSessionDocument, { input: { jobId, command } })
  if (openSession.__typename !== 'OpenSessionSuccess') throw new Error(openSession.message)
  const address = new URL(openSession.url, url).href.replace(/^http/, 'ws')
  return new ClientLine({ url: address, take: (_kind, payload) => take(payload) })
}

const runBare = (command: string[]) =>
  new Promise<LineEnd>((resolve) => {
    const child = spawn(command[0] ?? '', command.slice(1), { stdio: ['pipe', 'pipe', 'pipe'] })
    child.on('close', (exitCode) => resolve({ exitCode, reason: null }))
  })

async function measureCommands(place: Place): Promise<void> {
  const took: Record<string, number[]> = { session: [], 'child process': [] }
  const failed: string[] = []
  const ways: Record<string, () => Promise<LineEnd>> = {
    'child process': () => runBare(['true']),
    session: async () => (await open(place, ['true'])).ended,
  }
  for (const [name, start] of Object.entries(ways)) {
    let left = commands
    const work = async () => {
      while (left-- > 0) {
        const began = performance.now()
        const late = pause(endMsMax, { exitCode: null, reason: `no end in ${endMsMax} ms` }, { ref: false })
        const { exitCode, reason } = await Promise.race([start(), late])
        took[name]?.push(performance.now() - began)
        if (exitCode !== 0) failed.push(`${name}: ${exitCode ?? reason}`)
      }
    }
    await Promise.all(Array.from({ length: together }, work))
  }
  printLatencies(`${commands} × true, ${together} at a time`, took)
  printLines('', [['without the exit code 0', String(failed.length), failed[0] ?? '']])
}

/** Sends the bytes through `cat`, which must return them unchanged. */
async function measureBytes(place: Place): Promise<void> {
  const block = randomBytes(mebibyte)
  const hashOf = () => createHash('sha256')
  const sent = hashOf()
  for (let i = 0; i < mebibytes; i++) sent.update(block)
  const wanted = sent.digest('hex')
  const bare = async () => {
    const got = hashOf()
    const child = spawn('cat', { stdio: ['pipe', 'pipe', 'inherit'] })
    child.stdout.on('data', (bytes: Buffer) => got.update(bytes))
    for (let i = 0; i < mebibytes; i++)
      if (!child.stdin.write(block)) await new Promise((drained) => child.stdin.once('drain', drained))
    child.stdin.end()
    await new Promise((closed) => child.on('close', closed))
    return got.digest('hex')
  }
  const session = async () => {
    const got = hashOf()
    const line = await open(place, ['cat'], (bytes) => void got.update(bytes))
    for (let i = 0; i < mebibytes; i++)
      for (let at = 0; at < block.length; at += 65_536) await line.send(kinds.stdin, block.subarray(at, at + 65_536))
    await line.send(kinds.eof)
    await line.ended
    return got.digest('hex')
  }
  const rows: string[][] = [['', 'time', 'each way', 'equal']]
  for (const [name, work] of Object.entries({ 'cat alone': bare, session })) {
    const began = performance.now()
    const isEqual = (await work()) === wanted
    const ms = performance.now() - began
    rows.push([name, inMs(ms), `${((mebibytes / ms) * 1_000).toFixed(0)} MiB/s`, isEqual ? 'yes' : 'NO'])
  }
  printLines(`${mebibytes} MiB through cat and back`, rows)
}

/** Opens idle sessions, for each user as many as are allowed. */
async function openIdle(place: Place, users: string[]): Promise<ClientLine[]> {
  const lines: ClientLine[] = []
  for (const name of users) {
    const { createUser } = await place.connection.request(CreateUserDocument, { input: { name, level: 'ADMIN' } })
    if (createUser.__typename !== 'CreateUserSuccess') throw new Error(createUser.message)
    const input = { name: 'bench', userId: createUser.user.id, scopes: ['EXEC' as const] }
    const { createToken } = await place.connection.request(CreateTokenDocument, { input })
    if (createToken.__typename !== 'CreateTokenSuccess') throw new Error(createToken.message)
    const connection = openConnection({ url: place.url, token: createToken.secret })
    for (let i = 0; i < idleOfUser; i++) lines.push(await open({ ...place, connection }, ['sleep', '600']))
    await connection.close()
  }
  return lines
}

/** The cost of 100 sessions: the difference between 100 and 500, because the first sessions also warm up the server. */
async function measureIdle(place: Place): Promise<void> {
  const lines: ClientLine[] = []
  const seen: Seen[] = []
  for (const users of [0, 5, 20]) {
    lines.push(
      ...(await openIdle(
        place,
        Array.from({ length: users }, (_, n) => `user${lines.length}-${n}`),
      )),
    )
    await pause(5_000)
    seen.push({ share: await cpuShare(place.pid, idleSeconds), bytes: residentBytes(place.pid) })
  }
  const [none, few, many] = seen as [Seen, Seen, Seen]
  const inPercent = (share: number) => `${(share * 100).toFixed(2)} %`
  const kilobytes = (many.bytes - few.bytes) / (lines.length - 100) / 1_024
  printLines('sessions in which nothing happens', [
    ['', 'of a core'],
    ['none', inPercent(none.share)],
    ['100', inPercent(few.share)],
    [String(lines.length), inPercent(many.share)],
    ['100 more', inPercent((many.share - few.share) / (lines.length / 100 - 1)), `${kilobytes.toFixed(0)} kB each`],
  ])
  for (const line of lines) line.close()
}

await withServer(
  async (url, pid) => {
    const connection = openConnection({ url, token: secret })
    const spec = { command: ['sleep', '3600'] }
    const { submitJob } = await connection.request(SubmitJobDocument, { input: { spec } })
    if (submitJob.__typename !== 'SubmitJobSuccess') throw new Error(submitJob.message)
    const jobId = submitJob.job.id
    while ((await connection.request(JobDocument, { id: jobId })).job?.state !== 'RUNNING') await pause(50)
    const place: Place = { url, pid, connection, jobId }
    await measureCommands(place)
    await measureIdle(place)
    await measureBytes(place)
    await connection.close()
  },
  { BERTH_BOOTSTRAP_TOKEN: secret },
  config,
)
