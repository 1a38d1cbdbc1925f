import { useParams } from '@tanstack/react-router'
import { usePageTitle } from '../../ground/page-title.ts'
import { useStart } from '../../ground/server-facts.ts'
import { Missing } from '../../parts/page-states.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import styles from './people.module.css'
import { Teams } from './teams.tsx'
import { Tokens } from './tokens.tsx'
import { Users } from './users.tsx'

const parts = { users: ['Users', Users], teams: ['Teams', Teams], tokens: ['Tokens', Tokens] } as const
const names = Object.keys(parts) as (keyof typeof parts)[]

export function PeoplePage() {
  const { part } = useParams({ from: '/people/$part' })
  const { server } = useStart()
  const name = names.find((each) => each === part)
  usePageTitle(name ? parts[name][0] : 'People')
  if (!name) return <Missing what="This page" />
  const Part = parts[name][1]
  const tabs = names.map((each) => ({
    title: parts[each][0],
    isShown: each === name,
    to: '/people/$part',
    params: { part: each },
  }))
  return (
    <>
      <Tabs label="People" tabs={tabs} />
      {server.singleUser && (
        <p className={styles.note}>
          This server has a single user and needs no log-in. Users and tokens that you create count from its next start;
          from then on everybody needs a token.
        </p>
      )}
      <Part />
    </>
  )
}
