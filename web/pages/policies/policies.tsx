import { useParams } from '@tanstack/react-router'
import { usePageTitle } from '../../ground/page-title.ts'
import { Missing } from '../../parts/page-states.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { Limits } from './limits.tsx'
import { Quotas } from './quotas.tsx'
import { Reservations } from './reservations.tsx'
import { Rules } from './rules.tsx'

const parts = {
  limits: ['Limits', Limits],
  quotas: ['Quotas', Quotas],
  rules: ['Approval rules', Rules],
  reservations: ['Reservations', Reservations],
} as const
const names = Object.keys(parts) as (keyof typeof parts)[]

export function PoliciesPage() {
  const { part } = useParams({ from: '/policies/$part' })
  const name = names.find((each) => each === part)
  usePageTitle(name ? parts[name][0] : 'Policies')
  if (!name) return <Missing what="This page" />
  const Part = parts[name][1]
  const tabs = names.map((each) => ({
    title: parts[each][0],
    isShown: each === name,
    to: '/policies/$part',
    params: { part: each },
  }))
  return (
    <>
      <Tabs label="Policies" tabs={tabs} />
      <Part />
    </>
  )
}
