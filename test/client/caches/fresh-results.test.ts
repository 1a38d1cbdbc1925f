import { parse } from 'graphql'
import { expect, it } from 'vitest'
import { createFreshResults } from '../../../src/client/caches/fresh-results.ts'

const query =
  parse(`query ($n: Int) { job(id: "a") { ...Row currentRun { __typename id state } logs(first: $n) { text } } }
  fragment Row on Job { __typename id version shown: state }`)
const job = (version: number, state: string, text = '') => ({
  job: {
    __typename: 'Job',
    id: 'job_1',
    version,
    shown: state,
    currentRun: { __typename: 'Run', id: 'run_1', state },
    logs: { text },
  },
})
const list = parse('{ jobs(first: 2) { nodes { __typename id version state } edges { node { __typename id } } } }')

it('a field that is older than the newest value seen so far is replaced by this value', () => {
  const fresh = createFreshResults()
  fresh.of({ query, variables: { n: 1 } }, job(2, 'RUNNING', 'new'))
  expect(fresh.of({ query, variables: { n: 1 } }, job(1, 'QUEUED', 'old')).data).toEqual(job(2, 'RUNNING', 'new'))
  expect(fresh.of({ query, variables: { n: 1 } }, job(3, 'FAILED', 'newest')).data).toEqual(job(3, 'FAILED', 'newest'))
})

it('a field is recognised under an alias, and differs from the same field with other arguments', () => {
  const fresh = createFreshResults()
  fresh.of({ query, variables: { n: 1 } }, job(2, 'RUNNING', 'one line'))
  const older = fresh.of({ query, variables: { n: 2 } }, job(1, 'QUEUED', 'two lines')).data
  expect(older.job).toMatchObject({ version: 2, shown: 'RUNNING', logs: { text: 'two lines' } })
  const row = { __typename: 'Job', id: 'job_1', version: 1, state: 'QUEUED' }
  const { data } = fresh.of({ query: list }, { jobs: { nodes: [row], edges: [] } })
  expect(data.jobs.nodes).toEqual([{ ...row, version: 2, state: 'RUNNING' }])
})

it('a deletion is recognised by the deletedId in the result of a mutation', () => {
  const deletion = parse(
    'mutation { deleteJob(input: { jobId: "job_1" }) { __typename ... on DeleteJobSuccess { deletedId } } }',
  )
  const { deletedJobIds } = createFreshResults().of(
    { query: deletion },
    { deleteJob: { __typename: 'DeleteJobSuccess', deletedId: 'job_1' } },
  )
  expect(deletedJobIds).toEqual(['job_1'])
})

it('a deleted job is removed from a list that arrives after its deletion', () => {
  const fresh = createFreshResults()
  const reset = { jobUpdates: { __typename: 'StreamReset', resetReason: 'DELETED', jobIds: ['job_1'] } }
  expect(fresh.of({ query: parse('subscription { jobUpdates { __typename } }') }, reset).deletedJobIds).toEqual([
    'job_1',
  ])
  const node = { __typename: 'Job', id: 'job_1' }
  const late = fresh.of(
    { query: list },
    { jobs: { nodes: [node], edges: [{ node }, { node: { ...node, id: 'job_2' } }] } },
  )
  expect(late.data.jobs).toEqual({ nodes: [], edges: [{ node: { ...node, id: 'job_2' } }] })
})

it('the values seen so far are forgotten when a stream restarts after the restore of a backup', () => {
  const fresh = createFreshResults()
  const updates = parse('subscription { jobUpdates { __typename } }')
  const reset = (resetReason: string, jobIds: string[]) => ({
    jobUpdates: { __typename: 'StreamReset', resetReason, jobIds },
  })
  fresh.of({ query }, job(7, 'FAILED'))
  fresh.of({ query: updates }, reset('DELETED', ['job_2']))
  expect(fresh.of({ query }, job(3, 'RUNNING')).data).toEqual(job(7, 'FAILED'))
  fresh.of({ query: updates }, reset('RETENTION', []))
  expect(fresh.of({ query }, job(3, 'RUNNING')).data).toEqual(job(3, 'RUNNING'))
  const restored = { jobs: { nodes: [{ __typename: 'Job', id: 'job_2', version: 1 }], edges: [] } }
  expect(fresh.of({ query: list }, restored).data).toEqual(restored)
})
