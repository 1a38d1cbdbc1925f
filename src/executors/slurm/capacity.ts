import type { Log } from '../../platform/log.ts'
import type { BackendGpu, BackendNode } from '../executor.ts'
import { infinibandFeature, untypedGpu } from './options.ts'
import type { SlurmJob } from './squeue-output.ts'
import { parseNodeState } from './state-tables.ts'

const separator = '\x1f'
const fields = [
  'NodeList',
  'StateLong',
  'CPUsState',
  'Memory',
  'AllocMem',
  'Gres',
  'GresUsed',
  'Features',
  'PartitionName',
] as const

export const nodesFormat = fields.map((name) => `${name}:${separator}`).join(',')

interface Held {
  cpus: number
  memoryBytes: number
  gpus: number
}

const mebibyte = 1024 ** 2

/** `ours`: running jobs of Berth. All other allocations count as used outside Berth. */
export function parseNodes(text: string, ours: readonly SlurmJob[], log: Log): BackendNode[] {
  const held = heldByNode(ours)
  const nodes = new Map(
    text.split('\n').flatMap((line): [string, BackendNode][] => {
      const [name = '', state = '', cpus = '', memory = '', allocated = '', gres = '', used = '', features] =
        line.split(separator)
      if (features === undefined) return []
      const known = parseNodeState(state)
      if (known === null) log.error({ node: name, state }, 'Slurm reports an unknown state of a node; it is CORDONED')
      // The fields are: allocated, idle, other, total.
      const [busy = 0, , , all = 0] = cpus.split('/').map(Number)
      const mine = held.get(name) ?? { cpus: 0, memoryBytes: 0, gpus: 0 }
      const gpus = parseGres(gres)
      const others = {
        cpuMillis: left(busy, mine.cpus) * 1000,
        memoryBytes: left(Number(allocated) * mebibyte, mine.memoryBytes),
        gpus: left(parseGres(used).length, mine.gpus),
      }
      const amounts = { cpuMillis: all * 1000, memoryBytes: Number(memory) * mebibyte, cpuModel: '', gpus }
      const infiniband = features.split(/[,&()]+/).includes(infinibandFeature)
      return [
        [name, { name, state: known ?? 'CORDONED', ...amounts, infiniband, gpuJobsOnly: false, heldByOthers: others }],
      ]
    }),
  )
  return [...nodes.values()]
}

export function parseGpuTypes(text: string): ReadonlyMap<string, readonly string[]> {
  const byPartition = new Map<string, Set<string>>()
  for (const line of text.split('\n')) {
    const [gres = '', , , partition] = line.split(separator).slice(fields.indexOf('Gres'))
    if (partition === undefined) continue
    const types = byPartition.get(partition) ?? new Set()
    for (const { model } of parseGres(gres)) types.add(model)
    byPartition.set(partition, types)
  }
  return new Map([...byPartition].map(([partition, types]) => [partition, [...types]]))
}

const left = (all: number, ours: number) => Math.max(0, all - Math.floor(ours))

/**
 * Divides the amounts that jobs hold by node: Slurm reports the sum over the nodes of a job, and Berth requests the
 * same amount on each.
 */
function heldByNode(jobs: readonly SlurmJob[]): Map<string, Held> {
  const byNode = new Map<string, Held>()
  for (const { nodes, held } of jobs)
    for (const node of nodes) {
      const sum = byNode.get(node) ?? { cpus: 0, memoryBytes: 0, gpus: 0 }
      byNode.set(node, {
        cpus: sum.cpus + held.cpus / nodes.length,
        memoryBytes: sum.memoryBytes + held.memoryBytes / nodes.length,
        gpus: sum.gpus + held.gpus / nodes.length,
      })
    }
  return byNode
}

/** Parses `gpu:a100:2(S:0-1),gpu:1,craynetwork:4` to one entry per GPU. Slurm reports only a GPU's type. */
function parseGres(text: string): BackendGpu[] {
  const entries = text.replaceAll(/\([^)]*\)/g, '').split(',')
  return entries.flatMap((entry) => {
    const [kind, ...rest] = entry.split(':')
    const count = Number(rest.at(-1))
    if (kind !== 'gpu' || !Number.isSafeInteger(count)) return []
    return Array.from({ length: count }, () => ({
      model: rest.length > 1 ? (rest[0] ?? untypedGpu) : untypedGpu,
      memoryBytes: 0,
      tensorCores: false,
      cudaVersion: null,
    }))
  })
}

/** Parses a time such as `1-00:00:00`, `5:00` or `infinite` to minutes; null: unlimited. */
export function parseMinutes(text: string): number | null {
  const [, days = '0', hours = '0', minutes, seconds] = text.match(/^(?:(\d+)-)?(?:(\d+):)??(\d+):(\d+)$/) ?? []
  if (minutes === undefined || seconds === undefined) return null
  return Number(days) * 1440 + Number(hours) * 60 + Number(minutes)
}
