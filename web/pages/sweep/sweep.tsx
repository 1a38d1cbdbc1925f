import { usePageTitle } from '../../app/page-title.ts'
import { Empty } from '../../parts/page-states.tsx'

export function SweepPage() {
  usePageTitle('Sweep')
  return <Empty title="Sweep" />
}
