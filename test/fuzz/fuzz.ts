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
 * Sends random documents of the published schema to a server, as callers of every level and without a token. No
 * response is 5xx, INTERNAL_SERVER_ERROR or UNAVAILABLE, no message reveals internals of the server, every request gets
 * a response, and none blocks the event loop.
 */
export interface Fuzz {
  url: string
  callers: readonly Caller[]
  seed: number
  requests: number
  /** Returns the longest block of the event loop since the last call, in ms. */
  held?: () => Promise<number>
}

export interface Found {
  what: string
  request: Request
}

export interface Tally {
  /** Number of responses by code. */
  answers: Record<string, number>
  found: Found[]
}

export interface Request {
  number: number
  way: Way
  caller: Caller
  asked: Asked
}

/** Few requests at once if one may block the event loop and must be identified; many if only responses are checked. */
const fewAtOnce = 8
const manyAtOnce = 24
/**
 * The limit for a block of the event loop, and the number of separate repetitions that must exceed it, because other
 * processes load the machine.
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
    // Without `held`, no request waits for a silent stream of its group.
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

/** Limits the size of a request: a list of many long values may exceed the longest possible text. */
const askedCharactersMax = 32_000_000

/** Counts the characters of all texts in a value, until there are more than `max`. */
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

/**
 * On a busy machine a request may get no database connection in time. UNAVAILABLE is correct if a repetition succeeds.
 */
async function settled(server: Ways, request: Request): Promise<Came> {
  for (let tries = 1; ; tries++) {
    const came = await answered(server, request)
    if (tries === triesAlone || !came.text.includes('"code":"UNAVAILABLE"')) return came
  }
}

/** Status -1: the request failed without a response. */
async function answered(server: Ways, { way, caller, asked }: Request): Promise<Came> {
  try {
    // The server may close an idle connection at the moment when it is used again.
    return await server.ask(way, caller, asked).catch(() => server.ask(way, caller, asked))
  } catch (error) {
    const isSilentStream = asked.kind === 'subscription' && error instanceof DOMException
    return { status: isSilentStream ? 0 : -1, text: `No answer within ${answerMs} ms, or cut: ${String(error)}` }
  }
}

/** Excludes users and tokens, because a caller that revokes its own rights cannot continue the test. */
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

/** Finds the requests of the group that block the event loop each time they are repeated alone. */
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
