import { usePageTitle } from '../../app/page-title.ts'
import { Empty } from '../../parts/page-states.tsx'

export function ComparePage() {
  usePageTitle('Compare jobs')
  return <Empty title="Compare jobs" />
}
