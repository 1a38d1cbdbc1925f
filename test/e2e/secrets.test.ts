import { createHash, randomBytes } from 'node:crypto'
import {
  type GraphQLField,
  type GraphQLNamedType,
  getNamedType,
  isCompositeType,
  isObjectType,
  isRequiredArgument,
} from 'graphql'
import { afterAll, expect, it } from 'vitest'
import type { Domain } from '../../src/domain/domain.ts'
import { deriveRunToken } from '../../src/domain/inside/run-tokens.ts'
import { schema } from '../../src/graphql/schema/schema.ts'
import { openServer } from '../support/api.ts'
import { freePort } from '../support/berth-server.ts'
import { createDatabase } from '../support/database.ts'
import { CommandLines, readOpenFiles } from '../support/leaks.ts'
import { createDoor } from '../support/outage.ts'
import { mutate, type Person, personWith } from '../support/people.ts'
import { until } from '../support/until.ts'
import { startReceiver } from '../support/webhook-receiver.ts'

/** On a busy machine the hundreds of requests take minutes. */
const timeoutMs = 300_000

/** Secrets pass through a server with failures of all kinds; then they appear nowhere that others may read. */
const mark = () => randomBytes(24).toString('hex')
const whsec = `whsec_${randomBytes(32).toString('base64')}`
const secrets: Record<string, string> = {
  'the first token': mark(),
  'the secret of a webhook': whsec.slice('whsec_'.length),
  'a variable of a job': mark(),
  'a variable of a refused job': mark(),
  'a secret of a user': mark(),
  'a line of a secret': mark(),
  'a secret of a team': mark(),
  'a secret of a refused request': mark(),
  'a wrong token': `berth_0123456789${randomBytes(32).toString('base64url')}`,
  'a code of an OpenID provider': mark(),
  'a JWT': `eyJhbGciOiJSUzI1NiJ9.${Buffer.from(`{"sub":"${mark()}"}`).toString('base64url')}.${mark()}`,
}
const find = (text: string) => Object.keys(secrets).filter((name) => text.includes(secrets[name] ?? ''))

const database = await createDatabase()
const door = await createDoor(database.url)
const receiver = await startReceiver(whsec)
secrets['the password of the database'] = new URL(database.url).password
const metricsPort = await freePort()
const config = {
  server: { metrics: { port: metricsPort } },
  pools: [{ name: 'local', executor: 'local', jobsAsRoot: true, nodes: [{ name: 'here', cpu: 8, memoryGib: 8 }] }],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the form of a reference to the environment
  webhooks: [{ name: 'ci', url: receiver.url, secret: '${WEBHOOK_SECRET}' }],
}
const { server, dataDir } = await openServer(JSON.stringify(config), {
  DATABASE_URL: door.url,
  BERTH_BOOTSTRAP_TOKEN: secrets['the first token'] ?? '',
  WEBHOOK_SECRET: whsec,
  BERTH_LOG_LEVEL: 'debug',
})
afterAll(async () => {
  await receiver[Symbol.asyncDispose]()
  await door.shut()
  await database.close()
})

const exposed = new Set<string>()
const commandLines = new CommandLines()
const watch = setInterval(() => {
  for (const line of commandLines.read()) for (const name of find(line)) exposed.add(name)
}, 20)
afterAll(() => clearInterval(watch))

const findReadable = () =>
  [...readOpenFiles(dataDir)].flatMap(({ path, text }) => find(text).map((name) => `${path}: ${name}`))

/** Returns a selection of all fields below a type that need no argument. */
function select(type: GraphQLNamedType, depth: number): string {
  if (!isObjectType(type)) return '{ __typename }'
  const fields = Object.values(type.getFields()).flatMap((field) => selectField(field, depth) ?? [])
  return `{ __typename ${fields.join(' ')} }`
}

function selectField(field: GraphQLField<unknown, unknown>, depth: number): string | null {
  const type = getNamedType(field.type)
  if (field.args.some(isRequiredArgument) || (isCompositeType(type) && depth === 0)) return null
  const page = field.args.some(({ name }) => name === 'first') ? '(first: 3)' : ''
  return `${field.name}${page} ${isCompositeType(type) ? select(type, depth - 1) : ''}`
}

const fieldsOf = (name: string) => {
  const type = schema.getType(name)
  return isObjectType(type) ? Object.values(type.getFields()) : []
}

