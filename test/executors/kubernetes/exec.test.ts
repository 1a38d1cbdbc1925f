import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { buffer, text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { SessionRefused } from '../../../src/executors/executor.ts'
import { ClusterApi } from '../../../src/executors/kubernetes/cluster.ts'
import { connectToPod, execInPod } from '../../../src/executors/kubernetes/exec.ts'
import { makeCommandScript } from '../../../src/executors/kubernetes/script.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { machineTime } from '../../support/clock.ts'
import { makeDirectory } from '../../support/directory.ts'
import { until } from '../../support/until.ts'
import { startClusterServer } from '../cluster-server.ts'
import { makeRun } from '../runs.ts'

/** Sessions over a server that speaks the protocol of a kubelet, and runs the commands on this machine. */

const directory = makeDirectory()
await mkdir(join(directory, 'run'))
await mkdir(join(directory, 'orders'))
const server = await startClusterServer(directory)
const options = { kubeconfig: server.kubeconfig, namespace: 'jobs', environment: {} }
const cluster = new ClusterApi(options, { clock: systemClock, time: machineTime })
const handle = 'berth-run-a'
const asked: URL[] = []
const sockets = new WebSocketServer({ server: server.http, handleProtocols: () => 'v4.channel.k8s.io' })
sockets.on('connection', (socket, request) => {
  const url = new URL(request.url ?? '', 'http://cluster')
  asked.push(url)
  if (url.pathname.endsWith('/exec')) runCommand(socket, url)
  else forward(socket, Number(url.searchParams.get('ports')))
})
afterAll(async () => {
  cluster.close()
  for (const socket of sockets.clients) socket.terminate()
  await server.close()
})
beforeEach(async () => {
  const state = { running: { startedAt: '2026-11-24T18:00:00Z' } }
  const status = { containerStatuses: [{ name: 'job', state }] }
  server.items['pods'] = [{ metadata: { name: `${handle}-0` }, status }]
  const injected = { BERTH_RUN: '1' }
  const run = makeRun({ command: ['echo', 'again'], workdir: directory }, { injected })
  await writeFile(join(directory, 'run/command'), makeCommandScript(run, {}))
})
afterEach(() => {
  asked.splice(0)
  server.answers = () => false
})

function runCommand(socket: WebSocket, url: URL): void {
  const words = url.searchParams.getAll('command').map((word) => word.replaceAll('/berth/', `${directory}/`))
  const child = spawn(words[0] ?? '', words.slice(1))
  socket.on('message', (data: Buffer) => data[0] === 0 && child.stdin.write(data.subarray(1)))
  socket.on('close', () => child.stdin.end())
  child.stdin.on('error', () => undefined)
  const send = (channel: number, data: string | Buffer) =>
    socket.send(Buffer.concat([Buffer.of(channel), Buffer.from(data)]))
  child.stdout.on('data', (data) => send(1, data))
  child.stderr.on('data', (data) => send(2, data))
  child.on('close', (code, signal) => {
    const causes = [{ reason: 'ExitCode', message: String(code ?? signal) }]
    send(3, JSON.stringify(code === 0 ? { status: 'Success' } : { status: 'Failure', details: { causes } }))
    socket.close()
  })
}

function forward(socket: WebSocket, port: number): void {
  for (const channel of [0, 1]) socket.send(Buffer.of(channel, port % 256, port >> 8))
  const to = connect(port)
  socket.on('message', (data: Buffer) => to.write(data.subarray(1)))
  to.on('data', (data) => socket.send(Buffer.concat([Buffer.of(0), data])))
  to.on('error', ({ message }) => socket.send(Buffer.concat([Buffer.of(1), Buffer.from(message)])))
  to.on('close', () => socket.close())
}

const exec = (...command: string[]) => execInPod(handle, { command, size: null, unixUser: null }, cluster)

test('a command has the environment and the directory of the job, reads its stdin, and returns its exit code', async () => {
  const script = 'cat; pwd; echo $BERTH_RUN $BERTH_REPLICA $MASTER_ADDR; echo err >&2; exit 5'
  const process = await exec('/bin/sh', '-c', script)
  process.stdin.end(Buffer.alloc(1_000_000, 'x\n'))
  const [out, err] = await Promise.all([text(process.stdout), process.stderr && text(process.stderr)])
  const { length } = out
  expect([length - out.replaceAll('x\n', '').length, err, await process.exitCode]).toEqual([1_000_000, 'err\n', 5])
  expect(out.replaceAll('x\n', '')).toBe(`${directory}\n1 0 localhost\n`)
})

test('a command ended by a signal has the exit code 128 plus the number of the signal, and no message', async () => {
  const process = await exec('/bin/sh', '-c', 'kill -TERM $$')
  expect([await buffer(process.stdout), process.stderr && (await text(process.stderr))]).toEqual([Buffer.of(), ''])
  expect(await process.exitCode).toBe(143)
})

test('a terminal is requested with its size', async () => {
  const size = { columns: 100, rows: 30 }
  const process = await execInPod(handle, { command: ['true'], size, unixUser: null }, cluster)
  expect([process.stderr, await process.exitCode]).toEqual([null, 0])
  expect(asked[0]?.search).toMatch(/&container=job&stdin=true&stdout=true&stderr=false&tty=true$/)
})

test.each(['end', 'cut'] as const)('a command ends with its session: %s', async (how) => {
  const process = await exec('/bin/sh', '-c', 'trap "" TERM HUP; echo $$; while :; do sleep 0.1; done')
  const [pid] = await once(process.stdout, 'data')
  if (how === 'end') await process.end()
  else for (const socket of sockets.clients) socket.terminate()
  const isAlive = () => {
    try {
      return globalThis.process.kill(Number(pid), 0)
    } catch {
      return false
    }
  }
  await until(() => !isAlive(), { what: 'the command is killed' })
})

test('a signal reaches the command', async () => {
  const process = await exec('/bin/sh', '-c', 'trap "exit 7" USR1; echo begun; while :; do sleep 0.1; done')
  await once(process.stdout, 'data')
  await process.signal('USR1; true')
  await process.signal('USR1')
  expect(await process.exitCode).toBe(7)
})

test('no command is started in a run that an earlier version started', async () => {
  await writeFile(join(directory, 'run/command'), 'exec env echo again\n')
  const process = await exec('true')
  expect([await text(process.stdout), process.stderr && (await text(process.stderr))]).toEqual([
    '',
    expect.stringContaining('An earlier version'),
  ])
  expect(await process.exitCode).toBe(126)
})

test('a command is refused if the pod is absent or does not run', async () => {
  server.items['pods'] = [{ metadata: { name: `${handle}-0` }, status: {} }]
  await expect(exec('true')).rejects.toThrow(SessionRefused)
  server.answers = (_request, response) => {
    response.writeHead(404).end(JSON.stringify({ kind: 'Status', reason: 'NotFound' }))
    return true
  }
  await expect(connectToPod(handle, 80, cluster)).rejects.toThrow(SessionRefused)
  await expect(connectToPod('../secrets', 80, cluster)).rejects.toThrow(SessionRefused)
})

test('a connection carries bytes in both directions, and a port that refuses is named', async () => {
  const echo = createServer((socket) => socket.once('data', (data) => socket.end(data)))
  echo.listen(0, '127.0.0.1')
  await once(echo, 'listening')
  const { port } = echo.address() as AddressInfo
  const connection = await connectToPod(handle, port, cluster)
  connection.write('hello')
  expect(await text(connection)).toBe('hello')
  echo.close()
  await expect(text(await connectToPod(handle, port, cluster))).rejects.toThrow(
    `Port ${port} of the pod refuses connections`,
  )
})
