import { usePageTitle } from '../../app/page-title.ts'
import { Empty } from '../../parts/page-states.tsx'

export function ClusterPage() {
  usePageTitle('Cluster')
  return <Empty title="Cluster" />
}
