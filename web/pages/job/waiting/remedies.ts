import type { Spec } from '../../../features/spec/spec-input.ts'
import type { JobSpecInput } from '../../../generated/graphql.ts'
import { formatBytes, formatDuration } from '../../../parts/format.ts'

/** A change of the spec. `text` names it: "4 GPUs" or "a limit of 2 h". */
export interface SpecChange {
  text: string
  change: (spec: JobSpecInput) => JobSpecInput
}

const gibBytes = 1024 ** 3
const hourSeconds = 3_600

export const withResources =
  (resources: NonNullable<JobSpecInput['resources']>) =>
  (spec: JobSpecInput): JobSpecInput => ({ ...spec, resources: { ...spec.resources, ...resources } })

export function withMemory(bytes: number): SpecChange['change'] {
  return (spec) => {
    const { memoryBytes: _, memoryGib: __, ...others } = spec.resources ?? {}
    return { ...spec, resources: { ...others, memoryGib: Math.max(1, Math.ceil(bytes / gibBytes)) } }
  }
}

/** Finds the change of the spec that would have helped a failed job; null: none would. */
export function findRemedy(stateReason: string | null, spec: Spec): SpecChange | null {
  const { resources, maxRunTimeSeconds } = spec
  if (stateReason === 'OOM_KILLED') {
    const bytes = Math.max(gibBytes, Math.ceil(resources.memoryBytes / gibBytes) * gibBytes) * 2
    return { text: `${formatBytes(bytes)} of memory`, change: withMemory(bytes) }
  }
  if (stateReason === 'MAX_RUN_TIME' && maxRunTimeSeconds !== null) {
    const seconds = lengthen(maxRunTimeSeconds)
    return {
      text: `a limit of ${formatDuration(seconds * 1_000)}`,
      change: (input) => ({ ...input, maxRunTimeSeconds: seconds }),
    }
  }
  if ((stateReason === 'PREEMPTED' || stateReason === 'NODE_LOST') && !spec.restartable && !spec.interactive)
    return {
      text: 'restarts after an interruption',
      change: (input) => ({ ...input, restartable: true }),
    }
  return null
}

/** Doubles the time, and rounds times above one hour to hours. */
const lengthen = (seconds: number) =>
  seconds >= hourSeconds ? Math.ceil((2 * seconds) / hourSeconds) * hourSeconds : 2 * seconds
