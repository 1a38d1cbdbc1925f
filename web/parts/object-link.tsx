import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

const parts: Readonly<Record<string, readonly [page: '/people/$part' | '/policies/$part', part: string]>> = {
  user: ['/people/$part', 'users'],
  team: ['/people/$part', 'teams'],
  token: ['/people/$part', 'tokens'],
  quota: ['/policies/$part', 'quotas'],
  rule: ['/policies/$part', 'rules'],
  reservation: ['/policies/$part', 'reservations'],
}

/** Links to the page of an object, which depends on the prefix of its id. Plain text if there is no such page. */
export function ObjectLink({ id, children = id }: { id: string; children?: ReactNode }) {
  const [kind = '', rest = ''] = id.split(/_(.*)/)
  if (kind === 'job')
    return (
      <Link to="/jobs/$id" params={{ id }}>
        {children}
      </Link>
    )
  if (kind === 'pool')
    return (
      <Link to="/workload/$pool" params={{ pool: rest }}>
        {children}
      </Link>
    )
  const target = parts[kind]
  if (!target) return <span>{children}</span>
  return (
    <Link to={target[0]} params={{ part: target[1] }} search={{ open: id }}>
      {children}
    </Link>
  )
}
