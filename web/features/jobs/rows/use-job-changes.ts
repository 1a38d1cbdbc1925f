import { JobsMovedDocument } from '../../../generated/graphql.ts'
import { client } from '../../../ground/connection.ts'
import { useResource } from '../../../ground/resource.ts'

/**
 * Returns a number that changes when jobs of a pool begin to wait, start or end, and at least every 15 s. It is the
 * `version` of resources that count jobs.
 */
export const useJobChanges = (): number | undefined =>
  useResource<number>('changes of jobs', async (signal, put) => {
    for await (const _ of client.subscribe(JobsMovedDocument, {}, { signal })) put(performance.now())
  }).value
