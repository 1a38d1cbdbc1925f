import { usePageTitle } from '../../app/page-title.ts'
import { Empty } from '../../parts/page-states.tsx'

export function ApprovalsPage() {
  usePageTitle('Approvals')
  return <Empty title="Approvals" />
}
