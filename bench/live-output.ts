import { once } from 'node:events'
import { WebSocket } from 'ws'
import { personWith } from '../test/support/people.ts'
import { type Contest, mib, secret, submit } from './contest.ts'
import { printLines } from './harness.ts'
import { openSocket } from './subscribers.ts'

/** Measures how fast the output of a job reaches one reader, while the job writes it and after it is stored. */
export async function measureOutput({ berth, bare, file, size: { logBytes } }: Contest): Promise<void> {
  const relayed = await relay(bare.url, logBytes)
  const jobId = await submit(personWith(berth.url, secret), { command: ['/bin/cat', file] })
  const live = await tail(berth.url, jobId, logBytes)
  const stored = await tail(berth.url, jobId, logBytes)
  const rows = { 'bare ws relay': relayed, 'berth, live': live, 'berth, stored': stored }
  const rate = (seconds: number) => logBytes / 2 ** 20 / seconds
  printLines(`${mib(logBytes)} of output to one reader`, [
    ['', 'MiB/s', 'ratio'],
    ...Object.entries(rows).map(([name, seconds]) => [
      name,
      rate(seconds).toFixed(1),
      `${(relayed / seconds).toFixed(2)} ×`,
    ]),
  ])
}

async function relay(url: string, wanted: number): Promise<number> {
  const began = performance.now()
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/relay`)
  let bytes = 0
  socket.on('message', (data: Buffer) => (bytes += data.length))
  await once(socket, 'close')
  if (bytes !== wanted) throw new Error(`${bytes} bytes were relayed`)
  return (performance.now() - began) / 1_000
}

/** Seconds from the subscription to the end of the output. */
async function tail(url: string, jobId: string, wanted: number): Promise<number> {
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
  if (bytes !== wanted) throw new Error(`${bytes} bytes of output arrived`)
  return (performance.now() - began) / 1_000
}
