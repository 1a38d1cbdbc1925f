import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CommandLine } from '../support/command-line.ts'
import { startServer, type TestServer } from '../support/server.ts'

/** Every wrong input gets one line that names what is wrong and what to type next, and an exit code for scripts. */

let home: string
let account: CommandLine
let server: TestServer
let withUsers: TestServer
let stranger: Server
let job: string

const files: Readonly<Record<string, string | Uint8Array>> = {
  'open.yaml': 'command: [echo\n',
  'typo.yaml': 'comand: [echo]\n',
  'list.yaml': '- a\n',
  'bytes.yaml': new Uint8Array([0xff, 0xfe]),
  'empty.yaml': '',
  'twice.yaml': 'name: a\nname: b\n',
  'words.yaml': 'command: echo hi\n',
  'value.yaml': 'command: [x]\nresources: {cpu: many}\n',
  'tab.yaml': 'command:\n\t- echo\n',
}

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'berth-wrong-'))
  account = new CommandLine(home)
  for (const [name, text] of Object.entries(files)) await writeFile(join(home, name), text)
  server = await startServer()
  withUsers = await startServer({ logIn: { oidc: null } })
  job = await server.submit({ command: ['true'] })
  stranger = createServer((_request, response) => response.end('<title>It works</title>'))
  await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  stranger.closeAllConnections()
  stranger.close()
  await withUsers[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
  await rm(home, { recursive: true })
})

const strangerUrl = () => `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`
const port = () => new URL(server.url).port

interface More {
  env?: Record<string, string>
  input?: string
}

/** The words of the command, and the message. SERVER, USERS, STRANGER, PORT, JOB_ID and HOME stand for those of the test. */
type Row = readonly [words: string, message: string, more?: More]

const filled = (text: string) =>
  text
    .replaceAll('SERVER', server.url)
    .replaceAll('USERS', withUsers.url)
    .replaceAll('STRANGER', strangerUrl())
    .replaceAll('PORT', port())
    .replaceAll('JOB_ID', job)
    .replaceAll('HOME', home)

function refuses(code: number, rows: readonly Row[]): void {
  for (const [words, message, { env = {}, input = '' } = {}] of rows)
    it.concurrent(`are refused in one line: ${Object.values(env).join(' ')} berth ${words}`, async () => {
      const variables = Object.entries({ BERTH_URL: 'SERVER', ...env }).map(([name, value]) => [name, filled(value)])
      const options = { env: Object.fromEntries(variables), input }
      const stderr = `berth: ${filled(message)}\n`
      expect(await account.run(filled(words).split(' '), options)).toEqual({ code, stdout: '', stderr })
    })
}

const listStates = 'BLOCKED, QUEUED, STARTING, RUNNING, CANCELLING, SUCCEEDED, FAILED, INTERRUPTED, CANCELLED'
const listFields =
  'id, version, name, state, psijState, stateReason, stateInfo, exitCode, nativeId, attempt, queue, queue.id, queue.name, user, user.id, user.name, createdAt, startedAt, finishedAt, stateCategory, priority, basePriority, priorityOverride, executor, account, project, pool, pool.id, pool.name, labels, labels.key, labels.value, queuedAt, allowedActions, progress, progress.fraction, progress.message, progress.at'
const listTimes = 'Expected 30d, 12h, 90m or a time such as 2030-01-31T12:00:00Z'

describe('wrong commands and flags', () => {
  refuses(2, [
    ['frobnicate', 'unknown command \'frobnicate\'; see "berth --help"'],
    ['submitt', 'unknown command \'submitt\' (Did you mean submit?); see "berth --help"'],
    ['ls --stat x', 'unknown option \'--stat\' (Did you mean --state?); see "berth ls --help"'],
    ['info', 'missing required argument \'job\'; see "berth info --help"'],
    ['info a b', 'too many arguments for \'info\'. Expected 1 argument but got 2: a, b; see "berth info --help"'],
    ['limits foo', "unknown command 'limits foo'; the commands of limits are show, set, scope"],
    ['help submitt', 'unknown command \'submitt\' (Did you mean submit?); see "berth --help"'],
    ['token create --colour', 'unknown option \'--colour\'; see "berth token create --help"'],
    ['quota create', 'required option \'--type <type>\' not specified; see "berth quota create --help"'],
    [
      'rules update x --enable --disable',
      "option '--disable' cannot be used with option '--enable'; see \"berth rules update --help\"",
    ],
    ['submit', 'the command is missing; write "berth submit -- command" or "berth submit -f job.yaml"'],
    ['submit --tag -- true', 'option \'--tag <tag>\' has no value; write its value before "--"'],
    ['retry job_1 --with-name x -- true', 'pass jobs or filters, not both; see "berth retry --help"'],
    ['cancel', 'the job is missing; pass its id or filters; "berth ls" lists your jobs'],
  ])
})

