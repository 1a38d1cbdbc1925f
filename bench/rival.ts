import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { makeWorkerUtils } from 'graphile-worker'
import { buildSchema } from 'graphql'
import { createYoga } from 'graphql-yoga'
import { PgBoss } from 'pg-boss'

/**
 * The rivals of a submission: the published schema on the same yoga, with resolvers that send the job to another queue,
 * or do nothing. Runs as a child process of the benchmark, `rival.ts KIND [DATABASE_URL]`, sends its URL by IPC, and
 * ends with its parent.
 */
interface Rival {
  add(payload: object): Promise<unknown>
  addMany(payloads: readonly object[]): Promise<unknown>
}

const taskName = 'bench'

const rivals: Readonly<Record<string, (url: string) => Promise<Rival>>> = {
  'no-op': async () => ({ add: async () => undefined, addMany: async () => undefined }),
  'pg-boss': async (url) => {
    const boss = new PgBoss({ connectionString: url, max: 24, supervise: false, schedule: false })
    await boss.start()
    await boss.createQueue(taskName)
    return {
      add: (payload) => boss.send(taskName, payload),
      addMany: (payloads) =>
        boss.insert(
          taskName,
          payloads.map((data) => ({ data })),
        ),
    }
  },
  'graphile-worker': async (url) => {
    const utils = await makeWorkerUtils({ connectionString: url, maxPoolSize: 24 })
    await utils.migrate()
    return {
      add: (payload) => utils.addJob(taskName, payload),
      addMany: (payloads) => utils.addJobs(payloads.map((payload) => ({ identifier: taskName, payload }))),
    }
  },
}

const [kind = 'no-op', url = ''] = process.argv.slice(2)
const rival = await rivals[kind]?.(url)
if (!rival) throw new Error(`No rival ${kind}`)

const taken = {
  __typename: 'SubmitJobSuccess',
  idempotentHit: false,
  warnings: [],
  job: { id: 'job_0', state: 'QUEUED' },
}
interface Input {
  spec: object
}
const schema = buildSchema(readFileSync(new URL('../schema.graphql', import.meta.url), 'utf8'))
const fields = schema.getMutationType()?.getFields()
const { submitJob, submitJobs } = fields ?? {}
if (!submitJob || !submitJobs) throw new Error('schema.graphql has no submitJob, or no submitJobs')
submitJob.resolve = async (_root, { input }: { input: Input }) => {
  await rival.add(input.spec)
  return taken
}
submitJobs.resolve = async (_root, { input: { submissions } }: { input: { submissions: Input[] } }) => {
  await rival.addMany(submissions.map(({ spec }) => spec))
  return { __typename: 'SubmitJobsSuccess', results: submissions.map(() => taken) }
}

const yoga = createYoga({ schema, batching: false, cors: false, graphiql: false, landingPage: false, logging: false })
const server = createServer(yoga)
server.listen(0, '127.0.0.1', () => process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
process.once('disconnect', () => process.exit())
