import type { Api } from './api.ts'
import { until } from './until.ts'

/** Prints numbered lines as soon as the file `$1` exists. */
export const numberedLines = (count: number) =>
  `until [ -e "$1" ]; do sleep 0.05; done; i=0; while [ $i -lt ${count} ]; do i=$((i+1)); echo "line $i of ${count}"; done`

interface Log {
  text: string
  gaps: { gapReason: string }[]
}

/** Finds a fault in the log of a job that printed these lines; null: it is complete, except for reported gaps. */
export function findFault({ text, gaps }: Log, count: number): string | null {
  const reasons = gaps.map(({ gapReason }) => gapReason)
  const other = reasons.find((reason) => reason !== 'DISK_FULL')
  if (other !== undefined) return `a gap says ${other}`
  const numbers = [...text.matchAll(/^line (\d+) of \d+$/gm)].map(([, number]) => Number(number))
  const holes = [0, ...numbers].filter((number, i) => (numbers[i] ?? count + 1) !== number + 1)
  return holes.length <= reasons.length ? null : `lines are missing after ${holes.join()}, with ${reasons.length} gaps`
}

/** Reads the log of a final job, page by page. */
export async function readLog(api: Api, jobId: string): Promise<Log> {
  const query = `query ($id: ID!, $from: LogStart) {
    job(id: $id) { logs(first: 5000, from: $from) { text gaps { gapReason } cursor isFinal } } }`
  type Page = Log & { cursor: string; isFinal: boolean }
  const read: Log = { text: '', gaps: [] }
  let from: { cursor: string } | null = null
  await until(
    async () => {
      const { job }: { job: { logs: Page } } = await api.ask(query, { id: jobId, from })
      read.text += job.logs.text
      read.gaps.push(...job.logs.gaps)
      from = { cursor: job.logs.cursor }
      return job.logs.isFinal
    },
    { what: `the log of ${jobId} is read` },
  )
  return read
}
