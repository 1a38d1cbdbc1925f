import { join, matchesGlob } from 'node:path'
import { expect, test } from 'vitest'
import { listImports, repository } from '../support/sources.ts'

/** The modules that the package entries import. A page of a browser has no Node. */

const filesOf = new Map(repository.map((file) => [file.path, file]))

/** Packages and built-in modules that an entry imports, directly or not. */
function foreignOf(entry: string): string[] {
  const seen = new Set<string>()
  const foreign = new Set<string>()
  const visit = (path: string) => {
    const file = filesOf.get(path)
    if (!file) return void foreign.add(path)
    if (seen.has(path)) return
    seen.add(path)
    for (const target of listImports(file)) visit(target)
  }
  visit(entry)
  return [...foreign].sort()
}

const own = ['@graphql-typed-document-node/core', 'graphql-ws/client']

test.each([
  ['src/client/index.ts', own],
  ['src/client/psij/index.ts', own],
  ['src/client/caches/apollo.ts', ['@apollo/client', '@apollo/client/utilities', 'graphql', ...own]],
  ['src/client/caches/urql.ts', ['@urql/core', '@urql/exchange-graphcache', 'graphql', ...own]],
])('%s imports only modules that work in browsers', (entry, packages) => {
  expect(foreignOf(entry).filter((target) => !packages.includes(target))).toEqual([])
})

interface PackageJson {
  files: string[]
  exports: Record<string, string | { types: string; default: string }>
  dependencies: Record<string, string>
  peerDependencies: Record<string, string>
}

const packageJson = JSON.parse(filesOf.get('package.json')?.text ?? '') as PackageJson

test.each([
  'src/client/index.ts',
  'src/client/psij/index.ts',
  'src/client/caches/apollo.ts',
  'src/client/caches/urql.ts',
  'src/handler/define-job.ts',
  'src/cli/main.ts',
])('%s does not import the optional dependencies', (entry) => {
  const installed = Object.keys({ ...packageJson.dependencies, ...packageJson.peerDependencies })
  const isThere = (target: string) =>
    target.startsWith('node:') || installed.some((name) => target === name || target.startsWith(`${name}/`))
  expect(foreignOf(entry).filter((target) => !isThere(target))).toEqual([])
})

test('every entry of the package is built from a source file', () => {
  const { files, exports } = packageJson
  expect(files).toContain('dist')
  const built = Object.values(exports).flatMap((entry) => (typeof entry === 'string' ? [] : [entry]))
  expect(built.length).toBeGreaterThan(3)
  for (const { types, default: code } of built) {
    expect(types).toBe(code.replace(/js$/, 'd.ts'))
    expect(filesOf.has(code.replace(/^\.\/dist\/(.*)js$/, '$1ts'))).toBe(true)
  }
})

test('the package contains the files that the guide of the clients links to', () => {
  const guide = filesOf.get('docs/clients.md')?.text ?? ''
  const links = [...guide.matchAll(/\]\((?![a-z]+:)([^)\s#]+)/g)].map(([, link = '']) => join('docs', link))
  const isPacked = (path: string) =>
    packageJson.files.some((packed) => matchesGlob(path, packed) || path.startsWith(`${packed}/`))
  expect(links).toContain('examples/README.md')
  expect(links.filter((path) => !isPacked(path))).toEqual([])
})

test('every document that the guides name is exported', async () => {
  const exported = await import('../../src/client/index.ts')
  const guides = repository.filter(({ path }) => /^docs\/[^/]*\.md$/.test(path))
  const named = guides.flatMap(({ text }) => [...text.matchAll(/`(\w+Document)`/g)].map(([, name = '']) => name))
  expect(named).toContain('JobsDocument')
  expect(named.filter((name) => !(name in exported))).toEqual([])
})
