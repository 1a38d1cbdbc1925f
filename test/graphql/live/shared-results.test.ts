import { type ExecutionArgs, type ExecutionResult, GraphQLSchema, parse } from 'graphql'
import { expect, it } from 'vitest'
import { anonymous } from '../../../src/domain/access.ts'
import { SharedResults } from '../../../src/graphql/live/shared-results.ts'

const document = parse(
  'subscription ($jobId: ID!, $after: Cursor) { jobStatus(jobId: $jobId, after: $after) { __typename } }',
)
const at = new Date('2026-01-01T00:00:00Z')

function subscribers() {
  const results = new SharedResults()
  let executions = 0
  const run = async (): Promise<ExecutionResult> => ({ data: { execution: ++executions } })
  const join = (variableValues: Record<string, unknown>) => {
    const args: ExecutionArgs = { schema: new GraphQLSchema({}), document, variableValues }
    const share = results.join(args, anonymous)
    return async (message: object) => (await share(message, run)).data?.['execution']
  }
  return join
}

it('a heartbeat of a job is executed once for all subscribers, even if their first cursors differ', async () => {
  const join = subscribers()
  const heartbeat = () => ({ kind: 'heartbeat', cursor: 7, at })
  const readers = [join({ jobId: 'a' }), join({ jobId: 'a', after: 'x' })]
  expect(await Promise.all(readers.map((share) => share(heartbeat())))).toEqual([1, 1])
})

it('heartbeats are executed separately if the job, the cursor or the time differs', async () => {
  const join = subscribers()
  const share = join({ jobId: 'a' })
  expect(await share({ kind: 'heartbeat', cursor: 7, at })).toBe(1)
  expect(await join({ jobId: 'b' })({ kind: 'heartbeat', cursor: 7, at })).toBe(2)
  expect(await join({ jobId: 'a' })({ kind: 'heartbeat', cursor: 8, at })).toBe(3)
  expect(await join({ jobId: 'a' })({ kind: 'heartbeat', cursor: 7, at: new Date(at.getTime() + 1_000) })).toBe(4)
})
