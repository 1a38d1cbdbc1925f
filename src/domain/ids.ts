import { makeTypedId, type TypedId } from '../platform/ids.ts'

type IdPrefix =
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
  | 'session'
  | 'view'
  | 'secret'
  | 'snapshot'

export const newId = <Prefix extends IdPrefix>(prefix: Prefix, nowMs: number): TypedId<Prefix> =>
  makeTypedId(prefix, nowMs)
