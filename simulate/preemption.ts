import { parseArgs } from 'node:util'
import { type Kind, neverSettles, settle } from './clusters.ts'

/** `npm run simulate -- preemption --clusters 100000` */
const { values } = parseArgs({
  options: { clusters: { type: 'string', default: '100000' }, from: { type: 'string', default: '1' } },
})
const clusters = Number(values.clusters)
const from = Number(values.from)

const kinds: Record<string, { kind: Kind; clusters: number }> = {
  'one node, strict alone': { kind: { nodes: 1, quantumPasses: null, passes: 150 }, clusters },
  'two nodes, strict alone': { kind: { nodes: 2, quantumPasses: null, passes: 150 }, clusters: clusters / 10 },
  'one node, strict alone, half-life of 20 passes': {
    kind: { nodes: 1, quantumPasses: null, passes: 400, halfLifePasses: 20 },
    clusters: clusters / 10,
  },
  'two nodes, strict alone, half-life of 20 passes': {
    kind: { nodes: 2, quantumPasses: null, passes: 400, halfLifePasses: 20 },
    clusters: clusters / 10,
  },
  'one node, strict alone, people': {
    kind: { nodes: 1, quantumPasses: null, passes: 150, people: true },
    clusters,
  },
  'two nodes, strict alone, people, half-life of 20 passes': {
    kind: { nodes: 2, quantumPasses: null, passes: 400, halfLifePasses: 20, people: true },
    clusters: clusters / 10,
  },
  'one node, quantum of 50 passes, people': {
    kind: { nodes: 1, quantumPasses: 50, passes: 200, people: true },
    clusters: clusters / 100,
  },
  'one node, quantum of 50 passes': { kind: { nodes: 1, quantumPasses: 50, passes: 200 }, clusters: clusters / 100 },
  'two nodes, quantum of 50 passes': { kind: { nodes: 2, quantumPasses: 50, passes: 200 }, clusters: clusters / 100 },
}

for (const [name, of] of Object.entries(kinds)) {
  const totals = { clusters: 0, evictions: 0, mostPerQuantum: 0, endless: 0, broken: 0 }
  for (let seed = from; seed < from + of.clusters; seed++) {
    const outcome = settle(seed, of.kind)
    const { evicted, mostPerQuantum, broken } = outcome
    const endless = neverSettles(of.kind, outcome)
    totals.clusters++
    totals.evictions += evicted.reduce((sum, count) => sum + count, 0)
    totals.mostPerQuantum = Math.max(totals.mostPerQuantum, mostPerQuantum)
    totals.endless += Number(endless)
    totals.broken += Number(broken.length > 0)
    if (endless || broken.length > 0) process.stdout.write(`Seed ${seed}: ${endless ? 'endless' : broken.join('; ')}\n`)
  }
  process.stdout.write(`${name}: ${JSON.stringify(totals)}\n`)
}