describe('wrong values', () => {
  refuses(2, [
    [
      'ls --limit x',
      "option '-n, --limit <count>' argument 'x' is invalid. Expected an integer from 1; see \"berth ls --help\"",
    ],
    [
      'ls -o xml',
      "option '-o, --output <format>' argument 'xml' is invalid. Allowed choices are table, wide, json, jsonl, yaml, ids; see \"berth ls --help\"",
    ],
    [
      'ls --state done',
      `option '-s, --state <state...>' argument 'done' is invalid. Expected ${listStates}; see "berth ls --help"`,
    ],
    ['ls --since 5', `option '--since <time>' argument '5' is invalid. ${listTimes}; see "berth ls --help"`],
    ['ls --json id,nam', `unknown field nam; the fields are ${listFields}`],
    [
      'wait JOB_ID --timeout soon',
      "option '--timeout <time>' argument 'soon' is invalid. Write 90s, 10m, 2h or 1d; see \"berth wait --help\"",
    ],
    [
      'submit --cpu -1 -- true',
      "option '--cpu <cores>' argument '-1' is invalid. Expected a number without a unit, such as 4 or 0.5; see \"berth submit --help\"",
    ],
    [
      'submit --max-run-time 10 -- true',
      "option '--max-run-time <time>' argument '10' is invalid. Write 90s, 10m, 2h or 1d; see \"berth submit --help\"",
    ],
    [
      'submit --sweep lr=1,2 -- train {lrr}',
      '{lrr} is not a parameter of the sweep; pass --sweep lrr=…, or write {{lrr}} for the text {lrr}',
    ],
    [
      'submit --set nodeCount=2 -- true',
      'spec: Field "nodeCount" is not defined by type "JobSpecInput". Did you mean "resources.nodeCount"?',
    ],
    ['submit --label =x -- true', 'spec.labels.0.key: Must not be empty; see "berth submit --help"'],
    [
      'submit --not-before monday -- true',
      'spec.notBefore: DateTime must be RFC 3339 with a day that exists, e.g. 2026-01-31T12:00:00Z, not "monday"; see "berth submit --help"',
    ],
    ['submit --queue fast -- true', 'spec.queue: Queue fast does not exist; use one of default'],
    [
      'submit --set resources.cpus=3 -- true',
      'spec.resources: Field "cpus" is not defined by type "ResourcesInput". Did you mean "cpu" or "gpu"?',
    ],
    [
      'submit --sweep seed=4..1 -- true',
      "option '--sweep <name=values>' argument 'seed=4..1' is invalid. Expected a range of 1 to 1000 values, such as 1..4; see \"berth submit --help\"",
    ],
    ['priority JOB_ID 99', 'priority: Must be 0 … 50, or null to clear it (given: 99); see "berth priority --help"'],
    ['cancel --user me', 'the filters match 1 job; pass --yes to act on all of them, or --dry-run'],
    ['api {', 'Syntax Error: Expected Name, found <EOF>; see "berth api --help"'],
  ])
})

describe('wrong files', () => {
  refuses(2, [
    [
      'submit -f absent.yaml',
      "cannot read the job file: ENOENT: no such file or directory, open 'absent.yaml'; check -f",
    ],
    ['submit -f HOME', 'cannot read the job file: EISDIR: illegal operation on a directory, read; check -f'],
    [
      'submit -f open.yaml',
      'the job file is not YAML: Flow sequence in block collection must be sufficiently indented and end with a ] at line 2, column 1; see "berth submit --help"',
    ],
    [
      'submit -f tab.yaml',
      'the job file is not YAML: Tabs are not allowed as indentation at line 2, column 1; see "berth submit --help"',
    ],
    [
      'submit -f twice.yaml',
      'the job file is not YAML: Map keys must be unique at line 2, column 1; see "berth submit --help"',
    ],
    ['submit -f typo.yaml', 'spec: Field "comand" is not defined by type "JobSpecInput". Did you mean "command"?'],
    [
      'submit -f list.yaml',
      'the job file is not a YAML mapping; see what "berth submit --print-spec -- command" prints',
    ],
    [
      'submit -f empty.yaml',
      'the job file is not a YAML mapping; see what "berth submit --print-spec -- command" prints',
    ],
    ['submit -f bytes.yaml', 'the job file is not in UTF-8; save it as UTF-8'],
    [
      'submit -f words.yaml',
      'command is a text, not a list: echo hi; write command: ["echo", "hi"], or for a shell command: ["sh", "-c", "echo hi"]',
    ],
    [
      'submit -f value.yaml',
      'spec.resources.cpu: Float cannot represent non numeric value: "many"; see "berth submit --help"',
    ],
    ['closure', 'The closure is not JSON; pass an object such as {"step": 100}', { input: 'x' }],
    ['api @absent.graphql', 'cannot read absent.graphql: ENOENT; check its path'],
  ])
})

