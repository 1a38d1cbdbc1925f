import { expect, test } from 'vitest'
import { dependencyMetSql, isSatisfied } from '../../../src/domain/jobs/dependencies.ts'
import { isFinal, jobStates } from '../../../src/domain/state.ts'
import { createDatabase } from '../../support/database.ts'

test('the API reports a dependency as satisfied exactly if its gate is open', async () => {
  await using database = await createDatabase()
  const rows = await database.db.sql.query<{ state: (typeof jobStates)[number]; on: string; met: boolean }>(
    `SELECT o.state, d."on", ${dependencyMetSql} AS met
     FROM unnest($1::job_state[]) o(state), unnest(ARRAY['SUCCEEDED', 'FAILED', 'FINISHED']) d("on")`,
    [jobStates],
  )
  expect(rows).toHaveLength(jobStates.length * 3)
  for (const { state, on, met } of rows)
    expect([on, state, isSatisfied(on, state)]).toEqual([on, state, isFinal(state) ? met : null])
  const open = rows.flatMap(({ state, on, met }) => (met ? [`${on} ${state}`] : []))
  expect(open.toSorted()).toEqual([
    'FAILED FAILED',
    'FINISHED CANCELLED',
    'FINISHED FAILED',
    'FINISHED INTERRUPTED',
    'FINISHED SUCCEEDED',
    'SUCCEEDED SUCCEEDED',
  ])
})
