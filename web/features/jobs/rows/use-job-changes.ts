import { JobsMovedDocument } from '../../../generated/graphql.ts'
import { client } from '../../../ground/connection.ts'
import { useResource } from '../../../ground/resource.ts'

/**
 * The `version` of what is counted of jobs: another value when jobs of a pool began to wait, started or ended. Without
 * changes the server sends one every 15 s.
 */
export const useJobChanges = (): number | undefined =>
  useResource<number>('changes of jobs', async (signal, put) => {
    for await (const _ of client.subscribe(JobsMovedDocument, {}, { signal })) put(performance.now())
  }).value