/** Reads all fields that a user may read, one by one. */
async function readEverything(person: Person, jobId: string): Promise<string> {
  const queries = [
    ...fieldsOf('Query').flatMap((field) => selectField(field, 2) ?? []),
    ...fieldsOf('Job').flatMap((field) => {
      const selected = selectField(field, 3)
      return selected === null ? [] : `job(id: "${jobId}") { ${selected} }`
    }),
  ]
  const answers: string[] = []
  for (const query of queries) answers.push(JSON.stringify(await person.ask(`{ ${query} }`)))
  expect(answers.filter((answer) => !answer.includes('"errors"')).length).toBeGreaterThan(queries.length / 2)
  return answers.join('\n')
}

const admin = personWith(server.url, secrets['the first token'] ?? '')

async function addPerson(name: string, level: string): Promise<Person> {
  const { user } = await mutate(admin, 'createUser', { input: { name, level }, wanted: 'user { id }' })
  const { secret } = await mutate(admin, 'createToken', { input: { name, userId: user.id }, wanted: 'secret' })
  secrets[`the token of ${name}`] = secret
  return personWith(server.url, secret)
}

const variable = { name: 'KEY', value: secrets['a variable of a job'] }

async function submit(person: Person, spec: object): Promise<string> {
  const input = { spec: { environment: [variable], resources: { cpu: 0.1 }, ...spec } }
  const { job, ...problem } = await mutate(person, 'submitJob', { input, wanted: 'job { id }' })
  if (!job) throw new Error(JSON.stringify(problem))
  return job.id
}

const isOver = (person: Person, id: string) =>
  until(async () => (await person.data(`{ job(id: "${id}") { isFinal: finishedAt } }`))['job'].isFinal !== null, {
    what: `${id} ends`,
  })

/** The run of a job reports progress with its token, which permits no other operation. */
async function useRunToken(person: Person, jobId: string) {
  const domain = { db: database.db } as Domain
  const query = `{ job(id: "${jobId}") { state runs(first: 1) { nodes { id } } } }`
  const runId = await until(
    async () => {
      const { job } = await person.data(query)
      return job.state === 'RUNNING' && job.runs.nodes[0].id
    },
    { what: 'the job runs' },
  )
  const token = await deriveRunToken(domain, runId)
  secrets['the token of a run'] = token
  const run = personWith(server.url, token)
  await mutate(run, 'reportProgress', { input: { fraction: 0.1, message: 'begun' } })
  expect((await run.ask('{ viewer { user { name } } }')).errors?.[0]?.extensions.code).toBe('FORBIDDEN')
}

/** A job gets secrets of its user and team, and prints them in every way. */
async function useSecrets(person: Person): Promise<string> {
  const { viewer } = await person.data('{ viewer { user { id } } }')
  const { team } = await mutate(admin, 'createTeam', { input: { name: 'ml' }, wanted: 'team { id }' })
  await mutate(admin, 'updateTeam', { input: { teamId: team.id, addMembers: [viewer.user.id] } })
  const set = (by: Person, name: string, value = '', more: object = {}) =>
    mutate(by, 'setSecret', { input: { name, value, ...more }, wanted: 'secret { id }' })
  await set(person, 'OWN', secrets['a secret of a user'])
  await set(person, 'LINES', `first\n${secrets['a line of a secret']}\n`)
  await set(admin, 'TEAM', secrets['a secret of a team'], { teamId: team.id })
  const refused = secrets['a secret of a refused request']
  await set(person, 'PATH', refused)
  await set(person, 'A', `${refused}${'x'.repeat(65_536)}`)
  await set(person, 'A', refused, { teamId: team.id })
  const wrong = { input: { name: 'A', values: refused } }
  await person.ask('mutation ($input: SetSecretInput!) { setSecret(input: $input) { __typename } }', wrong)
  const script = `echo "own $OWN, team $TEAM"; echo "$OWN" >&2; echo "$LINES" | tail -n +2
    printf %s "\${OWN%????????}"; sleep 0.3; printf '%s\\n' "\${OWN#"\${OWN%????????}"}"
    printf %s "$OWN$TEAM" | sha256sum`
  const id = await submit(person, { command: ['sh', '-c', script], secrets: ['OWN', 'LINES', 'TEAM'], team: 'ml' })
  await isOver(person, id)
  const { job } = await person.data(`{ job(id: "${id}") { state logs(first: 50) { lines { stream text } } } }`)
  const hash = createHash('sha256').update(`${secrets['a secret of a user']}${secrets['a secret of a team']}`)
  const lines = job.logs.lines.map(({ text }: { text: string }) => text.trim()).toSorted()
  const shown = ['own ••••••, team ••••••', '••••••', '••••••', '', '••••••', `${hash.digest('hex')}  -`]
  expect([job.state, lines]).toEqual(['SUCCEEDED', shown.toSorted()])
  return id
}

