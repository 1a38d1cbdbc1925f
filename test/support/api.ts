import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { openConnection } from '../../src/client/connection/connection.ts'
import { TypedDocumentString } from '../../src/client/generated/graphql.ts'
import { type BerthOptions, type BerthServer, startBerth } from './berth-server.ts'
import { createDatabase, type TestDatabase } from './database.ts'

/** The public API for tests: documents as text, results, and streams that resume by cursor. */
export interface Api {
  submit(spec: Record<string, unknown>): Promise<string>
  submitAll(specs: readonly Record<string, unknown>[]): Promise<string[]>
  ask<Result extends object>(query: string, variables?: Record<string, unknown>): Promise<Result>
  stream<Message>(field: string, query: string, variables: Record<string, unknown>): AsyncGenerator<Message, void, void>
  close(): Promise<void>
}

export interface OpenServer<Server extends BerthServer> {
  server: Server
  api: Api
  database: TestDatabase
  dataDir: string
}

/**
 * Opens a server with this configuration, and `more` in its environment, for all tests of a file or of a `describe`.
 * Must be called while these are loaded, because it adds an `afterAll` that removes the server. If this function fails,
 * it removes the server itself: a file that fails while it loads has no `afterAll`.
 */
export async function openServer(config = '', more: Record<string, string> = {}): Promise<OpenServer<BerthServer>> {
  return openServerBy(startBerth, config, more)
}

/** Like `openServer`, with a server that `start` starts. */
export async function openServerBy<Server extends BerthServer>(
  start: (options: BerthOptions) => Promise<Server>,
  config: string,
  more: Record<string, string> = {},
): Promise<OpenServer<Server>> {
  await using opened = new AsyncDisposableStack()
  const dataDir = await mkdtemp(join(tmpdir(), 'berth-server-'))
  opened.defer(() => rm(dataDir, { recursive: true }))
  await chmod(dataDir, 0o711) // Under root a part of what it starts runs as another account.
  const file = join(dataDir, 'berth.yaml')
  await writeFile(file, config)
  const database = opened.use(await createDatabase())
  const env = { DATABASE_URL: database.url, BERTH_CONFIG: file, ...more }
  const server = await start({ dataDir, env })
  opened.defer(async () => void (await server.end()))
  const api = connectApi(server.url)
  opened.defer(() => api.close())
  const kept = opened.move()
  afterAll(() => kept.disposeAsync())
  return { server, api, database, dataDir }
}

const document = <Result, Variables>(text: string) => new TypedDocumentString<Result, Variables>(text)

export function connectApi(url: string, token?: string): Api {
  const connection = openConnection({ url, token })
  const ask = <Result extends object>(query: string, variables: Record<string, unknown> = {}) =>
    connection.request(document<Result, Record<string, unknown>>(query), variables, { attempts: 8 })

  async function submitAll(specs: readonly Record<string, unknown>[]) {
    const query = `mutation ($input: SubmitJobsInput!) { submitJobs(input: $input) {
      ... on SubmitJobsSuccess { results { ... on SubmitJobSuccess { job { id } } ... on Problem { code message } } }
      ... on Problem { code message } } }`
    type Problem = { code: string; message: string }
    type Outcome = { job: { id: string } } | Problem
    const { submitJobs } = await ask<{ submitJobs: { results: Outcome[] } | Problem }>(query, {
      input: { submissions: specs.map((spec) => ({ spec })) },
    })
    const outcomes = 'results' in submitJobs ? submitJobs.results : [submitJobs]
    return outcomes.map((outcome) => {
      if ('job' in outcome) return outcome.job.id
      throw new Error(`${outcome.code}: ${outcome.message}`)
    })
  }

  return {
    ask,
    submitAll,
    async submit(spec) {
      const [id] = await submitAll([spec])
      return id ?? ''
    },
    async *stream<Message>(field: string, query: string, variables: Record<string, unknown>) {
      for await (const data of connection.subscribe(
        document<Record<string, Message>, Record<string, unknown>>(query),
        variables,
      )) {
        const message = data[field]
        if (message !== undefined) yield message
      }
    },
    close: () => connection.close(),
  }
}

export function openApi(url: string, token?: string): Api {
  const api = connectApi(url, token)
  afterAll(api.close)
  return api
}

export interface JobAnswer {
  state: string
  version: number
  exitCode: number | null
  runs: { nodes: { number: number; state: string }[] }
  events: { nodes: { seq: number; to: string | null }[]; pageInfo: { hasNextPage: boolean } }
}

/** State, runs and the first hundred events of a job. */
export async function readJob(api: Api, id: string): Promise<JobAnswer> {
  const query = `query ($id: ID!) { job(id: $id) { state version exitCode runs(first: 10) { nodes { number state } }
    events(first: 100) { nodes { seq to } pageInfo { hasNextPage } } } }`
  const { job } = await api.ask<{ job: JobAnswer | null }>(query, { id })
  if (!job) throw new Error(`No job ${id}`)
  return job
}

export const tailQuery = `subscription ($jobId: ID!, $after: Cursor) { tail(jobId: $jobId, after: $after) {
  __typename
  ... on LogBatch { text startOffset endOffset cursor isFinal }
  ... on LogGap { gapReason startOffset endOffset cursor }
  ... on RunChanged { cursor }
  ... on StreamReset { cursor }
  ... on StreamHeartbeat { cursor } } }`

export type TailAnswer =
  | { __typename: 'LogBatch'; text: string; startOffset: number; endOffset: number; isFinal: boolean }
  | { __typename: 'LogGap' | 'RunChanged' | 'StreamReset' | 'StreamHeartbeat' }

export const statusQuery = `subscription ($jobId: ID!, $after: Cursor) { jobStatus(jobId: $jobId, after: $after) {
  __typename
  ... on JobTransitions { transitions { seq to } cursor isFinal job { state } }
  ... on StreamReset { cursor }
  ... on StreamHeartbeat { cursor } } }`

export type StatusAnswer =
  | {
      __typename: 'JobTransitions'
      transitions: { seq: number; to: string | null }[]
      isFinal: boolean
      job: { state: string }
    }
  | { __typename: 'StreamReset' | 'StreamHeartbeat' }
