import { describe, expect, it } from 'vitest'
import type { LiveJobFragment } from '../../../src/client/generated/graphql.ts'
import { type JobMessage, type JobPage, JobWindow, newestFirst } from '../../../src/client/jobs/job-window.ts'

const makeJob = (version: number, progressAt: string | null) =>
  ({
    id: 'job_1',
    createdAt: '2030-01-01T00:00:00Z',
    version,
    progress: progressAt === null ? null : { fraction: null, message: null, at: progressAt },
  }) as LiveJobFragment

const makePage = (job: LiveJobFragment) =>
  ({ nodes: [job], pageInfo: { hasNextPage: false, endCursor: 'end' } }) as unknown as JobPage
const makeMessage = (job: LiveJobFragment) =>
  ({ __typename: 'JobTransitions', matches: true, job, transitions: [] }) as unknown as JobMessage

const [earlier, later] = ['2030-01-01T00:00:01Z', '2030-01-01T00:00:02Z']

describe('a window of jobs', () => {
  it('keeps the newer version of a job, and of one version the newer progress', () => {
    const window = new JobWindow(newestFirst)
    const shown = () => window.first(1).map(({ version, progress }) => [version, progress?.at ?? null])
    window.addPage(makePage(makeJob(2, earlier)))
    for (const older of [makeJob(1, later), makeJob(2, null)]) {
      window.apply(makeMessage(older))
      expect(shown()).toEqual([[2, earlier]])
    }
    window.apply(makeMessage(makeJob(2, later)))
    expect(shown()).toEqual([[2, later]])
    window.apply(makeMessage(makeJob(3, null)))
    expect(shown()).toEqual([[3, null]])
  })

  it('keeps the progress of a page if messages arrived before the page that are older', () => {
    const window = new JobWindow(newestFirst)
    window.expectPage()
    window.apply(makeMessage(makeJob(2, earlier)))
    window.addPage(makePage(makeJob(2, later)))
    expect(window.first(1).map(({ progress }) => progress?.at)).toEqual([later])
  })
})
