import { spawn } from 'node:child_process'
import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import type { Executor } from '../../src/executors/executor.ts'
import type { Person } from '../support/people.ts'
import type { TestServer } from '../support/server.ts'

/** Runs commands as children of the test, and connects to ports of this machine: for tests of the transport. */
export const fakeExecutor = {
  name: 'local',
  async exec(_handle, { command: [program = '', ...rest] }) {
    const child = spawn(program, rest)
    return {
      ...{ stdin: child.stdin, stdout: child.stdout, stderr: child.stderr },
      exitCode: new Promise((resolve) => child.once('exit', (code) => resolve(code))),
      resize: (size) => void child.stdin.write(JSON.stringify(size)),
      signal: (name) => void child.kill(`SIG${name}` as NodeJS.Signals),
      end: () => void child.kill('SIGKILL'),
    }
  },
  async connect(_handle, port) {
    await wait(5)
    return connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  },
} satisfies Partial<Executor> as unknown as Executor

/** A job that counts as running, without a process. */
export async function startJob({ domain }: TestServer, by: Person): Promise<{ jobId: string; runId: string }> {
  const { submitJob } = await by.data(
    `mutation { submitJob(input: { spec: { command: ["true"] } }) { ... on SubmitJobSuccess { job { id } } } }`,
  )
  const jobId: string = submitJob.job.id
  const { sql } = domain.db
  await sql.query(`UPDATE job SET state = 'RUNNING', executor = 'local' WHERE id = $1`, [jobId])
  const [run] = await sql.query<{ id: string }>(
    `UPDATE run SET state = 'RUNNING', handle = 'h', scheduled_at = berth_now(), started_at = berth_now() WHERE job_id = $1 RETURNING id`,
    [jobId],
  )
  return { jobId, runId: run?.id ?? '' }
}
