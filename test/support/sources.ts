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

const written = '(src|test|bench|prisma|simulate|examples)/.*\\.tsx?|[^/]*\\.ts'

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

/**
 * Functions with the number of their own lines. Lines of an inner function count for that function, so a factory is
 * measured like a class. It relies on the formatter: a body opens at the end of a line and closes with the first brace
 * at the indentation of that line.
 */
export function functionsOf({ lines }: Source): { line: number; length: number; head: string }[] {
  const found = lines.flatMap((head, start) => {
    if (!opensFunction.test(head) || /^\s*(\/\/|\*|\/\*)/.test(head)) return []
    const indent = head.match(/^\s*/)?.[0] ?? ''
    const end = lines.findIndex((line, i) => i > start && line.startsWith(`${indent}}`))
    return end === -1 ? [] : [{ start, end, head: head.trim() }]
  })
  return found.map(({ start, end, head }) => {
    const own = new Set(lines.keys().filter((i) => i >= start && i <= end))
    for (const inner of found)
      if (inner.start > start && inner.end < end) for (let i = inner.start; i <= inner.end; i++) own.delete(i)
    return { line: start + 1, length: own.size, head }
  })
}

const opensFunction =
  /\bfunction\b.*\{$|=> \{$|^\s+(?!if|for|while|switch|catch|return|await)(?:[a-z]+ )*[*#]?\w+\(.*\).*\{$|^\s*\).*\{$/
