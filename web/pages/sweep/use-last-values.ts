import type { JobRow } from '../../features/jobs/rows/job-store.ts'
import { SweepMetricsDocument } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { readInParts } from '../../ground/read-in-parts.ts'
import { type Resource, useResource } from '../../ground/resource.ts'
import type { LastValues } from './sweep-metrics.ts'

const idsMax = 100
const readAgainMs = 10_000

export function useLastValues(jobs: readonly JobRow[]): Resource<LastValues> {
  const ids = jobs.filter(({ startedAt }) => startedAt !== null).map(({ id }) => id)
  const isActive = jobs.some(({ stateCategory }) => stateCategory === 'ACTIVE')
  return useResource(
    `sweep metrics ${ids.toSorted().join()}`,
    async (signal) => {
      const found = await readInParts(
        ids,
        idsMax,
        async (some) => (await client.request(SweepMetricsDocument, { ids: some }, { attempts: 4, signal })).nodes,
      )
      const started = found.filter((node) => node !== null && 'currentRun' in node)
      return new Map(
        started.map(({ id, currentRun }) => [
          id,
          new Map(currentRun.metrics?.map(({ name, last }) => [name, last.value])),
        ]),
      )
    },
    { everyMs: isActive ? readAgainMs : undefined },
  )
}
