import { type Permission, WhoGrantsDocument } from '../generated/graphql.ts'
import { formatPermission, needs } from '../ground/permissions.ts'
import { useQuery } from '../ground/resource.ts'
import { Button } from './button.tsx'
import { Empty } from './page-states.tsx'

const namesMax = 5

/** Shown instead of a page: names the permission that is missing, and who can give it. */
export function Forbidden({ permission }: { permission: Permission }) {
  const { value } = useQuery(WhoGrantsDocument, {})
  const { level, scope, text } = needs[permission]
  const isScope = value?.viewer.user.permissions.includes(permission) ?? false
  const admins = value?.users.nodes.filter(({ id }) => id !== value.viewer.user.id) ?? []
  const names = admins.slice(0, namesMax).map(({ name }) => name)
  return (
    <Empty title={`You may not ${text}`} actions={<Button href="./">Overview</Button>}>
      {isScope ? (
        <>
          Your token lacks the scope <code>{scope}</code>. Log in with a token that has it.
        </>
      ) : (
        <>
          This needs the permission <code>{formatPermission(permission)}</code>, which the level {level.toLowerCase()}{' '}
          has. Ask an administrator{names.length > 0 && `: ${names.join(', ')}${admins.length > namesMax ? ' …' : ''}`}.
        </>
      )}
    </Empty>
  )
}
