import type { UserLevel as Level } from '../../../domain/access.ts'
import type { JobEventType } from '../../../domain/jobs/job-change.ts'
import type { FeedEvent } from '../../../feed/event.ts'
import { builder } from '../frame/builder.ts'
import { describeValues } from '../frame/enum-values.ts'
import { UserLevel } from '../frame/enums.ts'
import { objectFieldOrNull } from '../frame/fields.ts'
import { ArtifactRef } from '../frame/refs.ts'

/** The stored metadata of an event, by type. */

const StateDetail = builder.objectRef<{ nativeId?: string; requeued?: boolean }>('StateChangeDetail').implement({
  description: 'Details of STATE_CHANGED.',
  fields: (t) => ({
    nativeId: t.exposeString('nativeId', {
      nullable: true,
      description: 'Id of the run in its backend; null: it has none yet.',
    }),
    requeued: t.boolean({
      description: 'Whether the job waits for another run.',
      resolve: ({ requeued }) => requeued ?? false,
    }),
  }),
})

const RequestDetail = builder
  .objectRef<{ rule: string | null; requiredLevel: Level }>('ApprovalRequestDetail')
  .implement({
    description: 'Details of APPROVAL_REQUESTED.',
    fields: (t) => ({
      ruleName: t.exposeString('rule', {
        nullable: true,
        description: 'Name of the rule; null: requested by the submitter or by a quota.',
      }),
      requiredLevel: t.expose('requiredLevel', { type: UserLevel, description: 'Lowest user level that may decide.' }),
    }),
  })

const DecisionDetail = builder.objectRef<{ comment: string | null }>('ApprovalDecisionDetail').implement({
  description: 'Details of APPROVAL_DECIDED.',
  fields: (t) => ({
    comment: t.exposeString('comment', { nullable: true, description: 'Comment or reason given with the decision.' }),
  }),
})

const ArtifactDetail = builder.objectRef<{ artifactId?: string }>('ArtifactDetail').implement({
  description: 'Details of ARTIFACT_PUBLISHED.',
  fields: (t) => ({
    artifact: t.field({
      type: ArtifactRef,
      nullable: true,
      description: 'The artifact; null: it was deleted, or the event is of all output files of a run.',
      resolve: ({ artifactId }, _args, { load }) => (artifactId === undefined ? null : load.artifact.load(artifactId)),
    }),
  }),
})

const tiers = ['INTERACTIVE', 'STRICT', 'ROTATION', 'DRAIN'] as const

const PreemptionTier = builder.enumType('PreemptionTier', {
  description: 'Rule that allowed a preemption.',
  values: describeValues({
    INTERACTIVE: 'The claimant is interactive.',
    STRICT: 'Fair share: the account of the claimant would still hold less. PRIORITY: the claimant has a higher level.',
    ROTATION: 'Fair share: the account of the claimant holds less now, and the accounts take turns.',
    DRAIN: 'The run was backfilled on nodes that are held for the claimant.',
  } satisfies Record<(typeof tiers)[number], string>),
})

const PreemptionDetail = builder
  .objectRef<{ claimantJobId: string; claimantAccount: string; tier: number }>('PreemptionDetail')
  .implement({
    description: 'Details of PREEMPT_REQUESTED.',
    fields: (t) => ({
      claimant: objectFieldOrNull(
        t,
        'claimantJobId',
        'The job that gets the resources; null: deleted, or not visible to you.',
        'job',
      ),
      claimantAccount: t.exposeString('claimantAccount', {
        description: 'Account of the job for which this one was stopped.',
      }),
      tier: t.field({
        type: PreemptionTier,
        description: 'Rule that allowed the preemption.',
        resolve: ({ tier }) => tiers[tier] ?? 'DRAIN',
      }),
    }),
  })

const PriorityDetail = builder.objectRef<{ from: number | null; to: number | null }>('PriorityDetail').implement({
  description: 'Details of PRIORITY_CHANGED.',
  fields: (t) => ({
    before: t.exposeInt('from', { nullable: true, description: 'Earlier priority set by a user; null: none.' }),
    after: t.exposeInt('to', { nullable: true, description: 'New priority set by a user; null: none.' }),
  }),
})

const detailTypes = {
  STATE_CHANGED: StateDetail,
  APPROVAL_REQUESTED: RequestDetail,
  APPROVAL_DECIDED: DecisionDetail,
  ARTIFACT_PUBLISHED: ArtifactDetail,
  PREEMPT_REQUESTED: PreemptionDetail,
  PRIORITY_CHANGED: PriorityDetail,
}

type Described = keyof typeof detailTypes
const hasDetailType = (type: JobEventType): type is Described => Object.hasOwn(detailTypes, type)

export const JobEventDetail = builder.unionType('JobEventDetail', {
  description: 'Details of an event, by its type.',
  types: Object.values(detailTypes),
  resolveType: (detail) => detailTypes[(detail as unknown as { type: Described }).type],
})

/** Reads the details of an event; null: the event has no details. */
export const readDetail = ({ type, metadata }: FeedEvent) =>
  metadata === null || !hasDetailType(type) ? null : ({ ...metadata, type } as never)
