import type { KnownApproval } from '../../../domain/control/approvals.ts'
import type { JobSession } from '../../../domain/control/sessions.ts'
import type { Quota } from '../../../domain/limits/stored-quotas.ts'
import type { Slot } from '../../../domain/submission/slots.ts'
import type { JobRow } from '../../../domain/submission/stored-job.ts'
import type { FeedEvent } from '../../../feed/event.ts'
import type {
  ApiToken,
  ApprovalRule,
  Artifact,
  AuditEntry,
  CapacityReservation,
  Device,
  PoolNode,
  Run,
  SavedView,
  Secret,
  Snapshot,
  Team,
  User,
} from '../../../platform/generated/client.ts'
import type { HoldRow } from '../../rows/waiting-loaders.ts'
import { builder } from './builder.ts'

/** Object types and their rows, in one file so that types can refer to each other without import cycles. */
export const JobRef = builder.objectRef<JobRow>('Job')
export const RunRef = builder.objectRef<Run>('Run')
export const JobEventRef = builder.objectRef<FeedEvent>('JobEvent')
export const ArtifactRef = builder.objectRef<Omit<Artifact, 'hash'>>('Artifact')
export const JobSessionRef = builder.objectRef<JobSession>('JobSession')
/** A snapshot without its list and diff, which may have megabytes. */
export type SnapshotRow = Omit<Snapshot, 'list' | 'blobs' | 'diff'>
export const SnapshotRef = builder.objectRef<SnapshotRow>('Snapshot')
export const UserRef = builder.objectRef<User>('User')
export const TeamRef = builder.objectRef<Team>('Team')
export const SavedViewRef = builder.objectRef<SavedView>('SavedView')
/** A secret without its encrypted value, so that the value cannot leak. */
export const SecretRef = builder.objectRef<Omit<Secret, 'data'>>('Secret')
/** A token without its hash, so that the hash cannot leak. */
export const ApiTokenRef = builder.objectRef<Omit<ApiToken, 'hash'>>('ApiToken')
/** A pool by its name, so that a reference costs no read. Other fields load the row. */
export const PoolRef = builder.objectRef<{ name: string }>('Pool')
export const PoolNodeRef = builder.objectRef<PoolNode>('PoolNode')
export const HoldRef = builder.objectRef<HoldRow>('Hold')
export const GpuRef = builder.objectRef<Device>('Gpu')
export const SlotReservationRef = builder.objectRef<Slot>('SlotReservation')
export const QuotaRef = builder.objectRef<Quota>('Quota')
export const SubmissionQueueRef = builder.objectRef<{ name: string }>('SubmissionQueue')
export const ApprovalRef = builder.objectRef<KnownApproval>('Approval')
export const ApprovalRuleRef = builder.objectRef<ApprovalRule>('ApprovalRule')
export const CapacityReservationRef = builder.objectRef<CapacityReservation>('CapacityReservation')
export const AuditEntryRef = builder.objectRef<AuditEntry>('AuditEntry')
