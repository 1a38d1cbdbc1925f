import { execFile, spawn } from 'node:child_process'
import { readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import type { Cli } from '../src/cli/frame/cli.ts'
import { createProgram } from '../src/cli/frame/program.ts'
import { batchLinesMax, limits } from '../src/graphql/caller-limits.ts'
import { type BerthServer, startBerth } from './support/berth-server.ts'
import { type BerthStandIn, createBerthStandIn } from './support/berth-stand-in.ts'
import { createDatabase, type TestDatabase } from './support/database.ts'
import { makeDirectory } from './support/directory.ts'
import { root } from './support/sources.ts'
import { until } from './support/until.ts'

/**
 * Runs the commands of the guides. The shell blocks of a guide are one session, in a folder where `berth` and the
 * packages are available; blocks of JavaScript are files, named by their first line.
 */
const dataDir = makeDirectory()
let server: BerthServer
let standIn: BerthStandIn
let database: TestDatabase

const run = promisify(execFile)
const authority = '127.0.0.1:4000'

beforeAll(async () => {
  database = await createDatabase()
  server = await startBerth({ dataDir, env: { DATABASE_URL: database.url } })
  standIn = await createBerthStandIn()
})
afterAll(async () => {
  await standIn[Symbol.asyncDispose]()
  await server.end()
  await database.close()
})

const guide = (name: string) => readFile(join(root, 'docs', name), 'utf8')
const blocksOf = (text: string, language: string) =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(([, block = '']) => block)

function clientEnv() {
  const { PATH = '', HOME = '' } = process.env
  return { PATH, HOME, XDG_CONFIG_HOME: join(dataDir, 'config'), BERTH_URL: server.url }
}

/**
 * The outputs of the guide's shell blocks, in order. If one of them fails, the test fails with the stderr of the
 * session.
 */
async function typed(name: string, more: Record<string, string> = {}): Promise<string[]> {
  const directory = makeDirectory()
  await symlink(join(standIn.folder, 'berth'), join(directory, 'berth'))
  await symlink(join(root, 'node_modules'), join(directory, 'node_modules'))
  const text = (await guide(name)).replaceAll(authority, new URL(server.url).host)
  for (const block of blocksOf(text, 'js')) {
    const [, file = ''] = block.match(/^\/\/ (\S+)\n/) ?? []
    await writeFile(join(directory, file), block)
  }
  const mark = '=== next block ==='
  const session = ['set -eu', ...blocksOf(text, 'sh')].join(`\necho '${mark}'\n`)
  const { stdout } = await run('sh', ['-c', session], { cwd: directory, env: { ...clientEnv(), ...more } })
  return stdout.split(`${mark}\n`).slice(1)
}

test('the commands of the guide to sessions work', async () => {
  const [out = ''] = await typed('exec.md')
  expect(out).toMatch(/^in job_\w{26}\n5\n/m)
  expect(out).toMatch(/exit 0 .*wc -c/)
})

test('the commands of the command-line guide work', async () => {
  const [
    loggedIn,
    submitted,
    files,
    swept,
    waited,
    watched,
    formatStructured,
    explained,
    again,
    ended,
    selected,
    codes,
    ...more
  ] = await typed('cli.md')
  expect(more).toEqual([])
  expect(loggedIn).toMatch(/^user +local\n[\s\S]*\n\* +here /)
  expect(submitted).toMatch(/^output as it comes\njob_\w+\nit exited with 3\n$/)
  expect(files).toMatch(/^from a file\n[\s\S]*maxAttempts: 3\n[\s\S]*from stdin\n$/)
  expect(watched).toMatch(/SUCCEEDED[\s\S]*out\n[\s\S]*#1 .* QUEUED/)
  expect(formatStructured).toMatch(/"state": "SUCCEEDED"[\s\S]*state: SUCCEEDED/)
  expect(swept).toMatch(/^(job_\w+\n){4}KEY +JOBS +STATES\n0\.\d+ +2 /)
  expect(waited).toMatch(/^(job_\w+\n){3}ID +NAME +STATE /)
  expect(explained).toMatch(/^state +SUCCEEDED[\s\S]*KEY +CPU HOURS/)
  expect(again).toMatch(/job_\w+/)
  expect(ended).toMatch(/CANCELLED[\s\S]*exit code 130\n/)
  expect(selected).toMatch(/job_\w+\n1 job cancelled\n$/)
  expect(codes).toBe('exit code 5\nexit code 2\n')
})

test('the first training works', async () => {
  const [, swept, watched, result, again, ...more] = await typed('first-training.md', {
    PYTHONPATH: join(root, 'clients/python/src'),
  })
  expect(more).toEqual([])
  expect(swept).toMatch(/^(job_\w+\n){2}$/)
  expect(watched).toMatch(/SUCCEEDED[\s\S]*lr 0\.1 \| epoch 9: loss 0\.349\n[\s\S]*progress +100 % · loss 0\.349/)
  expect(result).toBe('{"loss": 0.028}')
  expect(again).toMatch(/^job_\w+\n$/)
}, 120_000)

test('the commands of the guide to job files work', async () => {
  expect(await typed('specs.md')).toEqual(['from a job file\noverridden\n'])
})

test('the CI step exits like its job, and a second attempt finds the job of the first', async () => {
  const env = { ...clientEnv(), PATH: `${standIn.folder}:${clientEnv().PATH}`, CI_PIPELINE_ID: 'build-1' }
  const step = () => run(join(root, 'examples/ci.sh'), ['test', 'sh', '-c', 'echo tested; exit 3'], { env })
  const failures = [await step().catch((error) => error), await step().catch((error) => error)]
  expect(failures).toMatchObject([
    { code: 3, stdout: 'tested\n' },
    { code: 3, stdout: 'tested\n' },
  ])
  const [first, second] = failures.map(({ stderr }) => stderr.match(/job_\w+/)?.[0])
  expect(second).toBe(first)
})

test('a cancelled CI step cancels its job', async () => {
  const env = {
    ...clientEnv(),
    PATH: `${standIn.folder}:${clientEnv().PATH}`,
    GITHUB_RUN_ID: '7',
    GITHUB_RUN_ATTEMPT: '2',
  }
  const step = spawn(join(root, 'examples/ci.sh'), ['long', 'sh', '-c', 'echo begun; sleep 600'], { env })
  let output = ''
  step.stdout.on('data', (bytes) => {
    output += bytes
  })
  await until(() => output.includes('begun'), { what: 'the job runs' })
  step.kill('SIGTERM')
  expect(await new Promise((resolve) => step.once('exit', resolve))).toBe(130)
  const { stdout } = await run('berth', ['key', 'ci/7-2/long', '-o', 'json'], { env })
  expect(JSON.parse(stdout).job.state).toMatch(/^CANCELL/)
})

test('the recipe for GitHub Actions submits a job, prints its log, exits like the job, and cancels it', async () => {
  const [block = ''] = blocksOf(await guide('idempotent-submission.md'), 'yaml')
  const { env, steps } = parse(block).jobs.train
  const contexts: Record<string, string> = {
    'vars.BERTH_URL': server.url,
    'secrets.BERTH_TOKEN': '',
    'github.repository': 'ann/train',
    'github.run_id': '8',
    'github.run_attempt': '1',
  }
  const filled = (text: string) => text.replace(/\$\{\{ (\S+) \}\}/g, (_, name) => contexts[name] ?? `no ${name}`)
  const output = join(dataDir, 'github-output')
  const runStep = (step: { run: string; env?: object }, command: string) => {
    const variables = Object.entries({ ...env, ...step.env }).map(([name, value]) => [name, filled(String(value))])
    const all = { ...clientEnv(), ...Object.fromEntries(variables), GITHUB_OUTPUT: output }
    const script = step.run.replace('make -C /srv/project train', command)
    return run('bash', ['-e', '-c', script], { env: { ...all, PATH: `${standIn.folder}:${all.PATH}` } })
  }
  const [submit, print, cancel] = steps
  await runStep(submit, "sh -c 'echo trained; exit 3'")
  const job = (await readFile(output, 'utf8')).match(/^job=(job_\w+)\n$/)?.[1] ?? ''
  contexts[`steps.${submit.id}.outputs.job`] = job
  await expect(runStep(print, '')).rejects.toMatchObject({ code: 3, stdout: expect.stringMatching(/^trained\n/) })

  contexts['github.run_attempt'] = '2'
  await runStep(submit, 'sleep 600')
  expect(cancel.if).toBe('cancelled()')
  expect((await runStep(cancel, '')).stdout).toMatch(/job_\w+/)
  expect(await readFile(output, 'utf8')).not.toMatch(new RegExp(`${job}[\\s\\S]*${job}`))
})

test('the recipe for GitLab submits a job once per commit, prints its log, exits like the job, and cancels it', async () => {
  const [, block = ''] = blocksOf(await guide('idempotent-submission.md'), 'yaml')
  const { variables, script, after_script: afterwards } = parse(block).train
  const runLines = (lines: readonly string[], command: string, more: Record<string, string>) => {
    const all = { ...clientEnv(), CI_PROJECT_PATH: 'ann/train', ...more }
    const text = [`KEY="${variables.KEY}"`, ...lines].join('\n').replace('make -C /srv/project train', command)
    return run('bash', ['-e', '-c', text], { env: { ...all, PATH: `${standIn.folder}:${all.PATH}` } })
  }
  const first = { CI_COMMIT_SHA: 'f00', CI_JOB_STATUS: 'success' }
  for (const _attempt of [1, 2])
    await expect(runLines(script, "sh -c 'echo trained; exit 3'", first)).rejects.toMatchObject({
      code: 3,
      stdout: expect.stringMatching(/^trained\n/),
    })
  const second = { CI_COMMIT_SHA: 'f01', CI_JOB_STATUS: 'canceled' }
  await runLines(script.slice(0, 1), 'sleep 600', second)
  expect((await runLines(afterwards, '', second)).stdout).toMatch(/job_\w+/)
  expect((await runLines(afterwards, '', first)).stdout).toBe('')
})

test('the systemd service leaves its jobs running when it stops', async () => {
  const unit = await readFile(join(root, 'ops/systemd/berth.service'), 'utf8')
  expect(unit.split('\n')).toEqual(expect.arrayContaining(['KillMode=process', 'TasksMax=infinity', 'Delegate=yes']))
})

test('the examples of launchers and scripts work', async () => {
  const [ranks, scripts, ...more] = await typed('jobs.md')
  expect(more).toEqual([])
  expect(ranks?.trimEnd().split('\n').sort()).toEqual(['rank 0 of 3', 'rank 1 of 3', 'rank 2 of 3'])
  expect(scripts).toBe('hello from the job\nafter the job\n')
})

test('the examples in docs/inside-a-job.md work', async () => {
  const [commands, curl, continued, ...more] = await typed('inside-a-job.md')
  expect(more).toEqual([])
  expect(commands).toMatch(/progress +100 % · half way/)
  expect(curl).toMatch(
    /"ReportProgressSuccess"[\s\S]*"name":"model","run":\{"number":1\}[\s\S]*"SaveClosureSuccess"[\s\S]*"FORBIDDEN"/,
  )
  expect(continued).toBe('run 1, step 1\nrun 2, step 2\nrun 2, step 3\n')
})

test('the example programs with the client, Apollo and urql work', async () => {
  const directory = makeDirectory()
  for (const target of ['package.json', 'src', 'node_modules'])
    await symlink(join(root, target), join(directory, target))
  const programs = blocksOf(await guide('clients.md'), 'ts')
  const given = `const secret = undefined, location = { origin: '${server.url}' };\n`
  for (const [i, program] of programs.entries())
    await writeFile(
      join(directory, `${i}.ts`),
      given + program.replace(authority, new URL(server.url).host).replace("'make', 'test'", "'echo', 'tested'"),
    )
  const all = programs.map((_, i) => `await import('./${i}.ts');`).join('')
  const flags = ['--conditions=berth-source', '--input-type=module', '-e', all]
  const { stdout } = await run(process.execPath, flags, { cwd: directory, env: clientEnv() })
  expect(programs).toHaveLength(6)
  expect(stdout).toBe('tested\n')
})

test('the examples of the API guide work', async () => {
  await run(join(standIn.folder, 'berth'), ['submit', '--', 'true'], { env: clientEnv() }) // so that there is a second page
  const [first, refused, once, many, pages, sse, socket, snapshot, stranger, ...more] = await typed('api.md')
  expect(more).toEqual([])
  expect(first).toContain(`"maxPageSize":${limits.pageSizeMax}`)
  expect(refused).toMatch(/"path":\["spec","resources","cpu"\][\s\S]*"code":"INVALID_INPUT"/)
  const ids = once?.match(/job_\w+/g)
  expect(ids).toHaveLength(2)
  expect(new Set(ids).size).toBe(1)
  expect(once).toMatch(/"idempotentHit":false[\s\S]*"idempotentHit":true/)
  expect(many).toContain('"remaining":0')
  expect(pages).toMatch(/"nodes":\[\{"id":"job_/)
  expect(sse?.match(/tick \d/g)).toEqual(['tick 1', 'tick 2', 'tick 3'])
  expect(sse).toMatch(/event: complete/)
  expect(socket).toBe('4 SUCCEEDED\n')
  expect(snapshot).toMatch(/"state":"SUCCEEDED","version":4,/)
  expect(stranger).toBe('403\n')
})

test('the table of limits in api.md matches the limits in the code', async () => {
  const text = await guide('api.md')
  const n = (value: number) => value.toLocaleString('en-US')
  const kib = (bytes: number) => `${bytes / 1024} KiB`
  const mib = (bytes: number) => `${bytes / 1024 ** 2} MiB`
  const s = (ms: number) => `${ms / 1_000} s`
  const { tokensMax, depthMax, aliasesMax, rootFieldsMax } = limits
  const document = `${n(tokensMax)} tokens, ${depthMax} levels, ${aliasesMax} aliases, ${rootFieldsMax} root fields`
  const rows = [
    `body | request | ${mib(limits.bodyBytesMax)}, ${n(limits.bodyValuesMax)} values; without a token ${kib(limits.anonymousBodyBytesMax)} |`,
    `bodies in flight | user | ${mib(limits.bodyBytesInFlightMax)} |`,
    `requests above ${kib(limits.largeBodyBytes)} in flight | user | ${limits.largeBodiesInFlightMax} | wait, after ${s(limits.waitMsMax)} RATE_LIMITED |`,
    `document | request | ${kib(limits.documentBytesMax)}, ${document} |`,
    `cost | request | ${n(limits.costMax)}; without a token ${limits.anonymousCostMax} |`,
    `cost in flight | user | ${n(limits.costInFlightMax)} | wait, after ${s(limits.waitMsMax)} RATE_LIMITED |`,
    `list statements at a time | user | ${limits.listsInFlightMax} | wait, after ${s(limits.waitMsMax)} UNAVAILABLE |`,
    `time of a list statement | statement | ${s(limits.listMsMax)} |`,
    `page of a list | list | ${limits.pageSizeMax} nodes |`,
    `specs (\`Job.spec\`) | request | ${mib(limits.specBytesMax)},`,
    `\`submitJobs\`, \`cancelJobs\`, \`deleteJobs\`, \`retryJobs\`, \`setJobPriorities\` | request | ${n(limits.bulkMax)} jobs |`,
    `\`nodes(ids:)\` | request | ${limits.nodesMax} ids |`,
    `WebSockets | user | ${limits.socketsPerUserMax} |`,
    `WebSockets that have not logged in | address | ${n(limits.unauthenticatedSocketsPerAddressMax)}, ${s(limits.connectionInitMsMax)} each |`,
    `operations | WebSocket | ${limits.operationsPerSocketMax} |`,
    `operations and pings without a response | WebSocket | ${limits.unansweredMessagesPerSocketMax} |`,
    `request of a subscription over SSE | message | ${kib(limits.subscriptionBytesMax)} |`,
    `subscriptions, all transports | user | ${n(limits.subscriptionsPerUserMax)} |`,
    `each different one once | user | ${n(limits.subscriptionTokensPerUserMax)} tokens |`,
    `message of \`tail\` | message | 1 MiB of text; with \`lines\` ${n(batchLinesMax)} lines |`,
    `unsent bytes | user | ${mib(limits.unsentBytesPerUserMax)},`,
  ]
  expect(rows.filter((row) => !text.includes(row))).toEqual([])
})

test('the guide documents exactly the problem codes of the API', async () => {
  const [, told = ''] = (await guide('api.md')).match(/^\| `code` of a problem.*\n\|-.*\n((?:\|.*\n)*)/m) ?? []
  const codes = [...told.matchAll(/^\| ((?:`\w+` )+)/gm)].flatMap(([, cell = '']) => cell.match(/\w+/g) ?? [])
  const [, values = ''] =
    (await readFile(join(root, 'schema.graphql'), 'utf8')).match(/^enum ProblemCode \{([^}]*)\}/m) ?? []
  expect(codes.sort()).toEqual(values.match(/(?<=^ {2})[A-Z_]+$/gm))
})

test('the guide documents exactly the flags and commands of the command line', async () => {
  const text = await guide('cli.md')
  const program = createProgram({} as Cli, () => 'berth')
  const help = program.createHelp()
  const flags = new Set<string>()
  for (const command of help.visibleCommands(program)) {
    if (command.name() === 'help') continue
    expect(text).toMatch(new RegExp(`berth ${command.name()}\\b|\`${command.name()}\\b`))
    for (const { long } of help.visibleOptions(command)) if (long) flags.add(long)
  }
  flags.delete('--help')
  const told = new Set([...text.matchAll(/(?<![\w-])--[a-z][a-z-]+/g)].map(([flag]) => flag))
  expect([...flags].filter((flag) => !told.has(flag))).toEqual([])
  expect([...told].filter((flag) => !flags.has(flag))).toEqual([])
})
