import { type Spec, unlimitedSeconds } from '../../../features/spec/spec-input.ts'
import { formatBytes, formatDuration, plural } from '../../../parts/format.ts'
import { type SpecChange, withMemory, withResources } from './remedies.ts'

const proposalsMax = 6
const hourSeconds = 3_600
const half = (amount: number) => Math.max(1, Math.floor(amount / 2))

interface Queue {
  name: string
}

/** Lists up to six changes of the spec that could let a waiting job start earlier. */
export function listProposals(spec: Spec, queues: readonly Queue[]): readonly SpecChange[] {
  const { resources, maxRunTimeSeconds } = spec
  const { gpu, cpu, memoryBytes, gpuModel, gpuMemoryBytes } = resources
  const others = queues.filter(({ name }) => name !== spec.queue)
  const proposals: (SpecChange | false)[] = [
    gpu > 1 && { text: `${half(gpu)} GPU`, change: withResources({ gpu: half(gpu) }) },
    gpu > 3 && { text: '1 GPU', change: withResources({ gpu: 1 }) },
    (gpuModel.length > 0 || gpuMemoryBytes !== null) && {
      text: 'any GPU',
      change: withResources({ gpuModel: null, gpuMemoryGib: null, gpuMemoryBytes: null }),
    },
    (maxRunTimeSeconds === null || maxRunTimeSeconds > hourSeconds) && shorten(maxRunTimeSeconds),
    cpu > 1 && { text: plural(half(cpu), 'core'), change: withResources({ cpu: half(cpu) }) },
    memoryBytes > 2 * 1024 ** 3 && {
      text: `${formatBytes(memoryBytes / 2)} of memory`,
      change: withMemory(memoryBytes / 2),
    },
    !spec.preemptable &&
      !spec.interactive && {
        text: 'preemptable',
        change: (input) => ({ ...input, preemptable: true, maxRunTimeSeconds: maxRunTimeSeconds ?? unlimitedSeconds }),
      },
    ...others.map(
      ({ name }): SpecChange => ({
        text: `queue ${name}`,
        // Removes the executor, because the pool of the other queue may not have it.
        change: ({ executor: _, ...input }) => ({ ...input, queue: name }),
      }),
    ),
  ]
  return proposals.filter((each) => each !== false).slice(0, proposalsMax)
}

function shorten(maxRunTimeSeconds: number | null): SpecChange {
  const seconds =
    maxRunTimeSeconds === null
      ? hourSeconds
      : Math.max(hourSeconds, Math.round(maxRunTimeSeconds / 2 / hourSeconds) * hourSeconds)
  return {
    text: `limit ${formatDuration(seconds * 1_000)}`,
    change: (input) => ({ ...input, maxRunTimeSeconds: seconds }),
  }
}
