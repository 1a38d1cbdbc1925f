import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { habits, listPassages } from './support/prose.ts'
import { code, listExports, repository, root } from './support/sources.ts'

/**
 * The introductory documents are complete and correct: the table of src/domain/README.md, the decisions, the glossary.
 */
const textOf = (path: string) => repository.find((file) => file.path === path)?.text ?? ''

test('src/domain/README.md lists every file of the domain once, under its room', () => {
  const [files = ''] = textOf('src/domain/README.md').split('## States')
  const listed = files.split(/^\*\*/m).flatMap((part) => {
    const [, room = ''] = part.match(/^`(\w+\/)`\*\*/) ?? []
    return [...part.matchAll(/^\| `([\w-]+\.ts)` \|/gm)].map(([, file]) => `src/domain/${room}${file}`)
  })
  const there = repository.map(({ path }) => path).filter((path) => /^src\/domain\/.*\.ts$/.test(path))
  expect(listed.toSorted()).toEqual(there.toSorted())
})

/** The anchor that GitHub gives a heading. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-')

test('links between documents lead to files and headings that exist', () => {
  const texts = repository.filter(({ path }) => path.endsWith('.md'))
  const headings = (path: string) =>
    (textOf(path).match(/^#+ .*$/gm) ?? []).map((line) => anchorOf(line.replace(/^#+ /, '')))
  const broken = texts.flatMap(({ path, text }) =>
    [...text.matchAll(/\]\((?![a-z]+:)([^)\s#]*)(?:#([^)\s]*))?\)/g)].flatMap(([link, file = '', anchor]) => {
      const target = file === '' ? path : join(dirname(path), file)
      const exists = existsSync(join(root, target)) && (anchor === undefined || headings(target).includes(anchor))
      return exists ? [] : [`${path}: ${link}`]
    }),
  )
  expect(broken).toEqual([])
})

test('files that the guides name exist', () => {
  const texts = repository.filter(({ path }) => /^docs\/.*\.md$|^[A-Z]+\.md$/.test(path))
  const exists = (name: string) => repository.some(({ path }) => path === name || path.endsWith(`/${name}`))
  const missing = texts.flatMap(({ path, text }) =>
    [...text.matchAll(/`([\w./-]+\.(?:ts|sh|c))`/g)].flatMap(([, name = '']) =>
      /\b(NAME|NOUN|ROOM)\b/.test(name) || exists(name) ? [] : [`${path}: ${name}`],
    ),
  )
  expect(missing).toEqual([])
})

test('every decision has a situation, a decision, a price and what would change it', () => {
  const parts = ['**Situation.**', '**Decision.**', '**Price.**', '**What would change our mind.**']
  const decisions = repository.filter(({ path }) => /^docs\/decisions\/\d{4}-/.test(path))
  expect(decisions.length).toBeGreaterThan(15)
  expect(
    decisions.flatMap(({ path, text }) =>
      parts.filter((part) => !text.includes(part)).map((part) => `${path}: ${part}`),
    ),
  ).toEqual([])
})

// ── the glossary ──

const [glossary = '', avoided = ''] = textOf('docs/glossary.md').split('## Words to avoid')
const entries = [...glossary.matchAll(/^\| (?!word)([a-z][^|]*) \|/gm)].map(([, entry = '']) => entry)
const glossed = new Set(entries.flatMap((entry) => entry.replace(/ \(.*/, '').split(', ')))
const forbidden = [...avoided.matchAll(/^\* \*\*([^*]+)\*\*/gm)].flatMap(([, words = '']) => words.split(', '))

/** The only places in src where an exported name or a file may contain the word. */
const homes: Readonly<Record<string, readonly string[]>> = {
  backfill: ['scheduler/plan/'],
  claimant: ['scheduler/plan/'],
  decision: ['scheduler/'],
  door: [],
  eviction: ['scheduler/plan/', 'domain/jobs/holds.ts'],
  finding: ['scheduler/plan/', 'domain/selfcheck/'],
  gate: [
    'domain/jobs/dependencies.ts',
    'domain/queue/gates.ts',
    'domain/queue/lane-fronts.ts',
    'scheduler/plan/reservations.ts',
    'graphql/transport/gate.ts',
  ],
  holder: ['domain/leadership.ts'],
  holding: ['domain/state.ts', 'domain/jobs/runs.ts', 'domain/limits/in-use.ts', 'domain/limits/limit-reached.ts'],
  ledger: ['scheduler/plan/ledger.ts', 'domain/limits/quota-usage.ts'],
  lot: ['scheduler/plan/'],
  nobody: [],
  pass: ['scheduler/', 'domain/queue/questions.ts'],
  // A file or a database has a location, which may be called a place.
  place: ['domain/machines/placement.ts', 'executors/slurm/layout.ts', 'platform/postgres/place.ts'],
  ration: ['scheduler/plan/'],
  // The services of other rooms that a request uses.
  room: ['graphql/rows/context.ts', 'feed/', 'logs/tail-reader.ts'],
  round: ['scheduler/plan/'],
  somebody: [],
  turn: [],
  victim: ['scheduler/plan/'],
  whoever: [],
  world: ['scheduler/'],
}

