import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import about from '../../package.json' with { type: 'json' }
import { JobUpdatesDocument } from '../../src/client/generated/graphql.ts'
import { root } from '../support/sources.ts'

/** Compiles the TypeScript examples of the guides as in the project of a user. */

const guides = ['clients', 'psij', 'inside-a-job']

/** Imports of packages that this repository does not install. Their examples are not compiled. */
const absent = ["from 'relay-runtime'"]

const client = "import { createClient } from '@berth-jobs/berth/client'\nconst client = createClient({ url: '' })\n"
const graphcache =
  "import { cacheExchange } from '@urql/exchange-graphcache'\nimport { graphcacheOptions } from '@berth-jobs/berth/urql'\n" +
  'declare const addToList: import("@urql/exchange-graphcache").UpdateResolver\n'

/** The lines that an example continues, by its beginning. */
const before: Readonly<Record<string, string>> = {
  'const list = client.liveJobs': `import { useSyncExternalStore } from 'react'\n${client}`,
  'const { Mutation, Subscription }': graphcache,
}

const options = {
  extends: join(root, 'examples/tsconfig.json'),
  compilerOptions: {
    ...{ types: ['node'], noUnusedLocals: false, noUnusedParameters: false },
    ...{
      noPropertyAccessFromIndexSignature: false,
      exactOptionalPropertyTypes: false,
      noUncheckedIndexedAccess: false,
    },
  },
  include: ['*.tsx', '*.d.ts'],
}

it('the examples in TypeScript compile', async () => {
  // The folder is inside the repository, because the examples import its package.
  const folder = await mkdtemp(join(root, '.examples-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(options))
  await writeFile(join(folder, 'given.d.ts'), 'declare const secret: string\n')
  let count = 0
  for (const guide of guides) {
    const text = await readFile(join(root, `docs/${guide}.md`), 'utf8')
    for (const [, code = ''] of text.matchAll(/^```tsx?\n([\s\S]*?)^```/gm)) {
      if (absent.some((module) => code.includes(module))) continue
      const start = Object.keys(before).find((beginning) => code.startsWith(beginning)) ?? ''
      await writeFile(join(folder, `${guide}-${++count}.tsx`), `${before[start] ?? ''}${code}\nexport {}\n`)
    }
  }
  expect(count).toBeGreaterThan(6)
  const compile = promisify(execFile)(join(root, 'node_modules/.bin/tsc'), ['--noEmit', '-p', folder])
  expect(await compile.catch(({ stdout }: { stdout: string }) => stdout)).toMatchObject({ stdout: '' })
}, 120_000)

it('JobUpdatesDocument selects the field that says whether a job matches the filter', () => {
  expect(String(JobUpdatesDocument)).toMatch(/on JobTransitions \{[^}]*\}[^}]*\}\s*matches\s/)
})

it('the list of packages that Vite must leave out contains every server package', async () => {
  const [, listed = ''] =
    /ignoredOptionalDependencies:\s*\[([^\]]*)\]/.exec(await readFile(join(root, 'docs/clients.md'), 'utf8')) ?? []
  const patterns = listed.split(',').map((each) => each.trim().replaceAll("'", ''))
  const isListed = (name: string) =>
    patterns.some((each) => name === each || (each.endsWith('*') && name.startsWith(each.slice(0, -1))))
  expect(Object.keys(about.optionalDependencies).filter((name) => !isListed(name))).toEqual([])
})
