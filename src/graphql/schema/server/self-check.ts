import { type SelfCheck as Check, type Finding, selfCheck } from '../../../domain/selfcheck/selfcheck.ts'
import { checkCost } from '../../caller-limits.ts'
import { builder } from '../frame/builder.ts'

const SelfCheckFinding = builder.objectRef<Finding>('SelfCheckFinding').implement({
  description: 'A violated rule of the stored data.',
  fields: (t) => ({
    rule: t.exposeString('rule', { description: 'The violated rule.' }),
    objectId: t.exposeID('objectId', { nullable: true, description: 'Id of the affected object; null: none.' }),
    message: t.exposeString('message', { description: 'Description of the violation.' }),
  }),
})

const SelfCheck = builder.objectRef<Check>('SelfCheck').implement({
  description: 'Result of checking the stored data.',
  fields: (t) => ({
    ok: t.exposeBoolean('ok', { description: 'Whether no problem was found.' }),
    findings: t.expose('findings', { type: [SelfCheckFinding], description: 'The problems found, at most 1,000.' }),
    at: t.expose('at', { type: 'DateTime', description: 'Time of the data.' }),
  }),
})

builder.queryField('selfCheck', (t) =>
  t.field({
    type: SelfCheck,
    description: 'Checks the stored data against its rules. It reads every job; do not poll it.',
    complexity: checkCost,
    resolve: (_root, _args, { domain, lists: { db }, viewer }) => selfCheck({ ...domain, db }, viewer),
  }),
)
