import { usePageTitle } from '../../app/page-title.ts'
import { Empty } from '../../parts/page-states.tsx'

export function UsagePage() {
  usePageTitle('Usage')
  return <Empty title="Usage" />
}
