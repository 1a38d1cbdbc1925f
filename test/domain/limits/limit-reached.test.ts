import { expect, test } from 'vitest'
import { findLimitReached, type LimitRule } from '../../../src/domain/limits/limit-reached.ts'

test('a limit of a project or queue does not apply to a longer name with the same beginning', () => {
  const rule = { each: false, counts: 'jobs', max: 0, model: null } as const
  const rules: LimitRule[] = [
    { ...rule, code: 'PROJECT_LIMIT', on: 'project:gen' },
    { ...rule, code: 'QUEUE_LIMIT', on: 'queue:gpu' },
  ]
  const reachedBy = (project: string, queue: string) => {
    const job = { userId: 'user_1', userName: 'ann', teamId: null, team: null, queue, project, gpu: 0 }
    return findLimitReached({ pool: 'sim', rules, tally: new Map() }, job)?.code ?? null
  }
  expect(reachedBy('genome', 'gpu-large')).toBeNull()
  expect(reachedBy('gen', 'gpu-large')).toBe('PROJECT_LIMIT')
  expect(reachedBy('genome', 'gpu')).toBe('QUEUE_LIMIT')
})
