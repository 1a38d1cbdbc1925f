import type { EngineFacts } from './engine-facts.ts'
import type { MachineLook } from './machine-look.ts'

/** Problems of a machine that an administrator must fix there. */

const oldest = { Docker: [20, 10], Podman: [4, 0] } as const
const apartMsMax = 5_000
const diskFreeMin = 0.1

/** Returns sentences with the problem and its fix. `look`: for a machine with GPUs for jobs, if `hasGpus`. */
export function findTroubles(facts: EngineFacts, look?: MachineLook, hasGpus = false): string[] {
  const { name, version, isPodman, aheadMs } = facts
  const [major, minor] = oldest[isPodman ? 'Podman' : 'Docker']
  const [ownMajor = 0, ownMinor = 0] = version.split('.').map(Number)
  const isOld = ownMajor < major || (ownMajor === major && ownMinor < minor)
  const apartSeconds = Math.round(Math.abs(aheadMs ?? 0) / 1000)
  const isApart = apartSeconds * 1000 > apartMsMax
  const side = (aheadMs ?? 0) > 0 ? 'ahead of' : 'behind'
  const diskFree = look?.diskFree ?? 1
  const troubles: readonly (readonly [holds: boolean, sentence: string])[] = [
    [isOld, `${name} is too old: update it to ${major}.${minor} or newer`],
    [
      isApart,
      `The clock of the machine is ${apartSeconds} s ${side} that of the server: run "timedatectl set-ntp true" on both`,
    ],
    [
      diskFree < diskFreeMin,
      `${Math.floor(diskFree * 100)} % of the disk of the containers is free: remove images and containers there, for example with "docker system prune"`,
    ],
    [hasGpus && !facts.hasNvidia && !isPodman, `The GPUs of the node reach no job: ${withoutNvidia}`],
    [
      look?.gpuFailure != null,
      `The engine gives containers no GPUs: ${look?.gpuFailure}; repair the driver until "nvidia-smi" works there`,
    ],
  ]
  return troubles.flatMap(([holds, sentence]) => (holds ? [sentence] : []))
}

export const withoutNvidia =
  'the engine has no NVIDIA runtime; install nvidia-container-toolkit, and run "nvidia-ctk runtime configure"'
