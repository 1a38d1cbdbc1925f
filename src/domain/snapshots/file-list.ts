import { hash } from 'node:crypto'
import { z } from 'zod'
import { yieldAlone } from '../../platform/slices.ts'
import { InvalidInput } from '../errors.ts'

/**
 * The list of a snapshot (docs/files.md): a line of JSON with facts of git, then a line for each file or link. A list
 * is checked when it arrives, so that unpacking it cannot write outside of the folder.
 */

export interface ListedFile {
  path: string
  mode: number
  size: number
  sha256: string
}

export interface ListedLink {
  path: string
  link: string
}

export type SnapshotEntry = ListedFile | ListedLink
export const isFile = (entry: SnapshotEntry): entry is ListedFile => 'sha256' in entry

type GitFacts = NonNullable<z.output<typeof heading>['git']>

export interface FileList {
  git: GitFacts | null
  entries: SnapshotEntry[]
}

/** Properties of a list that the client announced. */
export interface Announced {
  hash: string
  files: number
  bytes: number
}

export const diffBytesMax = 1024 * 1024
/** Linux allows 4,096 bytes, including the folder of the copy. */
const pathBytesMax = 3_500
const nameBytesMax = 255
/** Maximum number of names in a path, also in the target of links, so that checking a list takes limited time. */
const partsMax = 128
/** JSON can encode a byte as \u0000. */
const lineBytesMax = 64 * 1024
const headingBytesMax = 6 * diffBytesMax
const listBytesMax = 32 * 1024 * 1024
const linksMax = 40
const piecesMax = 1_024
const newline = 0x0a
const sliceMs = 5

/** PostgreSQL's text refuses NUL and lone surrogates. */
const fact = (max: number) =>
  z
    .string()
    .max(max)
    .refine((value) => value.isWellFormed() && !value.includes('\0'))
    .nullish()
const heading = z.strictObject({
  git: z
    .strictObject({
      commit: z
        .string()
        .regex(/^[0-9a-f]{40,64}$/)
        .nullish(),
      branch: fact(1_024),
      remote: fact(2_048),
      changed: z.int().min(0),
      diff: fact(diffBytesMax),
    })
    .nullish(),
})

export const sha256Form = /^[0-9a-f]{64}$/
/** Compares a list with the announced properties. Throws InvalidInput that names the entry. */
export async function readFileList(text: Buffer, announced: Announced): Promise<FileList> {
  if (hash('sha256', text) !== announced.hash) throw refuse('The list has another SHA-256 than was announced')
  const entries: SnapshotEntry[] = []
  let git: GitFacts | null = null
  let beganMs = performance.now()
  for (let start = 0, number = 1; start < text.length; number++) {
    beganMs = await yieldAfterSlice(beganMs)
    const found = text.indexOf(newline, start)
    const end = found < 0 ? text.length : found
    const bytesMax = number === 1 ? headingBytesMax : lineBytesMax
    if (end - start > bytesMax) throw refuse(`has a line of more than ${bytesMax} bytes`)
    const line = text.subarray(start, end)
    if (number === 1) git = readHeading(line)
    else entries.push(checkEntry(readEntry(line) ?? refuseLine(line, number)))
    if (entries.length > announced.files) throw tooMany(announced.files)
    start = end + 1
  }
  await checkTree(entries, announced)
  return { git, entries }
}

/** Small pieces are joined, because each also takes memory of its own. */
export async function readListText(body: AsyncIterable<Uint8Array>, { files }: Announced): Promise<Buffer> {
  const joined: Uint8Array[] = []
  let pieces: Uint8Array[] = []
  let bytes = 0
  let lines = 0
  for await (const piece of body) {
    bytes += piece.length
    for (let at = piece.indexOf(newline); at >= 0; at = piece.indexOf(newline, at + 1)) lines++
    if (lines > files + 1) throw tooMany(files)
    if (bytes > listBytesMax) throw refuse(`has more than ${listBytesMax / 1024 ** 2} MiB`)
    pieces.push(piece)
    if (pieces.length < piecesMax) continue
    joined.push(Buffer.concat(pieces))
    pieces = []
  }
  return Buffer.concat([...joined, ...pieces], bytes)
}

