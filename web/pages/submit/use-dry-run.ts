import type { RequestFailed } from '@berth-jobs/berth/client'
import { useRef } from 'react'
import { DryRunDocument, type DryRunQuery, type SubmitJobInput } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { useResource } from '../../ground/resource.ts'
import { useSettled } from '../../ground/settled.ts'
import { readTypeErrors, readViolations, type Violation } from './violations.ts'

export type Preview = Extract<DryRunQuery['previewJob'], { __typename: 'JobPreview' }>
export type DryRunRefusal = Exclude<DryRunQuery['previewJob'], { __typename: 'JobPreview' }>

export interface DryRun {
  /** The last prediction; null: none yet. */
  preview: Preview | null
  /** Why the server would refuse the submission; null: it would not. */
  refusal: DryRunRefusal | null
  violations: readonly Violation[]
  failure: RequestFailed | null
  /** true: the prediction is for an earlier input, and a newer one is being read. */
  isPending: boolean
}

const repeatMs = 15_000
const nothing: DryRun = { preview: null, refusal: null, violations: [], failure: null, isPending: false }

/** Predicts the outcome of a submission by a dry run, 300 ms after the last change, and then repeatedly. */
export function useDryRun(input: SubmitJobInput | null): DryRun {
  const wanted = input === null ? '' : JSON.stringify(input)
  const settled = useSettled(wanted)
  const last = useRef<DryRun>(nothing)
  const isCurrent = wanted === settled
  const { value, failure } = useResource(
    `dry run ${settled}`,
    async (signal) => {
      const submit = JSON.parse(settled) as SubmitJobInput
      return (await client.request(DryRunDocument, { input: { submit } }, { signal })).previewJob
    },
    // The next change aborts the running request.
    { everyMs: repeatMs, isOff: settled === '' || !isCurrent },
  )
  if (wanted === '') return nothing
  if (!isCurrent || (!value && !failure)) return { ...last.current, isPending: true }
  last.current = toDryRun(value, failure)
  return last.current
}

function toDryRun(value: DryRunQuery['previewJob'] | undefined, failure: RequestFailed | null): DryRun {
  const violations = failure ? readTypeErrors(failure.message) : []
  if (violations.length > 0) return { ...nothing, violations }
  if (!value) return { ...nothing, failure }
  if (value.__typename === 'JobPreview') return { ...nothing, preview: value, failure }
  const isInvalid = value.__typename === 'InvalidInputProblem'
  return { ...nothing, refusal: value, violations: isInvalid ? readViolations(value) : [], failure }
}
