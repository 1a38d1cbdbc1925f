import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Random } from '../../simulate/random.ts'
import { type Exchange, makeExchange } from './wire-bytes.ts'

/**
 * Sends random bytes to the listening socket: mangled requests, and WebSocket frames that violate WebSocket or GraphQL
 * over it. The server may respond, refuse or close. It must not crash, reveal internals, fail (5xx, or the same as a
 * close code), keep a connection whose peer has closed its half, or leave other clients without a response.
 */
export interface WireFuzz {
  url: string
  token: string
  seed: number
  exchanges: number
}

export interface WireFound {
  what: string
  number: number
  exchange: Exchange
}

const atOnce = 16
const foundMax = 20
/**
 * A peer that has sent everything reads for this time, then closes its half, and waits for the server to close the
 * other.
 */
const readMs = 10
const endMsMax = 10_000
/** Another client sends a request now and then, and gets a response within this time. */
const bystanderEvery = 100
const bystanderMsMax = 5_000

/** Internals that must not leak: places in the code, tools, statements. */
export const internals = /node_modules|node:internal|\.[jt]s:\d+|ECONN|prisma|SELECT .+ FROM|INTERNAL_SERVER_ERROR/i
/** 503 refuses too many anonymous connections. */
const failure = /^HTTP\/1\.1 5(?!03)\d\d/m
/** The close codes of WebSocket and of graphql-ws for an internal error. */
const failureCodes = [1011, 4500]

export async function fuzzWire({ url, token, seed, exchanges }: WireFuzz): Promise<WireFound[]> {
  const { host } = new URL(url)
  const found: WireFound[] = []
  let number = 0
  const worker = async () => {
    while (number < exchanges && found.length < foundMax) {
      const mine = number++
      const exchange = makeExchange(new Random(seed + mine * 7_919), { host, token })
      const what = (await wrongWith(url, exchange)) ?? (mine % bystanderEvery === 0 ? await wrongBeside(url) : null)
      if (what !== null) found.push({ what, number: mine, exchange })
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return found
}

async function wrongWith(url: string, exchange: Exchange): Promise<string | null> {
  const came = await answerTo(url, exchange)
  if (came === null) return `the connection was kept for ${endMsMax} ms after its peer had ended`
  const text = came.toString('latin1')
  const [said] = text.match(internals) ?? text.match(failure) ?? []
  if (said !== undefined) return `said "${said}": ${text.slice(0, 500)}`
  const code = failureCodes.find((each) => isClosedWith(came, each))
  return code === undefined ? null : `closed with ${code}`
}

const closeFrameByte = 0x88

function isClosedWith(came: Buffer, code: number): boolean {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(code)
  // The byte before the code is the length of the frame.
  return came[came.indexOf(bytes) - 2] === closeFrameByte
}

/** Returns all bytes until the server closed the connection; null: it did not close it. */
async function answerTo(url: string, { chunks }: Exchange): Promise<Buffer | null> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
  const came: Buffer[] = []
  socket.on('data', (data) => came.push(data))
  // The server may reset the connection of a peer that sends invalid bytes.
  socket.on('error', () => {})
  const closed = new Promise<true>((resolve) => socket.once('close', () => resolve(true)))
  socket.once('end', () => socket.end())
  await write(socket, chunks)
  await sleep(readMs)
  socket.end()
  const patience = new AbortController()
  const isClosed = await Promise.race([closed, sleep(endMsMax, false, { signal: patience.signal })])
  patience.abort()
  socket.destroy()
  return isClosed ? Buffer.concat(came) : null
}

async function write(socket: Socket, chunks: readonly Buffer[]): Promise<void> {
  for (const chunk of chunks) {
    if (!socket.writable) return
    socket.write(chunk)
    await sleep(0)
  }
}

async function wrongBeside(url: string): Promise<string | null> {
  const body = JSON.stringify({ query: '{ __typename }' })
  const headers = { 'content-type': 'application/json', connection: 'close' }
  try {
    const signal = AbortSignal.timeout(bystanderMsMax)
    const response = await fetch(`${url}/graphql`, { method: 'POST', headers, body, signal })
    return (await response.text()).includes('Query') ? null : `somebody else was answered ${response.status}`
  } catch (error) {
    return `somebody else had no answer: ${String(error)}`
  }
}
