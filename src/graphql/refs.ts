import type { FeedEvent } from '../feed/event.ts'
import type { Device, Job, Pool, PoolNode, Run, SubmissionQueue, User } from '../platform/generated/client.ts'
import { builder } from './builder.ts'

/** The nouns with the rows they resolve from. Here, apart from their fields, so that nouns can name each other. */
export const JobRef = builder.objectRef<Job>('Job')
export const RunRef = builder.objectRef<Run>('Run')
export const JobEventRef = builder.objectRef<FeedEvent>('JobEvent')
export const UserRef = builder.objectRef<User>('User')
export const PoolRef = builder.objectRef<Pool>('Pool')
export const PoolNodeRef = builder.objectRef<PoolNode>('PoolNode')
export const DeviceRef = builder.objectRef<Device>('Device')
export const SubmissionQueueRef = builder.objectRef<SubmissionQueue>('SubmissionQueue')
