import { usePageTitle } from '../../app/page-title.ts'
import { Empty } from '../../parts/page-states.tsx'

export function PeoplePage() {
  usePageTitle('People')
  return <Empty title="People" />
}
