import { setTimeout as sleep } from 'node:timers/promises'
import { jobChangeSql } from '../../src/domain/jobs/job-change.ts'
import { openLog } from '../../src/logs/append.ts'
import type { Sql } from '../../src/platform/tx.ts'
import { ask, data } from '../support/client.ts'
import { append } from '../support/log.ts'
import { openConnections } from './connections.ts'

/** Writers of jobs that readers follow, while servers are killed. */

/**
 * Mutations of one request. They take turns in the whole database, so a cycle of a writer makes further events by the
 * statement that the domain makes them with, several in one transaction.
 */
const changesPerRequest = 4
const statementsPerCycle = 8
const changesPerStatement = 25

interface Writing {
  urlOf(): string
  databaseUrl: string
}

interface Pace {
  /** Number of changes to make by now. */
  wanted(): number
  isOver(written: number): boolean
}

const waitMs = 20

/** Submits a job for each writer, which changes the job at this pace. Counts the changes. */
export async function startWriters({ urlOf, databaseUrl }: Writing, count: number, { wanted, isOver }: Pace) {
  const jobIds = await Promise.all(Array.from({ length: count }, () => submit(urlOf())))
  const made = { written: 0 }
  const pool = openConnections(databaseUrl, 8)
  const write = async (jobId: string) => {
    for (let priority = 1; !isOver(made.written); ) {
      if (made.written >= wanted()) {
        await sleep(waitMs)
        continue
      }
      const changes = Array.from({ length: changesPerRequest }, () => {
        priority = (priority % 50) + 1
        return `p${priority}: setJobPriority(input: { jobId: "${jobId}", priority: ${priority} }) { __typename }`
      })
      // The server may be killed meanwhile.
      const isDone = await ask(urlOf(), `mutation { ${changes.join(' ')} }`).then(
        ({ errors }) => !errors,
        () => false,
      )
      if (isDone) made.written += changesPerRequest
      else await sleep(50)
      for (let n = 0; n < statementsPerCycle && made.written < wanted(); n++) {
        await pool.query(Array.from({ length: changesPerStatement }, () => changeOf(jobId)).join(';'))
        made.written += changesPerStatement
      }
    }
  }
  return { jobIds, made, done: Promise.all(jobIds.map(write)).finally(() => pool.end()) }
}

const changeOf = (jobId: string) =>
  `WITH ${jobChangeSql({ jobs: `WHERE job.id = '${jobId}'`, type: 'LATE_REPORT', event: { message: "'written'" } })} SELECT FROM told`

async function submit(url: string): Promise<string> {
  const { submitJob } = await data(
    url,
    'mutation { submitJob(input: { spec: { command: ["true"] } }) { ... on SubmitJobSuccess { job { id } } } }',
  )
  return submitJob.job.id
}

const linesPerAppend = 20
const appendPauseMs = 5

/** Writes the lines 1, 2, 3 … to the log of a waiting job, until `isOver`. */
export async function startLog({ urlOf, databaseUrl }: Writing, isOver: () => boolean) {
  const jobId = await submit(urlOf())
  const pool = openConnections(databaseUrl, 1)
  const sql: Sql = { query: async (text, values) => (await pool.query(text, [...(values ?? [])])).rows }
  const [run] = await sql.query<{ id: string }>('SELECT id FROM run WHERE job_id = $1', [jobId])
  const write = async () => {
    let head = await openLog(sql, run?.id ?? '')
    for (let line = 1; !isOver(); line += linesPerAppend) {
      const lines = Array.from({ length: linesPerAppend }, (_, n) => `${line + n}\n`).join('')
      const pieces = [{ stream: 'STDOUT', bytes: Buffer.from(lines) }] as const
      head = await append(sql, { ...head, end: Number(head.end) }, { pieces, position: null, bytesMax: 2 ** 40 })
      await sleep(appendPauseMs)
    }
  }
  return { jobId, done: write().finally(() => pool.end()) }
}
