import { expandHostlist } from './hostlist.ts'

export interface SlurmJob {
  id: string
  /** The comment of the job; if Berth submitted it, the id of its run. */
  runId: string
  uid: number
  state: string
  reason: string
  nodes: readonly string[]
  /** Wait status of the batch script; 0 until the script has ended. */
  status: number
  /** Time of the last start, by Slurm's clock; null: unknown. */
  startMs: number | null
  /** Time of the end, or the latest possible end, by Slurm's clock; null: unknown. */
  endMs: number | null
  restarts: number
  /** Amounts summed over all nodes. */
  held: { cpus: number; memoryBytes: number; gpus: number }
}

// The separator of fields must not occur in comments and reasons, which are free text of any user.
const separator = '\x1f'
const fields = [
  'JobID',
  'Comment',
  'UserID',
  'State',
  'Reason',
  'NodeList',
  'exit_code',
  'StartTime',
  'EndTime',
  'RestartCnt',
  'tres-alloc',
] as const
type Field = (typeof fields)[number]

export const queueFormat = fields.map((name) => `${name}:${separator}`).join(',')

/** Skips incomplete lines: they come from comments with newlines, which Berth does not write. */
export function parseQueue(text: string): SlurmJob[] {
  return text.split('\n').flatMap((line) => {
    const values = line.split(separator)
    const job = Object.fromEntries(fields.map((name, at) => [name, values[at] ?? ''])) as Record<Field, string>
    if (values[fields.length] !== '' || !/^\d+$/.test(job.JobID)) return []
    return {
      id: job.JobID,
      runId: job.Comment,
      uid: Number(job.UserID),
      state: job.State,
      reason: job.Reason,
      nodes: expandHostlist(job.NodeList),
      status: Number(job.exit_code),
      startMs: parseMoment(job.StartTime),
      endMs: parseMoment(job.EndTime),
      restarts: Number(job.RestartCnt),
      held: parseTres(job['tres-alloc']),
    }
  })
}

const parseMoment = (seconds: string): number | null => (/^\d+$/.test(seconds) ? Number(seconds) * 1000 : null)

/** Parses `cpu=4,mem=400M,node=2,billing=4,gres/gpu=2,gres/gpu:a100=2`. */
function parseTres(text: string): SlurmJob['held'] {
  const amounts = new Map(text.split(',').map((each) => each.split('=') as [string, string]))
  return {
    cpus: Number(amounts.get('cpu') ?? 0),
    memoryBytes: bytesOf(amounts.get('mem') ?? '0'),
    gpus: Number(amounts.get('gres/gpu') ?? 0),
  }
}

const units: Readonly<Record<string, number>> = { '': 1, K: 1, M: 2, G: 3, T: 4, P: 5 }

function bytesOf(text: string): number {
  const [, number = '0', unit = ''] = text.match(/^([\d.]+)([KMGTP]?)$/) ?? []
  return Math.round(Number(number) * 1024 ** (unit === '' ? 2 : (units[unit] ?? 2)))
}
