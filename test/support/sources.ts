import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/** The repository as text, for tests that read it: every file that is committed or would be. */
export const root = join(import.meta.dirname, '../..')

export interface Source {
  /** Path from the root. */
  path: string
  text: string
  lines: readonly string[]
}

const written = '(src|web|test|bench|prisma|simulate|examples)/.*\\.tsx?|[^/]*\\.ts'

function repositoryPaths(): string[] {
  const list = (...options: string[]) =>
    execFileSync('git', ['ls-files', ...options], { cwd: root, encoding: 'utf8' }).split('\n')
  const paths = new Set([...list(), ...list('--others', '--exclude-standard')].filter(Boolean))
  return [...paths].filter((path) => existsSync(join(root, path))).sort()
}

function read(path: string): Source {
  const text = readFileSync(join(root, path), 'utf8')
  return { path, text, lines: text.replace(/\n$/, '').split('\n') }
}

const isText = (path: string) => !/\.(png|svg|ico|woff2|wasm)$/.test(path) && path !== 'package-lock.json'

export const repository: readonly Source[] = repositoryPaths().filter(isText).map(read)

/** Hand-written TypeScript; generated files do not have to follow the rules. */
export const code: readonly Source[] = repository.filter(
  ({ path }) => new RegExp(`^(${written})$`).test(path) && !path.includes('/generated/'),
)

/** Files of the repository that a file imports, as paths from the root. */
export function importsOf({ path, text }: Source): string[] {
  const specifiers = text.matchAll(
    /^(?:import|export)\b[^'"]*?from '([^']+)'|\bimport\('([^']+)'\)|^import '([^']+)'/gm,
  )
  return [...specifiers]
    .map(([, a, b, c]) => a ?? b ?? c ?? '')
    .map((name) => (name.startsWith('.') ? normalize(join(dirname(path), name)) : name))
}

/**
 * Names that a file gives to what it exports, each once even if overloaded. A re-export counts only under a new name
 * (`export { a as b }`).
 */
export function exportsOf({ text }: Source): string[] {
  const declared = text.matchAll(
    /^export (?:default )?(?:abstract |async |declare )*(?:const enum|const|let|function\*?|class|interface|type|enum) (\w+)/gm,
  )
  const unpacked = text.matchAll(/^export const ([[{][^=]*[\]}]) =/gm)
  const listed = text.matchAll(/^export (?:type )?(?:\{([^}]*)\}|\* as (\w+))/gm)
  const isOwn = (name: string) =>
    new RegExp(`^(?:async |abstract )*(?:const|let|function\\*?|class|interface|type|enum) ${name}\\b`, 'm').test(text)
  const named = (item: string) => {
    const [, name = '', other] = item.match(/(\w+)(?: as (\w+))?$/) ?? []
    return other ?? (isOwn(name) ? name : [])
  }
  return [
    ...new Set([
      ...[...declared].map(([, name = '']) => name),
      ...[...unpacked].flatMap(([, names = '']) => names.match(/\w+(?=\s*[,\]}])/g) ?? []),
      ...[...listed].flatMap(([, items = '', all]) => all ?? items.split(',').flatMap((item) => named(item.trim()))),
    ]),
  ]
}

/** Cycles of imports, each once. */
export function findImportCycles(files: readonly Source[]): string[] {
  const graph = new Map(files.map((file) => [file.path, importsOf(file)]))
  const done = new Set<string>()
  const findCycle = (path: string, trail: readonly string[]): string | undefined => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path].join(' → ')
    if (done.has(path)) return undefined
    for (const next of graph.get(path) ?? []) {
      const cycle = findCycle(next, [...trail, path])
      if (cycle) return cycle
    }
    done.add(path)
    return undefined
  }
  const cycles = files.flatMap(({ path }) => findCycle(path, []) ?? [])
  const members = (cycle: string) => [...new Set(cycle.split(' → '))].sort().join()
  return [...new Map(cycles.map((cycle) => [members(cycle), cycle])).values()]
}

/** Platform modules that executors use, as in ARCHITECTURE.md below its table. */
const platformOfExecutors = 'bell blocks clock log loop slices stoppable troubles'.split(' ')

/** Prefixes of paths under src that a room may import besides itself and the files of its parent folder. */
export const rooms: ReadonlyMap<string, readonly string[]> = readRooms()

/** The rows of ARCHITECTURE.md: `| \`domain/jobs\` | … | … | platform, limits |`. */
function readRooms(): ReadonlyMap<string, readonly string[]> {
  const rows = repository
    .find(({ path }) => path === 'ARCHITECTURE.md')
    ?.lines.flatMap((line) => {
      const [, room, others] = line.match(/^\| `([a-z/]+)` \|[^|]*\|[^|]*\| ([^|]*) \|$/) ?? []
      return room && others !== undefined ? [{ room, others: others.match(/[\w/*-]+/g) ?? [] }] : []
    })
  const names = new Set(rows?.map(({ room }) => room))
  const prefixes = (room: string, other: string): readonly string[] => {
    if (other === 'platform/*') return platformOfExecutors.map((file) => `platform/${file}`)
    const sibling = `${room.includes('/') ? (room.split('/')[0] ?? '') : room}/${other}`
    if (names.has(sibling)) return [`${sibling}/`]
    return [`${other}/`, `${other}.`]
  }
  return new Map((rows ?? []).map(({ room, others }) => [room, others.flatMap((other) => prefixes(room, other))]))
}

/** The room of a file: the longest that it lies in. `config.ts` is of the room `config`. */
export function roomOf(path: string): string | undefined {
  const inside = path.replace(/^src\//, '').replace(/\.tsx?$/, '')
  return [...rooms.keys()]
    .filter((room) => inside === room || inside.startsWith(`${room}/`))
    .toSorted((a, b) => b.length - a.length)[0]
}
