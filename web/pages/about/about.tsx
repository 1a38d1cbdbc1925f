import { usePageTitle } from '../../app/page-title.ts'
import { Empty } from '../../parts/page-states.tsx'

export function AboutPage() {
  usePageTitle('About')
  return <Empty title="About" />
}
