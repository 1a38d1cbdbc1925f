import { usePageTitle } from '../../app/page-title.ts'
import { Empty } from '../../parts/page-states.tsx'

export function SubmitPage() {
  usePageTitle('New job')
  return <Empty title="New job" />
}
