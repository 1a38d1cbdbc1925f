import type { MapNode } from './node-changes.ts'
import { type Claims, findCondition } from './node-condition.ts'

/** Requested resources. The filter reads texts such as "4 GPU a100 >= 40 GiB" or "16 cores 64 GiB". */
export interface Request {
  gpus: number
  gpuModel: string
  gpuMemoryBytes: number
  cores: number
  memoryBytes: number
}

const unitBytes: Readonly<Record<string, number>> = {
  mib: 2 ** 20,
  gib: 2 ** 30,
  tib: 2 ** 40,
  m: 2 ** 20,
  g: 2 ** 30,
  t: 2 ** 40,
}
const gpuTerm = /(\d+)\s*gpus?\b/i
const coreTerm = /(\d+(?:\.\d+)?)\s*(?:cores?|cpus?)\b/i
const gpuMemoryTerm = /(?:>=?|≥)\s*(\d+(?:\.\d+)?)\s*([mgt](?:ib)?)\b/i
const memoryTerm = /(\d+(?:\.\d+)?)\s*([mgt](?:ib)?)\b/i
const modelTerm = /^[a-z][\w-]*$/i

const toBytes = ([, count = '0', unit = '']: RegExpMatchArray) => Number(count) * (unitBytes[unit.toLowerCase()] ?? 0)

/** Parses a request; null: the text is not a request. */
export function parseRequest(text: string): Request | null {
  const found: Request = { gpus: 0, gpuModel: '', gpuMemoryBytes: 0, cores: 0, memoryBytes: 0 }
  let rest = text
  const take = (term: RegExp, use: (match: RegExpMatchArray) => void) => {
    const match = rest.match(term)
    if (!match) return
    use(match)
    rest = rest.replace(match[0], ' ')
  }
  take(gpuTerm, (match) => (found.gpus = Number(match[1])))
  take(gpuMemoryTerm, (match) => (found.gpuMemoryBytes = toBytes(match)))
  take(coreTerm, (match) => (found.cores = Number(match[1])))
  take(memoryTerm, (match) => (found.memoryBytes = toBytes(match)))
  const words = rest.split(/[\s,]+/).filter(Boolean)
  if (words.length > 1 || words.some((word) => !modelTerm.test(word))) return null
  found.gpuModel = words[0]?.toLowerCase() ?? ''
  if ((found.gpuMemoryBytes > 0 || found.gpuModel !== '') && found.gpus === 0) found.gpus = 1
  return found.gpus + found.cores + found.memoryBytes > 0 ? found : null
}

export type Fit = 'NOW' | 'LATER' | 'NEVER'

/** Returns whether the request fits on the node now, later when its runs have ended, or never. */
export function fitNode(node: MapNode, request: Request, claims: Claims): Fit {
  const suits = node.gpus.filter(
    ({ model, memoryBytes }) => memoryBytes >= request.gpuMemoryBytes && model.toLowerCase().includes(request.gpuModel),
  )
  const has = ({ cpu, memoryBytes }: MapNode['free']) => cpu >= request.cores && memoryBytes >= request.memoryBytes
  if (suits.length < request.gpus || !has(node.capacity)) return 'NEVER'
  const free = suits.filter(({ allocated }) => !allocated).length
  return free >= request.gpus && has(node.free) && findCondition(node, claims) === null ? 'NOW' : 'LATER'
}
