import { usePageTitle } from '../../app/page-title.ts'
import { Empty } from '../../parts/page-states.tsx'

export function PoliciesPage() {
  usePageTitle('Policies')
  return <Empty title="Policies" />
}
