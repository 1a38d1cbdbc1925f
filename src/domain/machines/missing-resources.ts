import { describeFilters, formatGib, matchesAll, type Shape } from '../shape.ts'
import { type FreeDevice, type FreeNode, mayRunOnKind, namesDevices, serves, takesRuns } from './machines.ts'
import { createFitting, place } from './placement.ts'

/**
 * Explains why a job cannot be placed: lists each need that no machine satisfies, with the machine that comes closest. If
 * each single need is satisfied by some machine, lists the needs that no machine satisfies together.
 */

export function listMissingResources(shape: Shape, nodes: readonly FreeNode[]): string[] {
  if (place(shape, nodes)) return []
  const open = nodes.filter(takesRuns)
  if (open.length === 0) return [nodes.length === 0 ? 'The pool has no nodes' : `No node is ready: ${statesOf(nodes)}`]
  const ready = open.filter((node) => mayRunOnKind(shape, node))
  if (ready.length === 0) return ['A node for jobs without GPUs: all that are ready take only jobs with GPUs']
  const alone = needsOf(shape).flatMap((need) => (ready.some(need.met) ? [] : need.words(ready)))
  if (alone.length > 0) return alone
  const fitting = createFitting(shape, ready)
  const copies = [...ready.keys()].reduce((sum, at) => sum + fitting.copiesAt(at), 0)
  if (copies > 0)
    return [`${shape.copies} ${shape.distinctNodes ? 'nodes' : 'replicas'}: resources are free for only ${copies}`]
  return [`${listed(needsOf(shape).map(({ name }) => name))} on the same node`]
}

function statesOf(nodes: readonly FreeNode[]): string {
  const counts = new Map<string, number>()
  for (const node of nodes) {
    const word = node.state === 'READY' ? 'backing off after failed starts' : node.state.toLowerCase()
    counts.set(word, (counts.get(word) ?? 0) + 1)
  }
  return [...counts].map(([word, count]) => `${count} ${word}`).join(', ')
}

interface Need {
  name: string
  met: (node: FreeNode) => boolean
  words: (ready: readonly FreeNode[]) => string
}

function needsOf(shape: Shape): Need[] {
  const { cpuMillis, memoryBytes, cpuModel, infiniband, exclusive } = shape
  const name = { cpu: `${cpuMillis / 1000} cpu`, memory: formatGib(memoryBytes) }
  return [
    ...(cpuModel.length === 0
      ? []
      : [
          {
            name: `the processor ${cpuModel.join(', ')}`,
            met: (node: FreeNode) => matchesAll(cpuModel, node.cpuModel ?? ''),
            words: () => `Processor matching ${cpuModel.join(', ')}: not on any node`,
          },
        ]),
    {
      name: name.cpu,
      met: ({ freeCpu }) => cpuMillis <= freeCpu,
      words: (ready) => `${name.cpu} on one node: ${most(ready, ({ freeCpu }) => freeCpu) / 1000} are free`,
    },
    {
      name: name.memory,
      met: ({ freeMemory }) => memoryBytes <= freeMemory,
      words: (ready) =>
        `${name.memory} on one node: ${formatGib(most(ready, ({ freeMemory }) => freeMemory))} are free`,
    },
    ...(shape.gpu > 0 ? [gpusOf(shape)] : []),
    ...(infiniband ? [infinibandNeed] : []),
    ...(exclusive ? [exclusiveNeed] : []),
  ]
}

function gpusOf(shape: Shape): Need {
  const fits = ({ index }: FreeDevice) => !namesDevices(shape) || (shape.gpuIds ?? []).includes(index)
  const serving = ({ devices }: FreeNode) => devices.filter((device) => fits(device) && serves(shape, device))
  const free = (node: FreeNode) => serving(node).filter((device) => device.free).length
  const name = `${shape.gpu} GPU${shape.gpu > 1 ? 's' : ''}${describeFilters(shape)}`
  return {
    name,
    met: (node) => free(node) >= shape.gpu,
    words(ready) {
      const has = most(ready, (node) => serving(node).length)
      const there = has < shape.gpu ? `no node has more than ${has}` : `${most(ready, free)} are free`
      return `${name} on one node: ${has === 0 ? 'no node has one' : there}`
    },
  }
}

const infinibandNeed: Need = {
  name: 'InfiniBand',
  met: ({ infinibandFree }) => infinibandFree,
  words: (ready) =>
    ready.some(({ infiniband }) => infiniband)
      ? 'InfiniBand: all nodes with InfiniBand are in use'
      : 'InfiniBand: not on any node',
}

const exclusiveNeed: Need = {
  name: 'nothing else',
  met: (node) => node.freeCpu === node.cpuMillis && node.freeMemory === node.memoryBytes,
  words: () => 'An idle node: every node has running jobs',
}

const most = (nodes: readonly FreeNode[], of: (node: FreeNode) => number) =>
  nodes.reduce((best, node) => Math.max(best, of(node)), 0)

const listed = (names: readonly string[]) =>
  names.length > 1 ? `${names.slice(0, -1).join(', ')} and ${names.at(-1)}` : (names[0] ?? '')
