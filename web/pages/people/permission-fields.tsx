import type { Permission } from '../../generated/graphql.ts'
import { formatPermission, type Grants, includesLevel, needs, permissions } from '../../ground/permissions.ts'
import { useViolations } from '../../parts/form.tsx'
import styles from './people.module.css'

interface PermissionFieldsProps {
  grants: Grants
  onChange: (change: Pick<Grants, 'allow' | 'deny'>) => void
}

/** For each permission: as in the level, or allowed or denied for this user. */
export function PermissionFields({ grants, onChange }: PermissionFieldsProps) {
  const { level, allow, deny } = grants
  const choose = (permission: Permission, choice: string) => {
    const others = (list: readonly Permission[]) => list.filter((each) => each !== permission)
    onChange({
      allow: choice === 'allow' ? [...others(allow), permission] : others(allow),
      deny: choice === 'deny' ? [...others(deny), permission] : others(deny),
    })
  }
  const violations = [...useViolations('allow'), ...useViolations('deny')]
  return (
    <div className={styles.permissions}>
      {violations.map(({ message }) => (
        <p key={message} role="alert">
          {message}
        </p>
      ))}
      {permissions.map((each) => (
        <label key={each}>
          <code title={needs[each].text}>{formatPermission(each)}</code>
          <select
            value={deny.includes(each) ? 'deny' : allow.includes(each) ? 'allow' : ''}
            onChange={({ target }) => choose(each, target.value)}
          >
            <option value="">{includesLevel(level, needs[each].level) ? 'by level: yes' : 'by level: no'}</option>
            <option value="allow">allow</option>
            <option value="deny">deny</option>
          </select>
        </label>
      ))}
    </div>
  )
}
