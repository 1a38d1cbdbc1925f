import { expect, test } from 'vitest'
import { importsOf, repository } from '../support/sources.ts'

/** What the entries of the package pull in. A page of a browser has no Node. */

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
    for (const target of importsOf(file)) visit(target)
  }
  visit(entry)
  return [...foreign].sort()
}

const own = ['@graphql-typed-document-node/core', 'graphql-ws/client']

test.each([
  ['src/client/index.ts', own],
  ['src/client/psij/index.ts', own],
])('%s needs nothing that a browser does not have', (entry, packages) => {
  expect(foreignOf(entry)).toEqual(packages)
})
