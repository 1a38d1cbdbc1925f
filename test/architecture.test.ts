import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { executorNames } from '../src/domain/executors.ts'
import { moves } from '../src/domain/state.ts'
import { measureFunctions } from './support/functions.ts'
import {
  code,
  findForbiddenImports,
  findImportCycles,
  findMutualRooms,
  findRoom,
  listExports,
  listImports,
  repository,
  rooms,
  root,
  type Source,
} from './support/sources.ts'

/** Checks the imports that ARCHITECTURE.md permits and the rules of writing, over the text of the repository. */

const source = code.filter(({ path }) => path.startsWith('src/'))
const browser = code.filter(({ path }) => path.startsWith('web/') && !path.endsWith('/build.ts'))
const at = (path: string): Source | undefined => repository.find((file) => file.path === path)

/** Returns matching lines as `path:line  text`, so that a failing test prints where they are. */
function found(files: readonly Source[], pattern: RegExp): string[] {
  return files.flatMap(({ path, lines }) =>
    lines.flatMap((line, i) => (pattern.test(line) ? [`${path}:${i + 1}  ${line.trim()}`] : [])),
  )
}

// ── walls ──

const databasePackages = /from '(pg|@prisma\/[^']+)'/
const edgePackages = /from '(graphql|graphql-yoga|graphql-ws|ws|@pothos\/[^']+|node:https?)'/
const timers = /\b(setTimeout|setInterval)\(|\bprocess\./
const modelWrites = /\bprisma\.\w+\.(create|update|upsert|delete)\w*\(/
const lockedTransactions = /\.(serializable|locking)\(/
const either = (...patterns: RegExp[]) => new RegExp(patterns.map((pattern) => pattern.source).join('|'))

/** Text that the files of a folder must not contain. */
const foreign: Readonly<Record<string, RegExp>> = {
  domain: either(edgePackages, timers),
  logs: either(edgePackages, /\bJobState\b/),
  feed: either(edgePackages, /\b(INSERT INTO|UPDATE job|DELETE FROM)\b/),
  executors: databasePackages,
  backends: databasePackages,
  scheduler: edgePackages,
  graphql: either(modelWrites, lockedTransactions, /\b(INSERT INTO|DELETE FROM)\b/),
  client: databasePackages,
  handler: databasePackages,
  cli: databasePackages,
}

describe('the import rules between rooms', () => {
  it('cover every file, and every room has a file', () => {
    const outside = [...source, ...browser].filter(({ path }) => findRoom(path) === undefined)
    expect(outside.map(({ path }) => path)).toEqual([])
    const inhabited = new Set(repository.map(({ path }) => findRoom(path)))
    expect([...rooms.keys()].filter((room) => !inhabited.has(room))).toEqual([])
  })

  it('are respected by every import', () => {
    expect(findForbiddenImports([...source, ...browser])).toEqual([])
  })

  it.each([
    ['one page in another', 'web/pages/job/job.tsx', '../jobs/jobs.tsx'],
    ['a page in a feature', 'web/features/jobs/rows/order.ts', '../../../pages/jobs/jobs.tsx'],
    ['a feature in the parts', 'web/parts/table.tsx', '../features/jobs/rows/order.ts'],
    ['a part in the ground', 'web/ground/keys.ts', '../parts/button.tsx'],
    ['the shell in a page', 'web/pages/job/job.tsx', '../../shell/router.tsx'],
    ['the edge in the domain', 'src/domain/jobs/transition.ts', '../../graphql/keyed-limit.ts'],
  ])('forbid %s', (_, path, target) => {
    const text = `import { each } from '${target}'`
    expect(findForbiddenImports([{ path, text, lines: [text] }])).toHaveLength(1)
  })

  it('permit no two rooms to import each other', () => {
    expect(findMutualRooms([...source, ...browser])).toEqual([])
  })

  it('limit the simulator to the planner and the executor verbs', () => {
    const may = ['simulate/', 'src/scheduler/', 'src/domain/', 'src/platform/', 'test/support/']
    const simulator = code.filter(({ path }) => path.startsWith('simulate/'))
    const climbed = simulator.flatMap((file) =>
      listImports(file)
        .filter((target) => at(target) && !may.some((prefix) => target.startsWith(prefix)))
        .map((target) => `${file.path} → ${target}`),
    )
    expect(simulator).not.toEqual([])
    expect(climbed).toEqual([])
  })

  it('limit the console to the package entry of the client, and to its texts', () => {
    const inside = browser.flatMap((file) =>
      listImports(file)
        .filter((target) => /^(src\/(?!client\/text\/)|test\/|examples\/)/.test(target))
        .map((target) => `${file.path} → ${target}`),
    )
    expect(browser).not.toEqual([])
    expect(inside).toEqual([])
    expect(found(browser, /from '(@berth-jobs\/berth\/(?!client')|node:|graphql')/)).toEqual([])
    expect(findImportCycles(browser)).toEqual([])
  })

  it('restrict which room imports which package', () => {
    const broken = source.flatMap((file) => {
      const never = foreign[findRoom(file.path)?.split('/')[0] ?? '']
      return never ? found([file], never) : []
    })
    expect(broken).toEqual([])
  })

  it('allow only the domain to write rows through models', () => {
    const elsewhere = source.filter(({ path }) => path !== 'src/server.ts' && !path.startsWith('src/domain/'))
    expect(found(elsewhere, either(modelWrites, lockedTransactions))).toEqual([])
  })

  /** Models create and remove rows of these; other writes compare or affect a set. */
  it('require models for writes of ordinary rows', () => {
    const made = ['pool', 'submission_queue', 'device', 'access_mode']
    const written = [
      ...['"user"', 'team', 'team_member', 'quota', 'approval_rule'],
      ...['pool_limits', 'scope_limit', 'capacity_reservation'],
    ]
    const tables = (names: readonly string[]) => `(${names.join('|')})(?![\\w"])`
    const byHand = either(
      new RegExp(`\\b(INSERT INTO|DELETE FROM) ${tables([...made, ...written, 'api_token'])}`),
      new RegExp(`\\bUPDATE ${tables(written)}`),
    )
    expect(found(source, byHand)).toEqual([])
  })

  it('exclude import cycles', () => {
    expect(findImportCycles(source)).toEqual([])
  })
})

// ── size and names ──

const fileLinesMax = 400
const functionLinesMax = 70
/** Tables of fields: a line each, and nothing to split. */
const declarative = [
  'src/graphql/schema/jobs/job-spec-input.ts',
  'src/graphql/schema/jobs/job-spec.ts',
  'src/graphql/schema/jobs/job-spec-input.ts',
  'src/graphql/schema/jobs/job.ts',
  'src/graphql/schema/jobs/run.ts',
  'src/graphql/schema/people/user.ts',
]

describe('sizes and names:', () => {
  it(`no file has more than ${fileLinesMax} lines`, () => {
    const long = code.filter(({ lines }) => lines.length > fileLinesMax)
    expect(long.map(({ path, lines }) => `${path}: ${lines.length}`)).toEqual([])
  })

  it(`no function has more than ${functionLinesMax} lines, with those inside it`, () => {
    const tooLong = measureFunctions()
      .filter(({ path }) => !path.endsWith('.test.ts') && !declarative.includes(path))
      .filter(({ length }) => length > functionLinesMax)
    expect(tooLong.map(({ path, line, length }) => `${path}:${line}: ${length} lines`)).toEqual([])
  })

  /** An object of the GraphQL schema has the name of the domain's noun that it shows; PSI/J has its own names. */
  it('no two files of src export the same name', () => {
    const nouns = [
      'Fit',
      'JobEventType',
      'JobState',
      'LogStream',
      'Permission',
      'PsijState',
      'StateCategory',
      'StateReason',
      'TokenScope',
      'UserLevel',
    ]
    const isNoun = (path: string, name: string) =>
      path.startsWith('src/client/psij/') || (path.startsWith('src/graphql/schema/') && nouns.includes(name))
    const exported = source
      .flatMap((file) => listExports(file).map((name) => ({ name, path: file.path })))
      .filter(({ path, name }) => !isNoun(path, name))
    const paths = new Map<string, string[]>()
    for (const { name, path } of exported) paths.set(name, [...(paths.get(name) ?? []), path])
    const shared = [...paths].filter(([, files]) => files.length > 1)
    expect(shared.map(([name, files]) => `${name}: ${files.join(', ')}`)).toEqual([])
  })

  it('no file is empty', () => {
    const empty = repository.filter(({ text }) => text.trim() === '')
    expect(empty.map(({ path }) => path)).toEqual([])
  })

  it('no file or folder is named like a catch-all', () => {
    const drawer =
      /(^|\/)(utils?|helpers?|common|libs?|managers?|services?|handlers|types?|misc|shared)(\.[^/]+)?(\/|$)/
    const named = code.filter(({ path }) => drawer.test(path))
    expect(named.map(({ path }) => path)).toEqual([])
  })
})

// ── words ──

/** This file and the list of its rules contain the forbidden words. */
const others = (files: readonly Source[]) => files.filter(({ path }) => path !== 'test/architecture.test.ts')

describe('the rules about words in the source', () => {
  it.each<[string, readonly Source[], RegExp]>([
    ['work left for later', others(repository), /\b(TODO|FIXME|XXX|HACK)\b/],
    ['module mocks', others(code), /\bvi\.(mock|doMock|stubGlobal)\(/],
    ['swallowed errors', others(code), /\bcatch\s*(\([^)]*\)\s*)?\{\s*\}/],
    [
      'untyped values',
      others(code),
      /^(?!\s*(\/?\*|\/\/)).*(\bas any\b|: any(?=[,;)\]|&>=[ ]|$)|<any>)|@ts-(ignore|nocheck)/,
    ],
    ['machine paths', others(repository), /(^|[\s'"`(=])\/(work|home|Users)\/\w/],
    ['registry hosts', others(repository), /registry\.\w+\.\w+|\.jfrog\.|artifactory|nexus/i],
    ['words of other work than the product', others(repository), /\b(system prompt|chatbot|language model|copilot)\b/i],
  ])('exclude %s', (_, files, pattern) => {
    expect(found(files, pattern)).toEqual([])
  })

  /** "Disk quota exceeded" is a message of the kernel; log.ts names fields of log lines. */
  it('exclude business terms from platform', () => {
    const business =
      /\b(jobs?|lanes?|(?<!Disk )quotas?|scheduler\w*|queues?|submission\w*|executors?|priorit\w+|preempt\w*|approvals?|gpus?|teams?)\b|\b(FROM|INTO|UPDATE|JOIN) (run|pool|node)\b/i
    const platform = source.filter(({ path }) => path.startsWith('src/platform/') && path !== 'src/platform/log.ts')
    const statements = platform.map((file) => ({
      ...file,
      lines: file.lines.map((line) => line.replace(/^\s*(\/?\*|\/\/).*/, '')),
    }))
    expect(found(statements, business)).toEqual([])
  })

  it('allow names of executors only in the executor table and in backends.ts', () => {
    const elsewhere = source.filter(
      ({ path }) => !/^src\/(domain\/executors\.ts|backends\.ts|executors\/|cli\/)/.test(path),
    )
    // A job has a field of the name `handler`.
    const names = executorNames.filter((name) => name !== 'handler').join('|')
    const named = new RegExp(`executor.*['"{,](${names})['"},]`, 'i')
    expect(found(elsewhere, named)).toEqual([])
  })

  it('allow the machine clock only for logs, and for comparison with the clock of the database, an engine or files', () => {
    const readers = [
      'src/check-machine.ts',
      'src/client/files/hash-cache.ts',
      'src/platform/troubles.ts',
      'src/platform/server-gauges.ts',
    ]
    const elsewhere = source.filter(({ path }) => !readers.includes(path))
    expect(found(elsewhere, /\bDate\.now\(|\bnew Date\(\)/)).toEqual([])
  })

  it('allow the list of states that hold resources, and the query for leaders, in one file each', () => {
    const server = source.filter(({ path }) => !/^src\/(cli|client\/text)\//.test(path))
    const except = (path: string) => server.filter((file) => file.path !== path)
    expect(found(except('src/domain/state.ts'), /'STARTING', 'RUNNING', 'CANCELLING'/)).toEqual([])
    expect(found(except('src/domain/leadership.ts'), /\bholder IS NOT NULL\b/)).toEqual([])
  })

  it('allow reading the environment in one file for each process', () => {
    const readers = ['src/config.ts', 'src/check-machine.ts', 'src/cli/main.ts']
    expect(
      found(
        source.filter(({ path }) => !readers.includes(path)),
        /\bprocess\.env\b/,
      ),
    ).toEqual([])
  })
})

// ── documents that must say the same ──

describe('documents and generated files:', () => {
  it('the documents describe exactly the job states of the table', () => {
    const readme = at('src/domain/README.md')
    const rows = readme?.lines.filter((line) => /^\|\s*`?[A-Z]{6,}`?\s*\|/.test(line)) ?? []
    const named = new Set(rows.map((row) => row.match(/[A-Z]{6,}/)?.[0]))
    expect(named).toEqual(new Set(Object.keys(moves)))
  })

  it('each decision has its own number, which is also in its title', () => {
    const decisions = repository.flatMap((file) => {
      const [, number] = file.path.match(/^docs\/decisions\/(\d{4})-/) ?? []
      return number === undefined ? [] : [{ number: Number(number), title: file.lines[0] ?? '' }]
    })
    expect(decisions.map(({ title }) => Number(title.match(/^# (\d+)\. /)?.[1]))).toEqual(
      decisions.map(({ number }) => number),
    )
    expect(new Set(decisions.map(({ number }) => number)).size).toBe(decisions.length)
  })

  it('the documents describe every model, enum and column of the database', () => {
    expect(undescribed(at('prisma/schema.prisma')?.lines ?? [])).toEqual([])
  })

  it('the published schema is that of the server', async () => {
    const { printPublishedSchema } = await import('../src/graphql/published/print.ts')
    expect(at('schema.graphql')?.text).toBe(printPublishedSchema())
  })

  it('the published reference of the command line is up to date', async () => {
    const { formatReference } = await import('../src/cli/frame/reference.ts')
    expect(at('docs/cli-reference.md')?.text).toBe(formatReference())
  })

  /** The schema of the last commit; a package has no repository. */
  it('the published schema breaks no client of the committed one', async () => {
    const { findSchemaChanges, readCommittedSchema } = await import('../src/graphql/published/schema-check.ts')
    const before = readCommittedSchema('HEAD')
    expect(before === null ? [] : findSchemaChanges(before).breaking).toEqual([])
  })

  it('the generated documents of the client are up to date', async () => {
    const { generate } = await import('@graphql-codegen/cli')
    const { default: config } = await import('../codegen.ts')
    const files: { filename: string; content: string }[] = await generate({ ...config, cwd: root, silent: true }, false)
    const stale = files.filter(({ filename, content }) => readFileSync(join(root, filename), 'utf8') !== content)
    expect(stale.map(({ filename }) => filename)).toEqual([])
  })
})

/** Models, enums and columns without a comment (///) on the line before. Relations do not count as columns. */
function undescribed(lines: readonly string[]): string[] {
  const models = new Set(lines.flatMap((line) => line.match(/^model (\w+)/)?.[1] ?? []))
  let inModel = false
  return lines.filter((line, i) => {
    const described = lines[i - 1]?.trim().startsWith('///') ?? false
    const opening = line.match(/^(model|enum) /)
    if (opening) inModel = opening[1] === 'model'
    const column = inModel ? line.match(/^ {2}[a-z]\w+\s+(\w+)/)?.[1] : undefined
    return !described && (opening !== null || (column !== undefined && !models.has(column)))
  })
}
