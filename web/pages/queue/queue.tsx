import { usePageTitle } from '../../app/page-title.ts'
import { Empty } from '../../parts/page-states.tsx'

export function QueuePage() {
  usePageTitle('Queue')
  return <Empty title="Queue" />
}