/** Reads all rows of the database, as a backup contains them; bytes are hexadecimal. */
async function readRows(): Promise<string> {
  const { sql } = database.db
  const tables = await sql.query<{ name: string }>(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'",
  )
  const texts: string[] = []
  for (const { name } of tables) {
    const rows = await sql.query<{ row: string }>(`SELECT t::text AS row FROM "${name}" t`)
    texts.push(...rows.map(({ row }) => row))
  }
  return texts.join('\n')
}

const findStored = (text: string) =>
  Object.entries(secrets).flatMap(([name, value]) =>
    /^a (secret|line) /.test(name) && [value, Buffer.from(value).toString('hex')].some((form) => text.includes(form))
      ? [name]
      : [],
  )

/** A row that PostgreSQL rejects is a defect; the error message contains the values of the row. */
async function causeDefect(person: Person) {
  const { sql } = database.db
  await sql.query("ALTER TABLE job ADD CONSTRAINT job_never CHECK (name <> 'never')")
  const spec = {
    name: 'never',
    command: ['true'],
    environment: [{ ...variable, value: secrets['a variable of a refused job'] }],
  }
  const query = 'mutation ($spec: JobSpecInput!) { submitJob(input: { spec: $spec }) { __typename } }'
  const { errors } = await person.ask(query, { spec })
  expect(errors?.[0]?.extensions.code).toBe('INTERNAL_SERVER_ERROR')
  await sql.query('ALTER TABLE job DROP CONSTRAINT job_never')
}

async function breakDatabase(person: Person) {
  await door.shut()
  await until(async () => (await person.ask('{ viewer { user { name } } }').catch(() => null))?.status === 503, {
    what: 'the server notices the outage',
  })
  await door.open()
  await until(async () => (await person.ask('{ viewer { user { name } } }')).status === 200, {
    what: 'the outage is over',
  })
}

it(
  'secrets appear nowhere that other users may read',
  async () => {
    const ann = await addPerson('ann', 'RESEARCHER')
    const lea = await addPerson('lea', 'LEAD')
    const running = await submit(ann, { command: ['sh', '-c', 'echo begun; sleep 20'] })
    await useRunToken(ann, running)
    const printing = await useSecrets(ann)
    const failing = await submit(ann, { command: ['sh', '-c', 'exit 3'] })
    const impossible = await submit(ann, { command: ['/nonexistent/program'] })
    for (const id of [failing, impossible]) await isOver(ann, id)
    const wrongInput = { spec: { command: ['true'], environment: [variable, variable], resources: { cpu: -1 } } }
    await mutate(ann, 'submitJob', { input: wrongInput })
    await ann.ask('mutation ($input: SubmitJobInput!) { submitJob(input: $input) { __typename } }', {
      input: [variable],
    })
    for (const name of ['a wrong token', 'a JWT'])
      expect((await personWith(server.url, secrets[name] ?? '').ask('{ viewer { user { name } } }')).status).toBe(401)
    const returned = `${server.url}/login/return?state=any&code=${secrets['a code of an OpenID provider']}`
    expect((await fetch(returned, { headers: { accept: 'text/html' } })).status).toBe(200)
    const readable = findReadable()
    await causeDefect(ann)
    await breakDatabase(ann)
    await mutate(ann, 'cancelJob', { input: { jobId: running } })
    await isOver(ann, running)
    await until(() => receiver.messages.some(({ content }) => content.type === 'job.cancelled'), {
      what: 'the webhooks',
    })
    const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
    const others: Record<string, string> = {}
    for (const [who, person, id] of [
      ['lea', lea, running],
      ['the administrator', admin, running],
      ['lea', lea, failing],
      ['lea', lea, impossible],
      ['lea', lea, printing],
      ['the administrator', admin, printing],
    ] as const)
      others[`${id} for ${who}`] = await readEverything(person, id)
    const own = await readEverything(ann, printing)
    const owned = await ann.data(`{ job(id: "${running}") { spec { environment { name value } } } }`)
    expect(owned['job'].spec.environment).toEqual([variable])
    const output = server.output()
    expect(output).toContain('a request failed')
    expect({
      log: find(output),
      metrics: find(metrics),
      webhooks: find(receiver.messages.map(({ body, headers }) => body + JSON.stringify(headers)).join('\n')),
      answers: Object.entries(others).flatMap(([of, text]) => find(text).map((name) => `${of}: ${name}`)),
      owner: find(own).filter((name) => /^a (secret|line) /.test(name)),
      rows: findStored(await readRows()),
      commandLines: [...exposed],
      files: [...readable, ...findReadable()],
    }).toEqual({ log: [], metrics: [], webhooks: [], answers: [], owner: [], rows: [], commandLines: [], files: [] })
  },
  timeoutMs,
)
