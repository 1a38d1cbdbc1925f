import { BackendRefused } from '../backend/unreachable.ts'
import type { Sample } from '../executor.ts'
import type { Slurm } from './commands.ts'

/** `sstat` asks the nodes of every job. */
const answerMsMax = 60_000
/** Maximum number of jobs per command, so that its command line stays short. */
const jobsMax = 2_000
const format = 'JobID,TRESUsageInTot'

/**
 * Reads the use of running jobs by id. Jobs are missing if the cluster gathers no accounting data (JobAcctGatherType),
 * or the server may not read them.
 */
export async function sampleJobs(slurm: Slurm, jobIds: readonly string[]): Promise<ReadonlyMap<string, Sample>> {
  let text = ''
  for (let at = 0; at < jobIds.length; at += jobsMax) text += await readSteps(slurm, jobIds.slice(at, at + jobsMax))
  return parseSteps(text)
}

async function readSteps(slurm: Slurm, jobIds: readonly string[]): Promise<string> {
  const args = ['--noheader', '--parsable2', '--allsteps', `--format=${format}`, `--jobs=${jobIds.join(',')}`]
  try {
    return await slurm({ command: 'sstat', args, timeoutMs: answerMsMax })
  } catch (error) {
    if (error instanceof BackendRefused) return ''
    throw error
  }
}

/** Sums the steps of each job: `7.batch|cpu=00:00:03,energy=0,fs/disk=120022399,mem=3972K,pages=3,vmem=4168K`. */
export function parseSteps(text: string): ReadonlyMap<string, Sample> {
  const samples = new Map<string, Sample>()
  for (const line of text.split('\n')) {
    const [step = '', uses = ''] = line.split('|')
    const [jobId = ''] = step.split('.')
    const amounts = new Map(uses.split(',').map((use) => use.split('=') as [string, string | undefined]))
    const cpuSeconds = parseSeconds(amounts.get('cpu'))
    const memoryBytes = parseBytes(amounts.get('mem'))
    const sum = samples.get(jobId) ?? {}
    if (cpuSeconds !== null) sum.cpuSeconds = (sum.cpuSeconds ?? 0) + cpuSeconds
    if (memoryBytes !== null) sum.memoryBytes = (sum.memoryBytes ?? 0) + memoryBytes
    if (jobId !== '') samples.set(jobId, sum)
  }
  return samples
}

/** Parses `1-02:03:04`, `02:03:04`, `03:04` and `03:04.500`. */
function parseSeconds(text = ''): number | null {
  const [, days = '0', hours = '0', minutes, seconds] =
    text.match(/^(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+(?:\.\d+)?)$/) ?? []
  if (minutes === undefined) return null
  return ((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds)
}

const units = ['', 'K', 'M', 'G', 'T', 'P']

/** Returns null if memory was not measured. 0 means the same, because every process has memory. */
function parseBytes(text = ''): number | null {
  const [, number, unit = ''] = text.match(/^([\d.]+)([KMGTP]?)$/) ?? []
  return number === undefined || Number(number) === 0 ? null : Math.round(Number(number) * 1024 ** units.indexOf(unit))
}