describe('names that do not exist', () => {
  refuses(5, [
    ['info job_nope', 'Job job_nope not found; "berth ls" lists your jobs'],
    ['logs nope', 'Job nope not found; "berth ls" lists your jobs'],
    ['ls --user nope', 'User nope not found; "berth user ls" lists the users'],
    ['ls --pool sim,nope --name none', 'Pool nope not found; "berth node ls" lists the nodes of all pools'],
    ['ls --queue nope -o json', 'Queue nope not found; the queues are default'],
    ['ls --group-by state --node nope', 'Node nope not found; "berth node ls" lists the nodes'],
    ['cancel --queue nope --yes', 'Queue nope not found; the queues are default'],
    [
      'ls --label lr=0.05,0.1',
      'No job has the label lr=0.05,0.1; a label has one value, with its commas; jobs with all of several labels match',
    ],
    ['workload --pool nope', 'Pool nope not found; "berth node ls" lists the nodes of all pools'],
    ['node cordon nope', 'Node nope not found; "berth node ls" lists the nodes'],
    ['rules rm nope', 'Approval rule nope not found; "berth rules" lists the rules'],
    ['quota rm nope', 'Quota nope not found; "berth quota ls" lists the quotas'],
    ['reservation rm nope', 'Capacity reservation nope not found; "berth reservation ls" lists the reservations'],
    ['webhooks test nope', 'Webhook nope not found; "berth webhooks" lists the webhooks'],
    ['webhooks show nope', 'Webhook nope not found; "berth webhooks" lists the webhooks'],
    ['artifact get nope', 'Job nope not found; "berth ls" lists your jobs'],
    [
      'artifact get artifact_nope',
      'Artifact artifact_nope not found; "berth artifact ls JOB" lists the artifacts of a job',
    ],
    ['context use nope', 'Context nope not found; "berth login URL" makes a context'],
  ])
})

describe('wrong tokens', () => {
  const users = { BERTH_URL: 'USERS' }
  const logIn = 'log in with "berth login", or set BERTH_TOKEN to a valid token'
  refuses(6, [
    ['ls', `Authentication required; log in and send a token; ${logIn}`, { env: users }],
    [
      'ls',
      `The token is unknown or revoked, or its run is over; ${logIn}`,
      { env: { ...users, BERTH_TOKEN: 'wrong' } },
    ],
    [
      'ls',
      `The token contains characters that are not allowed in a token; ${logIn}`,
      { env: { ...users, BERTH_TOKEN: 'bérth' } },
    ],
    [
      'login --token -',
      'USERS refuses the token; make one in the console, or ask an administrator',
      { env: users, input: 'wrong' },
    ],
  ])
  refuses(2, [
    ['login --token -', 'the token is empty; pass it with "berth login --token - < file"', { env: users }],
    ['progress 0.5', 'BERTH_TOKEN is not set; run this command inside a job, where Berth sets it'],
    ['progress 0.5 --step 3', '--step has no number to count; add --metric, such as --metric loss=0.3'],
  ])
})

describe('wrong servers', () => {
  const next = 'start a server with "berth up", or set BERTH_URL'
  const at = (url: string) => ({ env: { BERTH_URL: url } })
  refuses(4, [
    [
      'ls',
      `No server answers at http://127.0.0.1:2: connect ECONNREFUSED 127.0.0.1:2; ${next}`,
      at('http://127.0.0.1:2'),
    ],
    [
      'top',
      `No server answers at http://127.0.0.1:2: connect ECONNREFUSED 127.0.0.1:2; ${next}`,
      at('http://127.0.0.1:2'),
    ],
    [
      'ls',
      `No server answers at https://127.0.0.1:PORT: the server speaks HTTP, not HTTPS; write http://; ${next}`,
      at('https://127.0.0.1:PORT'),
    ],
    [
      'ls',
      `No server answers at http://127.0.0.1:6000: browsers and Node block this port; serve on another one; ${next}`,
      at('http://127.0.0.1:6000'),
    ],
  ])
  refuses(2, [
    [
      'ls',
      '"127.0.0.1:4000" is not the URL of a server, such as http://127.0.0.1:4000; set BERTH_URL',
      at('127.0.0.1:4000'),
    ],
    [
      'ls',
      'The URL of a server must not contain a user or password; pass a token instead; set BERTH_URL',
      at('http://u:p@a'),
    ],
    ['ls', `SERVER/elsewhere/graphql answered 404: Not found; ${next}`, at('SERVER/elsewhere')],
    ['ls', `STRANGER/graphql answered 200: It works; ${next}`, at('STRANGER')],
    ['up', `STRANGER/graphql answered 200: It works; ${next}`, at('STRANGER')],
  ])
})
