import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buildSchema, type GraphQLSchema } from 'graphql'
import { Random } from '../../simulate/random.ts'
import { root } from '../support/sources.ts'
import { type Asked, randomDocument } from './documents.ts'
import type { Known } from './values.ts'
import { answerMs, type Caller, type Came, type Way, Ways, ways } from './ways.ts'
import { internals } from './wire.ts'

/**
 * Random documents of the published schema against a server, by callers of every level and by none. Nothing is answered
 * by 5xx, INTERNAL_SERVER_ERROR or UNAVAILABLE, no message tells the inside of the server, everything is answered, and no
 * request holds the event loop.
 */
export interface Fuzz {
  url: string
  callers: readonly Caller[]
  seed: number
  requests: number
  /** The longest that the event loop was held since the last question, in ms. */
  held?: () => Promise<number>
}

export interface Found {
  what: string
  request: Request
}

export interface Tally {
  /** Answers by their codes. */
  answers: Record<string, number>
  found: Found[]
}

export interface Request {
  number: number
  way: Way
  caller: Caller
  asked: Asked
}

/** Few where one of them may be blamed for holding the event loop, many where only answers are judged. */
const fewAtOnce = 8
const manyAtOnce = 24
/**
 * The verdict on the event loop, and how often a request is tried alone before it counts: the machine has others to
 * serve.
 */
export const heldMsMax = 250
const triesAlone = 3
const foundMax = 20
const knownMax = 400
const socketBytesMax = 60_000
const urlBytesMax = 12_000

export async function fuzz({ url, callers, seed, requests, held }: Fuzz): Promise<Tally> {
  const schema = buildSchema(await readFile(join(root, 'schema.graphql'), 'utf8'))
  const known: Known = { ids: [], cursors: [] }
  const server = new Ways(url)
  const tally: Tally = { answers: {}, found: [] }
  const atOnce = held ? fewAtOnce : manyAtOnce
  let number = 0
  const isOpen = () => number < requests && tally.found.length < foundMax
  const next = () => requestOf({ schema, known, callers }, seed, number++)
  const askNext = async () => {
    const request = next()
    await judge(server, request, { tally, known })
    return request
  }
  try {
    await held?.()
    // Without a verdict on the event loop no request waits for a silent stream of its group.
    if (!held) await Promise.all(Array.from({ length: atOnce }, () => repeat(isOpen, askNext)))
    while (held && isOpen()) {
      const group = await Promise.all(Array.from({ length: Math.min(atOnce, requests - number) }, askNext))
      if ((await held()) > heldMsMax) tally.found.push(...(await holding(server, group, held)))
    }
  } finally {
    await server.close()
  }
  return tally
}

async function repeat(isOpen: () => boolean, work: () => Promise<unknown>): Promise<void> {
  while (isOpen()) await work()
}

interface Source {
  schema: GraphQLSchema
  known: Known
  callers: readonly Caller[]
}

/**
 * A list of many long values may be longer than any text can be; the server is sent no more than a few times its limit.
 */
const askedCharactersMax = 32_000_000

/** Of all texts in a value, counted until they are more than `max`. */
function charactersOf(value: unknown, max: number): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 1
  let sum = 0
  for (const each of Object.values(value)) {
    sum += charactersOf(each, max - sum)
    if (sum > max) return sum
  }
  return sum
}

/** Each request has a separate seed; its ids and cursors come from earlier responses of the run. */
function requestOf({ schema, known, callers }: Source, seed: number, number: number): Request {
  const random = new Random(seed + number * 7_919)
  const caller = random.pick(callers)
  if (!caller) throw new Error('There is nobody to ask')
  let asked = randomDocument(schema, random, known)
  while (charactersOf(asked, askedCharactersMax) > askedCharactersMax) asked = randomDocument(schema, random, known)
  return { number, way: wayOf(asked, random), caller, asked }
}

function wayOf(asked: Asked, random: Random): Way {
  const bytes = Buffer.byteLength(JSON.stringify(asked))
  const way = random.pick(ways) ?? 'POST'
  if (way === 'GET' && (asked.kind !== 'query' || bytes > urlBytesMax)) return 'POST'
  return way === 'SOCKET' && bytes > socketBytesMax ? 'POST' : way
}

async function judge(server: Ways, request: Request, { tally, known }: { tally: Tally; known: Known }): Promise<void> {
  const { status, text } = await settled(server, request)
  const codes = [...new Set([...text.matchAll(/"code":"([A-Z_]+)"/g)].map(([, code]) => code ?? ''))]
  for (const code of codes.length > 0 ? codes : ['answered']) tally.answers[code] = (tally.answers[code] ?? 0) + 1
  const bad: string[] = codes.filter((code) => code === 'INTERNAL_SERVER_ERROR' || code === 'UNAVAILABLE')
  if (messagesOf(text).some((message) => internals.test(message))) bad.push('its internals')
  if (status >= 500 || status < 0 || bad.length > 0)
    tally.found.push({ what: `${status} ${bad.join()} ${text.slice(0, 500)}`, request })
  remember(known, text)
}

const messagesOf = (text: string) =>
  [...text.matchAll(/"message":"((?:[^"\\]|\\.)*)"/g)].map(([, message = '']) => message)

/** A busy machine may find no connection to the database in time: that is UNAVAILABLE, and right when it passes. */
async function settled(server: Ways, request: Request): Promise<Came> {
  for (let tries = 1; ; tries++) {
    const came = await answered(server, request)
    if (tries === triesAlone || !came.text.includes('"code":"UNAVAILABLE"')) return came
  }
}

/** Status -1: the request failed without a response. */
async function answered(server: Ways, { way, caller, asked }: Request): Promise<Came> {
  try {
    // A connection that was idle may be closed by the server while it is taken again.
    return await server.ask(way, caller, asked).catch(() => server.ask(way, caller, asked))
  } catch (error) {
    const isSilentStream = asked.kind === 'subscription' && error instanceof DOMException
    return { status: isSilentStream ? 0 : -1, text: `No answer within ${answerMs} ms, or cut: ${String(error)}` }
  }
}

/** Excludes users and tokens: a caller that revoked its rights could not test more. */
function remember({ ids, cursors }: Known, text: string): void {
  for (const [, id] of text.matchAll(
    /"((?:job|run|event|node|pool|quota|rule|slot|approval|reservation|queue)_[\w-]+)"/g,
  ))
    if (id) ids.push(id)
  for (const [, cursor] of text.matchAll(/"(?:cursor|endCursor|startCursor|asOf|eventCursor|logCursor)":"([\w-]+)"/g))
    if (cursor) cursors.push(cursor)
  ids.splice(0, ids.length - knownMax)
  cursors.splice(0, cursors.length - knownMax)
}

/** Those of the group that hold the event loop each time they are tried alone. */
async function holding(server: Ways, group: readonly Request[], held: () => Promise<number>): Promise<Found[]> {
  const found: Found[] = []
  for (const request of group) {
    let least = Number.POSITIVE_INFINITY
    for (let i = 0; i < triesAlone && least > heldMsMax; i++) {
      await answered(server, request)
      least = Math.min(least, await held())
    }
    if (least > heldMsMax) found.push({ what: `holds the event loop for ${Math.round(least)} ms`, request })
  }
  return found
}
