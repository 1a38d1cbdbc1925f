import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/**
 * The repository as text, for tests that read it: all files that are committed or untracked and not ignored, and the
 * typed documents.
 */
export const root = join(import.meta.dirname, '../..')

export interface Source {
  /** Path from the root. */
  path: string
  text: string
  lines: readonly string[]
}

const written = '(src|web|test|bench|prisma|simulate|examples)/.*\\.tsx?|[^/]*\\.ts'

/** true: made by `npm run generate`, and not committed. */
export const typedDocuments = ['src/client/generated/', 'web/generated/']

function repositoryPaths(): string[] {
  const list = (...options: string[]) =>
    execFileSync('git', ['ls-files', ...options], { cwd: root, encoding: 'utf8' }).split('\n')
  const paths = new Set(
    [...list(), ...list('--others', '--exclude-standard'), ...list('--others', ...typedDocuments)].filter(Boolean),
  )
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
export function listImports({ path, text }: Source): string[] {
  const specifiers = text.matchAll(
    /^(?:import|export)\b[^'"]*?from '([^']+)'|\bimport\('([^']+)'\)|^import '([^']+)'/gm,
  )
  return [...specifiers]
    .map(([, a, b, c]) => a ?? b ?? c ?? '')
    .map((name) => (name.startsWith('.') ? normalize(join(dirname(path), name)) : name))
}

/**
 * Names of the exports of a file, each once even if overloaded. A re-export counts only under a new name (`export { a
 * as b }`).
 */
export function listExports({ text }: Source): string[] {
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

/** Lists import cycles, each once. */
export function findImportCycles(files: readonly Source[]): string[] {
  const graph = new Map(files.map((file) => [file.path, listImports(file)]))
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
const platformOfExecutors = 'bell blocks clock log loop serial slices stoppable troubles'.split(' ')

/** Path prefixes that a room may import besides itself and the files of its parent folder. */
export const rooms: ReadonlyMap<string, readonly string[]> = readRooms()

/** Rows of the table in ARCHITECTURE.md: `| \`domain/jobs\` | … | … | platform, limits |`. */
function readRooms(): ReadonlyMap<string, readonly string[]> {
  const rows = repository
    .find(({ path }) => path === 'ARCHITECTURE.md')
    ?.lines.flatMap((line) => {
      const [, room, others] = line.match(/^\| `([a-z/*-]+)` \|[^|]*\|[^|]*\| ([^|]*) \|$/) ?? []
      if (!room || others === undefined) return []
      return expandRoom(room).map((each) => ({ room: each, others: others.match(/[\w/*-]+/g) ?? [] }))
    })
  const names = rows?.map(({ room }) => room) ?? []
  const isRoom = (name: string) => names.some((each) => each === name || each.startsWith(`${name}/`))
  const prefixes = (room: string, other: string): readonly string[] => {
    if (other === 'platform/*') return platformOfExecutors.map((file) => `src/platform/${file}`)
    const inner = enclosing(room).map((folder) => `${folder}/${other}`)
    const near = inner.find(isRoom)
    return near ? [`${locate(near)}/`] : [`${locate(other)}/`, `${locate(other)}.`]
  }
  return new Map((rows ?? []).map(({ room, others }) => [room, others.flatMap((other) => prefixes(room, other))]))
}

/** `web/pages/*` stands for each folder of `web/pages`. */
function expandRoom(room: string): readonly string[] {
  if (!room.endsWith('/*')) return [room]
  const parent = locate(room.slice(0, -1))
  const inside = repository.filter(({ path }) => path.startsWith(parent) && path.slice(parent.length).includes('/'))
  return [...new Set(inside.map(({ path }) => room.slice(0, -1) + path.slice(parent.length).split('/')[0]))]
}

/** `web/features/jobs` → itself, `web/features`, `web`. */
function enclosing(room: string): readonly string[] {
  const parts = room.split('/')
  return parts.map((_, i) => parts.slice(0, parts.length - i).join('/'))
}

/** Path of a room: only rooms of the console are not in `src`. */
function locate(room: string): string {
  return /^web(\/|$)/.test(room) ? room : `src/${room}`
}

/** Finds the room of a file: the room with the longest path that contains it. `config.ts` is in the room `config`. */
export function findRoom(path: string): string | undefined {
  const inside = path.replace(/^src\//, '').replace(/\.tsx?$/, '')
  return [...rooms.keys()]
    .filter((room) => inside === room || inside.startsWith(`${room}/`))
    .toSorted((a, b) => b.length - a.length)[0]
}

/** Rooms in `executors/` may import `executors/executor.ts`. */
const isInParent = (room: string, target: string) => room.includes('/') && findRoom(target) === room.split('/')[0]

/** Imports of other rooms that ARCHITECTURE.md does not list, as `from → to`. */
export function findForbiddenImports(files: readonly Source[]): string[] {
  return files.flatMap((file) => {
    const room = findRoom(file.path) ?? ''
    return listImports(file)
      .filter((target) => /^(src|web)\//.test(target) && findRoom(target) !== room && !isInParent(room, target))
      .filter((target) => !rooms.get(room)?.some((prefix) => target.startsWith(prefix)))
      .map((target) => `${file.path} → ${target}`)
  })
}

/** Pairs of rooms that import each other, each once. */
export function findMutualRooms(files: readonly Source[]): string[] {
  const arrows = new Set(
    files.flatMap((file) => listImports(file).map((target) => `${findRoom(file.path)} → ${findRoom(target)}`)),
  )
  return [...arrows].flatMap((arrow) => {
    const [from = '', to = ''] = arrow.split(' → ')
    return from < to && arrows.has(`${to} → ${from}`) ? [`${from} ↔ ${to}`] : []
  })
}
