import { seesAll } from '../../../domain/access.ts'
import type { ActiveCondition, ConditionSeverity } from '../../../domain/conditions/condition.ts'
import { builder } from '../frame/builder.ts'
import { describeValues } from '../frame/enum-values.ts'
import { exposeColumns } from '../frame/fields.ts'
import { System } from './system.ts'

const Severity = builder.enumType('ConditionSeverity', {
  description: 'How urgent a condition is.',
  values: describeValues({
    PAGE: 'Users are affected now: wake a person.',
    TICKET: 'A person should act within days.',
    INFO: 'Good to know.',
  } satisfies Record<ConditionSeverity, string>),
})

const Condition = builder.objectRef<ActiveCondition>('Condition').implement({
  description: 'Something that an operator should know or repair. docs/alerts.md lists all conditions.',
  fields: (t) => ({
    ...exposeColumns(t, {
      name: ['String', 'Name in capitals, such as NO_LEADER. Later versions add names.'],
      meaning: ['String', 'The symptom and its effect, as a sentence.'],
      cause: ['String', 'The usual causes.'],
      remedy: ['String', 'The steps for an operator.'],
      since: ['DateTime', 'When it began.'],
    }),
    severity: t.expose('severity', { type: Severity, description: 'How urgent it is.' }),
    nextCommands: t.stringList({
      description: 'Commands for these steps, in order; a word in capitals stands for a name. At most 10.',
      resolve: ({ commands }) => [...commands],
    }),
    evidence: t.stringList({
      description:
        'The affected objects with numbers, as of the last evaluation, a sentence each. Empty for a viewer without the permission job.view.all. At most 100.',
      resolve: ({ evidence }, _args, { viewer }) => (seesAll(viewer) ? [...evidence] : []),
    }),
  }),
})

builder.objectFields(System, (t) => ({
  conditions: t.field({
    type: [Condition],
    description:
      'Conditions that hold now: PAGE before TICKET before INFO, then in the order in which they began. ' +
      'One server of the installation evaluates them every 10 s. At most 100.',
    resolve: async ({ readConditions }) => [...(await readConditions()).active],
  }),
  conditionsAt: t.field({
    type: 'DateTime',
    nullable: true,
    description:
      'When the conditions were last evaluated; null: never. More than a minute before `at`, no server evaluates them, and the list may be outdated.',
    resolve: async ({ readConditions }) => (await readConditions()).evaluatedAt,
  }),
}))
