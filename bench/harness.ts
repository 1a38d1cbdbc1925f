import { Agent, request } from 'node:http'

/**
 * Benchmarks compare contestants in one run and print ratios: absolute numbers depend on the machine. Rounds of the
 * contestants alternate, so that a noisy neighbour hits all of them. The first round of each only warms up.
 */
export interface Contestant {
  name: string
  /** One operation; rejects if it failed. */
  work: () => Promise<void>
}

export interface Race {
  contestants: readonly Contestant[]
  clients: number
  rounds: number
  roundMs: number
}

export interface Result {
  name: string
  perSecond: number
  latenciesMs: readonly number[]
}

/** Each client performs one operation after the other until the round ends. */
async function round({ work }: Contestant, clients: number, roundMs: number) {
  const latenciesMs: number[] = []
  const began = performance.now()
  const client = async () => {
    while (performance.now() - began < roundMs) {
      const sent = performance.now()
      await work()
      latenciesMs.push(performance.now() - sent)
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  return { latenciesMs, seconds: (performance.now() - began) / 1_000 }
}

export async function race({ contestants, clients, rounds, roundMs }: Race): Promise<Result[]> {
  const totals = contestants.map(({ name }) => ({ name, latenciesMs: [] as number[], rates: [] as number[] }))
  for (let i = 0; i <= rounds; i++)
    for (const [c, contestant] of contestants.entries()) {
      const { latenciesMs, seconds } = await round(contestant, clients, roundMs)
      if (i === 0) continue
      totals[c]?.latenciesMs.push(...latenciesMs)
      totals[c]?.rates.push(latenciesMs.length / seconds)
    }
  return totals.map(({ name, latenciesMs, rates }) => ({ name, latenciesMs, perSecond: percentile(rates, 0.5) }))
}

/** The percentile by nearest rank. */
export function percentile(values: readonly number[], fraction: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(fraction * sorted.length) - 1))] ?? Number.NaN
}

const ms = (value: number) => `${value.toFixed(value < 10 ? 2 : 1)} ms`

/** Prints a line per contestant; ratios are relative to the first. */
export function printRace(title: string, results: readonly Result[]): void {
  const measure = results[0]?.perSecond ?? Number.NaN
  const lines = results.map(({ name, perSecond, latenciesMs }) => [
    name,
    `${Math.round(perSecond)}/s`,
    `${(perSecond / measure).toFixed(2)} ×`,
    ...percentiles(latenciesMs),
  ])
  printLines(title, [['', 'rate', 'ratio', 'p50', 'p90', 'p99', 'max'], ...lines])
}

export function printLatencies(title: string, series: Readonly<Record<string, readonly number[]>>): void {
  const lines = Object.entries(series).map(([name, values]) => [name, String(values.length), ...percentiles(values)])
  printLines(title, [['', 'n', 'p50', 'p90', 'p99', 'max'], ...lines])
}

const percentiles = (values: readonly number[]) => [0.5, 0.9, 0.99, 1].map((p) => ms(percentile(values, p)))

export function printLines(title: string, lines: readonly string[][]): void {
  const widths = (lines[0] ?? []).map((_, i) => Math.max(...lines.map((line) => line[i]?.length ?? 0)))
  const text = lines.map((line) =>
    line.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join('  '),
  )
  process.stdout.write(`\n${title}\n${text.join('\n')}\n`)
}

/** POSTs one GraphQL document over kept-alive connections. Throws if the response has no data, or has errors. */
export function poster(url: string, clients: number, more: Readonly<Record<string, string>> = {}) {
  const agent = new Agent({ keepAlive: true, maxSockets: clients })
  const post = (body: string) =>
    new Promise<string>((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...more }
      const sent = request(`${url}/graphql`, { method: 'POST', agent, headers }, (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (part) => {
          text += part
        })
        response.on('end', () => resolve(text))
        response.on('error', reject)
      })
      sent.on('error', reject)
      sent.end(body)
    })
  return {
    async send(body: string): Promise<string> {
      const text = await post(body)
      if (!text.startsWith('{"data"') || text.includes('"errors"') || text.includes('Problem')) throw new Error(text)
      return text
    },
    close: () => agent.destroy(),
  }
}
