import { usePageTitle } from '../../app/page-title.ts'
import { Empty } from '../../parts/page-states.tsx'

export function AuditPage() {
  usePageTitle('Audit log')
  return <Empty title="Audit log" />
}
