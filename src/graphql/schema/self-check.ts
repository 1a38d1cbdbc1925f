import { type SelfCheck as Check, type Finding, selfCheck } from '../../domain/selfcheck/selfcheck.ts'
import { builder } from '../builder.ts'

const SelfCheckFinding = builder.objectRef<Finding>('SelfCheckFinding').implement({
  description: 'Something that is stored and should not be so.',
  fields: (t) => ({
    rule: t.exposeString('rule', { description: 'What must be true.' }),
    objectId: t.exposeID('objectId', { nullable: true, description: 'Of what it is not.' }),
    message: t.exposeString('message', { description: 'What is there instead.' }),
  }),
})

const SelfCheck = builder.objectRef<Check>('SelfCheck').implement({
  description: 'Whether everything that must be true of what is stored is so.',
  fields: (t) => ({
    ok: t.exposeBoolean('ok', { description: 'Nothing was found.' }),
    findings: t.expose('findings', { type: [SelfCheckFinding], description: 'What was found, at most 1,000.' }),
    at: t.expose('at', { type: 'DateTime', description: 'When this was so.' }),
  }),
})

builder.queryField('selfCheck', (t) =>
  t.field({
    type: SelfCheck,
    description:
      'Checks what is stored against its own rules. It reads every job, so it is for people and not for dashboards.',
    resolve: (_root, _args, { domain, viewer }) => selfCheck(domain, viewer),
  }),
)
