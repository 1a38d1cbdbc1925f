/** The package entry `@berth-jobs/berth/client`: everything that programs in Node and in browsers need to work with a server. */

export { type GraphqlError, RequestFailed, type TokenTrouble } from './connection/failure.ts'
export type { Answer, Operation } from './connection/http.ts'
export { advancing, type Resumable } from './connection/resume.ts'
export type { StreamOptions, Transport } from './connection/streams.ts'
export type { TokenSource } from './connection/tokens.ts'
export type { ConnectionOptions, RequestOptions, TypedDocument } from './connection/transport.ts'
export * from './generated/graphql.ts'
export { type Client, createClient, type RetryJobAnswer, type SubmitJobAnswer } from './jobs/client.ts'
export type { FollowJobOptions, JobUpdate } from './jobs/events.ts'
export { createIdempotencyKey } from './jobs/idempotency-key.ts'
export type { LiveJobs, LiveJobsOptions, LiveJobsSnapshot } from './jobs/live-jobs.ts'
export type { TailOptions, TailPart } from './jobs/logs.ts'
