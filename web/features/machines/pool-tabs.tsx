import type { ReactNode } from 'react'
import { PoolNamesDocument } from '../../generated/graphql.ts'
import { useQuery } from '../../ground/resource.ts'
import { Button } from '../../parts/button.tsx'
import { Empty, Failed, Loading } from '../../parts/page-states.tsx'
import { Tabs } from '../../parts/tabs.tsx'

interface PoolChoice {
  /** The name of the pool in the URL, or of the first pool. */
  name: string | undefined
  all: readonly string[]
  /** Shown instead of the page while `name` is undefined: loading, failed, or no pool with this name. */
  state: ReactNode
}

/** Pools change only when a server restarts, so they are read once for each page. */
export function usePool(page: './workload/' | './cluster/' | './usage?pool=', asked: string | undefined): PoolChoice {
  const { value, failure, read } = useQuery(PoolNamesDocument, {})
  const all = value?.pools.nodes.map((each) => each.name) ?? []
  const name = asked ?? all[0]
  if (!value) return { name, all, state: failure ? <Failed failure={failure} onRetry={read} /> : <Loading /> }
  if (name === undefined)
    return { name, all, state: <Empty title="The server has no pool">Add one to berth.yaml.</Empty> }
  if (!all.includes(name)) return { name, all, state: <NoPool page={page} name={name} all={all} /> }
  return { name, all, state: null }
}

const NoPool = ({ page, name, all }: { page: string; name: string; all: readonly string[] }) => (
  <Empty
    title={`The pool ${name} does not exist`}
    actions={all.map((each) => (
      <Button key={each} href={page + encodeURIComponent(each)}>
        {each}
      </Button>
    ))}
  >
    The server has these pools:
  </Empty>
)

interface PoolTabsProps {
  to: '/workload/$pool' | '/cluster/$pool'
  pools: readonly string[]
  shown: string | undefined
}

/** Tabs of the pools, if there are several. */
export const PoolTabs = ({ to, pools, shown }: PoolTabsProps) =>
  pools.length > 1 && (
    <Tabs label="Pools" tabs={pools.map((pool) => ({ title: pool, to, params: { pool }, isShown: pool === shown }))} />
  )
