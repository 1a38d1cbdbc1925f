import { getOperationAST, parse } from 'graphql'
import { expect, it } from 'vitest'
import { computeCost } from '../../src/graphql/admission/cost.ts'
import { limits } from '../../src/graphql/caller-limits.ts'
import { schema } from '../../src/graphql/schema/schema.ts'
import * as documents from '../../web/generated/graphql.ts'

it.each([
  ['cancel', documents.CancelJobsDocument],
  ['retry', documents.RetryJobsDocument],
  ['delete', documents.DeleteJobsDocument],
  ['set the priority of', documents.SetJobPrioritiesDocument],
])('a request to %s a thousand jobs is within the cost limit', (_verb, text) => {
  const document = parse(String(text))
  const operation = getOperationAST(document)
  if (!operation) throw new Error('The document has no operation')
  const cost = (selection: object) =>
    computeCost({ schema, document, operation, values: { input: { selection } } }, Number.POSITIVE_INFINITY)
  expect(cost({ matching: { filter: {}, expectedCount: 1_000 } })).toBeLessThanOrEqual(limits.costMax)
  expect(cost({ jobIds: Array.from({ length: 1_000 }, (_, i) => `job_${i}`) })).toBeLessThanOrEqual(limits.costMax)
})