/** Makes the list of files outside of a git tree. */
export const formatList = (files: readonly ListedFile[]): string =>
  [{ git: null }, ...files].map((line) => `${JSON.stringify(line)}\n`).join('')

/** Reads a list that was checked before. */
export function parseList(text: Buffer): SnapshotEntry[] {
  const [, ...lines] = text.toString().split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as SnapshotEntry)
}

function readHeading(line: Buffer): GitFacts | null {
  const parsed = heading.safeParse(parseJson(line))
  return parsed.success ? (parsed.data.git ?? null) : refuseLine(line, 1)
}

/** Parses an entry; null: invalid. A schema would take ten times as long for 50,000 entries. */
function readEntry(line: Buffer): SnapshotEntry | null {
  const given = parseJson(line)
  if (typeof given !== 'object' || given === null) return null
  const { path, link, mode, size, sha256, ...rest } = given as Record<string, unknown>
  if (typeof path !== 'string' || path === '' || Object.keys(rest).length > 0) return null
  const isOfFile = isNatural(mode, 0o777) && isNatural(size, Number.MAX_SAFE_INTEGER)
  if (link === undefined)
    return isOfFile && typeof sha256 === 'string' && sha256Form.test(sha256) ? { path, mode, size, sha256 } : null
  const isOfLink = [mode, size, sha256].every((each) => each === undefined)
  return isOfLink && typeof link === 'string' && link !== '' ? { path, link } : null
}

const isNatural = (value: unknown, max: number): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= max

function parseJson(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString())
  } catch {
    return undefined
  }
}

function refuseLine(line: Buffer, number: number): never {
  throw refuse(`line ${number} is not valid: ${JSON.stringify(line.toString().slice(0, 100))}`)
}

function checkEntry(each: SnapshotEntry): SnapshotEntry {
  const trouble = findPathTrouble(each.path) ?? (isFile(each) ? findFileTrouble(each) : findTargetTrouble(each.link))
  if (trouble !== null) throw refuse(`${JSON.stringify(each.path)} ${trouble}`)
  return each
}

const controlCharacters = /\p{Cc}/u

/** Returns why a path cannot be part of a snapshot; null: it can. */
export function findPathTrouble(name: string): string | null {
  if (name.startsWith('/')) return 'is an absolute path'
  if (controlCharacters.test(name)) return 'has a control character in its name'
  if (!name.isWellFormed()) return 'is not well-formed Unicode'
  if (Buffer.byteLength(name) > pathBytesMax) return `is longer than ${pathBytesMax} bytes`
  const parts = name.split('/')
  if (parts.length > partsMax) return `has more than ${partsMax} parts`
  if (parts.includes('..')) return 'leads outside of the folder'
  if (parts.includes('') || parts.includes('.')) return 'has an empty part, or "."'
  return parts.some((part) => Buffer.byteLength(part) > nameBytesMax)
    ? `has a name of more than ${nameBytesMax} bytes`
    : null
}

const emptySha256 = hash('sha256', '')

const findFileTrouble = ({ size, sha256 }: ListedFile) =>
  size === 0 && sha256 !== emptySha256 ? 'is empty but does not have the SHA-256 of an empty file' : null

function findTargetTrouble(target: string): string | null {
  if (target.startsWith('/')) return `is a link to the absolute path ${JSON.stringify(target)}`
  if (controlCharacters.test(target) || !target.isWellFormed()) return 'is a link to a name with a control character'
  if (Buffer.byteLength(target) > pathBytesMax) return `is a link to a path of more than ${pathBytesMax} bytes`
  return target.split('/').length > partsMax ? `is a link to a path of more than ${partsMax} parts` : null
}

