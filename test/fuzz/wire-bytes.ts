import type { Random } from '../../simulate/random.ts'

/** Bytes of a broken or hostile peer: HTTP requests, WebSocket frames, messages of graphql-transport-ws. */
export interface Exchange {
  kind: 'request' | 'frames' | 'messages'
  /** Written one after the other. */
  chunks: readonly Buffer[]
}

export interface Target {
  host: string
  token: string
}

const opcodes = { text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const
const messagesMax = 12
const editsMax = 6
const cutsMax = 3
/** Lengths that a frame may claim for a shorter payload. */
const claims = [126, 65_535, 65_536, 2 ** 31, 2 ** 40] as const

const documents = [
  '{ __typename }',
  'query ($id: ID!) { job(id: $id) { id state } }',
  'subscription ($id: ID!) { jobStatus(jobId: $id) { __typename } }',
  'subscription { jobUpdates { __typename } }',
  'subscription { workloadStatus { __typename } }',
  '{ jobs(first: 2) { nodes { id } } ',
  `{ ${'a: __typename '.repeat(3)}}`,
  'mutation { cancelJob(jobId: "job_0") { __typename } }',
  '\u0000',
  '{'.repeat(5_000),
] as const

/** Pieces with a meaning for a parser, inserted at unexpected positions. */
const pieces = [
  '\r\n',
  '\r\n\r\n',
  '\n',
  '\0',
  'Content-Length: 5\r\n',
  'Content-Length: -1\r\n',
  'Content-Length: 99999999999999999999\r\n',
  'Transfer-Encoding: chunked\r\n',
  'ffffffffffffffff\r\n',
  '0\r\n\r\n',
  'Expect: 100-continue\r\n',
  'Connection: upgrade, close\r\n',
  'Content-Encoding: gzip\r\n',
  'Accept: text/event-stream\r\n',
  'Host: \r\n',
  'HTTP/1.1',
  'HTTP/9.9',
  '\u{1f642}',
  '"',
  '}',
  '[[[[[[[[',
  '"__proto__":{},',
  '1e999',
  '\\ud800',
  'x'.repeat(20_000),
] as const

export function makeExchange(random: Random, target: Target): Exchange {
  const kind = random.of(['request', 'frames', 'messages'])
  if (kind === 'request') return { kind, chunks: cut(mangled(request(random, target), random), random) }
  const upgrade = upgradeRequest(random, target)
  const greeting = random.chance(0.8) ? [greetingOf(random, target)] : []
  const sent = Array.from({ length: random.between(1, messagesMax) }, () =>
    kind === 'messages' ? textFrame(message(random)) : frame(random),
  )
  return { kind, chunks: [upgrade, ...greeting, ...sent] }
}

function request(random: Random, { host, token }: Target): Buffer {
  const authorization = random.chance(0.7) ? `Authorization: Bearer ${token}\r\n` : ''
  const accept = random.of(['', 'Accept: */*\r\n', 'Accept: text/event-stream\r\n', 'Accept: multipart/mixed\r\n'])
  const head = `Host: ${host}\r\n${authorization}${accept}`
  const body = JSON.stringify(operation(random))
  const path = random.of(['/graphql', '/graphql', '/graphql', '/readyz', '/metrics', '/', '/%00', '/graphql/../../x'])
  const text = random.of([
    `POST ${path} HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    `POST ${path} HTTP/1.1\r\n${head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    `GET ${path}?${new URLSearchParams({ query: random.of(documents) })} HTTP/1.1\r\n${head}\r\n`,
    `OPTIONS ${path} HTTP/1.1\r\n${head}Origin: http://elsewhere.example\r\nAccess-Control-Request-Method: POST\r\n\r\n`,
    `PUT ${path} HTTP/1.1\r\n${head}Content-Length: 3\r\n\r\nabc`,
  ])
  return Buffer.from(text)
}

function upgradeRequest(random: Random, { host }: Target): Buffer {
  const protocol = random.chance(0.95) ? 'graphql-transport-ws' : random.of(['graphql-ws', 'x, y', ''])
  const plain = Buffer.from(
    `GET /graphql HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: ${protocol}\r\n\r\n`,
  )
  return random.chance(0.1) ? mangled(plain, random) : plain
}

const greetingOf = (random: Random, { token }: Target) =>
  textFrame(
    JSON.stringify({
      type: 'connection_init',
      payload: random.of([{ authorization: `Bearer ${token}` }, { authorization: `Bearer ${token}` }, {}, null, []]),
    }),
  )

const operation = (random: Random) =>
  random.of<unknown>([
    { query: random.of(documents), variables: random.of([undefined, {}, { id: 'job_0' }, { id: 1 }, [], null, 'x']) },
    {
      query: random.of(documents),
      operationName: random.of<unknown>(['', 'x', null, 1]),
      extensions: random.of<unknown>([1, [], {}]),
    },
    { documentId: random.of<unknown>(['', 'x', 7]) },
    [{ query: random.of(documents) }],
    random.of<unknown>([null, 1, '', []]),
  ])

/** A valid or invalid message of a graphql-transport-ws client. */
function message(random: Random): string {
  const id = random.of(['1', '1', '2', '', '__proto__', 'x'.repeat(5_000)])
  const type = random.of([
    'subscribe',
    'subscribe',
    'subscribe',
    'complete',
    'connection_init',
    'ping',
    'pong',
    'next',
    'x',
  ])
  const payload = random.of<unknown>([operation(random), operation(random), undefined, null, 'x', [1]])
  const text = JSON.stringify(
    random.chance(0.9) ? { id, type, payload } : random.of<unknown>([null, [], 1, { type }, { id }]),
  )
  return random.chance(0.2) ? mangled(Buffer.from(text), random).toString() : text
}

interface Frame {
  opcode: number
  payload: Buffer
  /** FIN bit: the last part of a message. */
  isLast?: boolean
  reserved?: number
  isMasked?: boolean
  /** The length in the frame's header. */
  claim?: number
}

const textFrame = (text: string) => frameBytes({ opcode: opcodes.text, payload: Buffer.from(text) })

function frame(random: Random): Buffer {
  const payload = random.of([
    Buffer.from(message(random)),
    Buffer.from(message(random)),
    Buffer.from([0xc3, 0x28, 0xff]),
    Buffer.alloc(0),
    Buffer.alloc(random.of([1, 2, 125, 126, 70_000]), random.between(0, 255)),
  ])
  return frameBytes({
    opcode: random.of([
      opcodes.text,
      opcodes.text,
      opcodes.text,
      opcodes.binary,
      0,
      opcodes.ping,
      opcodes.pong,
      opcodes.close,
      3,
      15,
    ]),
    payload,
    isLast: random.chance(0.8),
    reserved: random.chance(0.9) ? 0 : random.between(1, 7),
    isMasked: random.chance(0.95),
    claim: random.chance(0.9) ? payload.length : random.of(claims),
  })
}

const finalBit = 0x80
const maskBit = 0x80
const reservedShift = 4
const shortMax = 125
const mediumMax = 0xffff

function frameBytes({
  opcode,
  payload,
  isLast = true,
  reserved = 0,
  isMasked = true,
  claim = payload.length,
}: Frame): Buffer {
  const first = (isLast ? finalBit : 0) | (reserved << reservedShift) | opcode
  const mask = isMasked ? maskBit : 0
  const key = isMasked ? Buffer.from([1, 2, 3, 4]) : Buffer.alloc(0)
  const body = isMasked ? payload.map((byte, i) => byte ^ (key[i % key.length] ?? 0)) : payload
  return Buffer.concat([lengthBytes(first, mask, claim), key, body])
}

function lengthBytes(first: number, mask: number, length: number): Buffer {
  if (length <= shortMax) return Buffer.from([first, mask | length])
  if (length <= mediumMax) {
    const bytes = Buffer.from([first, mask | 126, 0, 0])
    bytes.writeUInt16BE(length, 2)
    return bytes
  }
  const bytes = Buffer.from([first, mask | 127, 0, 0, 0, 0, 0, 0, 0, 0])
  bytes.writeBigUInt64BE(BigInt(length), 2)
  return bytes
}

/** Changes, removes, doubles or inserts up to `editsMax` bytes or pieces. */
function mangled(bytes: Buffer, random: Random): Buffer {
  let edited = bytes
  for (let edits = random.between(0, editsMax); edits > 0; edits--) {
    const at = random.between(0, edited.length)
    const to = Math.min(edited.length, at + random.between(1, 40))
    const [before, middle, after] = [edited.subarray(0, at), edited.subarray(at, to), edited.subarray(to)]
    edited = Buffer.concat(
      random.of<Buffer[]>([
        [before, after],
        [before, middle, middle, after],
        [before, Buffer.from(random.of(pieces)), middle, after],
        [before, Buffer.from([random.between(0, 255)]), after],
      ]),
    )
  }
  return edited
}

function cut(bytes: Buffer, random: Random): Buffer[] {
  const places = Array.from({ length: random.between(0, cutsMax) }, () => random.between(0, bytes.length)).sort(
    (a, b) => a - b,
  )
  return [0, ...places].map((from, i) => bytes.subarray(from, places[i] ?? bytes.length))
}