/** `readDestinations` → read, destination. */
const wordsOf = (name: string): string[] =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[ \-_.]/)
    .map((word) => (/[^s]s$/.test(word) ? word.slice(0, -1) : word))

test('the glossary lists its words once, in alphabetical order', () => {
  expect(entries.length).toBeGreaterThan(30)
  expect(entries).toEqual([...new Set(entries)].toSorted())
})

test('the glossary contains all words with restricted use', () => {
  expect(Object.keys(homes).filter((word) => !glossed.has(word) && !forbidden.includes(word))).toEqual([])
  expect(forbidden.filter((word) => homes[word] === undefined)).toEqual([])
})

test('exported names and files use the words of the glossary as defined', () => {
  const source = code.filter(({ path }) => path.startsWith('src/'))
  const strayed = source.flatMap((file) => {
    const isAtHome = (word: string) => homes[word]?.some((home) => file.path.startsWith(`src/${home}`)) ?? true
    const names = [basename(file.path, '.ts'), ...listExports(file)]
    return names.filter((name) => !wordsOf(name).every(isAtHome)).map((name) => `${file.path}: ${name}`)
  })
  expect(strayed).toEqual([])
})

test('the documents name the user, the process or the job, and use no indefinite pronoun', () => {
  const texts = repository.filter(({ path }) => /^(src|docs)\/|^[^/]*\.(md|graphql)$/.test(path))
  const vague = /(?<![`']|unix-user )\b(somebody|nobody|whoever)\b/i
  const found = texts
    .filter(({ path }) => path !== 'docs/glossary.md')
    .flatMap(({ path, lines }) => lines.flatMap((line, i) => (vague.test(line) ? [`${path}:${i + 1}  ${line}`] : [])))
  expect(found).toEqual([])
})

/** Passages that match a pattern but are clear. */
const plain: readonly string[] = ['parts of one', 'What you see is from before']

test.each(habits)('no passage has the habit $habit', ({ pattern }) => {
  const written = repository.filter(
    ({ path }) =>
      /^(src|test|bench|simulate|examples|clients|prisma|docs)\/.*\.(ts|tsx|sh|py|c|md|graphql|prisma)$|^[^/]*\.(md|ts)$/.test(
        path,
      ) && !/\/generated\/|^docs\/schema\.md$|^test\/(words\.test|support\/prose)\.ts$/.test(path),
  )
  const found = written.flatMap(listPassages).filter(({ text }) => pattern.test(text) && !plain.includes(text))
  expect(found.map(({ path, line, text }) => `${path}:${line}  ${text}`)).toEqual([])
})

/** Functions are named by a verb and an object. */
test('no exported function ends in "Of", or is a bare verb', () => {
  const nouns = ['indexOf']
  const bare =
    /^(append|apply|ask|call|carry|check|clear|close|commit|consider|cut|decide|describe|drop|end|explain|fail|find|follow|get|give|hear|insert|join|keep|leave|let|look|make|mark|move|open|parse|plan|print|put|read|refuse|release|remove|run|say|send|set|settle|show|split|start|stop|store|take|tell|try|wait|watch|work|write)$/
  const named = code
    .filter(({ path }) => path.startsWith('src/'))
    .flatMap(({ path, text }) =>
      [...text.matchAll(/^export (?:async )?function\*? (\w+)|^export const (\w+) = (?:async )?(?:<[^>]*>)?\(/gm)].map(
        ([, a, b]) => ({ path, name: a ?? b ?? '' }),
      ),
    )
  const odd = named.filter(({ name }) => (/Of$/.test(name) && !nouns.includes(name)) || bare.test(name))
  expect(odd.map(({ path, name }) => `${path}: ${name}`)).toEqual([])
})
