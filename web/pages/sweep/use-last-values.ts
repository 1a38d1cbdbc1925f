import type { JobRow } from '../../features/jobs/rows/job-store.ts'
import { SweepMetricsDocument } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
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
      const values = new Map<string, ReadonlyMap<string, number>>()
      for (let from = 0; from < ids.length; from += idsMax) {
        const some = ids.slice(from, from + idsMax)
        const { nodes } = await client.request(SweepMetricsDocument, { ids: some }, { attempts: 4, signal })
        for (const node of nodes)
          if (node && 'currentRun' in node)
            values.set(node.id, new Map(node.currentRun.metrics?.map(({ name, last }) => [name, last.value])))
      }
      return values
    },
    { everyMs: isActive ? readAgainMs : undefined },
  )
}
