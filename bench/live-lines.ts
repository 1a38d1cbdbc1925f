import { connectApi } from '../test/support/api.ts'
import { type Contest, secret } from './contest.ts'
import { percentile, printLatencies } from './harness.ts'

const linesPerSecond = 10

interface Line {
  writtenMs: number
  lateMs: number
}

/**
 * Measures the delay of output lines of many jobs: before, while and after all of them print. Each line contains the
 * time at which it was written.
 */
export async function measureLines({ berth, size }: Contest): Promise<void> {
  const api = connectApi(berth.url, secret)
  const script = `use Time::HiRes qw(time sleep); $| = 1; for (1..${size.lines}) { printf "%.4f\\n", time * 1000; sleep ${1 / linesPerSecond} }`
  const spec = { command: ['/usr/bin/perl', '-e', script], resources: { cpu: 1, memoryBytes: 64 * 2 ** 20 } }
  const ids = await api.submitAll(Array.from({ length: size.jobs }, () => spec))
  const query =
    'subscription ($jobId: ID!, $after: Cursor) { tail(jobId: $jobId, after: $after) { ... on LogBatch { text cursor } } }'
  const read = async (jobId: string) => {
    const lines: Line[] = []
    const beganMs = performance.timeOrigin + performance.now()
    for await (const { text = '' } of api.stream<Batch>('tail', query, { jobId })) {
      const now = performance.timeOrigin + performance.now()
      const written = text
        .split('\n')
        .filter(Boolean)
        .map(Number)
        .filter((writtenMs) => writtenMs >= beganMs)
      lines.push(...written.map((writtenMs) => ({ writtenMs, lateMs: now - writtenMs })))
    }
    return lines
  }
  const jobs = await Promise.all(ids.map(read))
  await api.close()
  const lateMs = jobs.flat().map((line) => line.lateMs)
  const fromMs = Math.max(...jobs.map((lines) => lines[0]?.writtenMs ?? Number.NaN))
  const toMs = Math.min(...jobs.map((lines) => lines.at(-1)?.writtenMs ?? Number.NaN))
  const [during, around] = partition(jobs.flat(), ({ writtenMs }) => writtenMs >= fromMs && writtenMs <= toMs)
  printLatencies(`lines of ${size.jobs} jobs, ${size.jobs * linesPerSecond} a second, written → read`, {
    'while all print': during.map((line) => line.lateMs),
    'while jobs start or end': around.map((line) => line.lateMs),
  })
  // Omits lines that were written before their reader connected.
  const expected = size.jobs * size.lines
  if (lateMs.length < 0.8 * expected) throw new Error(`${lateMs.length} of ${expected} lines were read live`)
  if (percentile(lateMs, 0.5) < 0) throw new Error('The clocks of this machine disagree')
}

const partition = <T>(items: readonly T[], isFirst: (item: T) => boolean): [T[], T[]] => [
  items.filter(isFirst),
  items.filter((item) => !isFirst(item)),
]

interface Batch {
  text?: string
}
