import { userLevels } from '../../../domain/access.ts'
import { checkText } from '../../../feed/filter.ts'
import { capList } from '../../admission/argument-bounds.ts'
import { limits } from '../../caller-limits.ts'
import type { Bind } from '../../rows/keyset.ts'
import type { PeopleOrder } from '../../rows/listings.ts'
import { builder } from '../frame/builder.ts'
import { describeValues } from '../frame/enum-values.ts'
import { UserLevel } from '../frame/enums.ts'

/** Filters of users and teams. Their tables are short, so a text is compared with every row. */

export const PeopleOrderType = builder.enumType('PeopleOrder', {
  description: 'Order of users and teams.',
  values: describeValues({
    CREATED_AT: 'Oldest first.',
    NAME: 'By name.',
  } satisfies Record<PeopleOrder, string>),
})

const text = (fields: string) =>
  `${fields} contains this text; the case of ASCII letters does not matter. At most 255 characters. Reads all rows.`

export const UserFilter = builder.inputType('UserFilter', {
  description: 'Filter for users. A user must match all fields, and one entry of each list.',
  fields: (t) => ({
    text: t.string({ description: text('Users whose name, display name or email address') }),
    levels: t.field({ type: [UserLevel], ...capList(userLevels.length, 'Users with one of these levels') }),
    teams: t.idList(capList(limits.filterIdsMax, 'Members of one of these teams')),
    disabled: t.boolean({ description: 'true: disabled users. false: all others.' }),
  }),
})

export const TeamFilter = builder.inputType('TeamFilter', {
  description: 'Filter for teams.',
  fields: (t) => ({ text: t.string({ description: text('Teams whose name or account') }) }),
})

function containsSql(columns: readonly string[], given: string, bind: Bind): string {
  const part = bind(checkText(given))
  return `(${columns.map((column) => `strpos(lower(coalesce(${column}, '') COLLATE "C"), ${part}) > 0`).join(' OR ')})`
}

export function buildUsersCondition(filter: typeof UserFilter.$inferInput, bind: Bind): string {
  const { text: given, levels, teams, disabled } = filter
  const conditions = [
    given == null ? '' : containsSql(['u.name', 'u.display_name', 'u.email'], given, bind),
    levels == null ? '' : `u.level = ANY(${bind(levels)}::text[]::user_level[])`,
    teams == null
      ? ''
      : `EXISTS (SELECT FROM team_member m WHERE m.user_id = u.id AND m.team_id = ANY(${bind(teams)}::text[]))`,
    disabled == null ? '' : `u.disabled = ${bind(disabled)}`,
  ]
  return conditions.filter(Boolean).join(' AND ') || 'TRUE'
}

export const buildTeamsCondition = ({ text: given }: typeof TeamFilter.$inferInput, bind: Bind): string =>
  given == null ? 'TRUE' : containsSql(['t.name', 't.account'], given, bind)
