import { usePageTitle } from '../../app/page-title.ts'
import { Empty } from '../../parts/page-states.tsx'

export function SettingsPage() {
  usePageTitle('Settings')
  return <Empty title="Settings" />
}