async function checkTree(entries: readonly SnapshotEntry[], announced: Announced): Promise<void> {
  const byPath = new Map<string, SnapshotEntry>()
  for (const each of entries) byPath.set(each.path, each)
  const isAnyTwice = byPath.size < entries.length
  const sizes = new Map<string, number>()
  const links = new Links(byPath)
  let total = 0
  let before = ''
  let beganMs = performance.now()
  for (const each of entries) {
    beganMs = await yieldAfterSlice(beganMs)
    if (isAnyTwice && byPath.get(each.path) !== each) throw refuse(`${JSON.stringify(each.path)} is listed twice`)
    const above = findEntryAbove(each.path, byPath, before)
    if (above !== null)
      throw refuse(`${JSON.stringify(each.path)} is below ${JSON.stringify(above)}, which is not a folder`)
    before = each.path
    if (!isFile(each)) {
      const trouble = links.findTrouble(each)
      if (trouble !== null) throw refuse(`${JSON.stringify(each.path)} is a link ${trouble}`)
      continue
    }
    total += each.size
    const known = sizes.get(each.sha256)
    if (known === undefined) sizes.set(each.sha256, each.size)
    else if (known !== each.size)
      throw refuse(`${JSON.stringify(each.path)} has another size than a file with the same SHA-256`)
  }
  if (entries.length !== announced.files || total !== announced.bytes)
    throw refuse(
      `has ${entries.length} entries with ${total} bytes; ${announced.files} with ${announced.bytes} were announced`,
    )
}

/** Returns the start time of the current slice. */
async function yieldAfterSlice(beganMs: number): Promise<number> {
  if (performance.now() - beganMs < sliceMs) return beganMs
  await yieldAlone()
  return performance.now()
}

/** `before`: a path that was already checked; its folders are not checked again. */
function findEntryAbove(name: string, byPath: ReadonlyMap<string, SnapshotEntry>, before: string): string | null {
  for (let end = name.lastIndexOf('/'); end > 0; end = name.lastIndexOf('/', end - 1)) {
    const folder = name.slice(0, end)
    if (before.startsWith(folder) && before[end] === '/') return null
    if (byPath.has(folder)) return folder
  }
  return null
}

/** The target of a link. */
interface Place {
  path: string
  /** Number of names in the path. */
  parts: number
  /** Number of links on the way. */
  followed: number
}

const outside = 'that leads outside of the folder, or in a circle'
const tooDeep = `that leads to a path of more than ${partsMax} parts or ${pathBytesMax} bytes`

/**
 * Resolves links like the system, also through other links: `..` after a link refers to the parent of the link's
 * target.
 */
class Links {
  readonly #byPath: ReadonlyMap<string, SnapshotEntry>
  readonly #places = new Map<string, Place>()

  constructor(byPath: ReadonlyMap<string, SnapshotEntry>) {
    this.#byPath = byPath
  }

  findTrouble(link: ListedLink): string | null {
    const found = this.#follow(link, 0)
    return typeof found === 'string' ? found : null
  }

  /**
   * Returns a text with the reason if the link has no valid target. `depth`: number of links that are being followed.
   */
  #follow({ path: name, link }: ListedLink, depth: number): Place | string {
    const known = this.#places.get(name)
    if (known) return known
    if (depth > linksMax) return outside
    let place: Place = { ...above({ path: name, parts: name.split('/').length }), followed: 0 }
    for (const part of link.split('/')) {
      const next = this.#step(place, part, depth)
      if (typeof next === 'string') return next
      place = next
    }
    this.#places.set(name, place)
    return place
  }

  #step(place: Place, part: string, depth: number): Place | string {
    if (part === '' || part === '.') return place
    if (part === '..') return place.parts === 0 ? outside : { ...place, ...above(place) }
    const path = place.parts === 0 ? part : `${place.path}/${part}`
    if (place.parts === partsMax || Buffer.byteLength(path) > pathBytesMax) return tooDeep
    const found = this.#byPath.get(path)
    if (!found || isFile(found)) return { ...place, path, parts: place.parts + 1 }
    const led = this.#follow(found, depth + 1)
    if (typeof led === 'string') return led
    const followed = place.followed + 1 + led.followed
    return followed > linksMax ? outside : { ...led, followed }
  }
}

const above = ({ path, parts }: Pick<Place, 'path' | 'parts'>) => ({
  path: path.slice(0, Math.max(0, path.lastIndexOf('/'))),
  parts: parts - 1,
})

const refuse = (message: string) => InvalidInput.at('list', message)
const tooMany = (files: number) => refuse(`has more than the announced ${files} entries`)
