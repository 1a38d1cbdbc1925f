import { type TypedId, typedId } from '../platform/ids.ts'

/** Kinds of objects with ids of their own. */
export type IdPrefix =
  | 'job'
  | 'run'
  | 'user'
  | 'node'
  | 'team'
  | 'token'
  | 'slot'
  | 'quota'
  | 'rule'
  | 'approval'
  | 'question'
  | 'audit'
  | 'reservation'
  | 'artifact'
export type Id<Prefix extends IdPrefix> = TypedId<Prefix>
export type JobId = Id<'job'>
export type RunId = Id<'run'>

export const newId = <Prefix extends IdPrefix>(prefix: Prefix, nowMs: number): Id<Prefix> => typedId(prefix, nowMs)
